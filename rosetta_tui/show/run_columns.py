"""The runs of a list as columns that a query asks: ``state:failed model:"gpt 5" chrf>40``."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from harness.card.reading import kept_inside, must_be_released
from harness.core.query import Fields, Query, QueryField, QueryType, fold, holds, matches
from harness.store.run_list import LEAD, RunSummary
from harness.store.runs import read_run
from rosetta_tui.show.run_facts import line_of
from rosetta_tui.show.text import plain
from scoring.core.inventory import metric_named, title, typed_name

if TYPE_CHECKING:
    from harness.core.query import Mask, Numbers


def _states(run: RunSummary) -> Iterator[str]:
    yield run.state.value
    if run.failed:
        yield "failed"
    if run.imported:
        yield "imported"


_WORDS: Mapping[str, tuple[str, Callable[[RunSummary], Iterable[str]]]] = {
    "state": ("complete, stopped, running, failed entries, imported", _states),
    "corpus": ("id of the corpus", lambda run: (run.dataset_id,)),
    "pair": ("languages", lambda run: (run.language_pair,)),
    "method": ("method", lambda run: (run.method,)),
    "model": ("model", lambda run: (run.model_slug,)),
    "condition": ("condition", lambda run: (run.condition,)),
    "tag": ("tag", lambda run: run.tags),
}
_NUMBERS: Mapping[str, tuple[str, Callable[[RunSummary], float | None]]] = {
    "cost": ("US dollars", lambda run: line_of(run).total_cost_usd),
    "failed": ("failed entries", lambda run: run.failed),
    "done": ("finished entries", lambda run: run.done),
    "entries": ("entries to translate", lambda run: run.total),
    "days": ("days since it began", lambda run: (time.time() - run.created) / 86_400),
}
_OUTCOME = frozenset({"cost", "failed"})
_RUN_TEXTS = {"id": "beginning or piece of the id", "note": "text of the note"}


class RunColumns:
    """Runs as a query asks them (``query.QueryRows``)."""

    def __init__(self, runs: Sequence[RunSummary], inside: Collection[int] = ()) -> None:
        """``inside``: numbers of the runs whose outcome is not asked for."""
        self._runs, self._inside = runs, inside
        self.every = np.ones(len(runs), np.bool_)

    @cached_property
    def _values(self) -> list[Mapping[str, float | None]]:
        return [{} if run.number in self._inside else run.so_far or line_of(run).values for run in self._runs]

    @cached_property
    def fields(self) -> Fields:
        """The fields that runs can be asked for, with the words that they have, the most frequent first."""
        metrics = {typed_name(id_): id_ for id_ in (*LEAD, *(id_ for own in self._values for id_ in own))}
        own = {
            name: Counter(word for run in self._runs for word in set(of(run)) if word)
            for name, (_, of) in _WORDS.items()
        }
        return {
            **{
                name: QueryField(QueryType.WORD, _WORDS[name][0], tuple(plain(word) for word, _ in words.most_common()))
                for name, words in own.items()
            },
            **{name: QueryField(QueryType.NUMBER, title(id_)) for name, id_ in metrics.items()},
            **{name: QueryField(QueryType.NUMBER, about) for name, (about, _) in _NUMBERS.items()},
            **{name: QueryField(QueryType.TEXT, about) for name, about in _RUN_TEXTS.items()},
        }

    def numbers(self, name: str) -> Numbers:
        """Return a number of each run, NaN where there is none."""
        if name in _NUMBERS:
            closed = self._inside if name in _OUTCOME else ()
            values = (None if run.number in closed else _NUMBERS[name][1](run) for run in self._runs)
        else:
            id_ = metric_named(name) or name
            values = (own.get(id_) for own in self._values)
        return np.array([np.nan if value is None else value for value in values], np.float64)

    def having(self, name: str, value: str | None) -> Mask:
        """Return which runs have a word; None: which have none."""
        of = _WORDS[name][1]
        words = ({_folded(word) for word in of(run) if word} for run in self._runs)
        return np.array([not own if value is None else _folded(value) in own for own in words], np.bool_)

    def containing(self, name: str, text: str) -> Mask:
        """Return which runs have a piece of text in id or note, "" for any of their words too."""
        wanted, texts = _folded(text), []
        for run in self._runs:
            words = () if name else (word for _, of in _WORDS.values() for word in of(run))
            texts.append([*([run.run_id] if name != "note" else []), *([run.note] if name != "id" else []), *words])
        return np.array([any(wanted in _folded(one) for one in own) for own in texts], np.bool_)


def _folded(text: str) -> str:
    """Return a word as it is compared: as lists show it."""
    return fold(plain(text))


def runs_where(connection: sqlite3.Connection, runs: Sequence[RunSummary], where: str) -> list[RunSummary]:
    """Return the runs that fit a query; of one whose numbers stay on this computer none is asked. Raises QueryError."""
    if not where:
        return list(runs)
    inside = frozenset(
        run.number
        for run in runs
        if not run.imported
        and (
            must_be_released(connection, read_run(connection, run.number))
            if run.card is None
            else kept_inside(run.card)
        )
    )
    columns = RunColumns(runs, inside)
    fits = matches(Query.of(where, columns.fields), columns.every, partial(holds, rows=columns))
    return [run for run, own in zip(runs, fits, strict=True) if own]
