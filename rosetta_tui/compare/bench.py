"""The bench: a few entries of a run are asked again in another way, old and new outputs side by side.

A bench run is a run like any other, of these entries alone: it is checked, estimated, paid, cached and stored as
one, with the tag ``bench``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from statistics import fmean
from typing import Final

from textual.content import Content

from corpora.model.entry import Entry
from corpora.text.messages import counted
from harness.compare.parts import ChanceGain, gain_by_chance, headline_of, worst_places
from harness.core.failures import UsageError
from harness.core.query import Fields
from harness.method.method import Result
from harness.setup.plan import plan_of
from harness.store.corpora.entries import read_dataset, shown_entries
from harness.store.results import shown_results
from harness.store.runs import find_run
from rosetta_tui.compare.difference_panel import BLANK
from rosetta_tui.compare.sentences import name, number
from rosetta_tui.compare.table import output_cell
from rosetta_tui.entry.rows import LEFT_OUT_WORDS
from rosetta_tui.request.draft import YES, RunDraft, Value
from rosetta_tui.request.draft_of_run import draft_values, named_entries
from rosetta_tui.request.fields import applicable
from rosetta_tui.show import figures
from rosetta_tui.show.columns import LEFT_OUT, Cell, Column, OrderedRows, Record
from rosetta_tui.show.columns import Value as RecordValue
from rosetta_tui.toolkit.ordered_table import OrderedTable
from scoring.core.inventory import direction

CHANGED: Final = ("prompt", "coaching", "model", "temperature")
"""What can be changed at the bench, of what the run's method takes."""
_SELECTION = ("segment", "difficulty", "limit", "sample", "seed", "entries")
LABEL: Final = "bench"
NAMES = ("before", "now")

Results = dict[int, Result]  # by place in the corpus


@dataclass
class BenchFacts:
    """What a bench begins with."""

    values: Mapping[str, Value]  # options that ask for the whole run again
    entries: Mapping[int, Entry]
    before: Results
    metric: str
    task: str
    what: str  # the run in words
    chance: ChanceGain | None = None
    now: Results = field(default_factory=dict)

    def draft(self, typed: Mapping[str, Value], *, few: bool) -> RunDraft:
        """Return what asks for the ``few`` entries, or for the whole run, with the changes.

        Asked again with no change nothing comes from the cache: that shows what chance alone does.
        """
        values = {**self.values, **typed}
        if few:
            ids = [str(entry.id) for entry in self.entries.values()]
            for option in _SELECTION:
                values.pop(option, None)
            values |= {"entries": named_entries(ids), "condition": LABEL, "tags": (LABEL,)}
            values |= {} if self.changes(typed) else {"no_cache": YES}
        return RunDraft.of(values)

    def changes(self, typed: Mapping[str, Value]) -> bool:
        """Return whether anything is to be asked in another way."""
        return any(typed[option] != self.values.get(option, "") for option in typed)


def read_facts(store: sqlite3.Connection, run_id: str, places: Sequence[int], *, worst: bool) -> BenchFacts:
    """Read the run and the entries of a bench, or the ``worst`` of them; UsageError where they cannot be asked again in another way."""
    run = find_run(store, run_id)
    plan, dataset = plan_of(run), read_dataset(store, run.corpus)
    if not applicable(plan.method) & {*CHANGED}:
        raise UsageError("The method of this run has no prompt, coaching, model or temperature that could be changed.")
    values = draft_values(run, store)
    if "vault" in values:
        raise UsageError(f"The entries are of a vault, which is opened in a shell: {RunDraft.of(values).command()}")
    if plan.run.may_send:  # the endpoint stays, so the permission does
        values["may_send"] = plan.run.may_send
    places = worst_places(store, run, {*places}) if worst else places
    if not places:
        raise UsageError("None of these entries has a value yet.")
    entries = shown_entries(store, run.corpus, places)
    return BenchFacts(
        values=values,
        entries={place: entries[place] for place in places if place in entries},
        before={result.position: result for result in shown_results(store, run.id, places)},
        metric=headline_of(run),
        task=dataset.task,
        what=" · ".join(dict.fromkeys((dataset.id, run.setup.method, run.setup.model_slug))),
        chance=gain_by_chance(store, run, places) if len(places) > 1 else None,
    )


