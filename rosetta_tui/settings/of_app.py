"""What a person's settings mean for the app, and their changes on the way to the file: none is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from textual.app import App

from harness.core.failures import HarnessError, UsageError
from harness.settings import Changes, Settings, change_settings, fault, read_settings
from rosetta_tui.settings.findings import strange_theme
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.customization import THEME_WORDS, THEMES
from rosetta_tui.toolkit.textual_inside import TerminalApp


class SettingsWriting:
    """Writes changes in threads; its functions are called in the app's own."""

    def __init__(
        self, app: App[Any], home: Path, written: Callable[[Settings], None], unwritten: Callable[[str], None], *, replaces: bool = True
    ) -> None:  # fmt: skip
        """Initialise with the callback for saved settings and for changes that failed; without ``replaces`` a file that cannot be read stays."""
        self._app, self._home, self._replaces = app, home, replaces
        self._written, self._unwritten = written, unwritten
        self._waiting: list[Changes] = []
        """In the order in which they were made; what could not be written stays, before what came later."""
        self._lock = threading.Lock()

    def write(self, changes: Changes) -> None:
        """Write changes as ``harness.settings.change_settings`` takes them; with them all that could not be written before."""
        self._waiting.append(changes)
        self._app.run_worker(self._work, thread=True, group="settings")

    @property
    def busy(self) -> bool:
        """Return whether there are changes that are not in the file."""
        return bool(self._waiting)

    def _work(self) -> None:
        with self._lock:
            if not (changes := list(self._waiting)):
                return
            try:
                if not self._replaces:
                    read_settings(self._home)
                held = change_settings(self._home, *changes)
            except (HarnessError, OSError) as error:
                bring(self._app, self._unwritten, str(error))
                return
            del self._waiting[: len(changes)]
            bring(self._app, self._done, held)

    def _done(self, held: Settings) -> None:
        if not self.busy:
            self._written(held)


def begin_with_settings(app: App[Any], home: Path) -> None:
    """Apply the colours and keys of the settings to the app; say so where they cannot be read, and continue without."""
    try:
        settings = read_settings(home)
        take_settings(app, settings)
        if words := strange_theme(settings):
            message = plain(fault(home, words, "theme"))
            app.notify(message, title="Settings", severity="warning", timeout=20, markup=False)
    except UsageError as error:
        words = plain(f"{error} Until then nothing is as you had chosen.")
        title = "Your settings cannot be read"
        app.notify(words, title=title, severity="error", timeout=20, markup=False)


def take_settings(app: App[Any], settings: Settings) -> None:
    """Apply these colours, keys, the pane and the notices to the app; a terminal that asked for no colours gets none."""
    if isinstance(app, TerminalApp):
        app.pane_open = settings.pane != "closed"
        app.table_columns = settings.columns
        app.notices.on = app.notices.on and settings.notices != "off"
    app.theme = theme_of(app, settings)
    app.set_keymap(settings.keys)


def theme_of(app: App[Any], settings: Settings) -> str:
    """Return the name of the colours: those chosen where there are such, else the program's own."""
    if app.no_color:
        return app.theme
    return settings.theme if settings.theme in THEME_WORDS else THEMES[0].name


@runtime_checkable
class ShowsSettings(Protocol):
    """A screen that shows the settings and changes them."""

    def show_held(self, settings: Settings) -> None:
        """Show what holds now; it was changed elsewhere."""
        ...


def look_writing(app: App[Any], home: Path) -> SettingsWriting:
    """Return what writes colours and panes that are chosen outside of the settings' screen; a file that cannot be read is not replaced for that."""

    def held(settings: Settings) -> None:
        for screen in app.screen_stack:
            if isinstance(screen, ShowsSettings):
                screen.show_held(settings)

    def unwritten(why: str) -> None:
        title = "This holds for now only"
        app.notify(plain(why), title=title, severity="warning", markup=False)

    return SettingsWriting(app, home, held, unwritten, replaces=False)
