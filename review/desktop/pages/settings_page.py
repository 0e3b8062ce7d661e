"""The settings, of which every change is seen at once and remembered, and the help: every key and what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from harness.core.version import VERSION
from review.desktop.frame.page import Page
from review.desktop.frame.work import AppContext
from review.desktop.look import SIZES, Theme, shown
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answer, Answers, Tick
from review.desktop.parts.flow import FlowLayout
from review.desktop.parts.texts import Line
from review.session.words import page as page_words
from review.session.words.catalogue import msgid
from review.session.words.keys import (
    ACT_WORDS,
    KEYS,
    RATING_OF,
    TRANSLATION_WORDS,
    Act,
    act_of,
    key_name,
    rating_label,
    rating_meaning,
)

# Theme → its word, to be translated
THEMES: Final[Mapping[Theme, str]] = {
    Theme.LIGHT: msgid("Light"),
    Theme.DARK: msgid("Dark"),
    Theme.CONTRAST: msgid("High contrast"),
}

# Pixels → what that size is called, to be translated
_SIZES: Final[Mapping[int, str]] = dict(
    zip(
        SIZES,
        (
            msgid("Small letters"),
            msgid("Usual letters"),
            msgid("Larger letters"),
            msgid("Large letters"),
            msgid("Very large letters"),
            msgid("Largest letters"),
        ),
        strict=True,
    )
)

Value = TypeVar("Value")


class SettingsPage(Page):
    """Lies over the page that was shown; going back leads there."""

    erase = Signal()  # Everything is to be deleted from this computer
    reworded = Signal()  # The words are those of another language now

    def __init__(self, desk: AppContext) -> None:
        super().__init__(desk)
        words, look = self.words, desk.look
        self.place(words("Settings"))
        sizes = [Answer("", words(name)) for name in _SIZES.values()]
        self._sizes = self._one_of(words("Size of the letters"), SIZES, Answers(sizes, SIZES), look.set_size)
        themes = [Answer("", words(name)) for name in THEMES.values()]
        self._themes = self._one_of(words("Colours"), tuple(THEMES), Answers(themes), look.set_theme)
        tags, names = tuple(desk.opening.languages), desk.opening.languages.values()
        row = self._one_of(words("Language"), tags, Answers([Answer("", name) for name in names]), self._set_language)
        if words.chosen in tags:
            row.mark([tags.index(words.chosen)])
        self._keys()
        self.paragraph(words("About this program"), "strong")
        self.paragraph(words("Rosetta, version {version}", version=VERSION))
        self.paragraph(words("What you gave can be taken back at any time while you look at sentences."))
        self.paragraph(words("This program sends nothing over the internet."))
        self.paragraph(
            words(
                "Licence: {licence}. Letters: {fonts} ({font_licence}). Window: {qt} ({qt_licence}).",
                licence="Apache 2.0",
                fonts="Noto",
                font_licence="SIL Open Font License 1.1",
                qt="Qt, PySide6",
                qt_licence="LGPL 3",
            ),
            "quiet",
        )
        # Add the deletion at the end of all: nobody comes upon it by a slip.
        place = QWidget()
        erase = Button(self.words("Delete everything from this computer …"))
        erase.clicked.connect(self.erase)
        FlowLayout(place).addWidget(erase)
        self.add(place)
        self._mark()
        look.changed.connect(self._mark)
        self.way_back(main=True)

    def _one_of(self, heading: str, values: Sequence[Value], row: Answers, choose: Callable[[Value], None]) -> Answers:
        """Add a row of which one is chosen."""
        self.paragraph(heading, "strong")
        row.setAccessibleName(heading)
        row.picked.connect(lambda number: choose(values[number]))
        self.add(row)
        return row

    def _keys(self) -> None:
        words, look = self.words, self.desk.look
        keys = Tick(words("Show on each button the key that does the same"), ticked=look.shows_keys)
        keys.toggled.connect(look.set_shows_keys)
        self.add(keys)

    def _mark(self) -> None:
        look = self.desk.look
        self._sizes.mark([SIZES.index(look.size)])
        self._themes.mark([tuple(THEMES).index(look.theme)])

    def _set_language(self, tag: str) -> None:
        """Speak another language; where the choice cannot be kept, it holds for now."""
        if tag != self.words.chosen and not self.desk.work.busy:
            self.desk.work.do(partial(self.desk.opening.set_language, tag), self._worded, self._worded)

    def _worded(self, _: object) -> None:
        self.reworded.emit()


# ---- Every key and what it does, the four answers and what they mean, and how the organisation
# wants it done.


class HelpPage(Page):
    """Any of its keys goes back."""

    def __init__(self, desk: AppContext, guide: page_words.OrganiserText, *, translating: bool = False) -> None:
        """``guide`` is the organisation's, without text for none; ``translating`` is what the batch asks for."""
        super().__init__(desk)
        words = self.words
        self._translating = translating
        self.place(words("Help"))
        first = words("Write your translation and press Enter: that saves it and shows the next sentence.")
        self.paragraph(first if translating else words(page_words.ONE_KEY), "strong")
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
        if self._translating:  # the keys of the box, then those that act after Esc
            first = words("Esc, then {key}")
            return [
                (words("Enter"), words("Save and continue")),
                ("+".join((words("Shift"), words("Enter"))), words("Begin a new line")),
                *((first.replace("{key}", self._names(act)), words(label)) for act, label in TRANSLATION_WORDS.items()),
            ]
        ratings = [
            (self._names(act), f"{rating_label(words, rating)} – {rating_meaning(words, rating)}")
            for act, rating in RATING_OF.items()
        ]
        others = [(self._names(act), words(label)) for act, label in ACT_WORDS.items() if act not in RATING_OF]
        return [*ratings, *others, ("↑ ↓", words("Read on in a long text"))]

    def _names(self, act: Act) -> str:
        return "  ".join(key_name(self.words, key) if not key.isprintable() else key for key in KEYS[act])


def _cell(text: str, role: str = "") -> Line:
    return Line(text, role, wraps=not role)
