"""A label and what it stands for, side by side."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget

from rosetta_tui.toolkit.telling import Telling


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
        self.label = label
        """What stands at the left."""
        self._label = Telling(Content.styled(label, "$quiet"), classes="label")
        self._text = Telling(text, classes="text")

    def compose(self) -> ComposeResult:
        """Lay out label and text."""
        yield self._label
        yield self._text

    def tell(self, label: str, text: Content) -> None:
        """Show another label and text, in a tenth of the time that a new field takes."""
        self.label = label
        self._label.tell(Content.styled(label, "$quiet"))
        self._text.tell(text)


async def show_lines(page: Widget, lines: Iterable[tuple[str, Content]]) -> None:
    """Show lines as the fields of a page: those that are there take the first of them, the rest come or go."""
    told, fields = list(lines), list(page.query(Field))
    async with page.batch():
        for field, line in zip(fields, told, strict=False):
            field.tell(*line)
        for field in fields[len(told) :]:
            await field.remove()
        await page.mount_all([Field(*line) for line in told[len(fields) :]])
