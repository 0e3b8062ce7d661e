"""The scale of ratings that were made elsewhere, put on 0 for its worst and 1 for its best step."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.core.failures import UsageError
from review.rating import LEAST_ACCEPTABLE, RANKS, Rating


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from the worst to the best, and from which of them on an output counts as acceptable."""

    worst: float
    best: float
    acceptable_from: float
    words: bool = False
    """Whether the names of our own ratings may stand for numbers."""

    def number(self, given: object) -> float:
        """Read a rating; ValueError says in words what is wrong, without quoting it."""
        if self.words and isinstance(given, str) and given.strip().lower() in set(Rating):
            return float(Rating(given.strip().lower()).rank)
        try:
            number = float(given) if isinstance(given, int | float | str) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        low, high = sorted((self.worst, self.best))
        if isinstance(given, bool) or not low <= number <= high:
            raise ValueError(self._wanted())
        return number

    def place(self, number: float) -> float:
        """Return the place of a rating between the worst, 0, and the best, 1."""
        return (number - self.worst) / (self.best - self.worst)

    def acceptable(self, number: float) -> bool:
        """Say whether a rating means acceptable or better."""
        return self.place(number) >= self.place(self.acceptable_from)

    def _wanted(self) -> str:
        number = f"a number from {self.worst:g} to {self.best:g} is wanted"
        if not self.words:
            return number
        return f"one of {', '.join(Rating)}, or {number}; --scale WORST:BEST names another scale"


OURS = Scale(0.0, float(RANKS - 1), float(LEAST_ACCEPTABLE), words=True)
"""reject 0, gist 1, acceptable 2, excellent 3."""


def read_scale(text: str | None, acceptable_from: float | None = None) -> Scale:
    """Read ``WORST:BEST``, ours where it is None; the worst may be the larger number.

    Without ``acceptable_from`` the upper half of a foreign scale counts as acceptable, its middle included.
    """
    if text is None:
        worst, best, middle = OURS.worst, OURS.best, OURS.acceptable_from
    else:
        worst, best = _ends(text)
        middle = (worst + best) / 2
    from_ = middle if acceptable_from is None else acceptable_from
    low, high = sorted((worst, best))
    if not low <= from_ <= high:
        raise UsageError(
            f"--acceptable-from: a number on the scale from {worst:g} to {best:g} is wanted."
        )
    return Scale(worst, best, from_, words=text is None)


def _ends(text: str) -> tuple[float, float]:
    try:
        worst, best = map(float, text.split(":"))
    except ValueError:
        worst = best = math.nan
    if not (math.isfinite(worst) and math.isfinite(best)) or worst == best:
        raise UsageError("--scale: two numbers are wanted, the worst and the best, such as 0:100.")
    return worst, best
