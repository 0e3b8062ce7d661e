"""Tells that there is more to read than is seen: a scroll bar alone is easily overlooked."""

from __future__ import annotations

from PySide6.QtWidgets import QScrollArea
from shiboken6 import isValid

from review.desktop.labels import Line
from review.session.item_words import GOES_ON_BELOW
from review.session.words import Words


class MoreBelow(Line):
    """Shown while the end is not in sight.

    The bar is asked for each time: what Python once held of it may be gone while it still scrolls.
    """

    def __init__(self, words: Words, read: QScrollArea) -> None:
        super().__init__(words(GOES_ON_BELOW), "quiet")
        self._read = read
        bar = read.verticalScrollBar()
        bar.valueChanged.connect(self._tell)
        bar.rangeChanged.connect(self._tell)
        self.hide()

    def _tell(self) -> None:
        if isValid(self) and isValid(self._read):  # a page that ends still lays out what is left
            bar = self._read.verticalScrollBar()
            self.setVisible(bar.value() < bar.maximum())
