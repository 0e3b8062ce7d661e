"""Runs as the program makes them: a corpus, a method, a store, a listener."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from corpora.files.packed_list import PlaceMap
from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry
from harness.card.rows import load_card
from harness.endpoint.endpoints import no_key
from harness.method.method import Attempt, Method, Result
from harness.method.options import MethodOptions
from harness.privacy import ClearedMethod, clear, scoring_servers
from harness.run.beginning import begin, prepare_run, resume_method, tools_for
from harness.run.events import Control, EntryScored, Event, Failed, Finished, Progress, Started
from harness.run.rescoring import rescore
from harness.run.running import execute_run
from harness.setup.plan import Plan, Resumption, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.results import read_attempts, read_results
from harness.store.runs import Run, find_run, read_card
from harness.store.sqlite.database import open_store

LANGUAGES = {"source_language": "en", "target_language": "eo"}
FEW = ("exact_match_rate", "chrf_plus_plus")
"""Metrics that take no time: where a test is not about scores."""


def corpus(size: int = 12, *, segment: str = "development", **more: Any) -> Corpus:
    """Entries whose references are their sources in capitals, which the scripted endpoint gives."""
    entries = [
        Entry.model_validate(
            {"id": n, "source": f"entry number {n}", "reference": f"ENTRY NUMBER {n}",
             "segment": segment, "difficulty": n % 5 + 1} | more
        )
        for n in range(size)
    ]  # fmt: skip
    return corpus_of(entries)


def corpus_of(entries: Sequence[Entry]) -> Corpus:
    dataset = Dataset(id="made", language_pair="EN→EO", source_language="en", target_language="eo")
    content = repr([entry.model_dump() for entry in entries]).encode("utf-8", "replace")
    return Corpus(dataset, tuple(entries), sha256(content).hexdigest(), Form.SPECIFICATION)


def chat_plan(url: str, *, run: dict[str, Any] | None = None, metrics: Sequence[str] = FEW, **options: Any) -> Plan:
    """A plan for the scripted endpoint; few tries, so that failures come to their end, and cheap metrics."""
    told = {"model": "mock", "endpoint": url, "source_language": "en", "target_language": "eo"}
    limits: dict[str, Any] = {"concurrency": 4, "most_attempts": 1, "timeout_seconds": 20}
    return Plan(
        method="chat",
        options=MethodOptions.model_validate(told | options),
        run=RunOptions.model_validate(limits | (run or {})),
        scoring=ScoringOptions(metrics=tuple(metrics)),
    )


@dataclass
class Heard:
    """A run's events, kept and sorted."""

    control: Control = field(default_factory=Control)
    react: Callable[[Event, Control], None] = lambda event, control: None
    events: list[Event] = field(default_factory=list)
    method: Method | None = None

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        self.react(event, self.control)

    @property
    def scored(self) -> list[Result]:
        return [event.result for event in self.events if isinstance(event, EntryScored)]

    @property
    def progress(self) -> list[Progress]:
        return [event for event in self.events if isinstance(event, Progress)]

    @property
    def started(self) -> Started:
        [event] = [event for event in self.events if isinstance(event, Started)]
        return event

    @property
    def finished(self) -> Finished:
        last = self.events[-1]
        assert isinstance(last, Finished), last
        return last

    @property
    def failed(self) -> Failed:
        last = self.events[-1]
        assert isinstance(last, Failed), last
        return last


def run_corpus(
    path: Path, given: Corpus, plan: Plan, heard: Heard | None = None, *,
    method: Method | None = None, positions: Sequence[int] | None = None,
) -> Heard:  # fmt: skip
    """Begin a run and bring it as far as it goes."""
    heard = heard or Heard()
    number, cleared = begun(path, given, plan, method, positions)
    heard.method = cleared.method
    execute_run(path, number, cleared, heard, heard.control)
    return heard


def begun(
    path: Path, given: Corpus, plan: Plan, method: Method | None = None,
    positions: Sequence[int] | None = None,
) -> tuple[int, ClearedMethod]:  # fmt: skip
    """Store the beginning of a run; a person has answered for the server of its method."""
    places = range(len(given.entries)) if positions is None else positions
    entries = PlaceMap.of(given.entries).at(places)
    make = None if method is None else lambda _: method
    cleared = clear(
        given.dataset, entries, plan, given.entries, no_key, make, answered_before=not scoring_servers(plan.scoring)
    )
    with closing(open_store(path)) as connection:
        return begun_on(connection, given, places, cleared), cleared


def begun_on(connection: sqlite3.Connection, corpus: Corpus, places: Sequence[int], cleared: ClearedMethod) -> int:
    """Store the beginning of a run and return its number."""
    chosen = PlaceMap.of(corpus.entries).at(places)
    with closing(tools_for(connection, corpus, chosen.in_order, cleared.plan)) as tools:
        return begin(connection, prepare_run(connection, corpus, chosen, cleared, tools))[0]


def resume(
    path: Path, heard: Heard | None = None, method: Method | None = None, *,
    retry_failed: bool = False, **options: Any,
) -> Heard:  # fmt: skip
    """Go on with the newest run."""
    heard = heard or Heard()
    with closing(open_store(path)) as connection:
        run = find_run(connection, "last")
        cleared = resume_method(connection, run, make=None if method is None else lambda _: method)
    execute_run(path, run.id, cleared, heard, heard.control, Resumption(options, retry_failed))
    return heard


@dataclass(frozen=True)
class Kept:
    """What the store holds of the newest run."""

    run: Run
    results: list[Result]
    attempts: dict[int, list[Attempt]]
    card: dict[str, Any] | None


def kept(path: Path, name: str = "last") -> Kept:
    with closing(open_store(path)) as connection:
        run = find_run(connection, name)
        results = list(read_results(connection, run.id))
        places = [each.position for each in results]
        attempts = {place: read_attempts(connection, run.id, place) for place in places}
        return Kept(run, results, attempts, read_card(connection, run.id))


def sealed_card(path: Path, name: str = "last") -> dict[str, Any]:
    """Return the card of a run that is sealed, the newest where none is named."""
    card = kept(path, name).card
    assert card is not None
    return card


def whole_card(path: Path, name: str = "last") -> dict[str, Any]:
    """Return the card of a run with its rows, the newest where none is named."""
    with closing(open_store(path)) as connection:
        return load_card(connection, find_run(connection, name).id).as_json()


def rescored(path: Path, **options: Any) -> dict[str, Any]:
    """Score the newest run again; gives the card of the new one with its rows."""
    with closing(open_store(path)) as connection:
        run = find_run(connection, "last")
        run_id = rescore(connection, run, ScoringOptions(**options), lambda words: None)
    return whole_card(path, run_id)


def query(path: Path, sql: str, *values: object) -> list[Any]:
    with closing(open_store(path)) as connection:
        return connection.execute(sql, values).fetchall()


PLAN = Plan(method="copy-source", options=MethodOptions(**LANGUAGES))
CHEAP = PLAN.model_copy(update={"scoring": ScoringOptions(metrics=FEW)})
