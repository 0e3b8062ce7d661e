"""Fisher's exact test against SciPy's hypergeometric distribution."""

from __future__ import annotations

import pytest
from scipy.stats import hypergeom

from scoring.statistics.fisher import chance_of_so_many


@pytest.mark.parametrize(
    ("right", "of", "right_beside", "of_beside"),
    [(10, 10, 3, 40), (0, 5, 0, 5), (5, 5, 5, 5), (9, 10, 0, 5), (3, 10, 20, 30), (900, 1000, 700, 1000)],
)  # fmt: skip
def test_it_is_the_tail_of_the_hypergeometric_distribution(
    right: int, of: int, right_beside: int, of_beside: int
) -> None:
    expected = hypergeom.sf(right - 1, of + of_beside, right + right_beside, of)
    found = chance_of_so_many(right, of, right_beside, of_beside)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-300)


def test_all_hit_beside_none() -> None:
    assert chance_of_so_many(5, 5, 0, 5) == 1 / 252  # one of the ways to choose 5 of 10


@pytest.mark.parametrize("counts", [(6, 5, 0, 5), (-1, 5, 0, 5), (0, 5, 6, 5)])
def test_counts_that_cannot_be_are_refused(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="between 0 and their group"):
        chance_of_so_many(*counts)
