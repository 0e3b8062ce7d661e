"""What a line about a run says of it, in tables of the terminal and of the app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rosetta_tui import figures

if TYPE_CHECKING:
    from harness.store.runs import RunSummary


def runs_now(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Give runs as they are now: one whose process is gone is stopped, whatever the store says."""
    from harness.events import RunState
    from harness.store.runs import under_way

    ended = {RunState.STOPPED, RunState.COMPLETE}
    return [
        run if run.state in ended or under_way(run) else replace(run, state=RunState.STOPPED)
        for run in runs
    ]


def setup_words(run: RunSummary) -> str:
    """Give method, model and condition, after what parts it from others that have the same.

    A name that is all of these stands once. A run whose outputs are those of another is marked, lest it is
    taken for a second experiment; so is one that asked again for another's failed entries.
    """
    again = "rescored" if run.rescore_of else "retried" if run.retry_of else ""
    parts = dict.fromkeys((run.distinction, run.method, run.model_slug, run.condition, again))
    return ("↺ " if again else "") + " · ".join(part for part in parts if part)


def when(seconds: float) -> str:
    """Give a Unix time as the date and time of this machine's place."""
    moment = _moment(seconds)
    return figures.NONE if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M")


def failed_words(failed: int, failures: Mapping[str, int]) -> str:
    """Say in a cell how many entries failed, and how: ``18 connection``, ``20: connection 18, empty 2``."""
    if len(failures) < 2:
        return " ".join([f"{failed:,}", *map(_kind, failures)])
    return f"{failed:,}: {_kinds(failures)}"


def failed_told(failed: int, failures: Mapping[str, int]) -> str:
    """Say in a sentence how many entries failed, and how: ``18 failed (connection)``."""
    kinds = ", ".join(map(_kind, failures)) if len(failures) < 2 else _kinds(failures)
    return f"{failed:,} failed ({kinds})" if kinds else f"{failed:,} failed"


def _kinds(failures: Mapping[str, int]) -> str:
    return ", ".join(f"{_kind(name)} {count:,}" for name, count in failures.items())


def _kind(name: str) -> str:
    return name.replace("_", " ")


def iso(seconds: float) -> str | None:
    """Give a Unix time as ISO 8601 in UTC, None where no calendar has it."""
    moment = _moment(seconds)
    return None if moment is None else moment.isoformat()


def _moment(seconds: float) -> datetime | None:
    """Read a time of the years 1970 to 9998: every place of the world has a date for it."""
    if not 0 <= seconds < 253_370_764_800:
        return None
    return datetime.fromtimestamp(seconds, UTC)
