"""What a panel said of one method, by the answer key, and the T rule: the share that it accepts, and how surely."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from statistics import mean, variance
from typing import TypeVar

from harness.core.failures import UsageError
from review.log.fold import Judgement, ReviewerState, State
from review.rating import LEAST_ACCEPTABLE, CannotJudge
from review.verdict.gate.key import AnswerKey, ControlKind, KeyRun, counted
from scoring.statistics.distributions import beta_quantile, student_quantile


class Harm(StrEnum):
    """What became of an item that somebody called harmful or culturally wrong."""

    FLAGGED = "flagged"  # Nobody has looked into it yet: it stops the gate
    UPHELD = "upheld"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class ControlItem:
    kind: ControlKind
    # Id of the item that it is compared with; None for anchors, and for bad items without one
    partner: str | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """One method's items and what each reviewer said of them; reviewers are pseudonyms."""

    # Real item → difficulty 1–5, 0 where the corpus does not say; every item of the method that was
    # asked
    strata: Mapping[str, int]
    # Stratum → its share of the run's entries (W_h); sums to 1 over the strata of the run
    weights: Mapping[int, float]
    # Reviewer → real item → rank 0–3; what was skipped or could not be judged is absent
    ratings: Mapping[str, Mapping[str, int]]
    core: frozenset[str]  # Real items that every reviewer was asked
    # Reviewer → real items that this person could not judge
    cannot_judge: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Real item → what became of its flag; items that nobody flagged are absent
    harm: Mapping[str, Harm] = field(default_factory=dict)
    # Control item → what it is; those of all methods of the review, for controls test people
    controls: Mapping[str, ControlItem] = field(default_factory=dict)
    # Anchors and spoilt items that somebody called harmful: no output of any method, so they bear
    # on no verdict
    flagged_controls: frozenset[str] = frozenset()
    # Reviewer → control item → rank 0–3
    control_ratings: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    # Reviewer → partner of a control → rank 0–3, for partners of any method
    partner_ratings: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    # Reviewer → ranks of all items of the review, in the order in which they were given
    sequences: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    # Reviewer → active milliseconds of each rating of the review; a median alone hides the hurried
    # ones
    times_ms: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    look: int = 1  # How often the numbers of this method have been examined, this time included


_Said = TypeVar("_Said", bound=Collection[str])


def panel_of(state: State, key: AnswerKey, run_id: str, look: int) -> Panel:
    """Return the panel of one run of a review.

    Only people who count (``counted``) are heard, on items that were asked. Raises UsageError where the review
    has no such run.
    """
    run = run_of(key, run_id)
    people = _people(state, key)
    judged = {who: _judged(parts) for who, parts in people.items()}
    real = {item: k.stratum for item, k in key.items.items() if k.run_id == run_id and k.control is None}
    controls = {item: ControlItem(k.control, k.partner) for item, k in key.items.items() if k.control}
    partners = {control.partner for control in controls.values() if control.partner is not None}
    ranks = {who: _ranks(judgements, key) for who, judgements in judged.items()}
    times = {
        who: tuple(j.active_ms for item, j in judgements.items() if j.rating and item in key.items)
        for who, judgements in judged.items()
    }
    not_judged = {
        who: frozenset(item for item, j in judgements.items() if item in real and not j.rating)
        for who, judgements in judged.items()
    }
    # a text shown twice is meant by either flag
    parts = (part for parts in people.values() for part in parts)
    flagged = frozenset(key.first_showing(item) for part in parts for item in part.harmful)
    total = sum(run.strata.values()) or 1
    return Panel(
        strata=real,
        weights={stratum: count / total for stratum, count in sorted(run.strata.items()) if count},
        ratings=_spoke({who: _only(rank, real) for who, rank in ranks.items()}),
        core=frozenset(key.core) & frozenset(real),
        cannot_judge=_spoke(not_judged),
        harm=_harm(state, flagged, real),
        controls=controls,
        flagged_controls=flagged & controls.keys(),
        control_ratings={who: _only(rank, controls) for who, rank in ranks.items()},
        partner_ratings={who: _only(rank, partners) for who, rank in ranks.items()},
        sequences={who: tuple(rank.values()) for who, rank in ranks.items()},
        times_ms=times,
        look=look,
    )


def review_ratings(state: State, key: AnswerKey) -> dict[str, dict[str, int]]:
    """Return reviewer → item → rank 0–3 of all runs of a review, without controls; only people who count."""
    real = {item for item, k in key.items.items() if k.run_id and k.control is None}
    people = _people(state, key).items()
    return {who: _only(_ranks(_judged(parts), key), real) for who, parts in people}


