"""Signs that somebody rated without reading, and pairs who agree beyond the panel: advice, never an exclusion.

One sign alone is often wrong about honest people; two of four seldom are (four in a thousand with eight spoilt
items and eight repeats). Standard library only and exact, so that a second program finds the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cache
from itertools import combinations, groupby, product
from math import comb, exp, lgamma, log, log1p, prod
from operator import itemgetter
from statistics import median

from review.rating import LEAST_ACCEPTABLE, RANKS
from review.verdict.gate.key import ControlKind
from review.verdict.gate.panel import Panel, clopper_pearson, round6
from review.verdict.gate.policy import CarelessRule

# Pairs that the exact test looks at, the first by control id: its work grows with their third power
MOST_PAIRS = 50


class Sign(StrEnum):
    """What speaks for ratings given without reading."""

    NOT_WORSE = "not_worse"  # Spoilt translations are rated no lower than their originals
    BAD_ACCEPTED = "bad_accepted"  # Too many spoilt translations are rated acceptable or better
    INCONSISTENT = "inconsistent"  # Translations shown twice are rated too differently
    LONG_RUN = "long_run"  # One rating very often in a row


@dataclass(frozen=True, slots=True)
class Tally:
    """A number out of a total."""

    count: int
    of: int

    @property
    def share(self) -> Fraction:
        return Fraction(self.count, self.of) if self.of else Fraction(0)


@dataclass(frozen=True, slots=True)
class Care:
    # One-sided exact Mann–Whitney p that spoilt items are rated below their originals; None with
    # too few pairs
    not_worse_p: Fraction | None
    bad_accepted: Tally  # Spoilt items rated acceptable or better
    repeats_close: Tally  # Items shown twice and rated the same or one step apart
    longest_run: int  # Most equal ratings in a row
    anchors_low: Tally  # People's own translations rated below acceptable; information only
    # Ratings in less than the policy's share of this person's median time; information only
    quick: Tally
    signs: tuple[Sign, ...]
    advised: bool  # Whether there are as many signs as the policy asks for looking together


@dataclass(frozen=True, slots=True)
class Carelessness:
    """The advice on a whole panel, for the organiser alone."""

    reviewers: Mapping[str, Care]
    # Controls that most reviewers fail: they count for nobody, and may be wrong themselves
    dropped: tuple[str, ...]
    spoilt_failed: Tally  # Spoilt items that are dropped, of those that enough people rated

    @property
    def advised(self) -> tuple[str, ...]:
        """Return the reviewers with whom to look at their ratings together, by id."""
        return tuple(who for who, care in sorted(self.reviewers.items()) if care.advised)


def carelessness(panel: Panel, rule: CarelessRule) -> Carelessness:
    """Find the signs of every reviewer of a panel."""
    failures = {control: _failures(panel, control) for control in sorted(panel.controls)}
    # Controls that enough people rated to say whether they are a good test; most fail those that are dropped
    tried = {control: failed for control, failed in failures.items() if failed.of >= rule.control_reviewers}
    dropped = tuple(control for control, failed in tried.items() if round6(failed.share) > rule.control_failed)
    people = sorted({*panel.ratings, *panel.control_ratings, *panel.sequences})
    return Carelessness(
        {who: _care(panel, who, dropped, rule) for who in people},
        dropped,
        _tally(control in dropped for control in tried if panel.controls[control].kind is ControlKind.BAD),
    )


def not_worse_p(bad: Sequence[int], originals: Sequence[int]) -> Fraction:
    """Return the exact one-sided p of the Mann–Whitney test that ``bad`` ranks lie below ``originals``.

    Ties share their mid-rank; p is the share of all ways to deal the pooled ratings out in which the bad ones
    have a rank sum as small as theirs or smaller. Ranks are 0–3.
    """
    mine, pooled = _histogram(bad), _histogram([*bad, *originals])
    # twice the mid-ranks
    places = [2 * sum(pooled[:rank]) + pooled[rank] + 1 for rank in range(RANKS)]
    seen, size = _dot(mine, places), len(bad)
    # Every way in which that many of the pooled ratings can be spread over the ranks
    firsts = product(*(range(min(size, count) + 1) for count in pooled[:-1]))
    deals = ((*first, size - sum(first)) for first in firsts if 0 <= size - sum(first) <= pooled[-1])
    few = sum(
        prod(comb(pooled[rank], dealt[rank]) for rank in range(RANKS)) for dealt in deals if _dot(dealt, places) <= seen
    )
    return Fraction(few, comb(sum(pooled), len(bad)))


def longest_run(ranks: Sequence[int]) -> int:
    return max((sum(1 for _ in run) for _, run in groupby(ranks)), default=0)


def _care(panel: Panel, who: str, dropped: tuple[str, ...], rule: CarelessRule) -> Care:
    pairs = _pairs(panel, who, ControlKind.BAD, dropped)[:MOST_PAIRS]
    repeats = _pairs(panel, who, ControlKind.REPEAT, dropped)
    enough = len(pairs) >= rule.fewest_controls
    p = not_worse_p([bad for bad, _ in pairs], [one for _, one in pairs]) if enough else None
    accepted = _tally(map(_usable, _given(panel, who, ControlKind.BAD, dropped)))
    close = _tally(abs(again - first) <= 1 for again, first in repeats)
    run = longest_run(panel.sequences.get(who, ()))
    few = rule.fewest_controls
    shown = {
        Sign.NOT_WORSE: p is not None and round6(p) >= rule.not_worse_p,
        Sign.BAD_ACCEPTED: accepted.of >= few and round6(accepted.share) > rule.bad_accepted,
        Sign.INCONSISTENT: close.of >= few and round6(close.share) < rule.repeats_within_one,
        Sign.LONG_RUN: run >= rule.longest_run,
    }
    signs = tuple(sign for sign, present in shown.items() if present)
    low = _tally(not _usable(rank) for rank in _given(panel, who, ControlKind.ANCHOR, dropped))
    times = panel.times_ms.get(who, ())
    limit = Fraction(rule.quick_share) * Fraction(median(times)) if times else Fraction(0)
    quick = _tally(time < limit for time in times)
    return Care(p, accepted, close, run, low, quick, signs, len(signs) >= rule.signs)


def _failures(panel: Panel, control: str) -> Tally:
    """Count who fails a control, of those who rated it, and its first showing where it is one shown again."""
    what, failed = panel.controls[control], []
    for who, ratings in panel.control_ratings.items():
        if (rank := ratings.get(control)) is None:
            continue
        if what.kind is not ControlKind.REPEAT:
            failed.append(_usable(rank) == (what.kind is ControlKind.BAD))
        elif (first := panel.partner_ratings.get(who, {}).get(what.partner or "")) is not None:
            failed.append(abs(rank - first) > 1)
    return _tally(failed)


def _given(panel: Panel, who: str, kind: ControlKind, dropped: tuple[str, ...]) -> list[int]:
    return [
        rank
        for control, rank in sorted(panel.control_ratings.get(who, {}).items())
        if panel.controls[control].kind is kind and control not in dropped
    ]


def _pairs(panel: Panel, who: str, kind: ControlKind, dropped: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return a reviewer's ratings of controls, each with that of its partner, by control id."""
    partners = panel.partner_ratings.get(who, {})
    return [
        (rank, partners[partner])
        for control, rank in sorted(panel.control_ratings.get(who, {}).items())
        if panel.controls[control].kind is kind and control not in dropped
        if (partner := panel.controls[control].partner) in partners and partner is not None
    ]


