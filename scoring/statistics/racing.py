"""Racing: set-ups that cannot be the best on these entries are stopped before all entries are paid for.

Entries come in an order that a seed shuffles. After each block every set-up still running is held against the leader
by the difference of their entries' own composites. The question is which of the two will be ahead once all N entries
are done, by the mean of these composites; it is a question about these entries and this order, not about others, so the
proof needs no assumption about texts or systems: the shuffle alone makes what was not seen yet a random rest. (A card's
composite weighs sums over the corpus and may order two close set-ups otherwise. A race saves calls and is no ranking; what
it leaves is tested by ``best_baseline`` and ``compare``.)

It is a test by betting without replacement (Waudby-Smith & Ramdas, "Confidence sequences for sampling without replacement",
NeurIPS 2020). Where the mean of all N differences is at most m, the next one is expected at most at what is left over,
(N m - sum so far) / (N - seen); who bets on more has no more capital than 1 on average at any time, so that more than
1/alpha is made ever with a chance of alpha at most (Ville). Capital is separated over the wagers of
``confidence_sequence``. Each end of each pair has alpha / (K (K - 1)): all pairs together err no more often than
``1 - level``, however the leader changes and whenever one looks. Strata of entries are left out on purpose: pairs share the
entries already, and the proof would have to be made for each stratum. Of 100 entries with differences of 0.1 each, capital
bet against "at most 0" is 1.15 after 5 entries, 1.37 after 10, 2.21 after 20; two set-ups at level 0.95 need 1/0.025 = 40.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, isfinite, log

import numpy as np

from scoring.core.metric import FloatArray
from scoring.core.specification import MetricInfo
from scoring.statistics.intervals import LEVEL, SEED

# ---- A confidence sequence for the mean paired difference of two runs that may be examined
# whenever one likes.
#
# An ordinary interval is right once; who looks after every entry and stops when it looks good is
# wrong far more often than it says. Here one bets on the differences at every wager of a list at
# once (Waudby-Smith & Ramdas 2024, "Estimating means of bounded random variables by betting"):
# against a true mean no betting strategy makes capital beyond 1/alpha at any time with a chance
# above alpha (Ville's inequality). Instead of every difference only sums of their powers are
# kept: with them the logarithm of the capital is bounded from below by six terms of its series,
# so adding and asking cost the same however long the run is.

WAGERS = 0.95 * 2.0 ** (-np.arange(12) / 2)
"""Shares of the capital that are bet, from bold for few entries to timid for a hundred thousand."""
_TERMS = 6
"""Terms of ``log(1 + wager * y)``; an even number."""
_POWERS = np.arange(_TERMS + 1)
_FACTORS = np.stack(
    [(-1.0) ** (power + 1) * WAGERS**power / power for power in range(1, _TERMS)]
    + [np.log1p(-WAGERS) + sum(WAGERS**power / power for power in range(1, _TERMS))]
)
"""Factors of y, y², … in a lower bound for all y from -1 on, shape (terms, wagers). The last one is exact at -1:
what is left of the series, divided by an even power of y, rises with y, so that it is least there."""
_CONFIDENCE_SEQUENCE_STEPS = 60
_CONFIDENCE_SEQUENCE_LEAST_ROOM = 0.05
"""How near, as a share of the span, a mean may lie to the largest fall that there can be and still be refuted:
nearer, sums of powers have lost the digits that would tell."""


class ConfidenceSequence:
    """The interval of the mean of differences between ``-span`` and ``span``, right at all times at once.

    It supposes that each entry's difference has the same mean, whatever was seen before, as when the order of
    the entries has nothing to do with the difference. That zero is not left out by chance more often than
    ``1 - level`` needs less: it holds in any order, where no entry favours either run.
    """

    def __init__(self, span: float, *, level: float = LEVEL) -> None:
        if not (isfinite(span) and span > 0 and 0 < level < 1):
            raise ValueError("a confidence sequence needs bounded differences and a level below 1")
        self.span = span
        self.level = level
        self.entries = 0
        """How many differences were added."""
        self._powers = np.zeros(len(_POWERS))
        """Sums of the differences, as shares of the span, to the powers 0 to 6."""

    def add(self, differences: Iterable[float]) -> None:
        """Count some more differences in; NaN, an entry without a value, is passed over.

        ValueError for one beyond the span.
        """
        shares = np.fromiter(differences, np.float64) / self.span
        shares = shares[~np.isnan(shares)]
        if (np.abs(shares) > 1 + 1e-9).any():
            raise ValueError(f"a difference is larger than {self.span:g}")
        shares = np.clip(shares, -1.0, 1.0)
        self.entries += len(shares)
        self._powers += power_sums(shares)[-1] if len(shares) else 0.0

    @property
    def mean(self) -> float | None:
        """The mean so far, None before the first difference."""
        return float(self._powers[1]) / self.entries * self.span if self.entries else None

    def interval(self) -> tuple[float, float] | None:
        """Return both ends; None before the first difference. It always holds the mean so far."""
        if not self.entries:
            return None
        low = _lower(self._powers, self.level)
        # with all signs turned, odd powers change theirs: the upper end is a lower end
        high = -_lower(self._powers * (-1.0) ** _POWERS, self.level)
        return low * self.span, high * self.span

    def leaves_out_zero(self) -> bool:
        """Return whether zero is refuted now: what ``interval`` says, in a hundredth of its time."""
        both = np.stack([self._powers, self._powers * (-1.0) ** _POWERS])
        return bool((log_capital(both, 0.0) >= enough(self.level)).any())


def span_of(info: MetricInfo) -> float | None:
    """Return how far apart two values of a metric can be; None where it has no end."""
    span = info.high - info.low
    return span if isfinite(span) else None


def power_sums(shares: FloatArray) -> FloatArray:
    """Sum the powers 0 to 6 up to each place: shape (differences, 7)."""
    return np.asarray(np.cumsum(shares[:, None] ** _POWERS, axis=0))


def log_capital(powers: FloatArray, mean: float) -> FloatArray:
    """Bound from below the logarithm of what betting on more than ``mean`` has made of 1.

    ``powers`` has the shape (..., 7), differences as shares of the span; ``mean`` lies between -1 and 1.
    """
    room = 1.0 + mean  # the most that a difference can fall below the mean
    about = (_about(powers, mean, power) / room**power for power in range(1, _TERMS + 1))
    moments = np.stack(list(about), axis=-1)
    capitals = moments @ _FACTORS
    # the mean of the capitals of all wagers, taken from the largest one so that no exponential overflows
    most = capitals.max(axis=-1)
    return np.asarray(most + np.log(np.exp(capitals - most[..., None]).mean(axis=-1)))


def _about(powers: FloatArray, mean: float, power: int) -> FloatArray:
    """Sum a power of the differences from ``mean``, from the sums of their own powers.

    Σ(y - m)² = Σy² - 2mΣy + nm²: of 0.1 and 0.3 with m = 0.2 it is 0.10 - 0.16 + 0.08 = 0.02.
    """
    parts = [comb(power, k) * (-mean) ** (power - k) * powers[..., k] for k in range(power + 1)]
    return np.asarray(sum(parts))


def enough(level: float) -> float:
    """Return the logarithm of the capital at which one side is refuted; both sides share ``1 - level``."""
    return log(2 / (1 - level))


def _lower(powers: FloatArray, level: float) -> float:
    """Find the largest mean that is refuted from below, as a share of the span; -1 where none is."""
    refuted, open_ = -1.0, float(powers[1] / powers[0])
    for _ in range(_CONFIDENCE_SEQUENCE_STEPS):
        middle = (refuted + open_) / 2
        tells = 1 + middle > _CONFIDENCE_SEQUENCE_LEAST_ROOM
        if tells and float(log_capital(powers, middle)) >= enough(level):
            refuted = middle
        else:
            open_ = middle
    return refuted


_STEPS = 40
"""Halvings by which the ends of an interval are found: to 1e-12 of the span."""
_LEAST_ROOM = 1e-9
"""How near the rest may come to the least that it can be: below, only that one outcome is left."""


def shuffled(entries: int, seed: int = SEED) -> tuple[int, ...]:
    """Return the places of all entries in the order in which a race takes them."""
    return tuple(np.random.default_rng(seed).permutation(entries).tolist())


@dataclass(frozen=True, slots=True)
class RacedOut:
    """Why a set-up was stopped. Its part of the entries makes no card and no place in a ranking."""

    leader: str
    """The set-up that will be ahead of it."""
    entries: int
    """How many entries both had by then."""
    difference: float
    """Mean of the leader's composites minus its own on these entries; -1 to 1."""
    lower: float
    upper: float
    """Interval of that difference on all entries of the race."""
    level: float
    """Of all pairs of the race together."""


