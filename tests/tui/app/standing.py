"""What a screen says, waited for."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from tests.tui.screens import App


def stands(app: App, kind: type[Screen[Any]]) -> bool:
    """Tell whether a screen of this kind is seen."""
    return isinstance(app.screen, kind)
