"""Texts to read and the box for one's own words, in their direction and room; what went wrong; rows and columns."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QInputMethodEvent, QKeyEvent, QKeySequence, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QSizePolicy, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from harness.core.storage import StorageProblem
from review.desktop import look
from review.desktop.frame import page_parts as banner_module
from review.desktop.frame.page_parts import Banner
from review.desktop.look import SIZES
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowColumns, FlowLayout
from review.desktop.parts.texts import TextPane
from review.desktop.parts.writing import TypingBox, Writing
from review.log.payloads import MOST_TEXT
from review.session.words.catalogue import Words
from review.session.words.troubles import SAVING, Trouble
from tests.desktop.item_scene import typing_box
from tests.desktop.visit_scene import dressed
from tests.review.thorough import examples, first

pytestmark = pytest.mark.usefixtures("qapp")

LONG = "ᓂᐚᐸᒫᐤ ᐊᑎᒼ. I saw a caribou. " * 40


class Window(QWidget):
    """Notes the keys that come through to the page."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[str] = []
        self.pane = TextPane()
        column = QVBoxLayout(self)
        column.addWidget(self.pane)
        column.addStretch(1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.keys.append(event.text() or Qt.Key(event.key()).name)


@pytest.fixture
def window(qtbot: QtBot) -> Window:
    dressed()
    made = Window()
    qtbot.addWidget(made)
    made.resize(600, 500)
    return made


def show(qtbot: QtBot, window: Window) -> None:
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.qWait(0)


def test_it_is_told_once_when_a_text_is_painted(qtbot: QtBot, window: Window) -> None:
    drawn: list[str] = []
    pane = window.pane
    pane.drawn.connect(lambda: drawn.append(pane.toPlainText()))
    pane.show_text("first")
    pane.show_text("second")
    QTest.qWait(20)
    assert drawn == []
    show(qtbot, window)
    qtbot.waitUntil(lambda: drawn == ["second"])
    pane.viewport().repaint()
    QTest.qWait(20)
    assert drawn == ["second"]
    pane.show_text("second")
    qtbot.waitUntil(lambda: drawn == ["second", "second"])
    pane.hide()
    with qtbot.assertNotEmitted(pane.drawn, wait=30):
        pane.show_text("x")
    with qtbot.waitSignal(pane.drawn):
        pane.show()


def test_texts_run_in_their_direction_and_nothing_acts(qtbot: QtBot, window: Window) -> None:
    window.pane.show_text("ᓂᐚᐸᒫᐤ\nسڵاو (abc).\n123 سڵاو\natim")
    show(qtbot, window)
    document, right = window.pane.document(), []
    for number in range(document.blockCount()):
        line = document.findBlockByNumber(number).layout().lineAt(0)
        right.append(line.naturalTextRect().left() > 100)
    assert right == [False, True, True, False]
    text = "<b>bold</b> <img src='file:///etc/passwd'> &amp; https://example.org\t|"
    window.pane.show_text(text)
    show(qtbot, window)
    assert window.pane.toPlainText() == text
    assert window.pane.document().toPlainText() == text
    assert not window.pane.textInteractionFlags() & Qt.TextInteractionFlag.TextEditable


@pytest.mark.parametrize("size", first(2, [16, 48, *SIZES[1:-1]]))
def test_pane_is_as_high_as_its_text(qtbot: QtBot, window: Window, size: int) -> None:
    dressed(size)
    window.resize(700, 3000)
    show(qtbot, window)
    pane = window.pane
    for text in ("long " * 60, "one", "ᓂᐚᐸᒫᐤ سڵاو x̌ q̓", "a\nb\nc"):
        pane.show_text(text, 1.35)
        QApplication.sendPostedEvents()
        qtbot.waitUntil(lambda: pane.viewport().height() - pane.document().size().height() < 3)
        assert pane.verticalScrollBar().maximum() == 0
        assert not pane.more_below
        assert pane.document().defaultFont().pixelSize() == round(1.35 * size)


def test_where_there_is_little_room_it_scrolls_and_says_so(qtbot: QtBot, window: Window) -> None:
    pane = window.pane
    pane.show_text(LONG)
    window.resize(400, 200)
    show(qtbot, window)
    assert pane.height() <= 200
    assert pane.viewport().height() >= 2 * pane.fontMetrics().height()
    assert pane.more_below
    assert pane.horizontalScrollBar().maximum() == 0
    pane.verticalScrollBar().setValue(pane.verticalScrollBar().maximum())
    assert not pane.more_below
    pane.show_text(LONG + "x")
    assert pane.verticalScrollBar().value() == 0
    assert pane.more_below


def test_keys_of_a_text_copy_or_are_the_page_s(qtbot: QtBot, window: Window) -> None:
    text = "ᓂᐚᐸᒫᐤ ᐊᑎᒼ\nsecond"
    other = TextPane(window)
    window.layout().addWidget(other)
    window.pane.show_text(text)
    window.pane.setAccessibleName("Translation")
    show(qtbot, window)
    window.pane.setFocus()
    for key in (Qt.Key.Key_1, Qt.Key.Key_U, Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Comma):
        QTest.keyClick(window.pane, key)
    assert window.keys == ["1", "u", "\r", "\x1b", ","]
    assert window.pane.toPlainText() == text
    window.pane.moveCursor(QTextCursor.MoveOperation.Start)
    QTest.keySequence(window.pane, QKeySequence(QKeySequence.StandardKey.SelectAll))
    QTest.keySequence(window.pane, QKeySequence(QKeySequence.StandardKey.Copy))
    assert QGuiApplication.clipboard().text() == text
    interface = QAccessible.queryAccessibleInterface(window.pane)
    assert interface.text(QAccessible.Text.Name) == "Translation"
    assert interface.text(QAccessible.Text.Value) == text
    assert interface.state().readOnly
    assert interface.state().focusable
    QTest.keyClick(window.pane, Qt.Key.Key_Tab)
    assert other.hasFocus()
    window.pane.show_text("ᐚ" * 500)  # a word without an end is broken
    assert window.pane.document().size().width() <= window.pane.viewport().width()


# the box for a person's own words: input methods, pasting, new lines, bounds

SYLLABICS = "ᐊᑎᒼ ᓂᐚᐸᒫᐤ"


@pytest.fixture
def box(qtbot: QtBot) -> TypingBox:
    box = TypingBox()
    box.setFont(look.font(20))
    qtbot.addWidget(box)
    box.resize(400, 100)
    box.show()
    qtbot.waitExposed(box)
    box.begin("")
    return box


def type_text(box: TypingBox, text: str) -> None:
    """Type as a keyboard does whose keys give any text."""
    for character in text:
        for kind in (QKeyEvent.Type.KeyPress, QKeyEvent.Type.KeyRelease):
            key = QKeyEvent(kind, 0, Qt.KeyboardModifier.NoModifier, character)
            QApplication.sendEvent(box, key)


def compose(box: TypingBox, preedit: str = "", commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QApplication.sendEvent(box, event)


def paste(box: TypingBox, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    box.paste()


def test_box_takes_any_script_and_gives_what_is_composed(box: TypingBox, qtbot: QtBot) -> None:
    type_text(box, f"1 2 {SYLLABICS} d!")
    assert box.written == f"1 2 {SYLLABICS} d!"
    box.begin("")
    type_text(box, "  nîpîy i\u0302 ")
    assert box.written == "nîpîy î"
    box.begin("")
    compose(box, preedit="ni")
    assert box.toPlainText() == ""
    compose(box, commit="ᓂ")
    assert (box.toPlainText(), box.written) == ("ᓂ", "ᓂ")
    box.begin("𑪰 ᐤ")
    box.moveCursor(box.textCursor().MoveOperation.PreviousCharacter)
    compose(box, preedit="ᓂᐚᐸᒫ")
    assert box.written == "𑪰 ᓂᐚᐸᒫᐤ"
    box.begin("")
    type_text(box, "a ")
    compose(box, preedit="ᑲᓂ")
    with qtbot.waitSignal(box.saved) as saved:
        QTest.keyClick(box, Qt.Key.Key_Return)
    assert saved.args == ["a ᑲᓂ"]
    assert box.toPlainText() == "a ᑲᓂ"
    box.begin("")
    type_text(box, "half a ")
    compose(box, preedit="word")
    with qtbot.waitSignal(box.left) as left:
        QTest.keyClick(box, Qt.Key.Key_Escape)
    assert left.args == ["half a word"]
    box.begin("")
    type_text(box, "one")
    QTest.keyClick(box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    type_text(box, "סוס")
    assert box.written == "one\nסוס"
    directions = [box.document().findBlockByNumber(n).textDirection() for n in (0, 1)]
    assert directions == [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft]


def test_pasted_text_is_cleaned_and_has_no_form(box: TypingBox) -> None:
    mime = QMimeData()
    mime.setHtml("<b>bold</b>")
    mime.setText("a\x00b\x1b[31m\u202ec\u2066\td\r\ne\u00a0f\ue000")
    assert box.canInsertFromMimeData(mime)
    box.insertFromMimeData(mime)
    assert box.toPlainText() == "ab[31mc d\ne f"
    mime = QMimeData()
    mime.setData("image/png", b"\x89PNG")
    assert not box.canInsertFromMimeData(mime)


@pytest.mark.parametrize("letter", ["a", "ᐊ", "\U00011ab0"], ids=["ascii", "bmp", "astral"])
def test_no_way_of_writing_goes_over_the_bound(box: TypingBox, letter: str) -> None:
    paste(box, letter * (MOST_TEXT + 100))
    assert box.toPlainText() == letter * MOST_TEXT
    type_text(box, letter)
    compose(box, commit=letter * 3)
    box.insert(letter)
    assert box.toPlainText() == letter * MOST_TEXT
    box.selectAll()
    paste(box, "new")
    assert box.toPlainText() == "new"


def test_keys_of_the_page_are_left_to_it_and_the_box_grows(box: TypingBox) -> None:
    box.begin("", start="The translation.")
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.written == "The translation."
    box.begin("mine", start="The translation.")
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.written == "mine"

    def taken() -> bool:
        key = QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_PageDown, Qt.KeyboardModifier.NoModifier)
        box.keyPressEvent(key)
        return key.isAccepted()

    box.begin("One line.")
    assert not taken()
    box.begin("\n".join(map(str, range(40))))
    assert taken()

    def height(lines: int) -> int:
        box.begin("\n".join(["word"] * lines))
        return box.sizeHint().height()

    heights = [height(lines) for lines in (1, 2, 4, 6, 30)]
    assert heights == sorted(heights)
    assert heights[0] == heights[1] < heights[2] < heights[3] == heights[4]


# the box with its letters and buttons


@pytest.fixture
def writing(qtbot: QtBot) -> Writing:
    writing = Writing(Words.load("en"), ["â", "ᐊ"])
    qtbot.addWidget(writing)
    writing.resize(600, 300)
    writing.layout().addWidget(writing.acts)  # a page puts them at its foot
    writing.show()
    qtbot.waitExposed(writing)
    return writing


def buttons(writing: Writing, name: str) -> list[QAbstractButton]:
    found = writing.findChildren(QAbstractButton)
    return [each for each in found if each.isVisible() and each.accessibleName() == name]


def press(qtbot: QtBot, writing: Writing, name: str) -> None:
    [found] = buttons(writing, name)
    qtbot.mouseClick(found, Qt.MouseButton.LeftButton)


def test_box_with_letters_and_buttons_gives_what_is_written(writing: Writing, qtbot: QtBot) -> None:
    for name, signal in (("Save", writing.saved), ("Back; your words are kept", writing.left)):
        writing.begin("Your comment", "a ")
        compose(typing_box(writing), preedit="word")
        with qtbot.waitSignal(signal) as given:
            press(qtbot, writing, name)
        assert given.args == ["a word"]
    writing.begin("Your comment", "a\u202eb\x07")
    assert writing.text == "ab", "what was kept before is cleaned when it comes back"
    box = typing_box(writing)
    writing.begin("Your comment", "nipy")
    assert buttons(writing, "Copy the translation here") == []
    box.moveCursor(box.textCursor().MoveOperation.PreviousCharacter)
    press(qtbot, writing, "â")
    assert writing.text == "nipây"
    assert QApplication.focusWidget() is box
    writing.begin("A better translation", "", start="ᓂᐚᐸᒫᐤ")
    for _ in range(2):
        press(qtbot, writing, "Copy the translation here")
        assert writing.text == "ᓂᐚᐸᒫᐤ"
    face = QAccessible.queryAccessibleInterface(box)
    assert face.text(QAccessible.Text.Name) == "A better translation"
    assert face.textInterface().text(0, face.textInterface().characterCount()) == "ᓂᐚᐸᒫᐤ"


# what went wrong stands on the page; rows and columns of widgets in reading order, inside their room

WORDS = Words.load("en")
DETAIL = "SQLITE_FULL: /a-folder-with-a-long-name/" + "x" * 120
FULL = Trouble(SAVING[StorageProblem.DISK_FULL], DETAIL)


@pytest.fixture
def framed(qtbot: QtBot) -> QWidget:
    dressed()
    made = QWidget()
    qtbot.addWidget(made)
    column = QVBoxLayout(made)
    column.addWidget(Banner(made))
    column.addStretch(1)
    made.resize(640, 600)
    made.show()
    return made


def banner_of(framed: QWidget) -> Banner:
    (found,) = framed.findChildren(Banner)
    return found


def test_banner_tells_once_and_goes(framed: QWidget, monkeypatch: pytest.MonkeyPatch) -> None:
    spoken: list[str] = []
    monkeypatch.setattr(banner_module, "announce", lambda widget, text: spoken.append(text))
    banner = banner_of(framed)
    assert not banner.isVisible()
    banner.tell(WORDS, FULL)
    assert banner.isVisible()
    assert [label.text() for label in banner.findChildren(QLabel)] == [FULL.said]
    (button,) = banner.findChildren(Button)
    assert button.text() == "Copy the detail"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == DETAIL
    name = QAccessible.queryAccessibleInterface(banner).text(QAccessible.Text.Name)
    assert name == FULL.said
    banner.tell(WORDS, None)
    assert not banner.isVisible()
    assert spoken == [FULL.said]
    banner.tell(WORDS, Trouble("<b>not</b> &saved", ""))
    (label,) = banner.findChildren(QLabel)
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert label.text() == "<b>not</b> &saved"
    assert not any(button.isVisible() for button in banner.findChildren(Button))
    assert not any(pane.isVisible() for pane in banner.findChildren(TextPane))


@pytest.mark.parametrize(("size", "width"), first(1, dict.fromkeys([(48, 640), *product(SIZES, (640, 1024))])))
def test_all_of_it_is_seen(framed: QWidget, qtbot: QtBot, size: int, width: int) -> None:
    dressed(size)
    framed.resize(width, 1600)
    box = TextPane(framed)
    framed.layout().addWidget(box)
    QApplication.sendPostedEvents()  # it is shown
    framed.activateWindow()
    qtbot.waitUntil(framed.isActiveWindow)
    box.setFocus()
    banner = banner_of(framed)
    banner.tell(WORDS, FULL)
    assert box.hasFocus()
    (label,) = banner.findChildren(QLabel)
    (pane,) = banner.findChildren(TextPane)
    (button,) = banner.findChildren(Button)
    qtbot.waitUntil(lambda: pane.verticalScrollBar().maximum() == 0)
    assert framed.width() == width
    assert label.height() >= label.heightForWidth(label.width())
    assert button.height() >= button.heightForWidth(button.width())
    for part in (label, pane, button):
        corner = part.mapTo(banner, part.rect().bottomRight())
        assert banner.rect().contains(corner)


class Block(QWidget):
    def __init__(self, wide: int, high: int) -> None:
        super().__init__()
        self._size = QSize(wide, high)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    def sizeHint(self) -> QSize:
        return self._size

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self._size.width(), 60), self._size.height())


sizes = st.lists(st.tuples(st.integers(44, 700), st.integers(44, 120)), min_size=1, max_size=12)


def laid_out(
    layout: type[FlowLayout | FlowColumns], blocks: list[tuple[int, int]], width: int, *, rtl: bool
) -> tuple[QWidget, list[QRect]]:
    box = QWidget()
    way = Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
    box.setLayoutDirection(way)
    rows = layout(box)
    made = [Block(*size) for size in blocks]
    for block in made:
        rows.addWidget(block)
    box.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    box.resize(width, rows.heightForWidth(width))
    box.show()
    rows.activate()
    return box, [block.geometry() for block in made]


@examples(15, 200)
@pytest.mark.parametrize("layout", [FlowLayout, FlowColumns])
@given(sizes, st.integers(100, 1400), st.booleans())
def test_nothing_lies_outside_or_upon_another(
    layout: type[FlowLayout | FlowColumns], blocks: list[tuple[int, int]], width: int, rtl: bool
) -> None:
    box, places = laid_out(layout, blocks, width, rtl=rtl)
    assert all(box.rect().contains(place) for place in places)
    assert not any(one.intersects(other) for one, other in combinations(places, 2))
    assert max(place.bottom() for place in places) == box.rect().bottom()
    for (wide, high), place in zip(blocks, places, strict=True):
        assert place.height() >= high
        assert layout is FlowColumns or place.width() == min(wide, width)
    for one, other in pairwise(places):
        later = other.right() < one.left() if rtl else other.left() > one.right()
        assert later if one.top() == other.top() else other.top() > one.bottom()


@examples(15, 200)
@given(sizes, st.integers(100, 1400))
def test_other_direction_is_the_mirror_image(blocks: list[tuple[int, int]], width: int) -> None:
    _, left = laid_out(FlowLayout, blocks, width, rtl=False)
    _, right = laid_out(FlowLayout, blocks, width, rtl=True)
    mirrored = [QRect(width - r.right() - 1, r.top(), r.width(), r.height()) for r in right]
    assert mirrored == left


@examples(15, 200)
@given(st.integers(1, 12), st.integers(100, 1400))
def test_columns_are_of_one_width_in_full_rows(number: int, width: int) -> None:
    _, places = laid_out(FlowColumns, [(200, 50)] * number, width, rtl=False)
    tops = sorted({place.top() for place in places})
    rows = [sum(place.top() == top for place in places) for top in tops]
    assert len({place.width() for place in places}) == 1
    assert len(rows) == 1 or rows[-1] > rows[0] - len(rows)


def test_what_is_hidden_or_taken_out_takes_no_room(qtbot: QtBot) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    rows = FlowLayout(box)
    blocks = [Block(100, 50) for _ in range(3)]
    for block in blocks:
        rows.addWidget(block)
    box.resize(150, 400)
    box.show()
    assert rows.heightForWidth(150) == 3 * 50 + 2 * rows.spacing()
    blocks[1].hide()
    assert rows.heightForWidth(150) == 2 * 50 + rows.spacing()
    taken = rows.takeAt(0)
    assert taken is not None
    assert taken.widget() is blocks[0]
    assert rows.count() == 2
    assert rows.takeAt(5) is None
    assert rows.itemAt(-1) is None
    for block in blocks[1:]:
        block.setParent(None)
    assert rows.count() == 0
