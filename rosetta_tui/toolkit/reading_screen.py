"""A screen of what was read from files, which are read again where one of them changed."""

from __future__ import annotations

from functools import partial
from typing import Generic, TypeVar

from textual.screen import Screen

from rosetta_tui.toolkit.background import in_thread
from rosetta_tui.toolkit.content import StatusBar
from rosetta_tui.toolkit.messages import BackRequested

LOOK_SECONDS = 2.0
"""How often the files of what is shown are examined."""

READING = "reading"
"""Group of the workers that read."""

Found = TypeVar("Found")


class ReadingScreen(Screen[None], Generic[Found]):
    """Reads in a thread: when it opens, when a person asks for it, and where a file changed; has a ``StatusBar``."""

    found: Found | None = None
    """What was read last; None before the first time."""

    _failed = False
    """Whether the last reading failed."""

    @property
    def awaits_rows(self) -> bool:
        """Return whether it reads for the first time: keys for a row wait for that (``TerminalApp``)."""
        return self.found is None and not self._failed

    def on_mount(self) -> None:
        """Read, now and again; Textual calls this after the ``on_mount`` of the class below it."""
        self.set_interval(LOOK_SECONDS, self.look)
        self.action_read()

    def on_screen_resume(self) -> None:
        if self.found is not None:
            self.look()

    # What each screen does in its own way

    def read(self, before: Found | None, *, anyway: bool) -> Found:
        """Read; called in a thread. Gives ``before`` back where nothing changed since, unless it is to be read ``anyway``."""
        raise NotImplementedError

    def show_found(self, found: Found) -> None:
        """Show what was read."""
        raise NotImplementedError

    # Reading

    def action_read(self) -> None:
        """Read everything again."""
        self._read(anyway=True)

    def look(self) -> None:
        """Read again where a file changed, unless a reading is under way."""
        readings = (
            worker for worker in self.workers if worker.node is self and worker.group == READING
        )
        if self.is_current and all(reading.is_finished for reading in readings):
            self._read(anyway=False)

    def _read(self, *, anyway: bool) -> None:
        read = partial(self.read, self.found, anyway=anyway)
        in_thread(self, READING, read, self._take, self._cannot)

    def _cannot(self, why: str) -> None:
        self._failed = True
        self.query_one(StatusBar).cannot(why)

    def _take(self, found: Found) -> None:
        self._failed = False
        if found is not self.found:
            self.found = found
            self.show_found(found)

    def action_leave(self) -> None:
        self.post_message(BackRequested())
