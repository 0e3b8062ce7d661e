"""The gate: numbers against an independent calculation, and every rule by a panel that just meets or misses it."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError
from review.rating import Rating
from review.verdict.gate.adjudication import SecondLook, Voice, queue
from review.verdict.gate.gate import GateOutcome, GateVerdict, decide
from review.verdict.gate.policy import GatePolicy, proposed
from review.verdict.gate.verdict import Code
from review.verdict.panel.estimate import round6
from review.verdict.panel.panel import Harm, Panel
from tests.review.office.reviewed import ITEMS, PEOPLE, Reason, key, said, state
from tests.review.thorough import times
from tests.review.verdict.oracle import t_rule
from tests.review.verdict.panels import FIVE, bad, by_chance, good, made, with_controls

POLICY, _ = proposed()


def codes(verdict: GateVerdict) -> list[Code]:
    return [finding.code for finding in verdict.findings]


def facts(verdict: GateVerdict, code: Code) -> dict[str, Any]:
    return dict(next(each.facts for each in verdict.findings if each.code is code))


def changed(**parts: dict[str, Any]) -> GatePolicy:
    new = {name: getattr(POLICY, name).model_copy(update=fields) for name, fields in parts.items()}
    return POLICY.model_copy(update=new)


@pytest.mark.parametrize("seed", range(times(150, 3000)))
def test_the_numbers_are_those_of_an_independent_calculation(seed: int) -> None:
    panel = by_chance(seed)
    verdict = decide(panel, POLICY)
    found = verdict.numbers
    expected = t_rule(panel, sorted(found.reviewers), float(verdict.confidence))
    if expected is None:
        assert found.share is None
        return
    for name, value in expected.items():
        ours = getattr(found, name)
        assert (ours is None) == (value is None), name
        if value is not None and ours is not None:
            assert float(ours) == pytest.approx(value, abs=1.1e-6, rel=1e-7), name


@pytest.mark.parametrize("seed", range(40))
def test_no_order_of_anything_changes_a_byte(seed: int) -> None:
    panel, draw = by_chance(seed), random.Random(seed)

    def mixed(mapping: Any) -> Any:
        keys = list(mapping)
        draw.shuffle(keys)
        return {key: mixed(v) if isinstance(v := mapping[key], dict) else v for key in keys}

    parts = ("strata", "weights", "ratings", "harm", "controls", "control_ratings", "sequences")
    other = replace(panel, **{name: mixed(getattr(panel, name)) for name in parts})
    one, two = (canonical_bytes(decide(each, POLICY).as_json()) for each in (panel, other))
    assert one == two


def numbers_of(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [one for each in value.values() for one in numbers_of(each)]
    if isinstance(value, list):
        return [one for each in value for one in numbers_of(each)]
    return [value]


@pytest.mark.parametrize("seed", range(40))
def test_json_holds_no_floating_point_and_six_places_each(seed: int) -> None:
    written = decide(by_chance(seed), POLICY).as_json()
    for value in numbers_of(written):
        assert value is None or isinstance(value, bool | int | str)
        if isinstance(value, str) and "." in value:
            assert str(round6(Decimal(value))) == value
            assert not value.startswith("-0.000000")
    assert "flagged" not in written


GOLDEN = Path(__file__).with_name("golden_verdict.json")


def mostly(item: int, person: int) -> int:
    """Return mixed ratings that need no chance: 0.9 or so of them acceptable."""
    return 1 if (7 * item + 3 * person) % 11 == 0 else 2 + (item + person) % 2


def test_a_whole_verdict_is_pinned() -> None:
    verdict = decide(made(mostly), POLICY)
    assert canonical_bytes(verdict.as_json()) == GOLDEN.read_bytes().rstrip(b"\n")


def test_a_flawless_method_goes_with_the_exact_bound() -> None:
    verdict = decide(made(good), POLICY)
    assert verdict.outcome is GateOutcome.GO
    assert verdict.numbers.lower == round6(0.05 ** (1 / 80))
    assert (verdict.numbers.upper, verdict.numbers.df, verdict.numbers.t) == (round6(1), None, None)
    assert verdict.numbers.alpha is None


def test_a_worthless_method_does_not_and_dissent_below_the_floor_saves_it_not() -> None:
    verdict = decide(made(bad), POLICY)
    assert verdict.outcome is GateOutcome.NO_GO
    assert verdict.numbers.upper == round6(1 - 0.05 ** (1 / 80))
    assert codes(verdict).count(Code.LOW_REVIEWER) == 5


def test_disagreement_that_cancels_out_exactly_has_the_bounds_of_so_many_items() -> None:
    verdict = decide(made(lambda i, j: 1 if i % 5 == j else 3, weights={0: 1.0}), POLICY)
    assert verdict.numbers.share == round6(0.8)
    assert (verdict.numbers.item_error, verdict.numbers.effective_items) == (round6(0), round6(80))
    assert verdict.numbers.lower == round6(float(stats.beta.ppf(0.05, 64, 17)))
    assert verdict.numbers.upper == round6(float(stats.beta.ppf(0.95, 65, 16)))


def test_the_level_between_the_bounds_is_a_matter_for_talk() -> None:
    verdict = decide(made(lambda i, j: 3 if (i + j // 4) % 4 else 1), POLICY)
    assert verdict.outcome is GateOutcome.DISCUSS
    assert Code.LEVEL_OPEN in codes(verdict)


def test_exactly_the_level_is_reached() -> None:
    reached = decide(made(mostly), POLICY).numbers.lower
    assert decide(made(mostly), changed(level={"share": reached})).outcome is GateOutcome.GO
    above = (reached or Decimal(0)) + Decimal("0.000001")
    assert decide(made(mostly), changed(level={"share": above})).outcome is GateOutcome.DISCUSS


@pytest.mark.parametrize(
    ("panel", "code", "found"),
    [
        (made(good, items=49), Code.FEW_ITEMS, 49),
        (made(good, people=2), Code.FEW_REVIEWERS, 2),
        (replace(made(good, items=50, weights={1: 1.0}), core=frozenset()), Code.NO_CORE, None),
        (Panel({}, {}, {}, frozenset()), Code.FEW_ITEMS, 0),
    ],
    ids=["items", "people", "core", "nothing"],
)
def test_too_little_is_never_a_no(panel: Panel, code: Code, found: int | None) -> None:
    verdict = decide(panel, POLICY)
    assert verdict.outcome is GateOutcome.INSUFFICIENT
    assert code in codes(verdict)
    assert found is None or facts(verdict, code)["found"] == found
    assert not {Code.LEVEL_REACHED, Code.LEVEL_MISSED, Code.LEVEL_OPEN} & set(codes(verdict))


def test_every_difficulty_needs_its_eight() -> None:
    six_strata = dict.fromkeys(range(6), 1 / 6)
    assert decide(made(good, items=50, weights=six_strata), POLICY).outcome is GateOutcome.GO
    fewer = decide(made(good, items=50, weights=six_strata), changed(enough={"per_stratum": 9}))
    assert fewer.outcome is GateOutcome.INSUFFICIENT
    assert facts(fewer, Code.FEW_IN_STRATUM) == {"stratum": 2, "found": 8, "needed": 9}


def test_a_stratum_that_nobody_rated_is_too_few_and_one_never_asked_is_left_out() -> None:
    panel = made(good)
    ratings = {
        who: {item: rank for item, rank in mine.items() if panel.strata[item] != 5}
        for who, mine in panel.ratings.items()
    }
    unrated = decide(replace(panel, ratings=ratings), POLICY)
    assert unrated.outcome is GateOutcome.INSUFFICIENT
    assert facts(unrated, Code.FEW_IN_STRATUM) == {"stratum": 5, "found": 0, "needed": 8}
    assert (unrated.numbers.strata[5].weight, unrated.numbers.strata[5].share) == (round6(0), None)
    strata = {item: stratum for item, stratum in panel.strata.items() if stratum != 5}
    unasked = decide(replace(panel, strata=strata, ratings=ratings, core=frozenset(strata)), POLICY)
    assert unasked.outcome is GateOutcome.GO
    assert facts(unasked, Code.STRATUM_LEFT_OUT) == {"stratum": 5, "weight": "0.100000"}
    assert unasked.numbers.strata[1].weight == round6(0.3 / 0.9)


def test_who_rated_too_little_of_the_core_does_not_count() -> None:
    panel = made(good, people=4)
    most, few = (dict.fromkeys(sorted(panel.core)[:n], 3) for n in (64, 63))
    ratings = {**panel.ratings, "p2": most, "p3": few}
    verdict = decide(
        replace(panel, ratings=ratings, cannot_judge={"p3": frozenset(["i079"])}), POLICY
    )
    assert list(verdict.numbers.reviewers) == ["p0", "p1", "p2"]
    assert facts(verdict, Code.REVIEWER_LEFT_OUT) == {
        "reviewer": "p3", "rated": 63, "core": 80, "cannot_judge": 1,
    }  # fmt: skip
    assert facts(verdict, Code.SMALL_PANEL) == {"found": 3, "needed": 5}
    assert (verdict.outcome, verdict.community_panel) == (GateOutcome.GO, False)


def test_one_person_alone_has_a_share_and_no_bounds() -> None:
    verdict = decide(made(mostly, people=1), POLICY)
    assert verdict.outcome is GateOutcome.INSUFFICIENT
    assert verdict.numbers.share is not None
    assert (verdict.numbers.lower, verdict.numbers.upper, verdict.numbers.t) == (None, None, None)


def test_a_flag_of_harm_stops_everything_until_people_have_looked() -> None:
    for rank in (good, bad):
        flagged = decide(replace(made(rank), harm={"i001": Harm.FLAGGED}), POLICY)
        assert flagged.outcome is GateOutcome.DISCUSS
        assert facts(flagged, Code.HARM_OPEN) == {"items": 1}
    upheld = decide(replace(made(good), harm={"i001": Harm.UPHELD}), POLICY)
    assert upheld.outcome is GateOutcome.DISCUSS
    assert (
        decide(replace(made(bad), harm={"i001": Harm.UPHELD}), POLICY).outcome is GateOutcome.NO_GO
    )
    cleared = decide(replace(made(good), harm={"i001": Harm.CLEARED}), POLICY)
    assert cleared.outcome is GateOutcome.GO
    assert cleared.harm == {Harm.FLAGGED: 0, Harm.UPHELD: 0, Harm.CLEARED: 1}


@pytest.mark.parametrize(("items", "allowed"), [(50, 1), (80, 3), (100, 4)])
def test_so_many_items_may_be_rejected_by_two(items: int, allowed: int) -> None:
    def rejected(many: int) -> GateVerdict:
        return decide(
            made(lambda i, j: 0 if i < many and j < 2 else 3, items=items, weights={1: 1.0}), POLICY
        )

    assert rejected(allowed).outcome is GateOutcome.GO
    over = rejected(allowed + 1)
    assert over.outcome is GateOutcome.DISCUSS
    assert facts(over, Code.VETO)["items"] == allowed + 1
    assert len(over.numbers.split) == allowed + 1


def test_items_that_one_person_saw_cannot_dilute_the_veto() -> None:
    panel = made(lambda i, j: 0 if i < 4 and j < 2 else 3, items=80)
    ratings = {
        who: {i: r for i, r in mine.items() if i < "i050" or who == "p4"}
        for who, mine in panel.ratings.items()
    }
    core = frozenset(i for i in panel.strata if i < "i050")
    rejections = decide(replace(panel, ratings=ratings, core=core), POLICY).numbers.rejections
    assert (rejections.items, rejections.of) == (4, 50)


def test_one_weak_difficulty_is_for_people_to_decide() -> None:
    def rank(item: int, _person: int) -> int:
        return 1 if item % 5 == 4 and item % 10 == 4 else 3

    half = decide(made(rank), POLICY)  # exactly half of difficulty 5, and 0.70 - 0.20 is needed
    assert half.numbers.strata[5].share == round6(0.5)
    assert half.outcome is GateOutcome.GO
    weak = decide(made(lambda i, j: 1 if i in {4, 14} or rank(i, j) == 1 or i == 9 else 3), POLICY)
    assert weak.outcome is GateOutcome.DISCUSS
    assert facts(weak, Code.WEAK_STRATUM)["needed"] == "0.500000"


def test_one_person_far_below_the_level_is_a_matter_for_talk() -> None:
    def rank(item: int, person: int) -> int:
        return 1 if person == 4 and item % 2 else 3

    verdict = decide(made(rank, people=9), changed(level={"share": Decimal("0.65")}))
    assert verdict.outcome is GateOutcome.DISCUSS
    assert facts(verdict, Code.LOW_REVIEWER)["reviewer"] == "p4"


def test_a_second_look_asks_for_more() -> None:
    first, second = (decide(replace(made(mostly), look=look), POLICY) for look in (1, 2))
    assert (first.numbers.lower or 0) > (second.numbers.lower or 0)
    assert facts(second, Code.LATER_LOOK) == {"look": 2, "confidence": "0.975000"}


def test_low_agreement_is_a_note_and_changes_nothing() -> None:
    verdict = decide(made(lambda i, j: (i + j) % 4), POLICY)
    assert facts(verdict, Code.GUIDELINES)["alpha"] == str(verdict.numbers.alpha)
    assert Code.GUIDELINES not in codes(decide(made(lambda i, j: 2 + (i + j) % 2), POLICY))


def straight(panel: Panel, who: tuple[str, ...]) -> Panel:
    """Let these people press one key for everything, the others rate controls as one should."""

    def rank(person: str, item: str) -> int:
        return 3 if person in who or item[0] != "b" else 0

    found = with_controls(panel, rank, random.Random(1))
    return replace(
        found, sequences={p: (3,) * 90 if p in who else (3, 0) * 45 for p in found.ratings}
    )


def test_hurried_ratings_that_decide_are_talked_over_and_named_nowhere() -> None:
    def rank(item: int, person: int) -> int:
        return 3 if person < 2 or (item * 3 + person) % 4 else 1

    plain = decide(made(rank, people=6), POLICY)
    assert plain.outcome is GateOutcome.GO
    verdict = decide(straight(made(rank, people=6), ("p0", "p1")), POLICY)
    assert verdict.flagged == ("p0", "p1")
    assert (verdict.outcome, verdict.without_flagged) == (GateOutcome.DISCUSS, GateOutcome.DISCUSS)
    assert facts(verdict, Code.FLAGS_DECIDE) == {"outcome": "discuss"}
    same = decide(straight(made(good, people=6), ("p0",)), POLICY)
    assert (same.outcome, same.without_flagged) == (GateOutcome.GO, GateOutcome.GO)
    assert Code.FLAGS_DECIDE not in codes(same)
    three = decide(straight(made(good, people=3), ("p0",)), POLICY)
    assert (three.outcome, three.without_flagged) == (GateOutcome.DISCUSS, GateOutcome.INSUFFICIENT)


def all_accept(panel: Panel, accepted: int) -> Panel:
    """Let everybody accept so many of eight spoilt items, and rate all else as one should."""
    spoilt = {f"b{n}" for n in range(accepted)}

    def rank(_person: str, item: str) -> int:
        return 3 if item in spoilt or item[0] != "b" else 0

    return replace(with_controls(panel, rank, random.Random(1)), sequences={})


@pytest.mark.parametrize(("accepted", "outcome"), [(4, GateOutcome.GO), (5, GateOutcome.DISCUSS), (8, GateOutcome.DISCUSS)])  # fmt: skip
def test_no_go_on_the_word_of_a_panel_that_accepts_what_was_spoilt(
    accepted: int, outcome: GateOutcome
) -> None:
    verdict = decide(all_accept(made(good), accepted), POLICY)
    assert (verdict.outcome, verdict.flagged) == (outcome, ())
    assert codes(verdict).count(Code.CONTROL_DROPPED) == accepted
    if outcome is GateOutcome.DISCUSS:
        assert facts(verdict, Code.CONTROLS_FAILED) == {"dropped": accepted, "of": 8}
    else:
        assert Code.CONTROLS_FAILED not in codes(verdict)


def test_spoilt_items_stop_a_go_only_and_only_where_enough_people_rated_them() -> None:
    assert decide(all_accept(made(bad), 8), POLICY).outcome is GateOutcome.NO_GO
    assert decide(all_accept(made(good, people=2), 8), POLICY).outcome is GateOutcome.INSUFFICIENT
    panel = all_accept(made(good), 8)
    two = {who: mine for who, mine in panel.control_ratings.items() if who < "p2"}
    assert decide(replace(panel, control_ratings=two), POLICY).outcome is GateOutcome.GO
    lax = changed(careless={"spoilt_failed": Decimal(1)})
    assert decide(panel, lax).outcome is GateOutcome.GO


def test_four_people_who_read_nothing_and_press_yes_more_often_give_no_go() -> None:
    """What most fail is dropped, so that such people show few signs of haste each."""
    draw, failed = random.Random(8), 0

    def any_key(*_: object) -> int:
        return draw.choices(range(4), (5, 5, 40, 50))[0]

    count = times(20, 1000)
    for _ in range(count):
        panel = made(any_key, items=64, people=4, weights={1: 0.5, 2: 0.5})
        verdict = decide(with_controls(panel, any_key, draw), POLICY)
        assert verdict.outcome is not GateOutcome.GO
        failed += Code.CONTROLS_FAILED in codes(verdict)
    assert failed >= 0.9 * count


def test_no_number_of_agreement_is_told_where_too_little_is_rated() -> None:
    verdict = decide(made(lambda i, j: (i + j) % 4, items=40), POLICY)
    assert verdict.outcome is GateOutcome.INSUFFICIENT
    assert Code.GUIDELINES not in codes(verdict)


@pytest.mark.parametrize(
    "wrong",
    [
        {"ratings": {"p0": {"nobody's": 3}}},
        {"ratings": {"p0": {"i000": 4}}},
        {"ratings": {"p0": {"i000": True}}},
        {"core": frozenset({"other"})},
        {"harm": {"other": Harm.FLAGGED}},
        {"weights": {1: 1.0}},
        {"weights": FIVE | {5: math.nan}},
        {"weights": FIVE | {5: 0.0}},
        {"weights": FIVE | {9: -1.0}},
        {"control_ratings": {"p0": {"c": 1}}},
        {"sequences": {"p0": (1, 9)}},
        {"look": 0},
    ],
    ids=str,
)
def test_a_panel_that_contradicts_itself_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(HarnessError, match="cannot be judged"):
        decide(replace(made(good), **wrong), POLICY)


GOOD, BAD = Rating.EXCELLENT, Rating.REJECT


def test_reasons_comments_and_wordings_come_with_the_rating_and_without_the_person() -> None:
    people = state(
        said(GOOD, comments={ITEMS[0]: "we say it so"}),
        said(BAD, reasons={ITEMS[0]: (Reason.GRAMMAR,)}, suggestions={ITEMS[0]: "better"}),
        said(GOOD, comments={ITEMS[1]: "of another one"}),
        said(None, comments={ITEMS[0]: "not my dialect"}),
    )
    case = queue(people, key())[0]
    assert case.item == ITEMS[0]
    assert set(case.voices) == {
        Voice(GOOD, (), "we say it so", ""),
        Voice(BAD, (Reason.GRAMMAR,), "", "better"),
        Voice(None, (), "not my dialect", ""),
    }
    assert not any(who in repr(case) for who in PEOPLE)


def test_the_order_of_people_is_another_for_each_item() -> None:
    """With a fixed order, who is first at one item would be first at all of them."""
    people = [
        said(*[GOOD if n % 2 else BAD] * 4, comments=dict.fromkeys(ITEMS, f"of {n}"))
        for n in range(6)
    ]
    orders = {tuple(each.comment for each in case.voices) for case in queue(state(*people), key())}
    assert len(orders) == len(ITEMS)


def test_who_did_not_agree_is_not_heard_and_a_second_look_stands_beside() -> None:
    silent = said(BAD, comments={ITEMS[0]: "never agreed"})
    object.__setattr__(silent, "consented", False)
    second = SecondLook((0, 0, 2, 0), 0, 2, 1, 0, ())
    found = queue(state(said(GOOD), said(BAD), silent), key(), {ITEMS[0]: second})
    assert found[0].voices == ()
    assert found[0].second == second
    assert found[0].counts == (1, 0, 0, 1), "the first round alone is counted"
