"""What a person's settings mean for the app: its colours and its keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosetta_tui.text import plain
from rosetta_tui.theme import THEME_WORDS, THEMES

if TYPE_CHECKING:
    from textual.app import App

    from harness.settings import Settings


def begin_with_settings(app: App[Any], home: Path) -> None:
    """Give the app the colours and keys of the settings; say so where they cannot be read, and go on without."""
    from harness.failures import UsageError
    from harness.settings import read_settings

    try:
        take_settings(app, read_settings(home))
    except UsageError as error:
        words = plain(f"{error} Until then nothing is as you had chosen.")
        title = "Your settings cannot be read"
        app.notify(words, title=title, severity="error", timeout=20, markup=False)


def take_settings(app: App[Any], settings: Settings) -> None:
    """Give the app these colours and keys; a terminal that asked for no colours gets none."""
    app.theme = theme_of(app, settings)
    app.set_keymap(settings.keys)


def theme_of(app: App[Any], settings: Settings) -> str:
    """Give the name of the colours: those chosen where there are such, else the program's own."""
    if app.no_color:
        return app.theme
    return settings.theme if settings.theme in THEME_WORDS else THEMES[0].name
