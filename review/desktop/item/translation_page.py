"""The page on which a speaker translates: a sentence, a box that is always open, and what else can be done.

The box for a translation, under its name, with the letters that a keyboard may lack.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QRect, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from review.desktop.frame.work import AppContext
from review.desktop.item.sentence_face import Mode
from review.desktop.item.sentence_page import SentencePage
from review.desktop.parts.texts import Line
from review.desktop.parts.writing import LetterRow, TypingBox
from review.session.session import Session
from review.session.view import ShownItem, TextField
from review.session.words import item as item_words
from review.session.words.catalogue import Words
from review.session.words.item import Mark, Offer
from review.session.words.keys import TRANSLATION_WORDS

_FEWEST_LINES, _MOST_LINES = 3, 8


class TranslationBox(QWidget):
    """Stays open for every sentence; Enter saves, Shift with Enter begins a new line, Esc leaves it."""

    paused = Signal(str)
    """The person stopped typing for a moment; the draft can be kept."""
    saved = Signal(str)
    """The text is ready."""
    typing = Signal()
    """The text in the box changed."""
    left = Signal(str)
    """The person went to what else can be done; the draft stays."""

    def __init__(self, words: Words, letters: Sequence[str]) -> None:
        super().__init__()
        self._box = TypingBox(_FEWEST_LINES, _MOST_LINES)
        self._box.setAccessibleName(words(item_words.YOUR_TRANSLATION))
        self._box.paused.connect(self.paused)
        self._box.saved.connect(self.saved)
        self._box.left.connect(self.left)
        self._box.textChanged.connect(self.typing)
        name = Line(words(item_words.YOUR_TRANSLATION), "strong").name_of(self._box)
        hint = words("Shift and Enter begin a new line. For the other keys, press Esc first.")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(name)
        column.addWidget(self._box)
        if letters:
            row = LetterRow(letters)
            row.typed.connect(self._box.insert)
            column.addWidget(row)
        column.addWidget(Line(hint, "quiet"))
        self.setFocusProxy(self._box)

    @property
    def text(self) -> str:
        """Return what is in the box: composed letters, no blanks around it."""
        return self._box.written

    @property
    def is_used(self) -> bool:
        """Return whether keys go into it now."""
        return self._box.isVisible() and self._box.hasFocus()

    def line_in(self, widget: QWidget) -> QRect:
        """Return the place of the line on which a person types, in the measure of a widget around it."""
        line = self._box.cursorRect()
        return QRect(self._box.viewport().mapTo(widget, line.topLeft()), line.size())

    def begin(self, text: str) -> None:
        """Start writing on from this text."""
        self._box.begin(text)

    def take(self, text: str) -> None:
        """Insert text that came before the box had the focus, or after a click took it away."""
        self._box.insert(text)

    def save(self) -> None:
        """Emit what is in the box, as if Enter was pressed."""
        self._box.finish_word()
        self.saved.emit(self.text)

    def hold(self, *, still: bool) -> None:
        """Disable keys while something is being saved: they were not meant for what comes next."""
        self._box.hold(still=still)


class TranslationPage(SentencePage):
    """Enter saves and shows the next sentence; Esc lets the keys act that the buttons show."""

    ACTS = TRANSLATION_WORDS
    WHY = item_words.WHY_UNTRANSLATED

    def __init__(self, desk: AppContext, session: Session) -> None:
        super().__init__(desk, session)
        words = self.words
        self.box = TranslationBox(words, session.manifest.letters)
        self._put_in_place([self.box])
        self.save_button = self.button(
            words(item_words.SAVE_AND_GO_ON), self.box.save, words("Enter"), main=True
        )
        self.box.saved.connect(self._translate)
        self.box.paused.connect(lambda _: self.keep_typed())
        self.box.typing.connect(self._follow_typing)
        self.box.left.connect(lambda _: self.enter_mode(Mode.ACTS))
        if self.view.item is not None:
            self.draw(self.view)

    # what is shown

    def _offers(self) -> list[Offer]:
        return item_words.translation_offers(self.words, self.view)

    def _marks(self, item: ShownItem) -> list[Mark]:
        return item_words.translation_marks(self.words, item)

    def _begin_item(self, item: ShownItem) -> None:
        """Show what this person wrote before for a sentence; it stays until the next one comes."""
        super()._begin_item(item)
        self.box.begin(item.translation)
        self._kept[TextField.TRANSLATION] = self.box.text

    def _arrange(self) -> None:
        """Show the box, where a translation may be asked for."""
        super()._arrange()
        for part in (self.box, self.save_button):
            part.setVisible(self.answering and self.asks)

    def _take_keys(self) -> None:
        if self.mode is Mode.ANSWER and self.asks:
            self.reading.focus_in_place(self.box)
        else:
            super()._take_keys()

    def _follow_typing(self) -> None:
        """Scroll to the line on which a person types, with as much of the sentence as there is room for."""
        if self.mode is Mode.ANSWER and self.box.is_used:
            self.reading.lay_out_now()
            line = self.box.line_in(self._inside)
            self.reading.ensureVisible(line.center().x(), line.bottom(), 0, line.height())

    # keys

    def typed(self, character: str) -> bool:
        """Handle a character; while a sentence is translated it is text, wherever the focus is."""
        if self.mode is not Mode.ANSWER or not self.asks:
            return super().typed(character)
        if not self._busy and character.isprintable():
            self.box.take(character)
        return True

    def enter(self) -> None:
        """Save, confirm the question, or return to the box."""
        if self.mode is Mode.ANSWER and self.asks:
            self.box.save()
        elif self.mode in {Mode.HARM, Mode.WRITING} or self.leaves_out:
            super().enter()
        else:
            self.enter_mode(Mode.ANSWER)

    def back(self) -> None:
        """Return to the box, or from it to the keys that act; what was typed stays as a draft."""
        if self.mode is Mode.ANSWER:
            self.enter_mode(Mode.ACTS)
        else:
            super().back()

    # answers

    def _hold(self, *, still: bool) -> None:
        super()._hold(still=still)
        self.box.hold(still=still)

    def _in_boxes(self) -> dict[TextField, str]:
        return {TextField.TRANSLATION: self.box.text} | super()._in_boxes()

    def _translate(self, text: str) -> None:
        """Save a translation; one that the person only came to look at again stays as it is."""
        item = self.view.item
        if item is not None:
            self._do(partial(self.session.translate, item.id, text))
