"""Text and values as Textual shows them: the only way by which text from outside reaches a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from textual.content import Content


def show(text: str, style: str = "") -> Content:
    """Return harmless text as Content, which Textual never reads as markup; line breaks become ␤."""
    from textual.content import Content

    return Content.styled(plain(text), style)


def show_lines(text: str, style: str = "") -> Content:
    """Return harmless text as Content with its line breaks, for places that have room."""
    from textual.content import Content

    lines = text.replace("\r\n", "\n").split("\n")
    return Content("\n").join([show(line, style) for line in lines])


def shown_value(metric: str, number: float | None, references: float | None) -> Content:
    """Return a value as it stands on a screen.

    FST acceptance never stands alone: ``references`` is the share of the references' own words that the
    analyser accepts, since it knows only a part of good human writing.
    """
    from textual.content import Content

    from rosetta_tui.show.metric_words import (  # the specification costs start-up time
        beside_value,
        value,
    )

    beside = beside_value(metric, references)
    return Content.assemble(value(metric, number), (f" ({beside})" if beside else "", "$quiet"))
