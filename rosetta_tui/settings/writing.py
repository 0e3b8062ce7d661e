"""Changes of the settings on their way to the file: one after the other, and none is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosetta_tui.toolkit.background import bring

if TYPE_CHECKING:
    from textual.app import App

    from harness.settings import Changes, Settings


class SettingsWriting:
    """Writes changes in threads; its functions are called in the app's own."""

    def __init__(
        self,
        app: App[Any],
        home: Path,
        written: Callable[[Settings], None],
        unwritten: Callable[[str], None],
    ) -> None:
        self._app = app
        self._home = home
        self._written = written
        """Is told what holds, once every change is in the file."""
        self._unwritten = unwritten
        """Is told why a change could not be written; the next write tries it again."""
        self._waiting: list[Changes] = []
        """In the order in which they were made; what could not be written stays, before what came later."""
        self._lock = threading.Lock()

    def write(self, changes: Changes) -> None:
        """Write changes as ``harness.settings.change_settings`` takes them."""
        self._waiting.append(changes)
        self._app.run_worker(self._work, thread=True, group="settings")

    @property
    def busy(self) -> bool:
        """Whether there are changes that are not in the file."""
        return bool(self._waiting)

    def _work(self) -> None:
        from harness.core.failures import HarnessError
        from harness.settings import change_settings

        with self._lock:
            changes = list(self._waiting)
            if not changes:
                return
            try:
                held = change_settings(self._home, *changes)
            except (HarnessError, OSError) as error:
                bring(self._app, self._unwritten, str(error))
                return
            del self._waiting[: len(changes)]
            bring(self._app, self._done, held)

    def _done(self, held: Settings) -> None:
        if not self.busy:
            self._written(held)
