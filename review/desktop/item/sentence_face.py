"""The page of one sentence as it looks: what the person decides with stays in its place, however long the texts are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from functools import partial
from typing import ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from corpora.languages.tags import tag_script
from corpora.text.visible import readable
from review.desktop.frame.page import Page
from review.desktop.frame.page_parts import INSET
from review.desktop.frame.work import AppContext
from review.desktop.item.item_parts import BEHIND, ActRow, ItemTexts
from review.desktop.look import legible
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Choices, OnceMore
from review.desktop.parts.flow import Offers
from review.desktop.parts.texts import Line, TextPane, announce, capital
from review.desktop.parts.writing import Writing
from review.session.session import Session
from review.session.view import Lesson, Phase, ShownItem, View
from review.session.words import item as item_words
from review.session.words.catalogue import Words
from review.session.words.item import Mark, Offer
from review.session.words.item import beside as beside_it
from review.session.words.keys import ACT_WORDS, KEYS, Act
from review.session.words.troubles import trouble_of_view


class MoreActions(Offers):
    """Hidden until the person asks what else can be done."""

    chosen = Signal(object)  # An Act
    answers = Signal()  # The person's own answers are to be looked at again
    left = Signal()

    def __init__(self, words: Words, said: Mapping[Act, str] = ACT_WORDS) -> None:
        """``said`` is what each act does, in full words."""
        super().__init__()
        self._words, self._said = words, said
        self.hide()

    def show_acts(self, acts: Sequence[Act], *, answers: bool) -> None:
        """Show a button for each, one for the person's own answers where there are any, and one that goes back."""
        self.clear()
        for act in acts:
            self.offer(self._words(self._said[act]), partial(self.chosen.emit, act), KEYS[act][0])
        if answers:
            self.offer(self._words("Look at my answers again"), self.answers.emit)
        self.offer(capital(self._words("back")), self.left.emit, self._words("Esc"))
        self.show()


MOST_ROWS = 2  # Rows of acts that stay in sight, where that leaves half of the height to read
_ROOMY = 0.5
# What is said about the text itself, and so is not offered where it cannot be read
UNASKED = frozenset({Act.COMMENT, Act.WORDING, Act.HARM})


class Mode(Enum):
    """What the next key means."""

    # An answer, or what else its buttons show; where a translation is asked for, it is text of it
    ANSWER = auto()
    ACTS = auto()  # What the buttons show, where an answer is typed
    REASONS = auto()
    WHY = auto()  # Why the person cannot answer
    HARM = auto()
    WRITING = auto()  # Text in a box beside the answer
    MORE = auto()  # What else can be done