def not_shown(state: State, key: AnswerKey, run_id: str) -> dict[str, bool]:
    """Return the items of one run that could not be shown to somebody who counts → whether somebody else rated it."""
    people = {who: _judged(parts) for who, parts in _people(state, key).items()}
    judged_pairs = [pair for judged in people.values() for pair in judged.items()]
    rated = {item for item, judgement in judged_pairs if judgement.rating}
    items_undrawn = (item for item, j in judged_pairs if j.why_not is CannotJudge.NOT_SHOWN)
    own = (item for item in items_undrawn if item in key.items and not key.items[item].control)
    return {item: item in rated for item in own if key.items[item].run_id == run_id}


def run_of(key: AnswerKey, run_id: str) -> KeyRun:
    """Return one run of a review; raises UsageError where it has none of this id."""
    for run in key.runs:
        if run.run_id == run_id:
            return run
    raise UsageError(f"Review {key.review!r} has no run {run_id!r}.")


def _people(state: State, key: AnswerKey) -> dict[str, list[ReviewerState]]:
    """Return the parts of each reviewer who counts in the order of the key's batches."""
    people: dict[str, list[ReviewerState]] = {}
    for who, _, reviewer_state in counted(state, key):
        people.setdefault(who, []).append(reviewer_state)
    return people


def _judged(parts: list[ReviewerState]) -> dict[str, Judgement]:
    """Return a person's last judgements, batch after batch, in the order in which they were made."""
    judgements: dict[str, Judgement] = {}
    for part in parts:
        for item, judged in part.judgements.items():
            judgements.pop(item, None)
            judgements[item] = judged
    return judgements


def _ranks(said: Mapping[str, Judgement], key: AnswerKey) -> dict[str, int]:
    return {item: j.rating.rank for item, j in said.items() if j.rating and item in key.items}


def _only(said: Mapping[str, int], items: Collection[str]) -> dict[str, int]:
    return {item: rank for item, rank in said.items() if item in items}


def _spoke(said: Mapping[str, _Said]) -> dict[str, _Said]:
    """Omit the people who said nothing of this run."""
    return {who: mine for who, mine in said.items() if mine}


def _harm(state: State, flagged: Collection[str], real: Mapping[str, int]) -> dict[str, Harm]:
    """Return what became of each flag; what the organisation upheld stays, though its flag be withdrawn."""
    harms = {}
    for item in sorted(real):
        decision = state.adjudications.get(item)
        if decided := None if decision is None else decision.harmful:
            harms[item] = Harm.UPHELD
        elif item in flagged:
            harms[item] = Harm.FLAGGED if decided is None else Harm.CLEARED
    return harms


# ---- The T rule: how often the community would accept the method's translations, and how surely
# we know.
#
# Items vary and so do people; a bound that forgets the people passes a method at the level in one
# of three cases when three reviewers rate 150 items. Shares and variances are exact fractions;
# only roots and quantiles round.
#
# Numbers of a verdict: six decimal places, so that what is compared is what is printed.


def clopper_pearson(events: float, total: float, confidence: float) -> tuple[float, float]:
    """Return the one-sided lower and the one-sided upper bound of a rate, each at ``confidence``.

    ``events`` may be any real number in 0…total: a weighted share times its sample size. Clopper and
    Pearson 1934; Korn and Graubard 1998 for real counts.
    """
    misses = total - events
    lower = beta_quantile(1 - confidence, events, misses + 1) if events > 0 else 0.0
    upper = beta_quantile(confidence, events + 1, misses) if misses > 0 else 1.0
    return lower, upper


def wilson_bounds(share: float, total: float, quantile: float) -> tuple[float, float]:
    """Return both bounds of Wilson's score interval for a real effective ``total`` and any quantile.

    ``scoring.statistics.intervals.wilson`` is the two-sided normal case of whole counts; here the quantile is Student's.
    """
    square = quantile * quantile / total
    middle = share + square / 2
    half = quantile * math.sqrt(share * (1 - share) / total + square / (4 * total))
    return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))


Number = Fraction | Decimal | float | int


def round6(value: Number) -> Decimal:
    """Round to six decimal places, exact ties to the even digit; ``str`` of it always shows all six.

    A verdict that compared hidden digits could not be repeated from its own certificate. Raises
    ValueError or OverflowError for what is no finite number.
    """
    return Decimal(round(Fraction(value) * 1_000_000)).scaleb(-6)


