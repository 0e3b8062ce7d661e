"""Taking everything out of a layout: Python keeps a piece of each item that it takes out itself, Qt does not."""

from __future__ import annotations

from PySide6.QtWidgets import QLayout


def empty(layout: QLayout) -> None:
    """Take all widgets out, out of sight at once, and let them end."""
    items = [layout.itemAt(number) for number in range(layout.count())]
    for widget in [item.widget() for item in items if item is not None]:
        if widget is not None:
            layout.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
