"""The page of a sentence to translate as it looks: the sentence, the box, and what else can be done."""

from __future__ import annotations

from enum import Enum, auto

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QProgressBar, QWidget

from corpora.visible import readable
from review.desktop.act_row import BEHIND, ActRow
from review.desktop.announcing import announce
from review.desktop.choices import Choices, OnceMore
from review.desktop.desk import Desk
from review.desktop.letters import set_letters
from review.desktop.missing_letters import first_missing
from review.desktop.more_acts import MoreActs
from review.desktop.page import Page
from review.desktop.text_pane import TextPane
from review.desktop.translation_box import TranslationBox
from review.desktop.writing import Writing
from review.session import item_words
from review.session.keys import TRANSLATION_WORDS, Act
from review.session.session import Session
from review.session.troubles import Trouble
from review.session.view import Phase, ShownItem, View

SENTENCE_SCALE = 1.35
"""The sentence is all there is to read: it stands in larger letters than the rest."""
_ROOMY_LINES = 28
"""Lines of text that a window must be high for a second row of acts."""
_UNASKED = frozenset({Act.COMMENT, Act.HARM})
"""What is not offered about a sentence whose letters cannot be shown."""


class Mode(Enum):
    """What the next key means."""

    TRANSLATE = auto()
    """It is text."""
    ACTS = auto()
    """It is one of the keys that the buttons show."""
    WHY = auto()
    """Why the person cannot translate."""
    HARM = auto()
    COMMENT = auto()
    MORE = auto()
    """What else can be done."""


