"""What can be done with a run that is over, from the screen that watched it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.screen import Screen

from rosetta_tui.runs.acts import RunActs, possible
from rosetta_tui.runs.rows import beside_words
from rosetta_tui.toolkit.background import in_store
from rosetta_tui.toolkit.messages import ReplayAsked

if TYPE_CHECKING:
    import sqlite3

    from harness.store.runs import RunSummary


class RunEnd:
    """Belongs to a screen; ``changed`` is called when it is known what can be done."""

    def __init__(self, screen: Screen[None], store_path: Path, changed: Callable[[], None]) -> None:
        self._screen = screen
        self._path = store_path
        self._changed = changed
        self._acts = RunActs(screen, store_path, self.read)
        self._run_id = ""
        self.summary: RunSummary | None = None
        """What the store says of the run; None until it was read."""

    @property
    def words(self) -> str:
        """Tags and note of the run."""
        return beside_words(self.summary) if self.summary else ""

    def watch(self, run_id: str) -> None:
        """Read what the store says of a run, now and after each act."""
        self._run_id = run_id
        self.read()

    def read(self) -> None:
        """Read again."""
        in_store(self._screen, self._path, "summary", self._find, self._take, _to_go_on)

    def _find(self, store: sqlite3.Connection) -> RunSummary | None:
        from harness.store.runs import list_runs

        return next(iter(list_runs(store, run_id=self._run_id)), None)

    def _take(self, summary: RunSummary | None) -> None:
        self.summary = summary
        self._changed()

    def can(self, act: str, *, over: bool) -> bool:
        """Tell whether something can be done now: ``notes`` always, the rest when the run is over."""
        if self.summary is None:
            return False
        if act == "replay":
            return over and self.summary.done > 0
        now = possible(self.summary, deleted=False, any_run=False)
        return act in now and (over or act == "notes")

    def do(self, act: str, reason: str = "") -> None:
        """Do it; ``reason`` says why the run stopped, where it did."""
        run = self.summary
        if run is None:
            return
        match act:
            case "replay":
                self._screen.post_message(ReplayAsked(run.run_id))
            case "resume":
                self._acts.resume(run.run_id, reason)
            case "retry":
                self._acts.retry(run.run_id)
            case "score_again":
                self._acts.score_again(run)
            case "notes":
                self._acts.notes(run)


def _to_go_on(why: str) -> None:
    """Leave the screen without notes; whoever acts on the run is told what is wrong."""