def _tally(cases: Iterable[bool]) -> Tally:
    all_cases = list(cases)
    return Tally(sum(all_cases), len(all_cases))


def _usable(rank: int) -> bool:
    return rank >= LEAST_ACCEPTABLE


def _histogram(ranks: Sequence[int]) -> list[int]:
    return [ranks.count(rank) for rank in range(RANKS)]


def _dot(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(one, other, strict=True))


# ---- Pairs of reviewers whose ratings agree far beyond the panel: a warning for the organiser,
# never an exclusion.
#
# Two people who fill in their ratings together, or one person at two laptops, agree on nearly
# everything. How often honest people agree depends on the texts, so the rest of the panel says
# what is plausible.

MOST_CHANCE = 0.01  # Largest chance, over all pairs together, at which a pair is named
TIMES_CLOSER = 10  # A named pair differs this many times more seldom than the closest other pair
_CONFIDENCE = 0.975
_FEWEST_OTHERS = 2  # Pairs to compare with
# Items that both rated; pairs with fewer are left out, for nearly any agreement of theirs is
# plausible
_FEWEST_ITEMS = 20


@dataclass(frozen=True, slots=True)
class AlikePair:
    """Two reviewers whose ratings agree far beyond the panel."""

    reviewers: tuple[str, str]
    items: int  # Items that both rated
    equal: int  # Items of these with the same rating of both
    other_items: int  # Of the other pair whose agreement may be highest: items that both rated
    other_equal: int
    chance: float  # Probability that some pair of the panel agrees so often, 0 to `MOST_CHANCE`

    def named(self, code: Callable[[str], str]) -> AlikePair:
        """Return the same pair with other names of the two."""
        one, other = self.reviewers
        return replace(self, reviewers=(code(one), code(other)))


