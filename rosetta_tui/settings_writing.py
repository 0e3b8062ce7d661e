"""Changes of the settings on their way to the file: one after the other, and none is lost."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App

    from harness.settings import Settings


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
        self._waiting: deque[dict[str, Any]] = deque()
        self._failed: dict[str, Any] = {}
        self._lock = threading.Lock()
        """So that changes reach the file in the order in which they were made."""

    def write(self, changes: Mapping[str, Any]) -> None:
        """Write changes as ``harness.settings.change_settings`` takes them."""
        from harness.settings import together

        self._waiting.append(together(self._failed, changes))
        self._failed = {}
        self._app.run_worker(self._work, thread=True, group="settings")

    @property
    def busy(self) -> bool:
        """Whether there are changes that are not in the file."""
        return bool(self._waiting or self._failed)

    def _work(self) -> None:
        from harness.failures import HarnessError
        from harness.settings import change_settings

        with self._lock:
            if not self._waiting:
                return
            changes = self._waiting.popleft()
            try:
                held = change_settings(self._home, **changes)
            except (HarnessError, OSError) as error:
                self._app.call_from_thread(self._not_written, changes, str(error))
                return
            self._app.call_from_thread(self._done, held)

    def _done(self, held: Settings) -> None:
        if not self.busy:
            self._written(held)

    def _not_written(self, changes: Mapping[str, Any], why: str) -> None:
        from harness.settings import together

        self._failed = together(changes, self._failed)
        self._unwritten(why)
