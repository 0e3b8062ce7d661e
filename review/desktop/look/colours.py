"""Three sets of colours.

Every text has a contrast of at least 7 to its ground (WCAG 2, level AAA), every border and the ring around
what has the focus at least 3. A colour only repeats what a word or a sign says already.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from PySide6.QtGui import QColor


class Theme(StrEnum):
    """A set of colours."""

    LIGHT = "light"
    DARK = "dark"
    CONTRAST = "contrast"


class Colours(NamedTuple):
    """The colours of a theme, by what they are for."""

    ground: QColor
    field: QColor
    """Behind what is read, typed or pressed."""
    text: QColor
    quiet: QColor
    border: QColor
    accent: QColor
    on_accent: QColor
    good: QColor
    warn: QColor
    focus: QColor
    """The ring around what has the focus."""


def _colours(*names: str) -> Colours:
    return Colours(*map(QColor, names))


COLOURS: Final = {
    Theme.LIGHT: _colours(
        "#f6f3ec", "#fffefb", "#1d1c19", "#4a4740", "#7a756a",
        "#0b4a5c", "#ffffff", "#0d5030", "#8a2c0a", "#8b2fa8",
    ),
    Theme.DARK: _colours(
        "#17191c", "#212429", "#f1efe9", "#c6c3ba", "#8b8a84",
        "#8fd0dc", "#0c1a1e", "#9adfb0", "#ffb98a", "#f5c84b",
    ),
    Theme.CONTRAST: _colours(
        "#000000", "#000000", "#ffffff", "#ffffff", "#ffffff",
        "#ffe500", "#000000", "#7dff9b", "#ffb47a", "#00ffff",
    ),
}  # fmt: skip
