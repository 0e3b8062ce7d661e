"""Reading the runs of a store for a list of them, only where there may be something new."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rosetta_tui.runs.acts import any_deleted
from rosetta_tui.show.run_facts import runs_now

if TYPE_CHECKING:
    from harness.store.file.changes import Mark
    from harness.store.runs import RunSummary


class RunReader:
    """Remembers how the store's files looked; used in one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark: Mark | None = None
        self.only_reads = False
        """Whether the store can be read and not written; known after the first look."""

    def forget(self) -> None:
        """Let the next look read in any case."""
        self._mark = None

    def look(self, *, anyway: bool) -> tuple[list[RunSummary], bool] | None:
        """Return the runs as they are now and whether one can be brought back; None where nothing was written.

        With ``anyway`` they are read even so: a run whose process dies writes nothing. Raises StoreError.
        """
        from harness.store.file.changes import mark_of
        from harness.store.file.database import is_read_only, opened
        from harness.store.runs import list_runs

        mark = mark_of(self._path)
        if mark == self._mark and not anyway:
            return None
        with opened(self._path) as store:
            self.only_reads = is_read_only(store)
            found = runs_now(list_runs(store, brief=True)), any_deleted(store)
        self._mark = mark
        return found

    def purge(self) -> None:
        """Erase what was deleted too long ago to be brought back; raises StoreError."""
        from harness.store.deletion import purge
        from harness.store.file.database import is_read_only, opened

        with opened(self._path) as store:
            if not is_read_only(store):
                purge(store)
