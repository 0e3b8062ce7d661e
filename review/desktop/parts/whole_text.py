"""A text in its full height: the page around it scrolls, because two bars beside each other lead nobody."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from review.desktop.parts.text_pane import TextPane


class WholeText(TextPane):
    """Has no bar of its own, and is never laid out for one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
