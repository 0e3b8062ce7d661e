"""Buttons within what is read, beside one another and only as wide as their words."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowLayout


class Offers(QWidget):
    """Wraps its buttons where they do not fit side by side."""

    def __init__(self) -> None:
        super().__init__()
        self._flow = FlowLayout(self)

    def offer(self, text: str, act: Callable[[], object], key: str = "") -> Button:
        """Add something that can be done."""
        button = Button(text, key)
        button.clicked.connect(lambda _=False: act())
        self._flow.addWidget(button)
        return button
