"""The composite: weights, re-normalisation, what counts as a value."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.composite import composite, composites
from scoring.core.specification import specification

EXAMPLE = {
    "exact_match_rate": 0.6613,
    "equivalent_match_rate": 0.7258,
    "chrf_plus_plus": 80.65,
    "bleu": 54.78,
    "fst_acceptance_rate": 1.0,
    "semantic_score": 0.6842,
}


def test_effective_weights_of_the_specifications_own_example() -> None:
    mixed = composite({"fst_acceptance_rate": 1.0, "chrf_plus_plus": 50.0, "exact_match_rate": 0.0})
    weights = {i.metric: round(i.effective_weight, 3) for i in mixed.inputs}
    assert weights == {
        "fst_acceptance_rate": 0.556, "chrf_plus_plus": 0.333, "exact_match_rate": 0.111,
    }  # fmt: skip
    assert mixed.value == pytest.approx((0.25 + 0.15 * 0.5) / 0.45)
    assert mixed.coverage == pytest.approx(0.45)


def test_formula_on_the_example_card_gives_what_it_should_have_said() -> None:
    mixed = composite(EXAMPLE)
    assert mixed.profile == "A"
    assert mixed.value == pytest.approx(0.8275, abs=5e-5)


def test_profile_b_without_fst_says_why() -> None:
    mixed = composite({"chrf_plus_plus": 40.0}, {"fst_acceptance_rate": "no FST installed for crk"})
    assert (mixed.profile, mixed.value) == ("B", pytest.approx(0.4))
    assert "no FST installed for crk" in mixed.profile_reason
    assert mixed.missing["semantic_score"] == "no value"


def test_lower_is_better_rates_are_inverted() -> None:
    assert composite({"code_switching_rate": 0.25}).value == pytest.approx(0.75)
    assert composite({"hallucination_rate": 1.0}).value == 0.0


def test_a_place_without_any_weight_has_no_composite() -> None:
    values = {"chrf_plus_plus": np.array([nan, 50.0]), "exact_match_rate": np.array([nan, nan])}
    found = composites(values, "B")
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(0.5)
    assert np.isnan(composites({"bleu": np.array([7.0])}, "B")).all()


@pytest.mark.parametrize("nothing", [None, True, False, nan, inf, "0.5"])
def test_what_is_no_number_is_missing(nothing: object) -> None:
    mixed = composite({"exact_match_rate": nothing, "chrf_plus_plus": 30.0})
    assert mixed.value == pytest.approx(0.3)
    assert "exact_match_rate" in mixed.missing


def test_a_boolean_does_not_switch_the_profile() -> None:
    assert composite({"fst_acceptance_rate": True, "chrf_plus_plus": 1.0}).profile == "B"


def test_nothing_has_no_composite() -> None:
    mixed = composite({"bleu": 50.0, "ter": 10.0})
    assert (mixed.value, mixed.inputs, mixed.coverage) == (None, (), 0.0)


inside = st.sampled_from(sorted(set().union(*specification().profiles.values())))


def scaled(id_: str, share: float) -> float:
    return share * specification().metrics[id_].info.high


@given(st.dictionaries(inside, st.floats(0, 1), min_size=1))
def test_composite_stays_between_its_inputs(shares: dict[str, float]) -> None:
    mixed = composite({id_: scaled(id_, share) for id_, share in shares.items()})
    if mixed.value is None:
        assert not mixed.inputs
        return
    normalised = [i.normalised for i in mixed.inputs]
    assert min(normalised) - 1e-12 <= mixed.value <= max(normalised) + 1e-12
    assert sum(i.effective_weight for i in mixed.inputs) == pytest.approx(1.0)
    assert set(mixed.missing) | {i.metric for i in mixed.inputs} == set(
        specification().profiles[mixed.profile]
    )


@given(st.dictionaries(inside, st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1))
def test_arrays_give_the_single_composites(shares: dict[str, list[float]]) -> None:
    values = {id_: np.array([scaled(id_, s) for s in row]) for id_, row in shares.items()}
    profile = "A" if "fst_acceptance_rate" in values else "B"
    for place, value in enumerate(composites(values, profile)):
        single = composite({id_: float(row[place]) for id_, row in values.items()}).value
        assert (single is None and np.isnan(value)) or value == pytest.approx(single)


def test_nan_in_an_array_moves_its_weight_to_the_others() -> None:
    values = {"chrf_plus_plus": np.array([50.0, 50.0]), "exact_match_rate": np.array([1.0, nan])}
    assert composites(values, "B").tolist() == pytest.approx([(0.125 + 0.1) / 0.35, 0.5])