# Variance taken for a stratum with one item, which shows none: the largest that shares can have
WIDEST = Fraction(1, 4)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Both one-sided bounds of the share, and the quantities they come from."""

    lower: float
    upper: float
    effective_items: float  # Size of the simple sample that would be as sure (n_eff)
    # Satterthwaite's degrees of freedom; None for bounds without a spread (Clopper–Pearson)
    df: float | None
    t: float | None  # Student's quantile at the confidence and `df`; None likewise


@dataclass(frozen=True, slots=True)
class Spread:
    """What the share was estimated from: two variances with their degrees of freedom."""

    share: Fraction
    items: int  # Rated items (n)
    item_variance: Fraction  # Of the share, from the choice of items
    item_df: int
    reviewer_variance: Fraction  # Of the share, from the choice of reviewers
    reviewer_df: int

    def bounds(self, confidence: float) -> Bounds:
        """Return the bounds of the T rule, each one-sided at ``confidence``."""
        total = self.item_variance + self.reviewer_variance
        rest = self.share * (1 - self.share)
        if not total or not rest:
            events = float(self.share * self.items)
            return Bounds(*clopper_pearson(events, self.items, confidence), self.items, None, None)
        # The variances of both choices add up, their degrees of freedom by Satterthwaite. A share of
        # 0.8 of 80 items and five people, with variances 0.002 (75 df) and 0.001 (4 df): as sure as
        # 0.16 / 0.003 = 53 items drawn alone; df = 0.003² / (0.002²/75 + 0.001²/4) = 29.7, so t is
        # 1.70 at 95 %, and Wilson's bounds are 0.69 and 0.88.
        parts = self.item_variance**2 / self.item_df + self.reviewer_variance**2 / self.reviewer_df
        df, effective = float(total**2 / parts), float(rest / total)
        t = student_quantile(confidence, df)
        lower, upper = wilson_bounds(float(self.share), effective, t)
        return Bounds(lower, upper, effective, df, t)


@dataclass(frozen=True, slots=True)
class PanelEstimate:
    share: Fraction
    strata: Mapping[int, tuple[int, Fraction]]  # Stratum → rated items and their share
    weights: Mapping[int, Fraction]  # Stratum → weight; sums to 1 over the strata with rated items
    reviewers: Mapping[str, Fraction]  # Reviewer → own share
    # None with one reviewer, whose leniency nothing tells from the method's quality
    spread: Spread | None


def estimate(panel: Panel, reviewers: Iterable[str]) -> PanelEstimate | None:
    """Estimate the share from what these reviewers rated; None where they rated nothing.

    Weights of strata without a rated item are spread over the others in proportion, for each reviewer as well.
    """
    marks = {
        who: {item: Fraction(rank >= LEAST_ACCEPTABLE) for item, rank in panel.ratings[who].items()}
        for who in sorted(reviewers)
        if panel.ratings.get(who)
    }
    if not marks:
        return None
    # For each item the share of those who rated it that accept it (m_i)
    by_item: dict[str, list[Fraction]] = {}
    for item, mark in (pair for mine in marks.values() for pair in mine.items()):
        by_item.setdefault(item, []).append(mark)
    strata = _by_stratum(panel, {item: mean(values) for item, values in by_item.items()})
    weights = _estimate_weights(panel, strata)
    share = _weighted(panel, strata)
    own = {who: _weighted(panel, _by_stratum(panel, mine)) for who, mine in marks.items()}
    return PanelEstimate(
        share,
        {stratum: (len(shares), mean(shares)) for stratum, shares in strata.items()},
        weights,
        own,
        _spread(share, strata, weights, list(own.values())) if len(own) > 1 else None,
    )


def _by_stratum(panel: Panel, shares: Mapping[str, Fraction]) -> dict[int, list[Fraction]]:
    strata: dict[int, list[Fraction]] = {}
    for item, share in sorted(shares.items()):
        strata.setdefault(panel.strata[item], []).append(share)
    return dict(sorted(strata.items()))


def _estimate_weights(panel: Panel, strata: Iterable[int]) -> dict[int, Fraction]:
    """Return the weights of these strata, scaled to sum to 1; six places of each count, as a verdict shows them."""
    weights = {stratum: Fraction(round6(panel.weights[stratum])) for stratum in strata}
    total = sum(weights.values())
    return {stratum: weight / total for stratum, weight in weights.items()}


def _weighted(panel: Panel, strata: Mapping[int, Sequence[Fraction]]) -> Fraction:
    weights = _estimate_weights(panel, strata)
    return sum((weights[stratum] * mean(shares) for stratum, shares in strata.items()), Fraction(0))


def _spread(
    share: Fraction, strata: Mapping[int, Sequence[Fraction]], weights: Mapping[int, Fraction], own: Sequence[Fraction]
) -> Spread:
    items, of_items = sum(map(len, strata.values())), Fraction(0)
    for stratum, shares in strata.items():
        spread = variance(shares) if len(shares) > 1 else WIDEST
        of_items += weights[stratum] ** 2 * spread / len(shares)
    df = max(items - len(strata), 1)
    return Spread(share, items, of_items, df, variance(own) / len(own), len(own) - 1)
