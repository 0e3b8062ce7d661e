"""The page of an item as it looks: two texts, the answers that stay in sight, and what else can be done."""

from __future__ import annotations

from enum import Enum, auto
from functools import partial

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QProgressBar, QWidget

from corpora.visible import readable
from review.desktop import fonts
from review.desktop.act_row import BEHIND, ActRow
from review.desktop.announcing import announce
from review.desktop.answers import Answers
from review.desktop.buttons import Button
from review.desktop.capital import capital
from review.desktop.choices import Choices, OnceMore
from review.desktop.desk import Desk
from review.desktop.item_texts import ItemTexts
from review.desktop.lesson import LessonBox
from review.desktop.letters import set_letters
from review.desktop.missing_letters import first_missing
from review.desktop.more_acts import MoreActs
from review.desktop.page import Page
from review.desktop.text_pane import TextPane
from review.desktop.writing import Writing
from review.session import item_words
from review.session.item_words import Offer
from review.session.keys import Act
from review.session.session import Session
from review.session.troubles import Trouble
from review.session.view import Lesson, Phase, ShownItem, TextField, View

_ROOMY_LINES = 24
"""Lines of text that a window must be high for a second row of acts."""
_UNASKED = frozenset({Act.COMMENT, Act.WORDING, Act.HARM})
"""What is not offered about an item whose letters cannot be shown."""


class Mode(Enum):
    """What the next key means."""

    JUDGE = auto()
    REASONS = auto()
    WHY = auto()
    """Why the person cannot judge."""
    HARM = auto()
    WRITING = auto()
    MORE = auto()
    """What else can be done."""


