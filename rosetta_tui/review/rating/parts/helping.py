"""Every key and what it does, the four answers and what they mean, and how the organisation wants it done."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from review.session.keys import ACT_WORDS, BACKSPACE, KEYS, RATING_OF, Act
from review.session.labels import rating_label, rating_meaning
from review.session.page_words import Given
from review.session.words import Words
from rosetta_tui.review.key_line import Hint
from rosetta_tui.review.page import Page, given_text, paragraph
from rosetta_tui.review.told import told

NOTHING = Given("")
"""Where the organisation wrote no guide."""
_WIDTH = 9
"""Cells for the names of keys."""


class HelpPage(Page[None]):
    """Any of its keys goes back."""

    BINDINGS = [("enter,question_mark", "leave")]  # noqa: RUF012  Textual's form

    def __init__(self, words: Words, guide: Given = NOTHING) -> None:
        super().__init__(words)
        self._guide = guide

    def place(self) -> str:
        """Say where the person is."""
        return self.words("Help")

    def body(self) -> ComposeResult:
        """List the keys."""
        words = self.words
        yield paragraph(
            words("One key gives your answer, saves it and shows the next sentence."), "bold"
        )
        yield Static(Content("\n").join(self._keys()))
        if self._guide.text:
            yield paragraph(words("How to judge"), "bold")
            yield from given_text(self._guide)

    def _keys(self) -> list[Content]:
        words = self.words
        lines = [
            _line(
                _keys(words, act),
                f"{rating_label(words, rating)} – {rating_meaning(words, rating)}",
            )
            for act, rating in RATING_OF.items()
        ]
        lines += [
            _line(_keys(words, act), words(said))
            for act, said in ACT_WORDS.items()
            if act not in {Act.LARGER, Act.SMALLER}
        ]
        lines.append(_line("↑ ↓", words("Read on in a long text")))
        if hasattr(self.app, "action_colours"):
            lines.append(_line("F2", words("Other colours")))
        return lines

    def hints(self) -> Sequence[Hint]:
        """Give the keys."""
        return [Hint(self.words("Esc"), self.words("back"), "leave")]


def _keys(words: Words, act: Act) -> str:
    names = (words("Backspace") if key == BACKSPACE else key for key in KEYS[act])
    return " ".join(names)


def _line(keys: str, said: str) -> Content:
    gap = " " * max(1, _WIDTH - len(keys))
    return Content.assemble(told(keys, "bold $mark"), gap, told(said))
