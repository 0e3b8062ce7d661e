"""Holm's correction against its textbook values and against the closure of Bonferroni's, which it is."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.statistics.significance import holm


def test_textbook() -> None:
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), max_size=6))
def test_it_is_the_closure_of_bonferroni(p_values: list[float]) -> None:
    """A hypothesis falls where every set of hypotheses with it falls by Bonferroni's rule."""
    places = range(len(p_values))
    for place, found in zip(places, holm(p_values), strict=True):
        families = [
            family
            for size in range(1, len(p_values) + 1)
            for family in combinations(places, size)
            if place in family
        ]
        closed = max(min(1.0, len(f) * min(p_values[i] for i in f)) for f in families)
        assert found == pytest.approx(closed)


def test_alone_a_p_value_stays() -> None:
    assert holm([0.031]) == [0.031]
    assert holm([]) == []


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, wrong])
