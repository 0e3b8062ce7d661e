"""A run made ready to go: from a draft, from one that was cut, or from the failed entries of a complete one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.store.run_list import RunSummary
    from rosetta_tui.request.draft import RunDraft
    from rosetta_tui.session.engine import Engine


def begin(store_path: Path, draft: RunDraft) -> Engine:
    """Store the beginning of the run that a draft asks for; the draft that was kept is forgotten then.

    Raises CorpusError or HarnessError with what is wrong; nothing is stored then, and no draft is lost.
    """
    from harness import api
    from rosetta_tui.request.draft import forget_draft
    from rosetta_tui.session.engine import Engine

    ready = api.start(store_path, draft.request(draft.corpus(store_path)))
    forget_draft(store_path.parent)
    return Engine(ready)


def resume_call(run_id: str, failed: int, submission: str = "", *, more_money: bool = False) -> str:
    """Return the call that continues with a stopped run; with the number of a submission: that runs it again.

    Failed entries are asked for again by wish only, and a budget that was reached has to be a higher one.
    """
    if submission:
        return f"rosetta submission run {submission}"
    again = " --retry-failed" if failed else ""
    return f"rosetta resume {run_id[:8]}{again}{' --budget USD' if more_money else ''}"


def resume(
    path: Path, run_id: str, options: Mapping[str, Any], *, retry_failed: bool = False
) -> Engine:
    """Make a run ready to continue; HarnessError where it cannot.

    ``options`` are fields of the run's options that are to be other than before; ``retry_failed`` asks again
    for what failed.
    """
    from harness import api
    from harness.setup.plan import Resumption
    from rosetta_tui.session.engine import Engine

    return Engine(api.resume(path, run_id, Resumption(options, retry_failed)))


def retry(path: Path, run_id: str, changes: Mapping[str, Any]) -> Engine:
    """Make a run of a run's failed entries ready to go; HarnessError where there is nothing to ask again.

    ``changes`` are fields of the plan that are to be other than before, by name.
    """
    from harness import api
    from rosetta_tui.session.engine import Engine

    return Engine(api.retry(path, run_id, changes))


def may_resume(run: RunSummary) -> bool:
    """Return whether a run that was cut can continue here."""
    return run.state == "stopped" and not run.imported and not run.submission


def may_retry(run: RunSummary) -> bool:
    """Return whether failed entries of a run can be asked for again here."""
    return run.state == "complete" and run.failed > 0 and not run.imported and not run.submission
