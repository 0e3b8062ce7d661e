"""What earlier runs of this store tell about one that is planned: tokens, money and seconds an entry."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from corpora.model.entry import Entry
from harness.estimate.asking_ahead import first_request, groups
from harness.estimate.token_guess import guess, guess_request
from harness.method.method import Method, Setup
from harness.setup.plan import plan_of
from harness.store.corpora.entries import read_entries
from harness.store.file.trouble import unpacks
from harness.store.runs import Run, read_run
from harness.store.stretches import elapsed_seconds

MOST_RUNS = 5
"""Earlier runs that are looked at, the newest first."""

MOST_ENTRIES = 400
"""Entries of one earlier run that are looked at."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One entry of an earlier run: what was measured, beside what would have been guessed."""

    prompt: int
    completion: int
    cost: float | None
    guessed_prompt: float
    guessed_completion: float


@dataclass(frozen=True, slots=True)
class EarlierPace:
    """How fast an earlier run was."""

    seconds: float
    """Wall-clock time over the entries that were not answered from the store."""
    answering: float
    """Seconds an entry that the endpoint alone took, calls shared by several entries parted among them."""
    entries: int
    at_once: int
    """Most calls that it could have under way."""


@dataclass(slots=True)
class Earlier:
    """What is known from earlier runs."""

    same: bool
    """True where they had the very setup of the planned run; else only method and model are the same."""
    runs: int = 0
    entries: list[Seen] = field(default_factory=list)
    paces: list[EarlierPace] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    """Of each run: calls an entry."""


def look_back(connection: sqlite3.Connection, method: Method) -> Earlier | None:
    """Find what earlier runs with the same setup tell, else those of the same method and model.

    None where there is none. Runs imported as cards tell nothing of their pace and are left out.
    """
    setup = method.setup
    rows = connection.execute(
        "SELECT id, setup FROM runs WHERE model_slug = ? AND imported IS NULL AND put_away IS NULL"
        " AND json_extract(setup, '$.method') = ? AND json_extract(setup, '$.provider') IS ?"
        " AND EXISTS (SELECT 1 FROM results r WHERE r.run = runs.id AND r.error_class IS NULL)"
        " ORDER BY created DESC, id DESC",
        (setup.model_slug, setup.method, setup.provider),
    ).fetchall()
    asked = _asked(setup)
    read = unpacks(Setup.model_validate_json)
    same = [number for number, stated in rows if _asked(read(stated)) == asked]
    chosen = (same or [number for number, _ in rows])[:MOST_RUNS]
    if not chosen:
        return None
    earlier = Earlier(same=bool(same))
    for number in chosen:
        _look_at(connection, read_run(connection, number), method, earlier)
    return earlier


def _asked(setup: Setup) -> Setup:
    """Leave out what labels an experiment and changes nothing of what is sent."""
    return setup.model_copy(update={"condition": "", "replicate": 0})


def _look_at(connection: sqlite3.Connection, run: Run, method: Method, earlier: Earlier) -> None:
    earlier.runs += 1
    earlier.entries += _seen(connection, run, method, same=earlier.same)
    fresh, calls, answering = connection.execute(
        "SELECT count(*), coalesce(sum(attempts), 0), coalesce(sum(latency_seconds / batch_size), 0)"
        " FROM results WHERE run = ? AND NOT cached",
        (run.id,),
    ).fetchone()
    if fresh:
        plan = plan_of(run)
        pace = elapsed_seconds(connection, run.id) / fresh
        earlier.paces.append(EarlierPace(pace, answering / fresh, fresh, plan.run.concurrency))
        earlier.calls.append(calls / fresh / run.setup.batch_size)


def _seen(
    connection: sqlite3.Connection, run: Run, method: Method, *, same: bool
) -> Iterator[Seen]:
    rows = connection.execute(
        "SELECT position, prompt_tokens, completion_tokens, cost_usd FROM results"
        " WHERE run = ? AND prompt_tokens IS NOT NULL AND error_class IS NULL"
        " ORDER BY position LIMIT ?",
        (run.id, MOST_ENTRIES),
    ).fetchall()
    entries = read_entries(connection, run.corpus, [row[0] for row in rows])
    prompts = _guessed(run, [entries[row[0]] for row in rows], method if same else None)
    for (place, prompt, completion, cost), guessed in zip(rows, prompts, strict=True):
        expected = guess(entries[place].reference).expected
        yield Seen(prompt, completion or 0, cost, guessed, expected)


def _guessed(run: Run, entries: Sequence[Entry], method: Method | None) -> list[float]:
    """Guess the prompt of each entry as it would be guessed now, or from what the run keeps of it."""
    if method is not None:
        return [
            each
            for group in groups(entries, run.setup.batch_size)
            for each in _share(method, group)
        ]
    around = guess(run.setup.system_prompt_used or "").expected / run.setup.batch_size
    return [around + guess(entry.source).expected for entry in entries]


def _share(method: Method, group: Sequence[Entry]) -> list[float]:
    request = first_request(method, group)
    guessed = 0.0 if request is None else guess_request(request).expected
    return [guessed / len(group)] * len(group)