class SentenceFace(Page):
    """Draws the session's view; what a person is asked is in the classes for the two tasks."""

    ACTS: ClassVar[Mapping[Act, str]]  # What each act does, in full words

    def __init__(self, desk: AppContext, session: Session) -> None:
        super().__init__(desk)
        self.session = session
        self.view = session.view
        self.mode = Mode.ANSWER
        self._shown = ""  # Id of the item that is drawn
        self._readable: tuple[str, bool] = ("", True)
        words = self.words
        self._progress, self.practice = QProgressBar(), Line(role="quiet")
        self.practice.setContentsMargins(INSET, 0, INSET, 0)
        self.texts = ItemTexts(words, translation=not session.translating)
        self._why = Choices(words, item_words.why_not(words))
        self._harm = OnceMore(words)
        self.writing = Writing(words, session.manifest.letters)
        self._more = MoreActions(words, self.ACTS)
        # What stands in the place of the answer, while it is asked
        self._panels: dict[Mode, QWidget] = {
            Mode.WHY: self._why,
            Mode.HARM: self._harm,
            Mode.WRITING: self.writing,
            Mode.MORE: self._more,
        }
        self._read_at = 0  # Where the page was scrolled to when that was asked
        self._unshown = Line(role="warn")
        self._leave_out = Button(words(item_words.GO_ON_WITHOUT), words("Enter"))
        self.acts = ActRow(words, self.ACTS)

    def _put_in_place(self, read: Sequence[QWidget], held: Sequence[QWidget] = ()) -> None:
        """Place all parts, with those of a task: below the texts, and what stays in sight."""
        self._progress.setTextVisible(False)
        self.under_head(self._progress)
        self.under_head(self.practice)
        for panel in self._panels.values():
            self.texts.put_under(panel)
        for widget in (self.texts, *read):
            self.add(widget)
        self._unshown.setContentsMargins(INSET, 0, INSET, 0)
        self._unshown.setText(" ".join(map(self.words, item_words.NOT_SHOWN)))
        self._leave_out.setProperty("role", "main")
        self._leave_out.clicked.connect(self.enter)
        for widget in (self._unshown, self._leave_out, *held, self.acts, self.writing.acts):
            self.hold(widget)
        self._held.setAlignment(self._leave_out, Qt.AlignmentFlag.AlignLeading)
        self.texts.painted.connect(self._painted)
        for pane in (self.texts.source, self.texts.candidate):
            pane.cursorPositionChanged.connect(partial(self._follow, pane))
        bar = self.reading.verticalScrollBar()
        bar.valueChanged.connect(self._scrolled_to)
        bar.rangeChanged.connect(lambda *_: self._grown())
        self.desk.look.changed.connect(self._arrange)

    # what is asked

    @abstractmethod
    def _offers(self) -> list[Offer]:
        """Return what can be done beside the answer."""

    @abstractmethod
    def _marks(self, item: ShownItem) -> list[Mark]:
        """Return what the person added to an item before."""

    @property
    def asks(self) -> bool:
        """Return whether an answer may be asked for: the texts can be read here, or it is only practice."""
        item, manifest = self.view.item, self.session.manifest
        if item is None:
            return False
        if self._readable[0] != item.id:
            tags = (manifest.source_language, manifest.target_language)
            read = all(map(legible, self.texts.read(item), map(tag_script, tags)))
            self._readable = (item.id, read)
        return self._readable[1] or self.view.phase is Phase.TRAINING

    @property
    def answering(self) -> bool:
        """Return whether the answer is available, and not something that is asked in its place."""
        return self.mode not in self._panels

    # what is shown

    def draw(self, view: View) -> None:
        """Show a view; one without an item leaves the page as it is, for another page comes."""
        before, self.view = self.view, view
        self.tell(trouble_of_view(view))
        self.say(view.said)
        if view.item is None:
            return
        if view.item.id != self._shown:
            self._begin_item(view.item)
        self._draw_item(view, view.item)
        if self.isVisible() and _read(before) != _read(view):
            self._read_from_its_beginning()
            announce(self, self._spoken())

    def _begin_item(self, item: ShownItem) -> None:
        """Prompt for an answer: what was asked before was about another item."""
        self._shown = item.id
        self.mode = Mode.ANSWER

    def _draw_item(self, view: View, item: ShownItem) -> None:
        place = item_words.place(self.words, view)
        self.place(place)
        counted = view.phase is Phase.ITEMS
        self._progress.setMaximum(max(1, view.total if counted else item.of))
        self._progress.setValue(view.done if counted else item.number - 1)
        self._progress.setAccessibleName(place)
        practice = item_words.practice(self.words, view)
        self.practice.setText(practice)
        self.practice.setVisible(bool(practice))
        self.texts.show_item(item)
        self.texts.show_marks(self._marks(item))
        self._arrange()

    def _spoken(self) -> str:
        """Return for the screen reader where the person is and what there is to read."""
        if (item := self.view.item) is None:
            return ""
        place = item_words.place(self.words, self.view)
        practice = item_words.practice(self.words, self.view)
        beside = (readable(" ".join(pair).strip()) for pair in beside_it(self.words, item))
        return "\n".join(filter(None, (place, practice, *self.texts.spoken(item), *beside)))

    def _read_from_its_beginning(self) -> None:
        """Show an item from its first line."""
        self.reading.show_beginning()

    # where it is shown

    def enter_mode(self, mode: Mode) -> None:
        """Switch what the next key means; what went wrong before it is over."""
        bar, answered = self.reading.verticalScrollBar(), self.answering
        self._read_at = bar.value() if answered else self._read_at
        self.mode = mode
        self.tell(None)
        self._arrange()
        self._take_keys()
        if (panel := self._panels.get(mode)) is not None:
            self.reading.bring(panel)
        elif not answered:
            self.reading.go_back_to(self._read_at)

    def _take_keys(self) -> None:
        if self.mode is Mode.WRITING:
            self.writing.take_keys()
        else:
            self.setFocus()

    def _arrange(self) -> None:
        if self.view.item is None:
            return
        for mode, panel in self._panels.items():
            panel.setVisible(mode is self.mode)
        for part in (self._unshown, self._leave_out):
            part.setVisible(self.answering and not self.asks)
        self.acts.setVisible(self.answering)
        self.writing.acts.setVisible(self.mode is Mode.WRITING)
        offers = [offer._replace(now=offer.now and (self.asks or offer.act not in UNASKED)) for offer in self._offers()]
        hidden = {offer.act for offer in offers} | (set() if self.view.unsaved else {Act.UNSAVED})
        others = (Act.WITHDRAW,) if self.view.phase is Phase.TRAINING else BEHIND
        behind = [act for act in others if act not in hidden]
        # As many rows of acts as leave the texts their room; at the end of what scrolls there is room for all
        rows = 0
        if not self.folded:
            high = self._answer_high() + self.acts.high(MOST_ROWS) + self._foot_high()
            rows = MOST_ROWS if self._left_to_read(high) >= _ROOMY else 1
        self.acts.offer(offers, behind, self._wide(), rows)
        self._tell_more()

    def _answer_high(self) -> int:
        """Pixels of the height of what stays in sight to answer with, beside what leads on."""
        return 0

    def _held_high(self) -> int:
        """Pixels of the height of the answers and of a row of acts: a question meanwhile changes no place."""
        return self._answer_high() + self.acts.high(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous() and self.view.item is not None:
            self.texts.forget()
            self.texts.show_item(self.view.item)
        self._arrange()

    # what is in sight

    def _follow(self, pane: TextPane) -> None:
        """Scroll to where a person reads or selects with the arrow keys."""
        if pane.hasFocus():
            place = pane.mapTo(self._inside, pane.cursorRect().center())
            self.reading.ensureVisible(place.x(), place.y(), 0, pane.cursorRect().height())

    def _grown(self) -> None:
        self._tell_more()
        if self.mode is Mode.WRITING and not self.troubled:
            self.reading.bring(self.writing)

    def _painted(self) -> None:
        item = self.view.item
        if item is not None and self.isVisible() and not self.window().isMinimized():
            self.session.painted(item.id)
        self._tell_more()

    def _scrolled_to(self) -> None:
        self.session.touched()
        self._tell_more()

    def _tell_more(self) -> None:
        self._below.keeps_room = False
        self._below.empty_end = self.fontMetrics().lineSpacing() // 2
        self._below.wanted = self.mode is not Mode.WRITING
        self._below.setText(self.words(self._what_is_below()))
        self._below.tell()

    def _what_is_below(self) -> str:
        """Return what a person does not see yet."""
        return item_words.GOES_ON_BELOW


def _read(view: View) -> tuple[str, Lesson | None]:
    """Return what there is to read in a view."""
    return (view.item.id if view.item else "", view.lesson)
