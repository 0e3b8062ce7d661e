"""A run that has no card yet, as one page or as JSON: how far it is, its score so far, and how it continues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted, percent
from harness.method.method_names import submission_number
from harness.run.events import Finished, Progress, Started
from harness.run.following import Follower
from harness.store.run_list import LEAD, failures_by_run
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from rosetta_tui.report.paragraphs import line
from rosetta_tui.report.run import sentence
from rosetta_tui.session.run_sources import resume_call
from rosetta_tui.show import figures
from rosetta_tui.show.figures import value
from rosetta_tui.show.run_facts import failed_words
from scoring.core.inventory import short_title
from scoring.core.specification import TRANSLATIONS, KeptColumns


@dataclass(frozen=True, slots=True)
class UnfinishedRun:
    """What the store knows of a run before its seal."""

    started: Started
    progress: Progress
    finished: Finished | None  # none while a process is at work on it
    failures: Mapping[str, int]  # class of failure → entries that failed so

    @property
    def goes_on_with(self) -> str | None:
        """The command that continues with it; None while it continues on its own."""
        if self.finished is None:
            return None
        more_money = self.finished.budget_reached
        setup, now = self.started.setup, self.progress
        number = submission_number(setup.method, setup.method_sha256)
        return resume_call(now.run_id, now.failed, number, more_money=more_money)


def read_unfinished(path: Path, run_id: str) -> UnfinishedRun:
    """Read where a run of a store stands now, in one look; nothing of it is changed."""
    with closing(Follower(path, run_id)) as follower:
        events = follower.drain()
    with opened(path) as connection:
        number = find_run(connection, run_id).id
        failures = failures_by_run(connection, [number]).get(number, {})
    [started] = [event for event in events if isinstance(event, Started)]
    [progress] = [event for event in events if isinstance(event, Progress)]
    ended = [event for event in events if isinstance(event, Finished)]
    return UnfinishedRun(started, progress, ended[0] if ended else None, failures)


def unfinished_lines(run: UnfinishedRun) -> Iterator[str]:
    """Yield the page: what it is, how far it is, the score so far, and what continues or would."""
    now, setup, dataset = run.progress, run.started.setup, run.started.dataset
    names = dict.fromkeys((setup.method_name or setup.method, setup.model_slug, setup.condition))
    yield line("run", now.run_id)
    yield line("corpus", dataset.id, dataset.language_pair)
    yield line("method", *names)
    share = f" ({percent(now.done / now.total)})" if now.total else ""
    parts = [f"{figures.count(now.done)} of {counted(now.total, 'entry', 'entries')}{share}"]
    if now.failed:
        parts.append(f"failed {failed_words(now.failed, run.failures)}")
    state = "stopped" if run.finished is not None else str(now.state)
    yield line("state", state, *parts)
    if run.finished is None:
        parts = [f"{len(now.in_flight)} under way", f"{len(now.waiting)} waiting to be tried again"]
        parts = [now.doing] if now.doing else parts
        yield line("continues", "on its own, in the process that began it", *parts)
    else:
        if run.finished.reason:
            yield line("why", sentence(run.finished.reason))
        yield line("continues with", str(run.goes_on_with))
    yield ""
    yield from _scores(now, run.started.columns)
    yield ""
    budget = "" if now.budget_usd is None else f"of {figures.money(now.budget_usd)} budget"
    yield line("cost so far", figures.cost(now.cost_usd, now.known_cost_usd), budget)
    yield line("time so far", figures.clock(now.elapsed_seconds))


def _scores(now: Progress, kept: KeptColumns) -> Iterator[str]:
    """Yield the scores so far: first what runs of the task are shown by, with its interval, then all others."""
    if not now.done:
        yield line("score so far", "no entry is in yet")
        return
    yield line("score so far", "of the entries that are in; it changes until the last one is")
    there = {name: number for name, number in now.values.items() if number is not None}
    first = [id_ for id_ in (LEAD if kept == TRANSLATIONS else (kept.headline,)) if id_ in there]
    for name in dict.fromkeys([*first, *there]):
        low, high = now.intervals.get(name, (None, None)) if name in first else (None, None)
        between = "" if low is None else f" ({value(name, low)}–{value(name, high)})"
        spread = now.spread if name == kept.headline else None
        spread_words = None if spread is None else f"mean {value(name, spread.mean)} ± {value(name, spread.std)}"
        without = now.answered.get(name) if name in first else None
        answered = None if without is None else f"without failed {value(name, without)}"
        yield line(f"  {short_title(name)}", f"{value(name, there[name])}{between}", spread_words, answered)


def unfinished_json(run: UnfinishedRun, *, inside: bool = False) -> JsonObject:
    """Return the same for programs, null where a metric has no value; ``inside``: nothing of how entries came out."""
    now, setup = run.progress, run.started.setup
    document: JsonObject = {
        "run_id": now.run_id,
        "complete": False,
        "state": "stopped" if run.finished is not None else str(now.state),
        "dataset_id": run.started.dataset.id,
        "language_pair": run.started.dataset.language_pair,
        "method": setup.method,
        "model_slug": setup.model_slug,
        "condition": setup.condition,
        "total": now.total,
        "done": now.done,
        "failed": now.failed,
        "failures": dict(run.failures),
        "under_way": len(now.in_flight),
        "waiting": len(now.waiting),
        "scores_so_far": dict(now.values),
        "intervals_so_far": {name: list(pair) for name, pair in now.intervals.items()},
        "cost_usd": now.cost_usd,
        "elapsed_seconds": now.elapsed_seconds,
        "reason": None if run.finished is None else run.finished.reason,
        "goes_on_with": run.goes_on_with,
    }
    return {**document, **_OF_INSIDE} if inside else document


_OF_INSIDE: Final[JsonObject] = {
    "failed": 0, "failures": {}, "scores_so_far": {}, "intervals_so_far": {}, "cost_usd": None, "elapsed_seconds": None,
}  # fmt: skip
"""What a run whose numbers stay inside tells in place of its outcome."""
