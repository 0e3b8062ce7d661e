"""Tells on every page that there is more to read than is seen: a scroll bar alone is easily overlooked."""

from __future__ import annotations

from PySide6.QtWidgets import QScrollArea
from shiboken6 import isValid

from review.desktop.parts.labels import Line
from review.session.words.catalogue import Words
from review.session.words.item import GOES_ON_BELOW


class MoreBelow(Line):
    """Stays in sight just below what scrolls, while the end of that is not.

    Its room is kept at the end, too: what is in sight stays there when a page is scrolled back.
    The bar is asked for each time: what Python once held of it may be gone while it still scrolls.
    """

    def __init__(self, words: Words, read: QScrollArea) -> None:
        super().__init__(words(GOES_ON_BELOW), "quiet")
        self._read = read
        self.wanted = True
        """False while nothing is to be read, as where a person writes."""
        self.keeps_room = True
        """False where every line of the texts is wanted for reading."""
        self.empty_end = 0
        """Pixels at the end that hold nothing to read."""
        bar = read.verticalScrollBar()
        bar.valueChanged.connect(self.tell)
        bar.rangeChanged.connect(self.tell)
        self.hide()

    def tell(self) -> None:
        """Say it where something is below."""
        if isValid(self) and isValid(self._read):  # a page that ends still lays out what is left
            bar = self._read.verticalScrollBar()
            policy = self.sizePolicy()
            scrolls = self.wanted and bar.maximum() > self.empty_end
            policy.setRetainSizeWhenHidden(self.keeps_room and scrolls)
            self.setSizePolicy(policy)
            self.setVisible(self.wanted and bar.maximum() - bar.value() > self.empty_end)
