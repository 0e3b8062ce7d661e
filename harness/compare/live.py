"""A run under way against an earlier one: what may be said of their difference by now, right whenever one looks.

Entries come one by one, and somebody looks after each. So the difference of the entries that both runs have is held in
a confidence sequence (``scoring.statistics.racing``), which errs no more often than 5 % over all looks together.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import nan

from harness.compare.pairs import RunningDifference, different_parts
from harness.compare.rows import scorer_of
from harness.core.failures import HarnessError, RunState, UsageError
from harness.method.method import Result
from harness.store.attachments import UNCHECKED, checked_here
from harness.store.corpora.entries import corpus_sha256, holds_secrets
from harness.store.results import sort_columns
from harness.store.runs import Run, find_run
from harness.store.sqlite.openings import EarlyStop
from scoring.core.inventory import direction, known_row, short_title
from scoring.core.scorer import Scorer
from scoring.statistics.intervals import LEVEL
from scoring.statistics.racing import ConfidenceSequence, span_of

SHOWN_SECONDS = 1.0
"""Time between two intervals that are worked out, each some milliseconds; whether zero is left out is asked always."""


@dataclass(frozen=True, slots=True)
class LiveDifference:
    """What is known of a run under way against an earlier one."""

    run_id: str
    """Of the earlier run."""
    name: str
    """Its condition."""
    metric: str
    so_far: RunningDifference | None
    """``second`` is the run under way; None before both have an entry."""
    decided: int | None = None
    """Entries after which the interval first left zero out, None where it has not; later ones do not undo it."""
    better: bool | None = None
    """Whether the run under way was better then."""


def baseline_of(connection: sqlite3.Connection, name: str, sha256: str, scorer: Scorer, *, secret: bool = False) -> Run:
    """Return the complete run that a run under way is compared with; UsageError says why it does not compare.

    ``sha256``: of the run's corpus file; ``scorer``: its own; ``secret``: whether it has secret entries.
    """
    run = find_run(connection, name)
    why, metric = None, scorer.columns.headline
    own = scorer_of(connection, run) if run.state is RunState.COMPLETE else None
    if own is None:
        why = "it is not complete"
    elif secret or holds_secrets(connection, run):
        why = "entries are secret, and how runs differ on those is only released"
    elif run.imported and not checked_here(connection, run.id).get(run.id, UNCHECKED).counts:
        why = "its scores are only what its card states"
    elif (other := corpus_sha256(connection, run.corpus)) != sha256:
        why = f"its corpus is another: {run.dataset_id} (sha256 {other[:12]}), not sha256 {sha256[:12]}"
    elif metric not in own.signatures or metric not in scorer.signatures:
        why = f"not both runs have {short_title(metric) if metric else 'a metric'} for each entry"
    elif (theirs := own.signatures[metric]) != (mine := scorer.signatures[metric]):
        parts = f"{different_parts(theirs, mine)} there, {different_parts(mine, theirs)} here"
        why = f"{short_title(metric)} was scored otherwise ({parts})"
    elif span_of(known_row(metric).info) is None:
        why = f"{short_title(metric)} has no bounds, so nothing can be said before the end"
    if why is not None:
        raise UsageError(f"Run {run.run_id[:8]} cannot be the baseline of a run under way: {why}.")
    return run


def comparison_of(connection: sqlite3.Connection, run: Run, name: str | None, scorer: Scorer) -> LiveComparison | None:
    """Return the comparison of a stored run with the one that it names; None for none, or one that is gone."""
    if name is None:
        return None
    try:
        sha256, secret = corpus_sha256(connection, run.corpus), holds_secrets(connection, run)
        baseline = baseline_of(connection, name, sha256, scorer, secret=secret)
    except HarnessError:
        return None
    return LiveComparison.of(connection, run, baseline, scorer)


class LiveComparison:
    """Holds a run's entries, as they are scored, against the same entries of an earlier run."""

    def __init__(self, run_id: str, name: str, metric: str, values: Mapping[int, float | None]) -> None:
        """``values``: what the earlier run's entries have of the metric, by place in the corpus of the run under way."""
        self._run_id, self._name, self._metric, self._values = run_id, name, metric, values
        self._sequence = ConfidenceSequence(span_of(known_row(metric).info) or 1.0, level=LEVEL)
        self._decided: int | None = None
        self._better: bool | None = None
        self._shown: RunningDifference | None = None
        self._shown_at = 0.0

    @classmethod
    def of(cls, connection: sqlite3.Connection, run: Run, baseline: Run, scorer: Scorer) -> LiveComparison:
        """Read the entries of a ``baseline`` that a run has too: of the same id, with the same texts."""
        own = {row[1:]: row[0] for row in connection.execute(_ENTRIES, (run.corpus,))}
        query = _VALUES.format(headline=sort_columns(connection)["headline"])
        values = {own.get(row[1:]): row[0] for row in connection.execute(query, (baseline.id,))}
        known = {place: value for place, value in values.items() if place is not None}
        return cls(baseline.run_id, baseline.setup.condition, scorer.columns.headline, known)

    def add(self, results: Iterable[Result]) -> None:
        """Count in entries that were scored; those that the earlier run does not have are passed over."""
        self._sequence.add(self._differences(results))
        if self._decided is None and self._sequence.leaves_out_zero():
            self._decided = self._sequence.entries
            self._better = ((self._sequence.mean or 0.0) > 0) == (direction(self._metric) == "higher")

    def _differences(self, results: Iterable[Result]) -> Iterator[float]:
        for result in results:
            earlier = self._values.get(result.position)
            yield nan if earlier is None or result.headline is None else result.headline - earlier

    def so_far(self, *, exact: bool = False) -> LiveDifference:
        """Return what may be said now; unless ``exact``, of some moment of the last second."""
        entries, now = self._sequence.entries, time.monotonic()
        before = 0 if self._shown is None else self._shown.entries
        if entries != before and (exact or entries == self._decided or now - self._shown_at >= SHOWN_SECONDS):
            ends, mean = self._sequence.interval(), self._sequence.mean
            if ends is not None and mean is not None:
                self._shown_at = now
                self._shown = RunningDifference(mean, *ends, entries, LEVEL, direction(self._metric))
        return LiveDifference(self._run_id, self._name, self._metric, self._shown, self._decided, self._better)

    def stops(self, rule: str | None) -> bool:
        """Return whether a rule, ``worse`` or ``decided``, says that the run need not continue."""
        return self._decided is not None and (rule == "decided" or (rule == "worse" and self._better is False))


