"""Rows and columns of widgets: in reading order, inside their room, none upon another."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowColumns, FlowLayout


class Block(QWidget):
    """A widget of a size."""

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


@settings(deadline=None)
@pytest.mark.parametrize("layout", [FlowLayout, FlowColumns])
@given(sizes, st.integers(100, 1400), st.booleans())
def test_nothing_lies_outside_or_upon_another(
    qapp: QApplication,
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


@settings(deadline=None)
@given(sizes, st.integers(100, 1400))
def test_the_other_reading_direction_is_the_mirror_image(
    qapp: QApplication, blocks: list[tuple[int, int]], width: int
) -> None:
    _, left = laid_out(FlowLayout, blocks, width, rtl=False)
    _, right = laid_out(FlowLayout, blocks, width, rtl=True)
    mirrored = [QRect(width - r.right() - 1, r.top(), r.width(), r.height()) for r in right]
    assert mirrored == left


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(100, 1400))
def test_columns_are_of_one_width_and_leave_no_row_nearly_empty(
    qapp: QApplication, number: int, width: int
) -> None:
    _, places = laid_out(FlowColumns, [(200, 50)] * number, width, rtl=False)
    tops = sorted({place.top() for place in places})
    rows = [sum(place.top() == top for place in places) for top in tops]
    assert len({place.width() for place in places}) == 1
    assert len(rows) == 1 or rows[-1] > rows[0] - len(rows)


def test_what_is_hidden_takes_no_room(qtbot: QtBot) -> None:
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


def test_items_can_be_taken_out_again(qtbot: QtBot) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    rows = FlowLayout(box)
    first, second = Block(100, 50), Block(100, 50)
    rows.addWidget(first)
    rows.addWidget(second)
    taken = rows.takeAt(0)
    assert taken is not None
    assert taken.widget() is first
    assert rows.count() == 1
    assert rows.takeAt(5) is None
    assert rows.itemAt(-1) is None
    second.setParent(None)
    assert rows.count() == 0


def test_a_button_that_is_wider_than_the_window_wraps(qtbot: QtBot) -> None:
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
