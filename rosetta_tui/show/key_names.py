"""What a key is called where words name it: as it is now, for a person may have chosen another."""

from __future__ import annotations

NAMES = {
    "slash": "/",
    "comma": ",",
    "question_mark": "?",
    "escape": "esc",
    "delete": "del",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "pageup": "page up",
    "pagedown": "page down",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
}
"""Textual's name of a key → what people call it."""

FOREIGN = frozenset({
    "scroll_left", "scroll_right", "page_left", "page_right", "app.focus_next",
    "app.focus_previous", "screen.copy_text",
})  # fmt: skip
"""Actions that a scrolling or focusable thing brings with it and nobody needs to know."""


def key_name(key: str) -> str:
    """Return what people call a key."""
    return NAMES.get(key, key).replace("ctrl+", "^")
