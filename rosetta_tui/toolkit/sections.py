"""The sections of a screen that shows one thing from several sides, in one line with their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content
from textual.style import Style
from textual.widgets import Static


class SectionLine(Static):
    """One line; the section that is open stands out by its brackets and its weight."""

    def show_sections(self, names: Sequence[str], opened: str, waiting: Mapping[str, int]) -> None:
        """Show the sections; ``waiting`` counts what in them asks for a person."""
        self.update(
            Content(" ").join(
                _section(number, name, waiting.get(name, 0), opened=name == opened)
                for number, name in enumerate(names, 1)
            )
        )


def _section(number: int, name: str, waiting: int, *, opened: bool) -> Content:
    left, right = ("[", "]") if opened else (" ", " ")
    words = Content.assemble(
        (left, "bold $mark"),
        (f"{number} ", "bold $mark"),
        (name, "bold" if opened else "$quiet"),
        (f" {waiting}" if waiting else "", "bold $warn"),
        (right, "bold $mark"),
    )
    return words.stylize(Style.from_meta({"@click": f"screen.section('{name}')"}))