class TranslationFace(Page):
    """Draws the session's view; what is typed stays until the next sentence comes."""

    PARTS = (27, 44)

    def __init__(self, desk: Desk, session: Session) -> None:
        super().__init__(desk)
        self.session = session
        self.view = session.view
        self.mode = Mode.TRANSLATE
        self._shown = ""
        """Id of the sentence that is drawn."""
        self._readable: tuple[str, bool] = ("", True)
        words, letters = self.words, session.manifest.letters
        self._progress = QProgressBar()
        self._name, self._sentence = QLabel(words(item_words.ORIGINAL)), TextPane()
        self._marks = QLabel()
        self._box = TranslationBox(words, letters)
        self._why = Choices(words, item_words.why_not(words))
        self._harm = OnceMore(words)
        self._comment = Writing(words, letters)
        self._more = MoreActs(words, TRANSLATION_WORDS)
        self._below, self._unshown = QLabel(words(item_words.GOES_ON_BELOW)), QLabel()
        self._acts = ActRow(words, TRANSLATION_WORDS)
        self._save = self.button(
            words(item_words.SAVE_AND_GO_ON), self._box.save, words("Enter"), main=True
        )
        self._put_in_place()

    def _put_in_place(self) -> None:
        self._progress.setTextVisible(False)
        self.under_head(self._progress)
        name = self._name
        name.setBuddy(self._sentence)
        self._sentence.setAccessibleName(name.text())
        self._unshown.setText(
            " ".join(
                (
                    self.words("This computer cannot show some letters."),
                    self.words(
                        "Leave this sentence for later, or say that you cannot translate it."
                    ),
                )
            )
        )
        roles = ((name, "quiet"), (self._marks, "quiet"), (self._below, "quiet"))
        for label, role in (*roles, (self._unshown, "warn")):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setProperty("role", role)
        self._panels: dict[Mode, QWidget] = {
            Mode.WHY: self._why,
            Mode.HARM: self._harm,
            Mode.COMMENT: self._comment,
            Mode.MORE: self._more,
        }
        for widget in (name, self._sentence, self._marks, self._box, *self._panels.values()):
            self.add(widget)
        for panel in self._panels.values():
            panel.hide()
        for widget in (self._below, self._unshown, self._acts):
            self.hold(widget)
        self._sentence.drawn.connect(lambda: QTimer.singleShot(0, self, self._painted))
        self._box.typing.connect(self._follow)
        bar = self._scroll.verticalScrollBar()
        bar.valueChanged.connect(self._scrolled_to)
        bar.rangeChanged.connect(lambda *_: self._tell_more())
        self.desk.look.changed.connect(self._arrange)

    # what is shown

    def draw(self, view: View) -> None:
        """Show a view; one without an item leaves the page as it is, for another page comes."""
        self.view = view
        self.tell(Trouble(view.trouble, view.detail) if view.trouble else None)
        self.say(view.said)
        item = view.item
        if item is None:
            return
        self._draw_progress(view, item)
        self._show_marks(item)
        if item.id != self._shown:
            self._draw_sentence(item)
        self._arrange()

    def _draw_sentence(self, item: ShownItem) -> None:
        """Show another sentence, and what this person wrote for it before."""
        self._shown = item.id
        self._sentence.show_text(readable(item.source), SENTENCE_SCALE)
        self._box.begin(item.translation)
        self._scroll.verticalScrollBar().setValue(0)
        if self.isVisible():
            announce(self, self._spoken())

    def _draw_progress(self, view: View, item: ShownItem) -> None:
        place = item_words.place(self.words, view)
        self.place(place)
        counted = view.phase is Phase.ITEMS
        self._progress.setMaximum(max(1, view.total if counted else item.of))
        self._progress.setValue(view.done if counted else item.number - 1)
        self._progress.setAccessibleName(place)

    def _show_marks(self, item: ShownItem) -> None:
        lines = [
            f"{mark.said} {readable(mark.text)}" if mark.text else mark.said
            for mark in item_words.translation_marks(self.words, item)
        ]
        self._marks.setText("\n".join(lines))
        self._marks.setVisible(bool(lines))

    def _spoken(self) -> str:
        """Say aloud where the person is and what is to be translated."""
        item = self.view.item
        if item is None:
            return ""
        said = f"{self.words(item_words.ORIGINAL)}: {readable(item.source)}"
        return f"{item_words.place(self.words, self.view)}\n{said}"

    @property
    def asks(self) -> bool:
        """Whether a translation may be asked for: every letter of the sentence can be shown."""
        item = self.view.item
        if item is None:
            return False
        if self._readable[0] != item.id:
            self._readable = (item.id, first_missing([item.source]) is None)
        return self._readable[1]

    # where it is shown

    def enter_mode(self, mode: Mode) -> None:
        """Let the next key mean something else; what went wrong before it is over."""
        self.mode = mode
        self.tell(None)
        for own, panel in self._panels.items():
            panel.setVisible(own is mode)
        self._arrange()
        if mode is Mode.TRANSLATE and self.asks:
            self._box.setFocus()
        elif mode is not Mode.COMMENT:
            self.setFocus()
        if (shown := self._panels.get(mode)) is not None:
            self._bring_into_sight(shown)

    def _bring_into_sight(self, widget: QWidget) -> None:
        self._lay_out_now()
        self._scroll.ensureWidgetVisible(widget, 0, 0)

    def _lay_out_now(self) -> None:
        """Let what was shown or hidden take its place before anything is looked for there."""
        for each in (self, self._scroll.widget()):
            if each is not None and (layout := each.layout()) is not None:
                layout.activate()

    def _arrange(self) -> None:
        """Give each part its place: the sentence and the box first, then what else can be done."""
        for widget in (self._name, self._below, self._unshown, self._acts):
            set_letters(widget, self.around())
        roomy = self.height() >= _ROOMY_LINES * self.fontMetrics().lineSpacing()
        rows = 2 if roomy and not self.troubled else 1
        writes = self.mode in {Mode.TRANSLATE, Mode.ACTS}
        self._box.setVisible(self.asks and writes)
        self._save.setVisible(self.asks and writes)
        self._unshown.setVisible(not self.asks)
        self._acts.setVisible(writes)
        offers = item_words.translation_offers(self.words, self.view)
        if not self.asks:
            offers = [each for each in offers if each.act not in _UNASKED]
        self._acts.offer(offers, BEHIND, self._width(), rows)
        self._tell_more()

    def _width(self) -> int:
        layout = self.layout()
        if layout is None:
            return 0
        margins = layout.contentsMargins()
        return self.width() - margins.left() - margins.right()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold what has no room."""
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        """Wait for the sentence to be painted anew, and fold what has no room."""
        super().showEvent(event)
        if not event.spontaneous() and self.view.item is not None:
            self._sentence.show_text(readable(self.view.item.source), SENTENCE_SCALE)
        self._arrange()

    # what was seen

    def _painted(self) -> None:
        item = self.view.item
        if item is not None and self.isVisible() and not self.window().isMinimized():
            self.session.painted(item.id)
        self._tell_more()

    def _follow(self) -> None:
        """Keep the line in sight on which a person types, and as much of the sentence as there is room for."""
        inside = self._scroll.widget()
        if self.mode is not Mode.TRANSLATE or inside is None or not self._box.is_used:
            return
        self._lay_out_now()
        line = self._box.line_in(inside)
        self._scroll.ensureVisible(line.center().x(), line.bottom(), 0, line.height())

    def _scrolled_to(self) -> None:
        self.session.touched()
        self._tell_more()

    def _tell_more(self) -> None:
        bar = self._scroll.verticalScrollBar()
        self._below.setVisible(bar.value() < bar.maximum())
