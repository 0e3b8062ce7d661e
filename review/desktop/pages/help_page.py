"""Every key and what it does, the four answers and what they mean, and how the organisation wants it done."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from review.desktop.frame.page import Page
from review.desktop.frame.work import AppContext
from review.desktop.look.fonts import shown
from review.desktop.parts.texts import Line
from review.session.words import page as page_words
from review.session.words.keys import (
    ACT_WORDS,
    KEYS,
    RATING_OF,
    TRANSLATION_WORDS,
    Act,
    act_of,
    key_name,
)
from review.session.words.labels import rating_label, rating_meaning


class HelpPage(Page):
    """Any of its keys goes back."""

    def __init__(
        self, desk: AppContext, guide: page_words.OrganiserText, *, translating: bool = False
    ) -> None:
        """``guide`` is the organisation's, without text for none; ``translating`` is what the batch asks for."""
        super().__init__(desk)
        words = self.words
        self._translating = translating
        self.place(words("Help"))
        self.paragraph(self._first(), "strong")
        self.paragraph(words("Every key has a button too."))
        self.add(self._keys())
        if guide.text:
            self.paragraph(page_words.how_to_judge(words, translating=translating), "strong")
            if guide.note:
                self.paragraph(guide.note, "quiet")
            self.paragraph("\n".join(shown(line) for line in guide.text.splitlines()))
        self.way_back(main=True)

    def typed(self, character: str) -> bool:
        """Return by the key that led here."""
        if act_of(character) is not Act.HELP:
            return False
        self.back()
        return True

    def _first(self) -> str:
        words = self.words
        if self._translating:
            return words("Write your translation and press Enter: that saves it and goes on.")
        return words(page_words.ONE_KEY)

    def _keys(self) -> QWidget:
        table = QWidget()
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        for row, (keys, line) in enumerate(self._lines()):
            grid.addWidget(_cell(keys, "mark"), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(_cell(line), row, 1, Qt.AlignmentFlag.AlignTop)
        return table

    def _lines(self) -> list[tuple[str, str]]:
        """Return the keys → what they do, in the order of the table of keys."""
        words = self.words
        if self._translating:
            return self._translation_lines()
        ratings = [
            (self._names(act), f"{rating_label(words, rating)} – {rating_meaning(words, rating)}")
            for act, rating in RATING_OF.items()
        ]
        others = [
            (self._names(act), words(label))
            for act, label in ACT_WORDS.items()
            if act not in RATING_OF
        ]
        return [*ratings, *others, ("↑ ↓", words("Read on in a long text"))]

    def _translation_lines(self) -> list[tuple[str, str]]:
        """Return the keys of the box, then those that act after Esc."""
        words = self.words
        first = words("Esc, then {key}")
        acts = [
            (first.replace("{key}", self._names(act)), words(label))
            for act, label in TRANSLATION_WORDS.items()
        ]
        box = [
            (words("Enter"), words("Save and go on")),
            ("+".join((words("Shift"), words("Enter"))), words("Begin a new line")),
        ]
        return [*box, *acts]

    def _names(self, act: Act) -> str:
        return "  ".join(
            key_name(self.words, key) if not key.isprintable() else key for key in KEYS[act]
        )


def _cell(text: str, role: str = "") -> Line:
    return Line(text, role, wraps=not role)
