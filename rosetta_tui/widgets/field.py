"""A label and what it stands for, side by side."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from rosetta_tui.widgets.telling import Telling


class Field(Horizontal):
    """One line of a page about one thing; the text wraps beside its label."""

    def __init__(
        self,
        label: str,
        text: Content,
        *,
        id: str | None = None,  # noqa: A002  Textual's own name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._label = label
        self._text = text

    def compose(self) -> ComposeResult:
        """Lay out label and text."""
        yield Telling(Content.styled(self._label, "$quiet"), classes="label")
        yield Telling(self._text, classes="text")

    def tell(self, label: str, text: Content) -> None:
        """Show another label and text, in a tenth of the time that a new field takes."""
        self._label, self._text = label, text
        shown = self.query(Telling)
        shown.first().tell(Content.styled(label, "$quiet"))
        shown.last().tell(text)
