"""Tells that there is more to read than is seen: a scroll bar alone is easily overlooked."""

from __future__ import annotations

from PySide6.QtWidgets import QScrollBar
from shiboken6 import isValid

from review.desktop.labels import Line
from review.session.item_words import GOES_ON_BELOW
from review.session.words import Words


class MoreBelow(Line):
    """Shown while the end is not in sight."""

    def __init__(self, words: Words, bar: QScrollBar) -> None:
        super().__init__(words(GOES_ON_BELOW), "quiet")
        self._bar = bar
        bar.valueChanged.connect(self._tell)
        bar.rangeChanged.connect(self._tell)
        self.hide()

    def _tell(self) -> None:
        if isValid(self) and isValid(
            self._bar
        ):  # a page that ends still lays out what is left of it
            self.setVisible(self._bar.value() < self._bar.maximum())