@dataclass(frozen=True, slots=True)
class _Pair:
    reviewers: tuple[str, str]
    items: int
    equal: int

    @property
    def different(self) -> int:
        """Items with different ratings."""
        return self.items - self.equal

    @property
    def upper(self) -> float:
        """Highest plausible probability of the same rating, one-sided 97.5 %."""
        return _upper(self.equal, self.items)


@cache
def _upper(equal: int, items: int) -> float:
    return clopper_pearson(equal, items, _CONFIDENCE)[1]


def alike_pairs(ratings: Mapping[str, Mapping[str, int]]) -> list[AlikePair]:
    """Return the pairs that agree far beyond the panel, most striking first; ``ratings`` are reviewer → item → rank.

    A pair is named if two things hold. (1) Its count of equal ratings has a binomial tail, Holm-adjusted over all pairs,
    of at most ``MOST_CHANCE``, where the probability of an equal rating is the highest that any other pair makes
    plausible. (2) It differs ``TIMES_CLOSER`` times more seldom than that pair: two careful people may well differ three
    times more seldom than the rest. Pairs that agree on every item are no measure of the others, so three people who
    copy from each other do not hide one another. Not found are: copies in a panel of two, copies among which more than
    some in twenty were changed, several pairs that copy with changes, and copies where nearly everything is rated alike.
    Two people who judge almost without error among people who err often may be named, too.

    Example: 70 of 70 equal, where the closest other pair has 49 of 70. Its agreement is plausibly at most 0.804; the
    tail is 0.804 ** 70 = 2e-7, times 10 pairs of five people.
    """
    pairs = []
    for one, other in combinations(sorted(ratings), 2):
        both = ratings[one].keys() & ratings[other].keys()
        if len(both) >= _FEWEST_ITEMS:
            equal = sum(ratings[one][item] == ratings[other][item] for item in both)
            pairs.append(_Pair((one, other), len(both), equal))
    others = sorted(((p.upper, p) for p in pairs if p.equal < p.items), key=lambda bound: -bound[0])
    tested = []
    for pair in pairs:
        rest = [bound for bound in others[: _FEWEST_OTHERS + 1] if bound[1] is not pair]
        if len(rest) >= _FEWEST_OTHERS:
            upper, closest = rest[0]
            far = TIMES_CLOSER * pair.different * closest.items <= closest.different * pair.items
            tail = binomial_tail(pair.equal, pair.items, upper) if far else 1.0
            tested.append((tail, pair, closest))
    alike_pairs, chance = [], 0.0
    for place, (tail, pair, closest) in enumerate(sorted(tested, key=itemgetter(0))):
        chance = max(chance, tail * (len(pairs) - place))
        if chance > MOST_CHANCE:
            break
        alike_pairs.append(AlikePair(pair.reviewers, pair.items, pair.equal, closest.items, closest.equal, chance))
    return alike_pairs


def binomial_tail(count: int, total: int, probability: float) -> float:
    """Return the probability of ``count`` or more successes of ``total``."""
    if count <= 0 or probability >= 1:
        return 1.0
    success, failure = log(probability), log1p(-probability)
    return sum(
        exp(
            lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1)
            + k * success + (total - k) * failure
        )
        for k in range(count, total + 1)
    )  # fmt: skip
