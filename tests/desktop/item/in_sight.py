"""What of a page can be seen."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QAbstractButton, QWidget

from tests.desktop.item_scene import Scene


def in_page(scene: Scene, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(scene.page, widget.rect().topLeft()), widget.size())


def answers_in_sight(scene: Scene) -> bool:
    """Tell whether all answers are seen, or where they stand at the end of the texts come into sight."""
    page, buttons = scene.page, scene.page.answers.findChildren(QAbstractButton)
    for each in buttons:
        if page.folded:
            page.reading.bring(each)
        if not each.isVisible() or not page.rect().contains(in_page(scene, each)):
            return False
    page.reading.verticalScrollBar().setValue(0)
    return len(buttons) == 4
