"""The pages before the first sentence: on each of them whoever does not read it finds their own language first."""

from __future__ import annotations

from PySide6.QtCore import Signal

from review.desktop.desk import Desk
from review.desktop.language_row import LanguageRow
from review.desktop.page import Page


class FirstPage(Page):
    """Has the other languages at the top, where they are seen whatever the length of the page."""

    language = Signal(str)
    """Tag of the language that the person reads."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        languages = LanguageRow(desk)
        languages.chosen.connect(self.language)
        self.add(languages)
