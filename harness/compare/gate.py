"""Whether a run may pass: the rules of ``rosetta gate``, decided by intervals and not by bare values.

A score of 0.62 with the interval 0.57–0.67 does not show that the run reaches 0.60: of another draw of as many
entries it may as well be 0.58. So a rule holds where the whole interval does, and a run is worse than another where
the test of ``rosetta compare`` says so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpora.files.json_types import JsonObject
from harness.card.reading import block, card_head, claim_of, interval, number, refuse_to_leave
from harness.core.failures import UsageError
from harness.store.runs import Run, find_run
from scoring.core.inventory import direction, in_order, metric_named, row_of, short_title, unknown_metric
from scoring.statistics.repetitions import DECIDING


@dataclass(frozen=True, slots=True)
class ScoreLimit:
    """A bound that a score must keep."""

    metric: str
    value: float
    """On the metric's own scale."""
    at_most: bool = False
    """True: the score may be this at most; False: it must be this at least."""


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One rule, and what was found."""

    rule: str
    """``floors``, ``score``, ``failed`` or ``not_worse``."""
    passed: bool
    metric: str | None = None
    limit: float | None = None
    at_most: bool = False
    """Whether ``limit`` is an upper bound."""
    value: float | None = None
    """The score, the share of failed entries (0–1), or the difference to the other run; None: there is none."""
    lower: float | None = None
    upper: float | None = None
    """Ends of the 95 % interval; None where the value has none."""
    reason: str = ""
    """Why there is no value, or no interval."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """Every rule of one run, and what was found."""

    run_id: str
    against: str | None
    """Id of the run that it must not be worse than."""
    checks: tuple[GateCheck, ...]

    @property
    def passed(self) -> bool:
        """True where every rule holds."""
        return all(check.passed for check in self.checks)


def score_limit(words: str, option: str) -> ScoreLimit:
    """Read ``METRIC=VALUE``; UsageError where it is no rule, or the metric's better end is the other one."""
    name, _, bound = words.partition("=")
    metric = metric_named(name)
    if metric is None:
        raise UsageError(f"{option}: {unknown_metric(name)}")
    try:
        value = float(bound)
    except ValueError:
        raise UsageError(f"{option} {words}: write METRIC=VALUE, such as {option} {name}=0.6.") from None
    row, at_most = row_of(metric), option == "--max"
    low, high = (0.0, 1.0) if row is None else (row.info.low, row.info.high)
    if not low <= value <= high:
        raise UsageError(f"{option} {words}: {short_title(metric)} lies between {low:g} and {high:g}.")
    if direction(metric) == ("higher" if at_most else "lower"):
        other = "--min" if at_most else "--max"
        better = direction(metric)
        raise UsageError(f"{option} {words}: {short_title(metric)} is better the {better} it is. Use {other}.")
    return ScoreLimit(metric, value, at_most)


def gate_run(
    connection: sqlite3.Connection,
    name: str,
    *,
    limits: Sequence[ScoreLimit] = (),
    most_failed: float | None = None,
    against: str | None = None,
) -> GateResult:
    """Check a complete run by rules; ``most_failed`` is a share, 0–1.

    Raises HarnessError where the run is not complete, UsageError where it has secret entries (what a gate prints is
    read by others) or does not compare with ``against``.
    """
    run = find_run(connection, name)
    other = None if against is None else find_run(connection, against)
    refuse_to_leave(connection, [run, *([] if other is None else [other])])
    card = card_head(connection, run)
    checks = [_score(card, limit) for limit in limits]
    if card.get("floors"):  # above what worthless outputs reach (DESIGN T2)
        checks.insert(0, GateCheck("floors", passed=not claim_of(card).at_floor))
    if most_failed is not None:
        scores = block(card, "scores")
        total, errors = number(scores.get("total")), number(scores.get("errors"))
        share = errors / total if total and errors is not None else None
        reason = "" if share is not None else "the card does not say how many entries failed"
        passed = share is not None and share <= most_failed
        checks.append(GateCheck("failed", passed, limit=most_failed, at_most=True, value=share, reason=reason))
    if other is not None:
        checks += _not_worse(connection, run, other, in_order({limit.metric for limit in limits}))
    return GateResult(run.run_id, None if other is None else other.run_id, tuple(checks))


def _score(card: JsonObject, limit: ScoreLimit) -> GateCheck:
    scores = block(card, "scores")
    value = number(scores.get(limit.metric))
    lower, upper = interval(scores, limit.metric) or (None, None)
    reason = ""
    if value is None:
        reason = str(block(scores, "reasons").get(limit.metric) or "the run has no value of it")
    elif lower is None or upper is None:
        row = row_of(limit.metric)
        if row is not None and not row.interval:
            lower = upper = value
        reason = "decided by the value: it has no interval" if lower is not None else "too few entries for an interval"
    binding = upper if limit.at_most else lower
    kept = binding is not None and (binding <= limit.value if limit.at_most else binding >= limit.value)
    return GateCheck("score", kept, limit.metric, limit.value, limit.at_most, value, lower, upper, reason)


def _not_worse(connection: sqlite3.Connection, run: Run, other: Run, named: Sequence[str]) -> Iterator[GateCheck]:
    """Compare by the named metrics; without any, by composite and chrF++, or by all where neither has a value."""
    from harness.compare.comparing import compare_runs, require_two

    comparison = compare_runs(connection, [other.run_id, run.run_id], metrics=named or DECIDING)
    if not named and not any(pair.by_metric for pair in comparison.pairs):
        comparison = compare_runs(connection, [other.run_id, run.run_id])
    require_two(comparison)
    [pair] = comparison.pairs
    for metric in named or pair.by_metric:
        difference = pair.by_metric.get(metric)
        if difference is None:
            yield GateCheck("not_worse", passed=False, metric=metric, reason=pair.left_out[metric])
            continue
        yield GateCheck(
            "not_worse",
            passed=pair.better(metric) is not pair.first,
            metric=metric,
            value=difference.difference,
            lower=difference.lower,
            upper=difference.upper,
        )
