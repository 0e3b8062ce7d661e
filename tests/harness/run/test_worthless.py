"""Methods without any translation in them, on real texts: none claims more than baseline.

``benchmarks/floors.py`` does the same on every corpus at hand.
"""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from benchmarks.floors import METHODS, Case, cases, references_of, without_analyser
from scoring.card.claim import ClaimReason
from scoring.core.specification import Tier
from tests.outside import FST, TEXTS, skip_without

NAMES = ["demo", "crk 100, descriptive, unknown words", "mri"]


@cache
def case_of(name: str) -> Case:
    found = next((case for case in cases(name) if case.name == name), None)
    if found is None:
        skip_without(TEXTS)
        skip_without(FST)
        raise AssertionError(f"no corpus is called {name}")
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_no_worthless_method_claims_more_than_baseline(name: str, method: str) -> None:
    case = case_of(name)
    scores = case.judged(METHODS[method](case, Random(9)))
    assert scores.claimable_tier is Tier.BASELINE, scores.tier_in_words


@pytest.mark.parametrize("name", NAMES)
def test_references_reach_fluent_but_for_words_that_the_analyser_does_not_know(name: str) -> None:
    scores = references_of(case_of(name))
    assert without_analyser(scores) >= 0.97
    assert (scores.fst_acceptance_rate or 1.0) < 1.0 or scores.quality_tier is Tier.FLUENT
    assert scores.claim.claimable_tier is Tier.FUNCTIONAL
    assert [limit.reason for limit in scores.claim.limits] == [ClaimReason.REVIEW]
    assert scores.claim.caveats == ()


def test_one_valid_word_for_each_sentence_is_stopped_by_its_chrf() -> None:
    """It clears every composite floor of before: acceptance alone carries it."""
    case = case_of("crk 100, descriptive, unknown words")
    scores = case.judged(METHODS["one valid word"](case, Random(9)))
    lower = scores.confidence_intervals["composite"].ci_lower
    before = [case.floors[name].composite or 0.0 for name in ("empty", "source", "shuffled")]
    assert lower > max(before)
    assert ClaimReason.CHRF_FLOOR in {limit.reason for limit in scores.claim.limits}
