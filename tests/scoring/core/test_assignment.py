"""Pairs that are worth the most together, against SciPy's solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from scoring.grammar.morpheme_difference import best_pairs

matrices = st.tuples(st.integers(1, 7), st.integers(1, 7)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 6), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


def total(weights: list[list[int]], pairs: list[int | None]) -> int:
    return sum(weights[row][column] for row, column in enumerate(pairs) if column is not None)


@given(matrices)
def test_pairs_are_worth_as_much_as_scipy_finds(weights: list[list[int]]) -> None:
    pairs = best_pairs(weights)
    used = [column for column in pairs if column is not None]
    assert len(used) == len(set(used))
    assert len(pairs) == len(weights)
    rows, columns = linear_sum_assignment(weights, maximize=True)
    assert total(weights, pairs) == int(np.array(weights)[rows, columns].sum())


@given(matrices)
def test_nothing_of_no_worth_is_paired(weights: list[list[int]]) -> None:
    for row, column in enumerate(best_pairs(weights)):
        assert column is None or weights[row][column] > 0


@given(st.integers(1, 9), st.integers(1, 9))
def test_order_is_kept_where_everything_is_tied(rows: int, columns: int) -> None:
    used = [
        column for column in best_pairs([[1] * columns for _ in range(rows)]) if column is not None
    ]
    assert used == sorted(used)
    assert len(used) == min(rows, columns)


@pytest.mark.parametrize(
    ("weights", "pairs"),
    [
        ([], []),
        ([[]], [None]),
        ([[0]], [None]),
        ([[3, 3], [3, 0]], [1, 0]),
        ([[2, 1], [2, 0], [0, 0]], [1, 0, None]),
        ([[5], [5], [6]], [None, None, 0]),
    ],
)
def test_small_cases(weights: list[list[int]], pairs: list[int | None]) -> None:
    assert best_pairs(weights) == pairs


def test_large_random_matrix() -> None:
    weights = np.random.default_rng(7).integers(0, 9, (60, 75))
    rows, columns = linear_sum_assignment(weights, maximize=True)
    found = best_pairs(weights.tolist())
    assert total(weights.tolist(), found) == int(weights[rows, columns].sum())
