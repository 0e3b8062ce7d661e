"""A label and what it stands for, side by side."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static


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
        yield Static(Content.styled(self._label, "$quiet"), classes="label")
        yield Static(self._text, classes="text")
