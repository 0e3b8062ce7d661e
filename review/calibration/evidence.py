"""Rated outputs of stored runs with their scores: what a calibration looks at. It holds numbers and no text."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from operator import attrgetter
from unicodedata import normalize

import numpy as np

from corpora.languages.tags import family_of
from harness.card.reading import card_head
from harness.core.failures import HarnessError, UsageError
from harness.inputs.table import EntryIds
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.results import entry_ids, read_results
from harness.store.runs import Run, find_run, read_card
from review.calibration.ratings import PersonRating, Ratings
from scoring.calibration.calibration import SystemLanguage
from scoring.calibration.judgements import Judgements
from scoring.core.inventory import STRUCTURAL_KEY
from scoring.core.specification import quality_tier

# Run id and entry id → what people said of the output
_Said = dict[tuple[str, str], list[PersonRating]]


@dataclass(frozen=True, slots=True)
class RatedRun:
    run_id: str
    run_card_hash: str
    dataset_id: str
    language_pair: str
    target_language: str
    system: str  # Its model, or its method where there is no model
    composite: float | None
    # Both of the whole run: the composite as its card says, and the tier that follows from it
    quality_tier: str
    outputs: int  # Rated outputs


@dataclass(frozen=True, slots=True)
class CalibrationEvidence:
    judgements: Judgements
    profile: str | None  # Profile of the composite where all runs share one
    runs: tuple[RatedRun, ...]
    source: Mapping[str, str | float]
    ratings: int  # Ratings that were used
    raters: int | None  # Different people; None where the ratings do not say who rated
    least_ratings: int
    most_ratings: int  # Ratings of the output with the fewest and the most
    left_out: Mapping[str, int]  # Why → how many ratings were not used

    @property
    def languages(self) -> dict[str, SystemLanguage]:
        return {
            run.run_id: SystemLanguage(run.language_pair, run.target_language, family_of(run.target_language))
            for run in self.runs
        }


@dataclass(frozen=True, slots=True)
class _Part:
    run: RatedRun
    entries: list[str]
    said: list[list[PersonRating]]
    metrics: dict[str, list[float]]
    better: dict[str, str]
    composite: list[float]
    length: list[float]


UNNAMED = "of runs that were not named"
ELSEWHERE = "of entries that the run does not have"
WITHHELD = "of entries whose scores are withheld on an imported card"


def gather(connection: sqlite3.Connection, names: Sequence[str], ratings: Ratings) -> CalibrationEvidence:
    """Pair ratings with the scores of the named runs; without names, of the runs that the ratings name.

    Raises UsageError where ratings cannot be told to be of one run, HarnessError where nothing fits.
    """
    runs = rated_runs(connection, names, ratings)
    assigned_rows = _assigned(runs, ratings)
    assigned = sum(map(len, assigned_rows.values()))
    for run in runs:
        # Refuse a run of other weights: ratings are held against the specification's, which a
        # proposal changes.
        if (run.opening.scoring or {}).get("calibration") is not None:
            raise UsageError(
                f"Run {run.run_id[:8]} was scored with calibrated weights, and ratings are held against the specification's. Score "
                f"it again with them: rosetta score --rescore {run.run_id[:8]} --scoring specification"
            )
    missed = {UNNAMED: len(ratings.rows) - assigned, ELSEWHERE: 0, WITHHELD: 0}
    every = (_part(connection, run, assigned_rows, missed) for run in runs)
    parts = [part for part in every if part.entries]
    if not parts and missed[WITHHELD]:
        raise HarnessError(
            "The rated entries belong to a secret segment, and the card was imported without their scores. "
            "Calibrate where the run was made."
        )
    if not parts:
        raise HarnessError(
            "None of the ratings is of an entry of these runs. Look whether the ids are those of the corpus, and "
            "whether the ratings name these runs: `rosetta runs list` shows them."
        )
    missed |= {"without a rating": ratings.empty, "of control items": ratings.controls}
    return _evidence(parts, ratings, {why: count for why, count in missed.items() if count})


def rated_runs(connection: sqlite3.Connection, names: Sequence[str], ratings: Ratings) -> list[Run]:
    """Return the named runs, each once; without names, those that the ratings name. UsageError where there is none."""
    runs = [find_run(connection, name) for name in names]
    named = {row.run: row.where for row in reversed(ratings.rows) if row.run is not None}
    for name, where in () if names else reversed(named.items()):
        try:
            runs.append(find_run(connection, name))
        except UsageError:
            raise UsageError(
                f"{where}: field 'run' is not a run's id. Write ids, or name the runs: `rosetta calibrate RUN`."
            ) from None
    if not runs:
        raise UsageError("Name the run that was rated; the ratings do not say it.")
    return list({run.id: run for run in runs}.values())


def _assigned(runs: Sequence[Run], ratings: Ratings) -> _Said:
    """Find the run of every rating; those of other runs are left out."""
    known: dict[str | None, str | None] = {}
    rows_of_runs: _Said = {}
    for row in ratings.rows:
        if row.run not in known:
            known[row.run] = _meant(runs, row)
        if (run := known[row.run]) is not None:
            rows_of_runs.setdefault((run, row.entry_id), []).append(row)
    return rows_of_runs


def _meant(runs: Sequence[Run], row: PersonRating) -> str | None:
    if row.run is None:
        if len(runs) == 1:
            return runs[0].run_id
        raise UsageError(f"{row.where}: which of the {len(runs)} runs was rated? Add a column 'run' with the run's id.")
    fitting = {
        run.run_id
        for run in runs
        if run.run_id.startswith(row.run.lower())
        or row.run in {run.setup.model_slug, run.setup.method, run.setup.condition}
    }
    if len(fitting) > 1:
        raise UsageError(
            f"{row.where}: field 'run' fits more than one of the runs. Give the run's id, or the beginning of "
            "it; `rosetta runs list` shows them."
        )
    return fitting.pop() if fitting else None


def _part(connection: sqlite3.Connection, run: Run, said: _Said, missed: dict[str, int]) -> _Part:
    by_place = _by_place(connection, run, said)
    entries = read_entries(connection, run.corpus, by_place)
    shut = {place for place, e in entries.items() if e.withheld}
    stored = read_results(connection, run.id, sorted(by_place))
    results = sorted((r for r in stored if r.position not in shut), key=attrgetter("position"))
    # Whether a run came as a card without rows, as those with secret entries do.
    only_totals = run.imported and (read_card(connection, run.id) or {}).get("withheld") is not None
    absent = WITHHELD if only_totals else ELSEWHERE
    # ratings that cannot be used: of withheld entries, and of entries that are not the run's
    used = {result.position for result in results}
    withheld = sum(len(by_place[place]) for place in by_place.keys() & shut - used)
    every = sum(len(rows) for (run_id, _), rows in said.items() if run_id == run.run_id)
    missed[WITHHELD] += withheld
    missed[absent] += every - withheld - sum(len(by_place[place]) for place in used)
    scorer = stored_scorer(run, "und", entries.in_order)
    taken = scorer.entries_values([scorer.unpack(result.statistics) for result in results])
    outputs = len(results)
    card = card_head(connection, run)
    scores = card.get("scores")
    stated = scores.get("composite") if isinstance(scores, Mapping) else None
    composite = float(stated) if isinstance(stated, int | float) and not isinstance(stated, bool) else None
    rated_run = RatedRun(
        run.run_id,
        str(card.get("run_card_hash") or ""),
        run.dataset_id,
        run.language_pair,
        read_dataset(connection, run.corpus).target_language or "und",
        run.setup.model_slug or run.setup.method,
        composite,
        str(quality_tier(composite)),
        outputs,
    )
    return _Part(
        rated_run,
        [f"{run.dataset_id} {run.language_pair} {result.entry_id}" for result in results],
        [by_place[result.position] for result in results],
        {id_: [_number(row.values.get(id_)) for row in taken] for id_ in scorer.ids},
        {metric.info.id: metric.info.better for metric in scorer.metrics},
        [_number(row.composite) for row in taken],
        [float(len(normalize("NFC", result.output or ""))) for result in results],
    )


def _by_place(connection: sqlite3.Connection, run: Run, said: _Said) -> dict[int, list[PersonRating]]:
    """Return what was said of each output by the place of its entry; an id 1.0 of a spreadsheet means 1."""
    places = {str(id_): place for place, id_ in entry_ids(connection, run.id).items()}
    known, by_place = EntryIds(places), dict[int, list[PersonRating]]()
    for (run_id, given), rows in said.items():
        if run_id == run.run_id and (id_ := known.find(given)) is not None:
            by_place.setdefault(places[id_], []).extend(rows)
    return by_place


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _evidence(parts: Sequence[_Part], ratings: Ratings, left_out: Mapping[str, int]) -> CalibrationEvidence:
    judgements = _judgements(parts)
    rows_of_items = [rows for part in parts for rows in part.said]
    people = {row.reviewer for rows in rows_of_items for row in rows}
    profiles = {
        "A" if any(value == value for value in part.metrics.get(STRUCTURAL_KEY, ())) else "B"  # noqa: PLR0124  NaN
        for part in parts
    }
    return CalibrationEvidence(
        judgements,
        profiles.pop() if len(profiles) == 1 else None,
        tuple(part.run for part in parts),
        ratings.source,
        sum(map(len, rows_of_items)),
        None if None in people else len(people),
        min(map(len, rows_of_items)),
        max(map(len, rows_of_items)),
        left_out,
    )


def _judgements(parts: Sequence[_Part]) -> Judgements:
    better = {id_: way for part in parts for id_, way in part.better.items()}
    rows_of_items = [rows for part in parts for rows in part.said]
    nothing = {id(part): [float("nan")] * len(part.entries) for part in parts}
    return Judgements(
        items=tuple(entry for part in parts for entry in part.entries),
        systems=tuple(part.run.run_id for part in parts for _ in part.entries),
        # Mean ratings, rounded: equal means are equal in whatever order people are added up
        people=np.array([round(fsum(row.place for row in rows) / len(rows), 12) for rows in rows_of_items]),
        acceptable=np.array([sum(row.acceptable for row in rows) / len(rows) for rows in rows_of_items]),
        composite=np.array([value for part in parts for value in part.composite]),
        metrics={id_: np.concatenate([part.metrics.get(id_, nothing[id(part)]) for part in parts]) for id_ in better},
        better=better,
        length=np.array([value for part in parts for value in part.length]),
    )
