"""The terminal around what it shows: its title while a run is under way, bell and notification at the end."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.run.events import Finished


_PUSH, _POP = "\x1b[22;0t", "\x1b[23;0t"  # the title that was there, to a stack of the terminal's and back (xterm)
_BELL = "\a"
_PLAIN_TERMINALS = frozenset({"", "dumb", "linux"})  # would print a title among the text


class TerminalNotices:
    """Writes the words of the program alone: no id, name or text of a corpus gets into a title."""

    def __init__(self, write: Callable[[str], object], *, on: bool) -> None:
        self._write, self.on = write, on
        self._titles: dict[str, str] = {}  # of runs under way, by id; the newest is shown
        self._shown = ""
        self._titled = os.environ.get("TERM", "") not in _PLAIN_TERMINALS

    def progress(self, run_id: str, done: int, total: int, failed: int) -> None:
        """Show how far a run is."""
        self._titles[run_id] = f"{100 * done // max(total, 1)} %" + (f" · {failed} failed" if failed else "")
        self._show_title()

    def over(self, run_id: str, event: Finished | None) -> None:
        """Call for the person, where the run was under way before; None: it failed."""
        if self._titles.pop(run_id, None) is None:
            return
        self._show_title()
        words = "Rosetta: the run failed"
        if event is not None:
            words = f"Rosetta: run {event.state}, {event.done} of {event.total} entries, {event.failed} failed"
        if self.on:
            self._write((f"\x1b]9;{words}\x1b\\" if self._titled else "") + _BELL)

    def close(self) -> None:
        """Restore the title that was there before."""
        self._titles.clear()
        self._show_title()

    def _show_title(self) -> None:
        title = next(reversed(self._titles.values()), "") if self.on else ""
        if title == self._shown or not self._titled:
            return
        before, self._shown = self._shown, title
        self._write(("" if before else _PUSH) + f"\x1b]2;{title} · Rosetta\x1b\\" if title else _POP)
