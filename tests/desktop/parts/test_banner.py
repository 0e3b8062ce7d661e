"""What went wrong stands on the page; rows and columns of widgets in reading order, inside their room."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QSizePolicy, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from harness.core.storage_problems import StorageProblem
from review.desktop.look.look import SIZES
from review.desktop.parts import banner as banner_module
from review.desktop.parts.banner import Banner
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowColumns, FlowLayout
from review.desktop.parts.texts import TextPane
from review.session.words.catalogue import Words
from review.session.words.troubles import SAVING, Trouble
from tests.desktop.visit_scene import dressed
from tests.review.thorough import examples, first

pytestmark = pytest.mark.usefixtures("qapp")

WORDS = Words.load("en")
DETAIL = "SQLITE_FULL: /a-folder-with-a-long-name/" + "x" * 120
FULL = Trouble(SAVING[StorageProblem.DISK_FULL], DETAIL)


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    dressed()
    made = QWidget()
    qtbot.addWidget(made)
    column = QVBoxLayout(made)
    column.addWidget(Banner(made))
    column.addStretch(1)
    made.resize(640, 600)
    made.show()
    return made


def banner_of(window: QWidget) -> Banner:
    (found,) = window.findChildren(Banner)
    return found


def test_banner_tells_once_and_goes(window: QWidget, monkeypatch: pytest.MonkeyPatch) -> None:
    spoken: list[str] = []
    monkeypatch.setattr(banner_module, "announce", lambda widget, text: spoken.append(text))
    banner = banner_of(window)
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


@pytest.mark.parametrize(
    ("size", "width"), first(1, dict.fromkeys([(48, 640), *product(SIZES, (640, 1024))]))
)
def test_all_of_it_is_seen(window: QWidget, qtbot: QtBot, size: int, width: int) -> None:
    dressed(size)
    window.resize(width, 1600)
    box = TextPane(window)
    window.layout().addWidget(box)
    QApplication.sendPostedEvents()  # it is shown
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    box.setFocus()
    banner = banner_of(window)
    banner.tell(WORDS, FULL)
    assert box.hasFocus()
    (label,) = banner.findChildren(QLabel)
    (pane,) = banner.findChildren(TextPane)
    (button,) = banner.findChildren(Button)
    qtbot.waitUntil(lambda: pane.verticalScrollBar().maximum() == 0)
    assert window.width() == width
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
    layout: type[FlowLayout | FlowColumns],
    blocks: list[tuple[int, int]],
    width: int,
    rtl: bool,
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


def test_a_button_that_is_wider_than_the_window_wraps(qtbot: QtBot) -> None:
    dressed()
    box = QWidget()
    qtbot.addWidget(box)
    rows = FlowLayout(box)
    button = Button("Take back everything that I ever gave under this code, and keep nothing of it")
    rows.addWidget(button)
    box.resize(240, rows.heightForWidth(240))
    box.show()
    rows.activate()
    assert button.width() <= 240
    assert button.height() > 2 * button.fontMetrics().height()