class Race:
    """Set-ups racing over the same entries: feed it what each block brought, and ask who continues."""

    def __init__(self, setups: Sequence[str], entries: int, *, level: float = LEVEL) -> None:
        """Start a race of two set-ups or more, by name, over ``entries`` entries; ValueError for less."""
        named = len(set(setups)) == len(setups) >= 2
        if not named or entries < 1 or not 0 < level < 1:
            raise ValueError("a race takes two set-ups or more with names of their own, and entries")
        self.entries = entries
        self.level = level
        self.seen = 0
        """Entries that all running set-ups have."""
        self.out: dict[str, RacedOut] = {}
        """Set-ups that were stopped, in that order."""
        self._left: set[str] = set()
        self._scores: dict[str, FloatArray] = {name: np.zeros(0) for name in setups}
        self._enough = log(len(setups) * (len(setups) - 1) / (1 - level))

    @property
    def running(self) -> tuple[str, ...]:
        """The set-ups that continue, in the order in which they were named."""
        return tuple(name for name in self._scores if name not in self.out.keys() | self._left)

    @property
    def leader(self) -> str:
        """The running set-up with the highest mean so far; of equal ones the first named."""
        return max(self.running, key=lambda name: float(self._scores[name].sum()))

    def add(self, scores: Mapping[str, Sequence[float]]) -> tuple[str, ...]:
        """Add the composites (0–1) of the next block of entries of every running set-up; return who continues.

        An entry that failed has the composite of an empty output. ValueError where a running set-up is missing or
        another is there, where blocks differ in length, where a composite is none, or beyond the last entry.
        """
        block = {name: np.asarray(score, np.float64) for name, score in scores.items()}
        if block.keys() != set(self.running):
            raise ValueError("a block has the scores of exactly the set-ups that are running")
        sizes = {len(values) for values in block.values()}
        if len(sizes) > 1 or self.seen + max(sizes, default=0) > self.entries:
            raise ValueError("all set-ups have the same entries of a block, and no more than there are")
        if not all(((values >= 0) & (values <= 1)).all() for values in block.values()):
            raise ValueError("a composite lies between 0 and 1; a failed entry has that of an empty output")
        for name, values in block.items():
            self._scores[name] = np.concatenate([self._scores[name], values])
        self.seen += max(map(len, block.values()), default=0)
        if self.running and 0 < self.seen < self.entries:  # what has all entries is a whole run
            leader = self.leader
            for name in self.running:
                ahead = self._scores[leader] - self._scores[name]
                if name != leader and self._refutes(ahead, 0.0):
                    # Both ends: the means that are refuted from neither side.
                    ends = self._lower(ahead), -self._lower(-ahead)
                    self.out[name] = RacedOut(leader, self.seen, float(ahead.mean()), *ends, self.level)
        return self.running

    def leave(self, setup: str) -> None:
        """Remove a running set-up that cannot continue, because its run failed; ValueError where it is none."""
        if setup not in self.running:
            raise ValueError(f"no set-up {setup!r} is running")
        self._left.add(setup)

    def _refutes(self, differences: FloatArray, mean: float) -> bool:
        return highest_log_capital(differences, mean, self.entries) >= self._enough

    def _lower(self, differences: FloatArray) -> float:
        """Find the largest mean that is refuted from below; capital falls where the mean rises."""
        refuted, open_ = -1.0, float(differences.mean())
        for _ in range(_STEPS):
            middle = (refuted + open_) / 2
            if self._refutes(differences, middle):
                refuted = middle
            else:
                open_ = middle
        return refuted


def highest_log_capital(differences: FloatArray, mean: float, entries: int) -> float:
    """Return the logarithm of the most that betting on more than ``mean`` has made of 1 at any time.

    ``differences`` are those seen so far, in order, each -1 to 1, of a fixed list of ``entries`` in random order;
    ``mean`` is the most that the whole list may average under what is bet against. Infinite where the rest of the list
    cannot bring its mean down to that any more.
    """
    left = entries - np.arange(len(differences))
    due = entries * mean - np.concatenate([[0.0], np.cumsum(differences)[:-1]])
    if (due - differences < 1 - left - _LEAST_ROOM).any():
        return float("inf")
    rest = due / left
    # no fall, however deep, loses more than this share of the capital
    most = WAGERS.max() / np.maximum(1.0 + rest, _LEAST_ROOM)
    capitals = np.cumsum(np.log1p(np.minimum(WAGERS[:, None], most) * (differences - rest)), axis=1)
    largest = capitals.max(axis=0)
    return float((largest + np.log(np.exp(capitals - largest).mean(axis=0))).max())