def stopped_words(early: EarlyStop) -> str:
    """Return why a run ended itself, for people."""
    digits = 1 if (span_of(known_row(early.metric).info) or 0) > 1 else 3
    mean, lower, upper = (f"{x:+.{digits}f}".replace("-", "−") for x in (early.difference, early.lower, early.upper))
    return (
        f"It stopped on purpose (--stop-when {early.rule}): {short_title(early.metric)} {mean} ({lower} to {upper}) against "
        f"run {early.against[:8]}, decided on {early.entries:,} entries."
    )


_ENTRIES = "SELECT position, entry_id, source, reference FROM entries WHERE corpus = ?"
_VALUES = """
    SELECT r.{headline}, e.entry_id, e.source, e.reference FROM results r JOIN runs u ON u.id = r.run
    JOIN entries e ON e.corpus = u.corpus AND e.position = r.position WHERE r.run = ?
"""


def candidates(connection: sqlite3.Connection, run: Run, scorer: Scorer, most: int) -> list[tuple[Run, float | None]]:
    """Return the complete runs that a run compares with, at most ``most``, the best by its headline first, with its value.

    Those that lack entries of the run, such as tries on its worst ones, come last.
    """
    metric = scorer.columns.headline
    sha256 = corpus_sha256(connection, run.corpus)
    rows = connection.execute(
        "SELECT u.run_id, json_extract(u.run_card, '$.scores.\"' || ? || '\"') FROM runs u JOIN corpora c ON c.id = u.corpus"
        " WHERE u.run_card IS NOT NULL AND u.put_away IS NULL AND c.sha256 = ? AND u.id <> ?",
        (metric, sha256, run.id),
    ).fetchall()
    sign = 1 if direction(metric) == "higher" else -1
    whole: list[tuple[Run, float | None]] = []
    partial: list[tuple[Run, float | None]] = []
    secret, places = holds_secrets(connection, run), frozenset(run.positions)
    for run_id, value in sorted(rows, key=lambda row: (row[1] is None, -sign * (row[1] or 0.0))):
        try:
            other = baseline_of(connection, run_id, sha256, scorer, secret=secret)
        except HarnessError:
            continue
        covers = run.positions == other.positions or places.issubset(other.positions)
        (whole if covers else partial).append((other, value))
        if len(whole) == most:
            break
    return [*whole, *partial][:most]
