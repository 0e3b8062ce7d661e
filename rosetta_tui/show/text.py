"""The only way by which text from outside reaches a terminal.

Outputs of models and corpora of strangers may hold markup, escape sequences, direction overrides or
invisible characters. Here every character that would act instead of showing becomes one that shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from corpora.visible import plain

if TYPE_CHECKING:
    from textual.content import Content

__all__ = ["json_text", "plain", "show", "show_lines"]


def json_text(
    value: object, *, indent: int | None = 2, default: Callable[[Any], object] | None = None
) -> str:
    """Write a value as JSON that any terminal can show: ASCII alone, all other characters escaped.

    Readers get every text back as it was; ``default`` turns what JSON does not know into what it knows.
    """
    return json.dumps(value, indent=indent, default=default).replace("\x7f", "\\u007f")


def show(text: str, style: str = "") -> Content:
    """Give harmless text as Content, which Textual never reads as markup; line breaks become ␤."""
    from textual.content import Content

    return Content.styled(plain(text), style)


def show_lines(text: str, style: str = "") -> Content:
    """Give harmless text as Content with its line breaks, for places that have room."""
    from textual.content import Content

    lines = text.replace("\r\n", "\n").split("\n")
    return Content("\n").join([show(line, style) for line in lines])
