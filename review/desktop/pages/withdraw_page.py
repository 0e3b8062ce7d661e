"""Taking back what was given: how much, what that means, and one more act before it is done."""

from __future__ import annotations

from PySide6.QtCore import QTimer

from review.desktop.frame.page import Page
from review.desktop.frame.work import Desk
from review.desktop.parts.announcing import announce
from review.desktop.parts.answers import Answers
from review.log.payloads import Scope
from review.session.words import page as page_words
from review.session.words.item import Answer
from review.session.words.keys import KEYS, Act, act_of, scope_of
from review.session.words.labels import scope_label


class WithdrawPage(Page):
    """Nothing is erased before a choice was made and a second button, far from it, was pressed."""

    def __init__(self, desk: Desk, *, translating: bool = False) -> None:
        """``translating`` is what the batch asks for: a translation is an answer then."""
        super().__init__(desk)
        words = self.words
        self._scope: Scope | None = None
        self.place(words("Take back"))
        means = page_words.take_back(words)
        self.paragraph(means.first, "strong")
        for sentence in means.rest:
            self.paragraph(sentence)
        self.paragraph(page_words.what_to_take_back(words), "strong")
        self._scopes = Answers(
            [
                Answer(str(number), scope_label(words, scope, translating=translating))
                for number, scope in enumerate(Scope, 1)
            ]
        )
        self._scopes.picked.connect(lambda number: self._choose(list(Scope)[number]))
        self.add(self._scopes)
        self._sure = self.paragraph("", "warn")
        self._sure.hide()
        self.way_back(words("Keep everything"), main=True)
        self._erase = self.button(words("Erase it"), self._do, KEYS[Act.WITHDRAW][0])
        self._erase.hide()

    def typed(self, character: str) -> bool:
        """Choose, then do it; what leads here from an item does nothing before that."""
        scope = scope_of(character)
        if scope is not None:
            self._choose(scope)
        elif act_of(character) is Act.WITHDRAW:
            self._do()
        else:
            return False
        return True

    def _choose(self, scope: Scope) -> None:
        self._scope = scope
        self._scopes.mark([list(Scope).index(scope)])
        sure = self.words(
            "This cannot be undone. Choose “{button}” to erase it, or Esc to keep everything.",
            button=self.words("Erase it"),
        )
        self._sure.setText(sure)
        self._sure.show()
        self._erase.show()
        QTimer.singleShot(0, self, lambda: self._scroll.ensureWidgetVisible(self._sure))
        announce(self, sure)

    def _do(self) -> None:
        if self._scope is not None:
            self.answered.emit(self._scope)
