"""Text that may be told many times a second."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class Telling(Static):
    """Repaints only where the text changed, and lays the screen out only where its height did.

    A layout of the whole screen costs more than everything else that a live screen does.
    """

    def tell(self, content: Content, title: str | None = None) -> None:
        """Show this text, under this border title."""
        if title != self.border_title:
            self.border_title = title
        before = self.content if isinstance(self.content, Content) else Content(str(self.content))
        if content.is_same(before):
            return
        width = max(1, self.content_size.width)
        higher = content.get_height({}, width) != before.get_height({}, width)
        self.update(content, layout=higher)
