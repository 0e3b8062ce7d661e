"""What can be done next: each key with its word, which the mouse can press as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widget import Widget

from rosetta_tui.review.rating.parts.render import told

_GAP = 3
"""Cells between two keys."""


@dataclass(frozen=True, slots=True)
class Hint:
    """One key."""

    key: str
    """As it stands on the keyboard, in the reviewer's language."""
    words: str
    action: str
    """Of the screen; run when the words are clicked."""

    def content(self) -> Content:
        """Return key and words, pressable."""
        words = Content.assemble(told(self.key, "bold $mark"), " ", told(self.words, "$quiet"))
        return words.stylize(Style.from_meta({"@click": f"screen.{self.action}"}))


class RatingKeyLine(Widget):
    """As many lines as the keys need; one key never breaks over two lines."""

    def __init__(self, hints: Sequence[Hint] = ()) -> None:
        super().__init__(classes="keys")
        self._hints = tuple(hints)

    def offer(self, hints: Sequence[Hint]) -> None:
        """Show these keys."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  Textual's form
        """Return as many lines as the keys need."""
        return len(self._lines(width))

    def render(self) -> Content:
        """Draw the keys."""
        return Content("\n").join(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        gap = Content(" " * _GAP)
        lines: list[Content] = []
        for hint in self._hints:
            piece = hint.content()
            if lines and lines[-1].cell_length + _GAP + piece.cell_length <= width:
                lines[-1] = Content.assemble(lines[-1], gap, piece)
            else:
                lines.append(piece)
        return lines or [Content("")]
