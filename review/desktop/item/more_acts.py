"""The acts that have no button beside the answers, in full words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from review.desktop.look.capital import capital
from review.desktop.parts.buttons import Button
from review.desktop.parts.emptying import empty
from review.desktop.parts.flow import FlowLayout
from review.session.words.catalogue import Words
from review.session.words.keys import ACT_WORDS, KEYS, Act


class MoreActs(QWidget):
    """Hidden until the person asks what else can be done."""

    chosen = Signal(object)
    """An Act."""
    answers = Signal()
    """The person's own answers are to be looked at again."""
    left = Signal()

    def __init__(self, words: Words, said: Mapping[Act, str] = ACT_WORDS) -> None:
        """``said`` is what each act does, in full words."""
        super().__init__()
        self._words, self._said = words, said
        self._flow = FlowLayout()
        self.setLayout(self._flow)
        self.hide()

    def offer(self, acts: Sequence[Act], *, answers: bool) -> None:
        """Show a button for each, one for the person's own answers where there are any, and one that goes back."""
        empty(self._flow)
        for act in acts:
            button = Button(self._words(self._said[act]), KEYS[act][0])
            button.clicked.connect(lambda _=False, act=act: self.chosen.emit(act))
            self._flow.addWidget(button)
        if answers:
            look = Button(self._words("Look at my answers again"))
            look.clicked.connect(self.answers)
            self._flow.addWidget(look)
        back = Button(capital(self._words("back")), self._words("Esc"))
        back.clicked.connect(self.left)
        self._flow.addWidget(back)
        self.show()
