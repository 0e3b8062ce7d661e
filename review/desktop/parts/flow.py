"""Layouts that break into rows or columns by the room there is, and buttons side by side within what is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QStyle, QWidget

from review.desktop.parts.buttons import Button


def empty(layout: QLayout) -> None:
    items = [layout.itemAt(number) for number in range(layout.count())]
    for widget in [item.widget() for item in items if item is not None]:
        if widget is not None:
            layout.removeWidget(widget)
            widget.hide()
            widget.deleteLater()


GAP = 2  # Pixels between two buttons, beside the room that each has for its ring: 12 are seen


class FlowRows(QLayout):
    """Widgets in rows; the height follows from the width, the sides change with the reading direction."""

    def __init__(self, parent: QWidget | None = None) -> None:
        if parent is None:
            super().__init__()
        else:
            super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(QMargins(0, 0, 0, 0))
        self.setSpacing(GAP)

    @abstractmethod
    def rows(self, width: int) -> Iterator[list[tuple[QLayoutItem, int]]]:
        """Return the rows at a width: the items of each, with their widths."""

    # what Qt asks

    def addItem(self, item: QLayoutItem) -> None:
        """Add an item; ``addWidget`` comes here."""
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        if not 0 <= index < len(self._items):
            return None
        self.invalidate()
        return self._items.pop(index)

    def expandingDirections(self) -> Qt.Orientation:
        """Want no more room than is needed."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        heights = [_height(row) for row in self.rows(max(0, width - margins.left() - margins.right()))]
        gaps = self.spacing() * max(0, len(heights) - 1)
        return sum(heights) + gaps + margins.top() + margins.bottom()

    def sizeHint(self) -> QSize:
        shown = self.shown()
        wide = sum(item.sizeHint().width() for item in shown)
        wide += self.spacing() * max(0, len(shown) - 1)
        margins = self.contentsMargins()
        wide += margins.left() + margins.right()
        return QSize(wide, self.heightForWidth(wide))

    def minimumSize(self) -> QSize:
        margins = self.contentsMargins()
        least = QSize(0, 0)
        for item in self.shown():
            least = least.expandedTo(item.minimumSize())
        return least.grownBy(margins)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        room = rect.marginsRemoved(self.contentsMargins())
        parent = self.parentWidget()
        direction = Qt.LayoutDirection.LeftToRight if parent is None else parent.layoutDirection()
        top = room.top()
        for row in self.rows(max(0, room.width())):
            height, left = _height(row), room.left()
            for item, width in row:
                place = QRect(QPoint(left, top), QSize(width, height))
                item.setGeometry(QStyle.visualRect(direction, room, place))
                left += width + self.spacing()
            top += height + self.spacing()

    def shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]


class FlowLayout(FlowRows):
    """Each item as wide as it likes to be; one that does not fit begins a new row."""

    def rows(self, width: int) -> Iterator[list[tuple[QLayoutItem, int]]]:
        row: list[tuple[QLayoutItem, int]] = []
        used = 0
        for item in self.shown():
            wide = min(item.sizeHint().width(), max(width, item.minimumSize().width()))
            if row and used + wide > width:
                yield row
                row, used = [], 0
            row.append((item, wide))
            used += wide + self.spacing()
        if row:
            yield row


class FlowColumns(FlowRows):
    """All items of one width, in the number of columns that needs least height without breaking a word."""

    MOST = 4

    def rows(self, width: int) -> Iterator[list[tuple[QLayoutItem, int]]]:
        items, columns = self.shown(), self.columns(width)
        wide = self._wide(width, columns)
        for first in range(0, len(items), columns):
            yield [(item, wide) for item in items[first : first + columns]]

    def columns(self, width: int) -> int:
        """Return the number of columns at a width, at least one."""
        if not (items := self.shown()):
            return 1

        def high(columns: int) -> int:
            wide = self._wide(width, columns)
            rows = [items[first : first + columns] for first in range(0, len(items), columns)]
            return sum(_height([(item, wide) for item in row]) for row in rows) + self.spacing() * (len(rows) - 1)

        least, count = max(item.minimumSize().width() for item in items), len(items)
        # The numbers of columns, the largest first, that leave no row nearly empty
        even = [n for n in range(min(count, self.MOST), 0, -1) if -(-count // -(-count // n)) == n]
        return min((n for n in even if self._wide(width, n) >= least), key=high, default=1)

    def _wide(self, width: int, columns: int) -> int:
        return (width - self.spacing() * (columns - 1)) // columns


def _height(row: list[tuple[QLayoutItem, int]]) -> int:
    asked = (item.heightForWidth(wide) if item.hasHeightForWidth() else item.sizeHint().height() for item, wide in row)
    return max((max(high, item.minimumSize().height()) for high, (item, _) in zip(asked, row, strict=True)), default=0)


class Offers(QWidget):
    """Wraps its buttons where they do not fit side by side."""

    def __init__(self) -> None:
        super().__init__()
        self._flow = FlowLayout(self)

    def clear(self) -> None:
        empty(self._flow)

    def offer(self, text: str, act: Callable[[], object], key: str = "") -> Button:
        button = Button(text, key)
        button.clicked.connect(lambda _=False: act())
        self._flow.addWidget(button)
        return button
