"""Parts of a sentence's page: its texts, what the person added before, and buttons for what else can be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from string import ascii_lowercase

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QFont, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from review.desktop.frame.page import with_control
from review.desktop.look import shown
from review.desktop.parts.buttons import Button, key_said
from review.desktop.parts.flow import FlowLayout, empty
from review.desktop.parts.texts import Line, OneLine, WholeText, capital
from review.session.view import ShownItem
from review.session.words import item as item_words
from review.session.words.catalogue import Words
from review.session.words.item import Mark, Offer
from review.session.words.keys import ACT_WORDS, KEYS, RATING_OF, Act, act_of


class FoldedLine(OneLine):
    """One quiet line with what is next to a sentence; a click, the space bar or Enter shows the whole, or hides it."""

    def __init__(self, marks: Sequence[Mark], *, opened: bool) -> None:
        self.opened = opened
        self._texts = [_in_line(mark) for mark in marks]
        super().__init__("", "quiet")
        self.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._lines = [Line(text, "quiet") for text in self._texts]
        self._show()

    @property
    def parts(self) -> list[Line]:
        """Return the line, then the lines that it opens."""
        return [self, *self._lines]

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()
        self._turn()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._turn()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._underline()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._underline()

    def _underline(self) -> None:
        letters = self.font()
        letters.setUnderline(self.hasFocus())
        self.setFont(letters)

    def _turn(self) -> None:
        self.opened = not self.opened
        self._show()

    def _show(self) -> None:
        whole = "  ".join(self._texts)
        self.setText("▾" if self.opened else f"▸ {whole}")
        self.setAccessibleName(whole)
        for line in self._lines:
            if line.parent() is not None or not self.opened:  # without a parent it would be a window
                line.setVisible(self.opened)


def _in_line(mark: Mark) -> str:
    return f"{mark.said} {shown(mark.text)}"


class Marks(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Mark, ...] = ()
        self._folded: FoldedLine | None = None
        self._folds: list[Mark] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.hide()

    def show_marks(self, marks: Sequence[Mark]) -> None:
        if tuple(marks) == self._shown:
            return
        self._shown = tuple(marks)
        folds = [mark for mark in marks if mark.folded]
        opened = self._folded is not None and self._folded.opened and folds == self._folds
        empty(self._column)
        self._folded, self._folds = None, folds
        for mark in marks:
            if mark.folded:
                continue
            line = Line(_in_line(mark) if mark.in_line and mark.text else mark.said, "warn" if mark.warns else "quiet")
            self._column.addWidget(line)
            if mark.text and not mark.in_line:
                pane = WholeText()
                line.name_of(pane)
                pane.setAccessibleName(mark.said)
                pane.show_text(shown(mark.text))
                self._column.addWidget(pane)
        if folds:
            self._folded = FoldedLine(folds, opened=opened)
            for line in self._folded.parts:
                self._column.addWidget(line)
        self.setVisible(bool(marks))


DECIDED_SCALE = 1.35  # What is judged, or translated, stands in larger letters than the rest


class ItemTexts(QWidget):
    """Tells when an item was really painted, and whether its translation was."""

    painted = Signal()  # What was shown last is on the screen, as far as there is room

    def __init__(self, words: Words, *, translation: bool = True) -> None:
        """``translation`` tells whether there is one to read."""
        super().__init__()
        self._words, self._translation = words, translation
        self.source, self.candidate = WholeText(), WholeText()
        self._source_seen = self._translation_seen = False
        self._shown = ("", "", "")  # Item, original and translation
        self._names: list[Line] = []
        self._marks = Marks()
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for title, pane in ((item_words.ORIGINAL, self.source), (item_words.TRANSLATION, self.candidate)):
            name = OneLine(words(title), "quiet").name_of(pane)
            self._names.append(name)
            pane.setAccessibleName(words(title))
            column.addWidget(name)
            column.addWidget(pane)
            for part in (name, pane):
                part.setVisible(translation or pane is self.source)
        column.addWidget(self._marks)
        self.source.drawn.connect(self._source_drawn)
        self.candidate.drawn.connect(self._translation_drawn)

    def put_under(self, asked: QWidget) -> None:
        """Insert a question about the texts right under them, above what is next to them."""
        self._column.insertWidget(self._column.indexOf(self._marks), asked)

    def show_names_in(self, letters: QFont, gap: int) -> None:
        """Set the font of the names above the texts, and the gap between the lines in pixels."""
        self._column.setSpacing(gap)
        for name in self._names:
            name.setFont(letters)

    @property
    def seen(self) -> bool:
        """Return whether the item was on the screen."""
        return self._source_seen or self._translation_seen

    @property
    def translation_seen(self) -> bool:
        """Return whether its translation, or the beginning of it, was."""
        return self._translation_seen

    def show_item(self, item: ShownItem) -> None:
        """Show an item's texts; those that are shown already stay as they are, and count as seen."""
        texts = (item.id, item.source, item.candidate)
        if texts == self._shown:
            self._drawn()
            return
        self._shown = texts
        self._source_seen = self._translation_seen = False
        name = shown(item_words.original_name(self._words, item))
        self._names[0].setText(name)
        self.source.setAccessibleName(name)
        self.source.show_text(shown(item.source), 1.0 if self._translation else DECIDED_SCALE)
        self.candidate.show_text(shown(item.candidate), DECIDED_SCALE)

    def read(self, item: ShownItem) -> list[str]:
        """Return the texts of an item that are read."""
        return [item.source, item.candidate] if self._translation else [item.source]

    def spoken(self, item: ShownItem) -> list[str]:
        """Return the same for one who hears them, each with its name."""
        named = zip((self.source, self.candidate), self.read(item), strict=False)
        return [f"{pane.accessibleName()}: {shown(text)}" for pane, text in named]

    def forget(self) -> None:
        """Wait for the item to be painted again: something else was in its place."""
        self._shown = ("", "", "")

    def show_marks(self, marks: list[Mark]) -> None:
        self._marks.show_marks(marks)

    def _drawn(self) -> None:
        QTimer.singleShot(0, self, self.painted.emit)  # both texts are painted in one go

    def _source_drawn(self) -> None:
        self._source_seen = True
        self._drawn()

    def _translation_drawn(self) -> None:
        self._translation_seen = True
        self._drawn()


