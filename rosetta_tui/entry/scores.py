"""What one entry scored: its values by category, as a run's stored statistics tell them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from textual.content import Content

from harness.core.failures import HarnessError
from harness.method.result import Result
from harness.setup.scoring_tools import stated_setup, stored_scorer
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.runs import Run, read_run
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import references_accepted
from rosetta_tui.show.metric_words import by_category, of_entries
from rosetta_tui.toolkit.content import show, shown_value
from scoring.core.metric_names import short_title
from scoring.core.scorer import Scorer
from scoring.core.specification import quality_tier
from scoring.core.table import StatisticsError


@dataclass(frozen=True, slots=True)
class RunScoring:
    """How the stored statistics of a run's entries are read."""

    target_language: str
    scorer: Scorer
    references: float | None
    """Share of the references' own words that the run's analyser accepts, 0–1."""


def run_scoring(store: sqlite3.Connection, run: Run) -> RunScoring:
    """Find out how a run was scored; one that states it in a way nobody can read is read by no metric."""
    target = read_dataset(store, run.corpus).target_language
    try:
        setup = stated_setup(run.opening.get("scoring"))
    except HarnessError:
        return RunScoring(target, Scorer(()), None)
    entries = []
    if setup is None:  # only texts are known, and whether there are variants decides what is read
        entries = list(read_entries(store, run.corpus, read_run(store, run.id).positions).values())
    scorer = stored_scorer(run, target, entries)
    return RunScoring(target, scorer, references_accepted(run.opening))


def scores(result: Result, missing: Mapping[str, str], scoring: RunScoring) -> Content:
    """Return composite and tier, then one line of values for each category.

    What a single entry reaches is no verdict of speakers, whatever the name of its tier.
    """
    tier = quality_tier(result.composite)
    mixed = Content.assemble(
        ("composite ", "$quiet"),
        (figures.number(result.composite, 2), "bold"),
        ("  ", ""),
        (figures.meter(tier), "$mark"),
        f" {tier}",
        (" by its scores alone", "$quiet"),
    )
    values = {id_: v for id_, v in _values(result, scoring.scorer).items() if of_entries(id_)}
    return Content("\n").join([mixed, *_lines(values, scoring), *_nothing(values, missing)])


def _values(result: Result, scorer: Scorer) -> dict[str, float | None]:
    """Read the entry's own values from its statistics; the kept ones stand where these do not fit."""
    try:
        return dict(scorer.entry_values(scorer.unpack(result.statistics)).values)
    except StatisticsError:
        return {"exact_match_rate": float(result.exact), "chrf_plus_plus": result.chrf}


def _lines(values: Mapping[str, float | None], scoring: RunScoring) -> Iterator[Content]:
    dot = Content.styled(" · ", "$quiet")
    for _, metrics in by_category(id_ for id_, value in values.items() if value is not None):
        yield dot.join([_score(id_, values[id_], scoring) for id_ in metrics])


def _score(metric: str, value: float | None, scoring: RunScoring) -> Content:
    name = Content.styled(f"{short_title(metric)} ", "$quiet")
    if metric in {"exact_match_rate", "equivalent_match_rate"}:
        return name.append(Content.styled("yes", "$good") if value else Content("no"))
    return name.append(shown_value(metric, value, scoring.references))


def _nothing(values: Mapping[str, float | None], missing: Mapping[str, str]) -> Iterator[Content]:
    """Name the metrics of the run that find nothing to look at in this entry."""
    idle = [short_title(id_) for id_, v in values.items() if v is None and id_ not in missing]
    if idle:
        yield show(f"no value for this entry: {', '.join(idle)}", "$quiet")
