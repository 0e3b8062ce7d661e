"""A run made ready to go: from a draft, from one that was cut, or from the failed entries of a complete one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from harness.store.sqlite.database import opened
from rosetta_tui.request.draft import RunDraft, forget_draft

if TYPE_CHECKING:
    from harness.run.events import Control, Event, EventSource
    from harness.setup.plan import PlanChanges
    from harness.store.run_list import RunSummary
    from rosetta_tui.session.engine import Engine


def begin(store_path: Path, draft: RunDraft, *, keep_form: bool = False) -> Engine:
    """Store a drafted run and forget the form, unless it is of another one; CorpusError or HarnessError, and then nothing is stored or lost."""
    from harness import api
    from rosetta_tui.session.engine import Engine

    ready = api.start(store_path, draft.request(draft.corpus(store_path)))
    if not keep_form:
        forget_draft(store_path.parent)
    return Engine(ready)


def resume_call(run_id: str, failed: int, submission: str = "", *, more_money: bool = False) -> str:
    """Return the call that continues a stopped run or submission; failed entries and a higher budget only by wish."""
    if submission:
        return f"rosetta submission run {submission}"
    again = " --retry-failed" if failed else ""
    return f"rosetta resume {run_id[:8]}{again}{' --budget USD' if more_money else ''}"


def resume(path: Path, run_id: str, options: PlanChanges, *, retry_failed: bool = False) -> Engine:
    """Make a run ready to continue with other ``options``, failed entries again with ``retry_failed``; HarnessError."""
    from harness import api
    from harness.setup.plan import Resumption
    from rosetta_tui.session.engine import Engine

    return Engine(api.resume(path, run_id, Resumption(options, retry_failed)))


def retry(path: Path, run_id: str, changes: PlanChanges) -> Engine:
    """Make a run of a run's failed entries, with ``changes`` to its plan; HarnessError where there are none."""
    from harness import api
    from rosetta_tui.session.engine import Engine

    return Engine(api.retry(path, run_id, changes))


def may_resume(run: RunSummary) -> bool:
    """Return whether a run that was cut can continue here."""
    return run.state == "stopped" and not run.imported and not run.submission


def may_retry(run: RunSummary) -> bool:
    """Return whether failed entries of a run can be asked for again here."""
    return run.state == "complete" and run.failed > 0 and not run.imported and not run.submission


# ---- Runs as the app is handed them: one that this process has under way, or one that is only
# watched.


class WatchedRun(NamedTuple):
    source: EventSource
    control: Control
    run_id: str = ""  # where it is known before the first event


class Followed(Protocol):
    """The events of a run of another process, with a hold on the store that must be let go."""

    def drain(self) -> list[Event]:
        """Return what is new, oldest first."""
        ...

    def close(self) -> None: ...


def look_ahead(path: Path, run_id: str, follow: Callable[[str], Followed], *, complete: bool) -> PrefetchedSource:
    """Prefetch a run that is over, or that another process has under way; may take long."""
    if not complete:
        followed = follow(run_id)
        try:
            return PrefetchedSource(followed.drain(), followed)
        except BaseException:
            followed.close()
            raise
    from rosetta_tui.session.recorded import recorded

    with opened(path) as store:
        return PrefetchedSource(recorded(store, run_id))


class Watched(NamedTuple):
    """A run of another process, or one that is over, with its first look taken."""

    source: PrefetchedSource
    run_id: str


class PrefetchedSource:
    """A source whose first look was taken already, in a thread, because it may be a long one."""

    def __init__(self, first: Sequence[Event], rest: Followed | None = None) -> None:
        self._first = list(first)
        self._rest = rest

    def drain(self) -> list[Event]:
        """Return what was seen ahead, then what is new."""
        events, self._first = self._first, []
        return events if events or self._rest is None else self._rest.drain()

    def close(self) -> None:
        if self._rest is not None:
            self._rest.close()
