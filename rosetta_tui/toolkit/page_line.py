"""What a page about one thing consists of."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content


class PageLine(NamedTuple):
    """One label with its text."""

    label: str
    text: Content