class BenchRows(OrderedRows):
    """One row for each entry, with what was made of it before and now."""

    def __init__(self, facts: BenchFacts) -> None:
        super().__init__(facts.entries)
        self._facts = facts

    def key(self, index: int) -> Hashable:
        return (self.order[index], self._facts.now.get(self.order[index]))

    def prepare(self, first: int, last: int) -> None:
        """Everything is there already."""

    def secret(self, index: int) -> bool:
        """Return whether a row belongs to a secret segment, of which nothing is copied or exported."""
        return self._facts.entries[self.order[index]].secret

    def record(self, index: int) -> Record:
        """Return the values of one row; of a secret entry no text and no number."""
        place = self.order[index]
        record: dict[str, RecordValue] = {"id": self._facts.entries[place].id}
        if self.secret(index):
            return {**record, LEFT_OUT: LEFT_OUT_WORDS}
        for side, results in zip(NAMES, (self._facts.before, self._facts.now), strict=True):
            result = results.get(place)
            record[side] = value_of(result)
            record[f"output_{side}"] = None if result is None else result.output
        return record

    def cells(self, index: int) -> Sequence[Cell]:
        facts, place = self._facts, self.order[index]
        before, now = facts.before.get(place), facts.now.get(place)
        one, other = value_of(before), value_of(now)
        gain = None if one is None or other is None else other - one
        better = gain is not None and (gain < 0) is (direction(facts.metric) == "lower")
        return (
            Cell(str(facts.entries[place].id), "quiet"),
            Cell(facts.entries[place].source, "quiet"),
            output_cell(before, BLANK),
            output_cell(now, BLANK),
            _number_cell(facts.metric, one),
            _number_cell(facts.metric, other),
            _number_cell(facts.metric, gain, "good" if better else "bad") if gain else Cell("=" if gain == 0 else ""),
            Cell("" if now is None else figures.in_column(figures.money(now.cost_usd)), "quiet"),
        )


class BenchTable(OrderedTable[BenchRows]):
    """The entries in the order in which they were chosen; nothing filters or sorts them."""

    @property
    def fields(self) -> Fields:
        return {}


def value_of(result: Result | None) -> float | None:
    """Return an entry's value of the headline; a failed one counts as 0."""
    return None if result is None else 0.0 if result.failed else result.headline


def _number_cell(metric: str, value: float | None, tone: str = "") -> Cell:
    return BLANK if value is None else Cell(number(metric, value, sign=bool(tone)), tone or "plain")


COLUMNS = (
    Column("id", "id", 6),
    Column("source", "source", 12, share=1, drop=3),
    Column("before", "output before", 16, share=2),
    Column("now", "output now", 16, share=2),
    Column("value before", "before", 6, right=True),
    Column("value now", "now", 6, right=True),
    Column("gain", "gain", 6, right=True),
    Column("cost", "cost", 9, right=True, drop=2),
)


def _cost(results: Sequence[Result]) -> str:
    known = [result.cost_usd for result in results if result.cost_usd is not None]
    return figures.cost(fsum(known) if len(known) == len(results) else None, fsum(known))


def outcome_line(facts: BenchFacts) -> Content:
    """Return values, gain and cost of the entries before and now."""
    both = [(facts.before[place], now) for place, now in facts.now.items() if place in facts.before]
    values = [(value_of(before), value_of(now)) for before, now in both]
    pairs = [(one, other) for one, other in values if one is not None and other is not None]
    if not pairs:
        return Content.styled("Nothing was asked again yet.", "$quiet")
    before, now = (fmean(side) for side in zip(*pairs, strict=True))
    sign = -1 if direction(facts.metric) == "lower" else 1
    gains = [sign * (other - one) for one, other in pairs]
    better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    parts = [
        f"{better} better, {worse} worse, {len(gains) - better - worse} the same",
        f"cost {' → '.join(_cost(side) for side in zip(*both, strict=True))}",
        f"{failed} failed" if (failed := sum(result.failed for _, result in both)) else "",
        f"{cached} from the cache" if (cached := sum(result.cached for _, result in both)) else "",
    ]
    mean = f"{number(facts.metric, before)} → {number(facts.metric, now)} ({number(facts.metric, now - before, sign=True)})"
    return Content.assemble(
        (f"{name(facts.metric)} {mean}", "bold $good" if sign * (now - before) > 0 else "bold"),
        (f" mean of {counted(len(gains), 'entry', 'entries')} · ", "$quiet"),
        " · ".join(filter(None, parts)),
    )


def chance_words(facts: BenchFacts, *, worst: bool) -> str:
    """Return why what came of so few entries is not what comes of a corpus."""
    count = len(facts.entries)
    if count == 1:
        return "One entry says nothing about the whole: judge by a full run."
    if not worst:
        return f"{count} entries are few: judge by a full run."
    because = f"These {count} were chosen for their low scores, so part of any gain is chance"
    if facts.chance is None:
        return f"{because} (no other run shows how much). Judge by a full run."
    gain, runs = number(facts.metric, facts.chance.gain, sign=True), counted(facts.chance.runs, "other run")
    return f"{because}: expect {gain}, which {runs} gained on them beyond the gain overall. Judge by a full run."
