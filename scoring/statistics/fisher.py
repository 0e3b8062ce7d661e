"""How likely so uneven a division is by chance: Fisher's exact test, one-sided, with whole numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def chance_of_so_many(right: int, of: int, right_beside: int, of_beside: int) -> float:
    """Return the probability that ``right`` or more of ``of`` are right where both groups are right equally often.

    The sums of both groups are taken as given (hypergeometric distribution). Raises ValueError for counts that
    cannot be.
    """
    if not (0 <= right <= of and 0 <= right_beside <= of_beside):
        raise ValueError("counts of right ones lie between 0 and their group")
    every, all_right = of + of_beside, right + right_beside
    most = min(of, all_right)
    ways = sum(comb(of, k) * comb(of_beside, all_right - k) for k in range(right, most + 1))
    return float(Fraction(ways, comb(every, all_right)))