# ---- What can be done beside the answers: as many buttons as there is room for, the others
# behind one button.
#
# The answers come first: where the screen is low, this row gives way to the texts. F1 and some
# keys held with Ctrl mean the same while a person types.

# Which keep their button where there is not room for all, those most needed first
FIRST = (Act.CANNOT_JUDGE, Act.WORDING, Act.HARM, Act.UNDO, Act.COMMENT, Act.SKIP, Act.HELP, Act.REASONS, Act.QUIT)
# What is done so seldom that it always stands behind the button
BEHIND = (Act.UNRATED, Act.UNSAVED, Act.HAND_OVER, Act.SHARING, Act.WITHDRAW)


class ActRow(QWidget):
    chosen = Signal(object)  # An Act
    more = Signal()

    def __init__(self, words: Words, said: Mapping[Act, str] = ACT_WORDS) -> None:
        """``said`` is what each act does, in full words."""
        super().__init__()
        self._words, self._said = words, said
        self._flow = FlowLayout()
        self.setLayout(self._flow)
        self._buttons: dict[Act, Button] = {}
        self._offered: tuple[Offer, ...] = ()
        self._letters = QFont()  # Those of the page, or smaller ones
        self._more = Button(capital(words("more …")))
        self._more.clicked.connect(self.more)
        self._flow.addWidget(self._more)
        self.folded: tuple[Act, ...] = ()  # What is offered and has no button in sight

    def offer(self, offers: Sequence[Offer], behind: Sequence[Act], width: int, rows: int) -> None:
        """Show these, as far as they fit into some rows of this width, or all for 0; ``behind`` are never in the row.

        The room of the rows is kept where less is offered: what stands above never moves under a hand.
        """
        self.setMinimumHeight(self.high(rows))
        row = tuple(offer._replace(now=True) for offer in offers)
        if row != self._offered:
            self._offered = row
            self._make(row)
        shown = self._fitting(width, rows, folds=bool(behind))
        for act, button in self._buttons.items():
            button.setVisible(act in shown)
        # Disable in place what means nothing yet; the focus goes to no other act, which nobody chose
        for offer in offers:
            button = self._buttons[offer.act]
            if button.hasFocus() and not offer.now:
                self._more.setFocus()
            button.setEnabled(offer.now)
        self.folded = (*(offer.act for offer in offers if offer.act not in shown and offer.now), *behind)
        self._more.setVisible(bool(self.folded))

    def show_in(self, letters: QFont) -> None:
        self._letters = letters
        for button in (*self._buttons.values(), self._more):
            button.setFont(letters)

    def high(self, rows: int) -> int:
        """Return pixels of the height of that many rows."""
        row = self._more.sizeHint().height()
        return max(0, rows * row + (rows - 1) * max(0, self._flow.spacing()))

    def _make(self, offers: Sequence[Offer]) -> None:
        """Create a button for each offer in the row, in their order, and the one for the rest at its end."""
        for button in (*self._buttons.values(), self._more):
            self._flow.removeWidget(button)
        for offer in offers:
            if offer.act not in self._buttons:
                self._buttons[offer.act] = self._button(offer)
            self._buttons[offer.act].setText(capital(offer.said))
            self._flow.addWidget(self._buttons[offer.act])
        self._flow.addWidget(self._more)
        # Order the buttons as the eye does for Tab and screen readers, which go by the age of buttons
        row = [*(self._buttons[offer.act] for offer in self._offered), self._more]
        for button in row:
            button.raise_()
        for one, following in pairwise(row):
            QWidget.setTabOrder(one, following)

    def _button(self, offer: Offer) -> Button:
        button = Button(capital(offer.said), KEYS[offer.act][0])
        button.setFont(self._letters)
        label = self._words(self._said[offer.act])
        button.setAccessibleDescription(f"{label}. {key_said(KEYS[offer.act][0])}")
        button.clicked.connect(lambda: self.chosen.emit(offer.act))
        return button

    def _fitting(self, width: int, rows: int, *, folds: bool) -> set[Act]:
        """Choose what fits; where anything is left over, the last place is for the others."""
        acts = [offer.act for offer in self._offered]
        needed = sorted(acts, key=FIRST.index)
        for count in range(len(acts), 0, -1):
            shown = set(needed[:count])
            last = [self._more] if folds or count < len(acts) else []
            buttons = [*(self._buttons[act] for act in acts if act in shown), *last]
            if not rows or self._rows(buttons, width) <= rows:
                return shown
        return set()

    def _rows(self, buttons: Sequence[Button], width: int) -> int:
        rows, used = 1, 0
        for button in buttons:
            wide = min(button.sizeHint().width(), width)
            if used and used + wide > width:
                rows, used = rows + 1, 0
            used += wide + max(0, self._flow.spacing())
        return rows


_LAST_CHARACTER = 0x10FFFF


def control_act(event: QKeyEvent) -> Act | None:
    """Return what such a key does: F1 helps, Ctrl+Z takes back, Ctrl with a digit rates."""
    if event.key() == Qt.Key.Key_F1:
        return Act.HELP
    if not with_control(event):
        return None
    if event.matches(QKeySequence.StandardKey.Undo):
        return Act.UNDO
    if event.key() > _LAST_CHARACTER:
        return None
    character = chr(event.key()).lower()
    act = None if character in ascii_lowercase else act_of(character)
    return act if act in RATING_OF else None