class ItemFace(Page):
    """Draws the session's view; the answers stay in their place, whatever the length of the texts."""

    PARTS = (27, 44)

    def __init__(self, desk: Desk, session: Session) -> None:
        super().__init__(desk)
        self.session = session
        self.view = session.view
        self.mode = Mode.JUDGE
        self.field = TextField.COMMENT
        """What is written in the box."""
        self._readable: tuple[str, bool] = ("", True)
        words = self.words
        self._progress = QProgressBar()
        self._texts = ItemTexts(words)
        self._lesson = LessonBox()
        self._reasons = Choices(words, item_words.reasons(words))
        self._why = Choices(words, item_words.why_not(words))
        self._harm = OnceMore(words)
        self._writing = Writing(words, session.manifest.letters)
        self._more = MoreActs(words)
        self._below, self._unshown = QLabel(words(item_words.GOES_ON_BELOW)), QLabel()
        self._answers = Answers(item_words.ratings(words))
        self._acts = ActRow(words)
        self._go_on = Button(capital(words("go on")), words("Enter"))
        self._go_on.setProperty("role", "main")
        self._go_on.clicked.connect(self.enter)
        self._put_in_place()

    def _put_in_place(self) -> None:
        self._progress.setTextVisible(False)
        self.under_head(self._progress)
        self._panels: dict[Mode, QWidget] = {
            Mode.REASONS: self._reasons,
            Mode.WHY: self._why,
            Mode.HARM: self._harm,
            Mode.WRITING: self._writing,
            Mode.MORE: self._more,
        }
        for widget in (self._texts, self._lesson, *self._panels.values()):
            self.add(widget)
        for panel in self._panels.values():
            panel.hide()
        self._unshown.setWordWrap(True)
        self._unshown.setProperty("role", "warn")
        self._unshown.setText(
            " ".join(
                (
                    self.words("This computer cannot show some letters."),
                    self.words("Leave this sentence for later, or say that you cannot judge it."),
                )
            )
        )
        self._below.setProperty("role", "quiet")
        for widget in self._around():
            self.hold(widget)
        self._held.setAlignment(self._go_on, Qt.AlignmentFlag.AlignLeading)
        self._texts.painted.connect(self._painted)
        for pane in (self._texts.source, self._texts.candidate):
            pane.cursorPositionChanged.connect(partial(self._follow, pane))
        bar = self._scroll.verticalScrollBar()
        bar.valueChanged.connect(self._scrolled_to)
        bar.rangeChanged.connect(lambda *_: self._grown())
        self.desk.look.changed.connect(self._arrange)

    def _around(self) -> tuple[QWidget, ...]:
        """Give what stays in sight below the texts."""
        return (self._below, self._unshown, self._answers, self._go_on, self._acts)

    # what is shown

    def draw(self, view: View) -> None:
        """Show a view; one without an item leaves the page as it is, for another page comes."""
        before, self.view = self.view, view
        self.tell(Trouble(view.trouble, view.detail) if view.trouble else None)
        self.say(view.said)
        if view.item is None:
            return
        self._draw_item(view, view.item)
        if not self.isVisible():
            return
        if _read(before) != _read(view):
            self._read_from_its_beginning()
            announce(self, self._spoken())

    def _read_from_its_beginning(self) -> None:
        """Show an item from its first line, and an explanation, which stands below, in full."""
        self._scroll.verticalScrollBar().setValue(0)
        if self.view.lesson is not None:
            self._bring(self._lesson)

    def _lay_out_now(self) -> None:
        """Let what was shown or hidden take its place before anything is looked for there."""
        self._column.activate()
        if (inside := self._inside.layout()) is not None:
            inside.activate()

    def tell(self, trouble: Trouble | None) -> None:
        """Say what went wrong, and fold what would push the sentence out of sight then."""
        super().tell(trouble)
        if self.view.item is not None:
            self._arrange()

    def _draw_item(self, view: View, item: ShownItem) -> None:
        self.place(item_words.place(self.words, view))
        self._draw_progress(view, item)
        self._texts.show_item(item)
        self._texts.show_marks(item_words.marks(self.words, item))
        self._lesson.tell(self.words, view.lesson)
        self._answers.mark([] if item.rating is None else [item.rating.rank])
        self._arrange()

    def _draw_progress(self, view: View, item: ShownItem) -> None:
        counted = view.phase is Phase.ITEMS
        self._progress.setMaximum(max(1, view.total if counted else item.of))
        self._progress.setValue(view.done if counted else item.number - 1)
        self._progress.setAccessibleName(item_words.place(self.words, view))

    def _spoken(self) -> str:
        """Say aloud where the person is and what is to be judged."""
        item, lesson = self.view.item, self.view.lesson
        if item is None:
            return ""
        if lesson is not None:
            explained = readable(lesson.explanation)
            return f"{item_words.lesson_said(self.words, lesson)} {explained}"
        return "\n".join(
            (
                item_words.place(self.words, self.view),
                f"{self.words(item_words.ORIGINAL)}: {readable(item.source)}",
                f"{self.words(item_words.TRANSLATION)}: {readable(item.candidate)}",
            )
        )

    @property
    def asks(self) -> bool:
        """Whether the item may be rated: every letter of it can be shown, or it is only practice."""
        item = self.view.item
        if item is None:
            return False
        if self._readable[0] != item.id:
            self._readable = (item.id, first_missing([item.source, item.candidate]) is None)
        return self._readable[1] or self.view.phase is Phase.TRAINING

    # where it is shown

    def enter_mode(self, mode: Mode) -> None:
        """Let the next key mean something else; what went wrong before it is over."""
        self.mode = mode
        self.tell(None)
        for own, panel in self._panels.items():
            panel.setVisible(own is mode)
        self._arrange()
        if mode is Mode.JUDGE:
            self.setFocus()
        else:
            self._bring(self._panels[mode])

    def _bring(self, widget: QWidget) -> None:
        """Bring a part of what scrolls into sight, and once more when all its words have found their lines."""
        self._lay_out_now()
        self._bring_now(widget)
        QTimer.singleShot(0, self, lambda: self._bring_now(widget))

    def _bring_now(self, widget: QWidget) -> None:
        """Show all of it, or where it is higher than the room its first line."""
        if not widget.isVisible():
            return
        if widget.height() <= self._scroll.viewport().height():
            self._scroll.ensureWidgetVisible(widget, 0, 0)
        else:
            top = widget.mapTo(self._inside, QPoint(0, 0)).y()
            self._scroll.verticalScrollBar().setValue(top)

    def _follow(self, pane: TextPane) -> None:
        """Keep the place in sight to which a person reads or selects with the arrow keys."""
        if pane.hasFocus():
            place = pane.mapTo(self._inside, pane.cursorRect().center())
            self._scroll.ensureVisible(place.x(), place.y(), 0, pane.cursorRect().height())

    def _grown(self) -> None:
        """Follow a box that grows while a person types."""
        self._tell_more()
        if self.mode is Mode.WRITING and self._banner.isHidden():
            self._bring(self._writing)

    def _arrange(self) -> None:
        """Give each part its place: the answers first, then the texts, then what else can be done."""
        for widget in self._around():
            set_letters(widget, self.around())
        self._unshown.setFont(fonts.font(self.around(), bold=True))
        self._texts.set_names(self.around())
        judges, lesson = self.mode is Mode.JUDGE, self.view.lesson is not None
        self._texts.setVisible(self.mode is not Mode.REASONS)
        self._lesson.setVisible(lesson and judges)
        self._answers.setVisible(judges and self.asks and not lesson)
        self._unshown.setVisible(judges and not self.asks)
        self._go_on.setVisible(judges and lesson)
        self._acts.setVisible(judges)
        self._acts.offer(self._offers(), self._behind(), self._width(), self._rows())
        self._tell_more()

    def _offers(self) -> list[Offer]:
        offers = item_words.offers(self.words, self.view)
        return offers if self.asks else [each for each in offers if each.act not in _UNASKED]

    def _behind(self) -> list[Act]:
        offered = {offer.act for offer in item_words.offers(self.words, self.view)}
        training = self.view.phase is Phase.TRAINING
        return [
            act for act in BEHIND if act not in offered and (act is Act.WITHDRAW or not training)
        ]

    def _rows(self) -> int:
        lines = self.height() / self._acts.fontMetrics().lineSpacing()
        if self.troubled:
            return 1
        return 2 if lines >= _ROOMY_LINES and self.around() == self.desk.look.size else 1

    def _width(self) -> int:
        margins = self._column.contentsMargins()
        return self.width() - margins.left() - margins.right()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold what has no room."""
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        """Wait for the item to be painted anew, and fold what has no room."""
        super().showEvent(event)
        if not event.spontaneous() and self.view.item is not None:
            self._texts.forget()
            self._texts.show_item(self.view.item)
        self._arrange()

    # what was seen

    def _painted(self) -> None:
        item = self.view.item
        if item is not None and self.isVisible() and not self.window().isMinimized():
            self.session.painted(item.id)
        self._tell_more()

    def _scrolled_to(self) -> None:
        self.session.touched()
        self._tell_more()

    def _tell_more(self) -> None:
        bar = self._scroll.verticalScrollBar()
        rest = bar.maximum() - bar.value()
        more = rest > self.fontMetrics().lineSpacing() // 2  # less is only the margin
        self._below.setVisible(self.mode is Mode.JUDGE and more)


def _read(view: View) -> tuple[str, Lesson | None]:
    """Give what there is to read in a view."""
    return (view.item.id if view.item else "", view.lesson)
