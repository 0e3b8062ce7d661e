"""What may be claimed of a run, and the caveats of outputs that fail in part, each at its bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from corpora.text.comparison import bare_form
from scoring.card.caveats import Caveat, CaveatKind, OutputTally, is_disordered
from scoring.card.claim import Claim, ClaimReason, FloorScores, Score, caveat_sentence, decide_claim
from scoring.core.inventory import Composite, Input, composite, counting_gaps
from scoring.core.specification import Tier, quality_tier
from tests.review.thorough import examples
from tests.scoring.samples import HOSTILE

FLOORS = {
    "constant": FloorScores(0.40, 12.0, ("chrf_plus_plus",)),
    "words": FloorScores(0.35, 15.0, ("chrf_plus_plus",)),
}


def mixed(value: float | None) -> Composite:
    inputs = () if value is None else (Input("chrf_plus_plus", value * 100, value, 0.3, 1.0),)
    return Composite(value, "B", "", inputs, {}, 1.0)


HIGH = Score(90.0, 85.0)


def claimed(value: float | None, lower: Any = None, chrf: Score = HIGH, **more: Any) -> Claim:
    end = value if lower is None else lower
    return decide_claim(mixed(value), end, chrf, more.pop("floors", FLOORS), **more)


def caveat(share: float, kind: CaveatKind = CaveatKind.SHORT) -> Caveat:
    return Caveat(kind, share, round(share * 100), 100, 0.25)


@examples(15, 100)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 100), st.booleans())
def test_functional_is_most_unreviewed(value: float, low: float, chrf: float, alike: bool) -> None:
    claim = claimed(value, min(value, low), Score(chrf, chrf), identical=alike)
    assert claim.claimable_tier.rank <= min(Tier.FUNCTIONAL.rank, quality_tier(value).rank)
    assert claim.tier(review_passed=True).rank <= quality_tier(value).rank


def test_both_intervals_must_clear_the_best_floor_of_each() -> None:
    for lower, chrf, reasons, words in [
        (0.50, Score(16.0, 15.1), [], ""),
        (0.40, Score(16.0, 15.1), [ClaimReason.COMPOSITE_FLOOR],
         "; composite not clearly above the floor: interval reaches 0.40"),
        (0.50, Score(16.0, 15.0), [ClaimReason.CHRF_FLOOR],
         "; chrF++ not clearly above the floor: interval reaches 15.0"),
        (0.50, Score(15.0, 14.0), [ClaimReason.CHRF_FLOOR], "; chrF++ not above the floor"),
        (0.50, Score(None, None), [ClaimReason.NO_CHRF], "; chrF++ has no value"),
        (0.40, Score(None, None), [ClaimReason.COMPOSITE_FLOOR, ClaimReason.NO_CHRF],
         "; composite not clearly above the floor: interval reaches 0.40; chrF++ has no value"),
    ]:  # fmt: skip
        claim = claimed(0.55, lower, chrf)
        interval = [ClaimReason.INTERVAL] if lower < 0.5 else []
        assert {limit.reason for limit in claim.limits} == {*reasons, *interval}
        assert claim.at_floor is bool(reasons)
        tier = Tier.BASELINE if reasons else Tier.FUNCTIONAL
        assert claim.claimable_tier is tier
        assert claim.words() == f"{tier} (automatic 0.55{words})"


def test_review_and_floors_lift_their_own_limits() -> None:
    assert claimed(0.9).tier(review_passed=True) is Tier.FLUENT
    assert claimed(0.9, 0.3).tier(review_passed=True) is Tier.BASELINE
    assert claimed(0.9, caveats=[caveat(0.3)]).tier(review_passed=True) is Tier.EMERGING
    assert claimed(0.9, identical=True).tier(review_passed=True) is Tier.BASELINE
    assert claimed(None).tier(review_passed=True) is Tier.UNSCORED
    assert claimed(0.6, 0.5, Score(None, None), floors={}).claimable_tier is Tier.FUNCTIONAL
    assert "0.298" in claimed(0.2978, floors={}).words()
    assert claimed(0.78).words() == "functional (automatic 0.78; review pending)"
    assert claimed(0.62).words() == "functional (automatic 0.62)"
    assert claimed(0.78).words(review_passed=True) == "deployable (automatic 0.78; reviewed)"
    assert claimed(0.78).words(review="review: no-go").endswith("0.78; review: no-go)")
    assert claimed(0.35, 0.3).words() == "baseline (automatic 0.35; composite not above the floor)"
    assert claimed(0.55, 0.3).words(brief=True).endswith("; composite not clear of the floor)")
    assert claimed(None).words() == "unscored"


@pytest.mark.parametrize(("value", "lower", "passed", "tier", "words"), [
    (0.50, 0.46, False, Tier.EMERGING, "emerging, perhaps functional (automatic 0.50)"),
    (0.50, 0.50, False, Tier.FUNCTIONAL, "functional (automatic 0.50)"),
    (0.74, 0.69, False, Tier.FUNCTIONAL, "functional (automatic 0.74; review pending)"),
    (
        0.74,
        0.69,
        True,
        Tier.FUNCTIONAL,
        "functional, perhaps deployable (automatic 0.74; reviewed)",
    ),
    (
        0.74,
        0.49,
        True,
        Tier.EMERGING,
        "emerging, perhaps deployable (automatic 0.74; reviewed)",
    ),
])  # fmt: skip
def test_tier_is_claimed_by_the_lower_end_of_the_interval(
    value: float, lower: float, passed: bool, tier: Tier, words: str
) -> None:
    claim = claimed(value, lower)
    assert claim.tier(review_passed=passed) is tier
    assert claim.words(review_passed=passed) == words


def test_identical_outputs_are_told_what_they_are() -> None:
    repeated = caveat(0.52, CaveatKind.REPEATED)
    claim = claimed(0.81, 0.75, identical=True, caveats=[repeated])
    assert claim.words() == "baseline (automatic 0.81; mostly one and the same output)"
    assert claim.at_floor
    low = claimed(0.35, 0.3, Score(14.0, 13.0), identical=True)
    assert low.words().endswith("; mostly one and the same output; not above either floor)")
    near = claimed(0.55, 0.3, Score(16.0, 14.0)).words(brief=True)
    assert near == "baseline (automatic 0.55; not clear of either floor)"


def test_caveat_stands_with_its_share_and_lowers_the_claim() -> None:
    quarter, half = caveat(0.299), caveat(0.5, CaveatKind.UNTRANSLATED)
    assert claimed(0.62, caveats=[quarter]).words() == ("emerging (automatic 0.62; 29 % too short)")
    both = claimed(0.62, caveats=[quarter, half]).words()
    assert both.startswith("baseline (automatic 0.62; 29 %")
    assert caveat_sentence(quarter) == (
        "29 % of the outputs are empty, or less than half as long as the reference "
        "(30 of 100; said from 25 % on): no more than emerging may be claimed"
    )


VALUES = st.dictionaries(
    st.sampled_from(
        ["chrf_plus_plus", "exact_match_rate", "fst_acceptance_rate", "code_switching_rate",
         "hallucination_rate", "orthographic_accuracy"]
    ),
    st.floats(0, 1),
    min_size=1,
)  # fmt: skip


@examples(15, 100)
@given(VALUES, st.sets(st.sampled_from(["hallucination_rate", "code_switching_rate"])))
def test_null_input_never_raises_a_claim(values: dict[str, float], gone: set[str]) -> None:
    whole = composite(values)
    left = composite({id_: value for id_, value in values.items() if id_ not in gone})
    attainable = {part.metric for part in whole.inputs}
    counted = counting_gaps(left, attainable)
    assert whole.value is not None
    if left.inputs:
        assert counted is not None
        assert counted <= whole.value + 1e-12
        assert counting_gaps(left, ()) == left.value


def test_output_without_a_metric_s_value_claims_less() -> None:
    whole = composite({"chrf_plus_plus": 54.0, "hallucination_rate": 1.0})
    left = composite({"chrf_plus_plus": 54.0})
    assert (whole.value, left.value) == (pytest.approx(0.45), pytest.approx(0.54))
    floors = {"words": FloorScores(0.1, 5.0, ("chrf_plus_plus", "hallucination_rate"))}
    claim = decide_claim(left, 0.53, Score(54.0, 50.0), floors)
    assert claim.quality_tier is Tier.FUNCTIONAL
    assert claim.claimable_tier is Tier.EMERGING
    assert (
        claim.words() == "emerging (automatic 0.54 on 25 % of its weight; an input without a value counts as nothing)"
    )
    high = {"words": replace(floors["words"], composite=0.5)}
    assert decide_claim(left, 0.53, Score(54.0, 50.0), high).claimable_tier is Tier.BASELINE


def test_the_other_profile_s_weights_lift_nothing() -> None:
    zeros = ("chrf_plus_plus", "exact_match_rate", "equivalent_match_rate", "semantic_score")
    stated = composite({"terminology_adherence": 1.0, "hallucination_rate": 0.0, "code_switching_rate": 1.0,
                        "orthographic_accuracy": 0.0, **dict.fromkeys(zeros, 0.0)})  # fmt: skip
    assert stated.value == pytest.approx(0.1)
    assert counting_gaps(stated, {"fst_acceptance_rate"}) == stated.value


def entries(references: Sequence[str], sources: Sequence[str] | None = None) -> list[Entry]:
    given = sources or [f"source {chr(97 + place)}" for place in range(len(references))]
    return [
        Entry(id=place, source=source, reference=reference)
        for place, (source, reference) in enumerate(zip(given, references, strict=True))
    ]


def tallied(given: Sequence[Entry], outputs: Sequence[str]) -> OutputTally:
    tally = OutputTally()
    tally.add(given, outputs, [{}] * len(outputs))
    return tally


def found(
    outputs: Sequence[str], references: Sequence[str], sources: Sequence[str] | None = None
) -> dict[CaveatKind, Caveat]:
    tally = tallied(entries(references, sources), outputs)
    return {each.kind: each for each in tally.caveats()}


TEN = ["one dog", "two cats", "red fish", "blue bird", "old tree", "new boat", "my house",
       "his road", "her song", "our fire"]  # fmt: skip


def test_a_quarter_of_one_text_too_short_or_too_long() -> None:
    told = found(["one dog"] * 3 + TEN[3:], TEN)
    assert told == {CaveatKind.REPEATED: Caveat(CaveatKind.REPEATED, 0.3, 3, 10, 0.25)}
    assert found(["one dog"] * 2 + TEN[2:], TEN) == {}
    eight = ["abcd efgh", *TEN[1:8]]
    for kind, texts in [
        (CaveatKind.SHORT, ["xyz", ""]), (CaveatKind.LONG, ["wa wa " * 9, "bo bo " * 9]),
    ]:  # fmt: skip
        assert kind in found([*texts, *eight[2:]], eight)
        assert kind not in found([*texts[:1], *eight[1:]], eight)
        assert found([*texts[:1], *eight[1:4]], eight[:4])[kind].share == 0.25


def test_the_source_copied_or_left_in_its_language() -> None:
    told = found(["The dog!", "zwei", "drei", "vier"], ["hund", "zwei", "drei", "vier"],
                 ["the dog", "two", "three", "four"])  # fmt: skip
    assert told[CaveatKind.UNTRANSLATED].share == 0.25
    kept = found(["Paris"] * 1 + ["b c d"], ["Paris", "b c d"], ["Paris", "x y z"])
    assert CaveatKind.UNTRANSLATED not in kept
    tally = OutputTally()
    for words in ((1, 2), (2, 3), (0, 5), (0, 1)):
        tally.add(entries(["abc"]), ["abd"], [{"code_switching_rate": words}])
    [only] = tally.caveats()
    assert (only.kind, only.share) == (CaveatKind.UNTRANSLATED, 0.25)


def test_references_and_withheld_texts_raise_nothing() -> None:
    repeating = ["yes", "yes", "yes", "no", "1", "2", "3"]
    assert found(repeating, repeating) == {}
    assert not tallied(entries(repeating), repeating).identical
    assert found(["ab", "cd", "ef", "gh"], [""] * 4) == {}
    assert found(["ab", "ab", "ef", "gh"], [""] * 4).keys() == {CaveatKind.REPEATED}
    assert found(["abcd"] * 2, ["abcdefgh", "hgfedcba"]).keys() == {CaveatKind.REPEATED}
    assert not found(["abcdefgh", "ijklmnop"], ["abcd", "ijkl"])
    assert CaveatKind.SHORT in found(["abc", "ghi"], ["abcdefgh", "hgfedcba"])


def test_right_words_in_destroyed_order() -> None:
    words = ["one", "two", "three", "four", "five", "six"]
    reference = " ".join(words)
    for output, disordered in [
        (" ".join(words[::-1]), True),
        ("two one four three six five", True),
        ("One, two three four five six!", False),
        ("four five six one two three", False),  # a part moved is no disorder
        ("six four two", False),  # fewer than four words say nothing
        ("six x four x two x one", True),
        ("", False),
    ]:
        assert is_disordered(output, reference) is disordered, output
    references = [reference, "one two three four", *TEN[:2]]
    told = found(["six five four three two one", references[1], *TEN[:2]], references)
    assert told == {CaveatKind.DISORDERED: Caveat(CaveatKind.DISORDERED, 0.5, 1, 2, 0.25)}
    free = OutputTally(free_word_order=True)
    free.add(entries([reference]), ["six five four three two one"], [{}])
    assert free.caveats() == ()
    given = entries([reference])[0].model_copy(update={"variants": ["six five four three two one"]})
    varied = OutputTally()
    varied.add([given], ["six five four three two one"], [{}])
    assert varied.caveats() == ()


def test_mostly_identical() -> None:
    for outputs, references, identical in [
        (["a", "a", " a ", "b"], ["w", "x", "y", "z"], True),
        (["a", "a", "c", "b"], ["w", "x", "y", "z"], False),
        (["a", "a", "a", "b"], ["a", "a", "a", "b"], False),
        (["", "", "", "b"], ["w", "x", "y", "z"], False),
        (["", "", "b", "b"], ["w", "x", "y", "z"], True),
        ([], [], False),
        (["ᓂᐚᐸᒫᐤ 1", "ᓂᐚᐸᒫᐤ, 2", "ᓂᐚᐸᒫᐤ (٣)", "z"], ["w", "x", "y", "z"], True),
        (["1", "2", "3", "4"], ["w", "x", "y", "z"], False),
        (["7", "7", "7", "4"], ["w", "x", "y", "z"], True),
    ]:
        tally = tallied(entries(references), outputs)
        assert tally.identical is identical

    outputs, references = ["one dog"] * 4 + TEN[4:], TEN
    given = entries(references)
    tally = OutputTally()
    for entry, output in zip(given, outputs, strict=True):
        tally.add([entry], [output], [{}])
    assert tally.caveats() == tallied(given, outputs).caveats()

    for text in HOSTILE:
        assert bare_form(bare_form(text)) == bare_form(text)
        assert bool(bare_form(text)) is bool(text.split())
