"""The parts of a page at its left; enter goes into the part under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class PartsList(OptionList):
    """Goes into a part within the key itself: one that is pressed right behind it finds the lines there."""

    def __init__(self, names: Iterable[str], go: Callable[[], None], *, id_: str) -> None:
        super().__init__(*(Option(Content(each), id=each) for each in names), id=id_)
        self._go = go

    def action_select(self) -> None:
        """Go into the part under the cursor."""
        self._go()
