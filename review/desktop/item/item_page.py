"""The pages on which a person decides about a sentence: one to rate it, with its lesson, and one to translate it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from review.desktop.frame.page import LEAST_READ
from review.desktop.frame.page_parts import letters
from review.desktop.frame.work import AppContext
from review.desktop.item.item_parts import ItemTexts
from review.desktop.item.sentence_face import Mode
from review.desktop.item.sentence_page import SentencePage
from review.desktop.look import LARGE, SIZES, shown
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answers, Choices
from review.desktop.parts.texts import Line, WholeText, announce, capital
from review.desktop.parts.writing import LetterRow, TypingBox
from review.rating import Rating, Reason
from review.session.session import Session
from review.session.view import Lesson, ShownItem, TextField, View
from review.session.words import item as item_words
from review.session.words.catalogue import Words
from review.session.words.item import Mark, Offer, lesson_said
from review.session.words.keys import ACT_WORDS, RATING_OF, TRANSLATION_WORDS, Act, NextAction, reason_of


class LessonBox(QFrame):
    """Hidden until the person gave an answer."""

    def __init__(self) -> None:
        super().__init__()
        self._said = Line()
        self._note = Line(role="quiet")
        self._why = WholeText()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._said)
        column.addWidget(self._note)
        column.addWidget(self._why)
        self.hide()

    def tell(self, words: Words, lesson: Lesson | None) -> None:
        """Show what the answer is; None hides the box."""
        self.setVisible(lesson is not None)
        if lesson is None:
            return
        agrees = lesson.given is lesson.expected
        self._said.setProperty("role", "good" if agrees else "strong")
        self._said.style().polish(self._said)
        self._said.setText(lesson_said(words, lesson))
        self._note.setText(lesson.note)
        self._note.setVisible(bool(lesson.note))
        self._why.setAccessibleName(self._said.text())
        self._why.setVisible(bool(lesson.explanation.strip()))
        self._why.show_text(shown(lesson.explanation))


# Share of the height that answers and acts may take, and that is left to read under a head of usual
# letters
_MOST_HELD, _LEAST_UNDER_HEAD = 0.39, 0.3
# Pixels: answers in smaller letters than these stand at the end of what scrolls instead
_LEAST_LETTERS = 20


class ItemPage(SentencePage):
    """One key rates, saves and shows the next item; the answers stay in their place."""

    ACTS = ACT_WORDS
    WHY = item_words.WHY_NOT

    def __init__(self, desk: AppContext, session: Session) -> None:
        super().__init__(desk, session)
        self._answer_letters = desk.look.size  # Pixels
        words = self.words
        self._lesson = LessonBox()
        self._reasons = Choices(words, item_words.reasons(words))
        # The sentence that reasons are asked of: it is not the one that waits for an answer
        self._last = ItemTexts(words)
        self.answers = Answers(item_words.ratings(words))
        self._go_on = Button(capital(words("continue")), words("Enter"))
        self._go_on.setProperty("role", "main")
        self._put_in_place([self._lesson, self._last, self._reasons], [self.answers, self._go_on])
        self._panels[Mode.REASONS] = self._reasons
        self._held.setAlignment(self._go_on, Qt.AlignmentFlag.AlignLeading)
        self._deeds[Act.REASONS] = self._ask_reasons
        self._deeds[Act.WORDING] = self._write_better
        for act, rating in RATING_OF.items():
            self._deeds[act] = partial(self._rate, rating)
        self._go_on.clicked.connect(self.enter)
        self.answers.picked.connect(lambda number: self._press(list(RATING_OF)[number]))
        self._reasons.picked.connect(lambda number: self._reason(list(Reason)[number]))
        self._reasons.left.connect(self.back)
        if self.view.item is not None:
            self.draw(self.view)

    # what is shown

    def _offers(self) -> list[Offer]:
        return item_words.offers(self.words, self.view)

    def _marks(self, item: ShownItem) -> list[Mark]:
        return item_words.marks(self.words, item)

    def _draw_item(self, view: View, item: ShownItem) -> None:
        self._lesson.tell(self.words, view.lesson)
        counts = item.rating is not None and item.stands
        self.answers.mark([item.rating.rank] if counts and item.rating else [])
        super()._draw_item(view, item)

    def _arrange(self) -> None:
        super()._arrange()
        lesson = self.view.lesson is not None
        reasons = self.mode is Mode.REASONS
        self.texts.setVisible(not reasons)
        self._last.setVisible(reasons)
        # the sentence that is read: while reasons are asked, the one before
        last = self.view.last if reasons else None
        self.place(
            item_words.last_question(self.words, last).place
            if last is not None
            else item_words.place(self.words, self.view)
        )
        self._lesson.setVisible(lesson and self.answering)
        self.answers.setVisible(self.answering and self.asks and not lesson)
        self._go_on.setVisible(self.answering and lesson)

    def _answer_high(self) -> int:
        """Return pixels of the height of the answers, with the gap below them."""
        return self.answers.heightForWidth(self._wide()) + self._held.spacing()

    def _fit(self) -> None:
        """Shrink the answers to stay in sight: where the window is low they lose their meanings, then large letters."""
        size = self.desk.look.size
        smaller = [px for px in reversed(SIZES) if _LEAST_LETTERS <= px < size]
        for px, meanings in [(size, True), *((px, False) for px in (size, *smaller))]:
            self._answer_letters, font = px, letters(self.desk.look, px)
            self.answers.show_words(font, meanings=meanings)
            self.acts.show_in(font)
            if not self._too_high(self._held_high() + self._foot_high()):
                break
        super()._fit()
        for texts in (self.texts, self._last):
            texts.show_names_in(font, self._body.spacing() // 2)

    def _small_letters(self) -> int:
        return self._answer_letters

    def _too_high(self, done_with: int) -> bool:
        return done_with > _MOST_HELD * self.height()

    def _head_in_the_way(self, *, folded: bool) -> bool:
        least = LEAST_READ if self.desk.look.size >= LARGE else _LEAST_UNDER_HEAD
        little = self._left_to_read(self._held_high() + self._foot_high()) < least
        return super()._head_in_the_way(folded=folded) or (little and not folded)

    def _read_from_its_beginning(self) -> None:
        """Show an item from its first line, and an explanation, which stands below, in full."""
        super()._read_from_its_beginning()
        if self.view.lesson is not None:
            self.reading.bring(self._lesson)

    def _what_is_below(self) -> str:
        """Return plainly that an answer waits for the translation, or that only the answers are not seen."""
        unseen = self.texts.seen and not self.texts.translation_seen
        if self.mode is Mode.ANSWER and unseen and self.view.lesson is None:
            return item_words.TRANSLATION_BELOW
        if self.mode is Mode.ANSWER and self.folded and self.reading.shows_end_of(self.texts):
            return item_words.ANSWERS_BELOW
        return super()._what_is_below()

    def _spoken(self) -> str:
        """Return for the screen reader where the person is and what is to be judged, or what the answer would have been."""
        if (lesson := self.view.lesson) is None:
            return super()._spoken()
        return f"{item_words.lesson_said(self.words, lesson)} {shown(lesson.explanation)}"

    # keys

    def typed(self, character: str) -> bool:
        if self.mode is Mode.REASONS:
            self._reason(reason_of(character))
            return True
        return super().typed(character)

    def enter(self) -> None:
        if self.mode is Mode.ANSWER and self.view.lesson is not None:
            self._do(self.session.go_on)
        elif self.mode is Mode.ANSWER and not self.leaves_out:
            self._leave_as_it_is()
        else:
            super().enter()

    def back(self) -> None:
        if self.mode is Mode.ANSWER:
            self._leave_as_it_is()
        else:
            super().back()

    def _leave_as_it_is(self) -> None:
        """Return to where the person was before they came to look at an answer of theirs."""
        if self.view.item is not None and self.view.item.stands:
            self._do(partial(self.session.go_to, None))

    # answers

    def _rate(self, rating: Rating, item: ShownItem) -> None:
        """Rate what was seen: where the translation is still below, show it first."""
        if not self.asks:
            self.say(self.words(item_words.NOT_SHOWN[0]))
        elif self.texts.seen and not self.texts.translation_seen:
            self.reading.bring(self.texts.candidate)
            self.say(self.words(item_words.READ_FIRST))
        else:
            self._do(partial(self.session.rate, item.id, rating))

    def _write_better(self, item: ShownItem) -> None:
        if self.session.asks_sharing:
            self.answered.emit(NextAction.WORDING)
        else:
            self._write(TextField.SUGGESTION, item)

    def write_better(self) -> None:
        """Open the box for a better translation of the sentence that is shown."""
        self._press(Act.WORDING)

    def _ask_reasons(self, _: ShownItem) -> None:
        last = self.view.last
        if last is None or last.rating is None:
            self.say(self.words(item_words.ANSWER_FIRST))
            return
        self._reasons.mark([list(Reason).index(reason) for reason in last.item.reasons])
        self._last.show_item(last.item)
        self.enter_mode(Mode.REASONS)
        question = item_words.last_question(self.words, last)
        self._reasons.ask(question)
        announce(self, "\n".join((question.place, *self._last.spoken(last.item), question.said)))

    def _reason(self, reason: Reason | None) -> None:
        last = self.view.last
        if reason is not None and last is not None:
            self.enter_mode(Mode.ANSWER)
            reasons = set(last.item.reasons) ^ {reason}
            self._do(partial(self.session.set_reasons, last.item.id, reasons))


# ---- The page on which a speaker translates: a sentence, a box that is always open, and what
# else can be done.
#
# The box for a translation, under its name, with the letters that a keyboard may lack.

_FEWEST_LINES, _MOST_LINES = 3, 8


class TranslationBox(QWidget):
    """Stays open for every sentence; Enter saves, Shift with Enter begins a new line, Esc leaves it."""

    paused = Signal(str)  # The person stopped typing for a moment; the draft can be kept
    saved = Signal(str)  # The text is ready
    typing = Signal()  # The text in the box changed
    left = Signal(str)  # The person went to what else can be done; the draft stays

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
        self.save_button = self.button(words(item_words.SAVE_AND_GO_ON), self.box.save, words("Enter"), main=True)
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
        if self.mode is not Mode.ANSWER or not self.asks:
            return super().typed(character)
        if not self._busy and character.isprintable():
            self.box.take(character)
        return True

    def enter(self) -> None:
        if self.mode is Mode.ANSWER and self.asks:
            self.box.save()
        elif self.mode in {Mode.HARM, Mode.WRITING} or self.leaves_out:
            super().enter()
        else:
            self.enter_mode(Mode.ANSWER)

    def back(self) -> None:
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
        if (item := self.view.item) is not None:
            self._do(partial(self.session.translate, item.id, text))
