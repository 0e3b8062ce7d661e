"""The gate: numbers against an independent calculation, and every number of the policy just met and just missed."""

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError
from review.verdict.certificate.certify import without_names
from review.verdict.gate.careless import not_worse_p
from review.verdict.gate.gate import GateOutcome, GateVerdict, decide_gate
from review.verdict.gate.panel import Harm, Panel, round6
from review.verdict.gate.policy import GatePolicy, proposed
from review.verdict.gate.verdict import Code
from review.verdict.stand_alone import rosetta_verify as second
from tests.review.thorough import times
from tests.review.verdict.panels import FIVE, bad, by_chance, good, made, with_controls
from tests.scoring.late import stats

POLICY, _ = proposed()


def codes(verdict: GateVerdict) -> list[Code]:
    return [finding.code for finding in verdict.findings]


def facts(verdict: GateVerdict, code: Code) -> dict[str, Any]:
    return dict(next(each.facts for each in verdict.findings if each.code is code))


def policy_with(**parts: dict[str, Any]) -> GatePolicy:
    new = {name: getattr(POLICY, name).model_copy(update=fields) for name, fields in parts.items()}
    return POLICY.model_copy(update=new)


def t_rule(panel: Panel, people: list[str], confidence: float) -> dict[str, float | None] | None:
    """Return the T rule of docs/internals/gate.md in floating point; None where these valid reviewers rated nothing."""
    items = sorted({item for who in people for item in panel.ratings[who]})
    if not items:
        return None
    marks = np.array(
        [[panel.ratings[who][i] >= 2 if i in panel.ratings[who] else np.nan for i in items] for who in people],
        dtype=float,
    )
    strata = np.array([panel.strata[item] for item in items])
    present = sorted(set(strata.tolist()))
    weights = np.array([round(panel.weights[h], 6) for h in present])
    weights /= weights.sum()
    m = np.nanmean(marks, axis=0)
    means = np.array([m[strata == h].mean() for h in present])
    p = float(weights @ means)
    own = [_share(row, strata, present, weights) for row in marks]
    found: dict[str, float | None] = {"share": p} | dict.fromkeys(("lower", "upper", "df", "t"))
    if len(people) < 2:
        return found
    sizes = np.array([(strata == h).sum() for h in present])
    spread = np.array([m[strata == h].var(ddof=1) if n > 1 else 0.25 for h, n in zip(present, sizes, strict=True)])
    v_item = float((weights**2 * spread / sizes).sum())
    v_rev = float(np.var(own, ddof=1) / len(people))
    found |= {"item_error": v_item**0.5, "reviewer_error": v_rev**0.5}
    v, n = v_item + v_rev, len(items)
    if v < 1e-14 or p < 1e-12 or p > 1 - 1e-12:
        k = round(p * n, 9)
        low = stats.beta.ppf(1 - confidence, k, n - k + 1) if k > 0 else 0.0
        high = stats.beta.ppf(confidence, k + 1, n - k) if k < n else 1.0
        return found | {"lower": float(low), "upper": float(high), "effective_items": float(n)}
    size = p * (1 - p) / v
    df = v**2 / (v_item**2 / max(n - len(present), 1) + v_rev**2 / (len(people) - 1))
    t = float(stats.t.ppf(confidence, df))
    half = t * np.sqrt(p * (1 - p) / size + t * t / (4 * size * size))
    low, high = ((p + t * t / (2 * size) + sign * half) / (1 + t * t / size) for sign in (-1, 1))
    low, high = float(low), float(high)
    return found | {"lower": low, "upper": high, "effective_items": size, "df": df, "t": t}


def _share(row: np.ndarray, strata: np.ndarray, present: list[int], weights: np.ndarray) -> float:
    values = [row[strata == h] for h in present]
    kept = [(w, np.nanmean(v)) for w, v in zip(weights, values, strict=True) if not np.isnan(v).all()]
    return sum(w * v for w, v in kept) / sum(w for w, _ in kept)  # type: ignore[no-any-return]


@pytest.mark.parametrize("part", range(10))
def test_numbers_are_those_of_an_independent_calculation(part: int) -> None:
    for seed in range(part, times(30, 3000), 10):
        verdict = decide_gate(by_chance(seed), POLICY)
        found = verdict.numbers
        expected = t_rule(by_chance(seed), sorted(found.reviewers), float(verdict.confidence))
        if expected is None:
            assert found.share is None
            continue
        for name, value in expected.items():
            ours = getattr(found, name)
            assert (ours is None) == (value is None), (seed, name)
            if value is not None and ours is not None:
                assert float(ours) == pytest.approx(value, abs=1.1e-6, rel=1e-7), (seed, name)


def mixed(draw: random.Random, mapping: Any) -> Any:
    keys = list(mapping)
    draw.shuffle(keys)
    return {key: mixed(draw, v) if isinstance(v := mapping[key], dict) else v for key in keys}


def numbers_of(value: Any) -> list[Any]:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return [one for each in parts for one in numbers_of(each)]
    return [value]


def test_json_is_the_same_in_any_order_and_has_six_places() -> None:
    parts = ("strata", "weights", "ratings", "harm", "controls", "control_ratings", "sequences")
    for seed in range(times(12, 40)):
        panel, draw = by_chance(seed), random.Random(seed)
        other = replace(panel, **{name: mixed(draw, getattr(panel, name)) for name in parts})
        written, again = (decide_gate(each, POLICY).as_json() for each in (panel, other))
        assert canonical_bytes(written) == canonical_bytes(again), seed
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
    verdict = decide_gate(made(mostly), POLICY)
    assert canonical_bytes(verdict.as_json()) == GOLDEN.read_bytes().rstrip(b"\n")


def test_outcome_follows_from_level_and_bounds() -> None:
    verdict = decide_gate(made(good), POLICY)
    assert verdict.outcome is GateOutcome.GO
    assert verdict.numbers.lower == round6(0.05 ** (1 / 80))
    assert (verdict.numbers.upper, verdict.numbers.df, verdict.numbers.t) == (round6(1), None, None)
    assert verdict.numbers.alpha is None
    verdict = decide_gate(made(bad), POLICY)
    assert verdict.outcome is GateOutcome.NO_GO
    assert verdict.numbers.upper == round6(1 - 0.05 ** (1 / 80))
    assert codes(verdict).count(Code.LOW_REVIEWER) == 5
    verdict = decide_gate(made(lambda i, j: 1 if i % 5 == j else 3, weights={0: 1.0}), POLICY)
    assert verdict.numbers.share == round6(0.8)
    assert (verdict.numbers.item_error, verdict.numbers.effective_items) == (round6(0), round6(80))
    assert verdict.numbers.lower == round6(float(stats.beta.ppf(0.05, 64, 17)))
    assert verdict.numbers.upper == round6(float(stats.beta.ppf(0.95, 65, 16)))
    verdict = decide_gate(made(lambda i, j: 3 if (i + j // 4) % 4 else 1), POLICY)
    assert verdict.outcome is GateOutcome.DISCUSS
    assert Code.LEVEL_OPEN in codes(verdict)
    verdict = decide_gate(made(mostly, people=1), POLICY)
    assert verdict.outcome is GateOutcome.INSUFFICIENT
    assert verdict.numbers.share is not None
    assert (verdict.numbers.lower, verdict.numbers.upper, verdict.numbers.t) == (None, None, None)


def test_too_little_is_never_a_no() -> None:
    for panel, code, found in (
        (made(good, items=49), Code.FEW_ITEMS, 49),
        (made(good, people=2), Code.FEW_REVIEWERS, 2),
        (replace(made(good, items=50, weights={1: 1.0}), core=frozenset()), Code.NO_CORE, None),
        (Panel({}, {}, {}, frozenset()), Code.FEW_ITEMS, 0),
    ):
        verdict = decide_gate(panel, POLICY)
        assert verdict.outcome is GateOutcome.INSUFFICIENT
        assert code in codes(verdict)
        assert found is None or facts(verdict, code)["found"] == found
        assert not {Code.LEVEL_REACHED, Code.LEVEL_MISSED, Code.LEVEL_OPEN} & set(codes(verdict))


def test_unrated_stratum_is_too_few_and_unasked_is_left_out() -> None:
    panel = made(good)
    ratings = {
        who: {item: rank for item, rank in mine.items() if panel.strata[item] != 5}
        for who, mine in panel.ratings.items()
    }
    unrated = decide_gate(replace(panel, ratings=ratings), POLICY)
    assert unrated.outcome is GateOutcome.INSUFFICIENT
    assert facts(unrated, Code.FEW_IN_STRATUM) == {"stratum": 5, "found": 0, "needed": 8}
    assert (unrated.numbers.strata[5].weight, unrated.numbers.strata[5].share) == (round6(0), None)
    strata = {item: stratum for item, stratum in panel.strata.items() if stratum != 5}
    unasked = decide_gate(replace(panel, strata=strata, ratings=ratings, core=frozenset(strata)), POLICY)
    assert unasked.outcome is GateOutcome.GO
    assert facts(unasked, Code.STRATUM_LEFT_OUT) == {"stratum": 5, "weight": "0.100000"}
    assert unasked.numbers.strata[1].weight == round6(0.3 / 0.9)


def test_who_rated_too_little_of_the_core_does_not_count() -> None:
    panel = made(good, people=4)
    most, few = (dict.fromkeys(sorted(panel.core)[:n], 3) for n in (64, 63))
    ratings = {**panel.ratings, "p2": most, "p3": few}
    verdict = decide_gate(replace(panel, ratings=ratings, cannot_judge={"p3": frozenset(["i079"])}), POLICY)
    assert list(verdict.numbers.reviewers) == ["p0", "p1", "p2"]
    left_out = {"reviewer": "p3", "rated": 63, "core": 80, "cannot_judge": 1}
    assert facts(verdict, Code.REVIEWER_LEFT_OUT) == left_out
    assert facts(verdict, Code.SMALL_PANEL) == {"found": 3, "needed": 5}
    assert (verdict.outcome, verdict.community_panel) == (GateOutcome.GO, False)


def test_flag_of_harm_stops_until_decided() -> None:
    for rank, harm, outcome in (
        (good, Harm.FLAGGED, GateOutcome.DISCUSS), (bad, Harm.FLAGGED, GateOutcome.DISCUSS),
        (good, Harm.UPHELD, GateOutcome.DISCUSS), (bad, Harm.UPHELD, GateOutcome.NO_GO),
        (good, Harm.CLEARED, GateOutcome.GO),
    ):  # fmt: skip
        verdict = decide_gate(replace(made(rank), harm={"i001": harm}), POLICY)
        assert verdict.outcome is outcome
        assert verdict.harm == dict.fromkeys(Harm, 0) | {harm: 1}
        if harm is Harm.FLAGGED:
            assert facts(verdict, Code.HARM_OPEN) == {"items": 1}


def rejected_by_two(first_items: int) -> Callable[[int, int], int]:
    return lambda i, j: 0 if i < first_items and j < 2 else 3


def test_so_many_items_may_be_rejected_by_two() -> None:
    for items, allowed in ((50, 1), (80, 3), (100, 4)):
        found, over = (
            decide_gate(made(rejected_by_two(n), items, weights={1: 1.0}), POLICY) for n in (allowed, allowed + 1)
        )
        assert (found.outcome, over.outcome) == (GateOutcome.GO, GateOutcome.DISCUSS)
        assert facts(over, Code.VETO)["items"] == len(over.numbers.split) == allowed + 1


def test_items_that_one_person_saw_cannot_dilute_the_veto() -> None:
    panel = made(rejected_by_two(4), items=80)
    ratings = {who: {i: r for i, r in mine.items() if i < "i050" or who == "p4"} for who, mine in panel.ratings.items()}
    core = frozenset(i for i in panel.strata if i < "i050")
    rejections = decide_gate(replace(panel, ratings=ratings, core=core), POLICY).numbers.rejections
    assert (rejections.items, rejections.of) == (4, 50)


def test_one_weak_difficulty_is_for_people_to_decide() -> None:
    def rank(item: int, _person: int) -> int:
        return 1 if item % 5 == 4 and item % 10 == 4 else 3

    half = decide_gate(made(rank), POLICY)  # exactly half of difficulty 5, and 0.70 - 0.20 is needed
    assert half.numbers.strata[5].share == round6(0.5)
    assert half.outcome is GateOutcome.GO
    weak = decide_gate(made(lambda i, j: 1 if i in {4, 14} or rank(i, j) == 1 or i == 9 else 3), POLICY)
    assert weak.outcome is GateOutcome.DISCUSS
    assert facts(weak, Code.WEAK_STRATUM)["needed"] == "0.500000"


def test_one_person_far_below_the_level_is_a_matter_for_talk() -> None:
    def rank(item: int, person: int) -> int:
        return 1 if person == 4 and item % 2 else 3

    verdict = decide_gate(made(rank, people=9), policy_with(level={"share": Decimal("0.65")}))
    assert verdict.outcome is GateOutcome.DISCUSS
    assert facts(verdict, Code.LOW_REVIEWER)["reviewer"] == "p4"


def test_later_look_asks_for_more_and_low_agreement_for_none() -> None:
    first, second = (decide_gate(replace(made(mostly), look=look), POLICY) for look in (1, 2))
    assert (first.numbers.lower or 0) > (second.numbers.lower or 0)
    assert facts(second, Code.LATER_LOOK) == {"look": 2, "confidence": "0.975000"}
    verdict = decide_gate(made(lambda i, j: (i + j) % 4), POLICY)
    assert facts(verdict, Code.GUIDELINES)["alpha"] == str(verdict.numbers.alpha)
    assert Code.GUIDELINES not in codes(decide_gate(made(lambda i, j: 2 + (i + j) % 2), POLICY))
    few = decide_gate(made(lambda i, j: (i + j) % 4, items=40), POLICY)
    assert few.outcome is GateOutcome.INSUFFICIENT
    assert Code.GUIDELINES not in codes(few)  # no number of it where too little is rated


def straight(panel: Panel, who: tuple[str, ...]) -> Panel:
    """Let these people press one key for everything, the others rate controls as one should."""

    def rank(person: str, item: str) -> int:
        return 3 if person in who or item[0] != "b" else 0

    found = with_controls(panel, rank, random.Random(1))
    return replace(found, sequences={p: (3,) * 90 if p in who else (3, 0) * 45 for p in found.ratings})


def test_hurried_ratings_that_decide_are_talked_over() -> None:
    def rank(item: int, person: int) -> int:
        return 3 if person < 2 or (item * 3 + person) % 4 else 1

    plain = decide_gate(made(rank, people=6), POLICY)
    assert plain.outcome is GateOutcome.GO
    verdict = decide_gate(straight(made(rank, people=6), ("p0", "p1")), POLICY)
    assert verdict.flagged == ("p0", "p1")
    assert (verdict.outcome, verdict.without_flagged) == (GateOutcome.DISCUSS, GateOutcome.DISCUSS)
    assert facts(verdict, Code.FLAGS_DECIDE) == {"outcome": "discuss"}
    same = decide_gate(straight(made(good, people=6), ("p0",)), POLICY)
    assert (same.outcome, same.without_flagged) == (GateOutcome.GO, GateOutcome.GO)
    assert Code.FLAGS_DECIDE not in codes(same)
    three = decide_gate(straight(made(good, people=3), ("p0",)), POLICY)
    assert (three.outcome, three.without_flagged) == (GateOutcome.DISCUSS, GateOutcome.INSUFFICIENT)


def test_panel_that_accepts_what_was_spoilt_gives_no_go() -> None:
    for accepted in (4, 5, 8):
        verdict = decide_gate(failing(made(good), accepted, 9), POLICY)
        failed = accepted > 4
        outcome = GateOutcome.DISCUSS if failed else GateOutcome.GO
        assert (verdict.outcome, verdict.flagged) == (outcome, ())
        assert codes(verdict).count(Code.CONTROL_DROPPED) == accepted
        assert (Code.CONTROLS_FAILED in codes(verdict)) is failed
        if failed:
            assert facts(verdict, Code.CONTROLS_FAILED) == {"dropped": accepted, "of": 8}


def test_spoilt_items_stop_a_go_where_enough_rated_them() -> None:
    assert decide_gate(failing(made(bad), 8, 9), POLICY).outcome is GateOutcome.NO_GO
    assert decide_gate(failing(made(good, people=2), 8, 9), POLICY).outcome is GateOutcome.INSUFFICIENT
    panel = failing(made(good), 8, 9)
    two = {who: mine for who, mine in panel.control_ratings.items() if who < "p2"}
    assert decide_gate(replace(panel, control_ratings=two), POLICY).outcome is GateOutcome.GO
    lax = policy_with(careless={"spoilt_failed": Decimal(1)})
    assert decide_gate(panel, lax).outcome is GateOutcome.GO


def test_four_people_who_read_nothing_give_no_go() -> None:
    """What most fail is dropped, so that such people show few signs of haste each."""
    draw, failed = random.Random(8), 0

    def any_key(*_: object) -> int:
        return draw.choices(range(4), (5, 5, 40, 50))[0]

    count = times(20, 1000)
    for _ in range(count):
        panel = made(any_key, items=64, people=4, weights={1: 0.5, 2: 0.5})
        verdict = decide_gate(with_controls(panel, any_key, draw), POLICY)
        assert verdict.outcome is not GateOutcome.GO
        failed += Code.CONTROLS_FAILED in codes(verdict)
    assert failed >= 0.9 * count


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
        decide_gate(replace(made(good), **wrong), POLICY)


STEP = Decimal("0.000001")
Found = Callable[[dict[str, Any]], bool]


def changed(policy: GatePolicy, section: str, **fields: Any) -> GatePolicy:
    part = getattr(policy, section).model_copy(update=fields)
    return policy.model_copy(update={section: part})


def says(code: str) -> Found:
    return lambda verdict: any(each["code"] == code for each in verdict["findings"])


def outcome(word: str) -> Found:
    return lambda verdict: verdict["outcome"] == word


def hasty(verdict: dict[str, Any]) -> bool:
    return verdict["without_flagged"] is not None


def as_second(panel: Panel) -> dict[str, Any]:
    everybody = sorted({*panel.ratings, *panel.control_ratings})

    def ranks(who: str) -> dict[str, int]:
        """Return all ratings of a person, the sequence first; after each control another rank, so that none make a run."""
        given = {f"s{place}": rank for place, rank in enumerate(panel.sequences.get(who, ()))}
        for part in (panel.control_ratings, panel.partner_ratings):
            for item, rank in part.get(who, {}).items():
                given |= {item: rank, f"after {item}": (rank + 1) % 4}
        return given

    return {
        "strata": dict(panel.strata),
        "core": set(panel.core),
        "look": panel.look,
        "harm": Counter(str(each) for each in panel.harm.values()),
        "weights": {h: Fraction(round6(weight)) for h, weight in sorted(panel.weights.items())},
        "all": {who: ranks(who) for who in everybody},
        "ratings": {who: dict(panel.ratings.get(who, {})) for who in everybody},
        "not_judged": {who: set(panel.cannot_judge.get(who, ())) for who in everybody},
        "controls": {item: (str(control.kind), control.partner) for item, control in sorted(panel.controls.items())},
    }


def both(panel: Panel, policy: GatePolicy) -> list[dict[str, Any]]:
    return [
        without_names(decide_gate(panel, policy)).model_dump(mode="json"),
        # one panel after the other, without the files around them
        second._decide(as_second(panel), policy.model_dump())[1],
    ]


def steps(panel: Panel, accepted: int = 0, run: int = 1, again: int = 0) -> Panel:
    """Return everybody eight spoilt items and eight repeats, rated with care by all but p0.

    p0 accepts so many spoilt items, rates so many repeats two steps off, and one rank so often in a row.
    """

    def rank(who: str, item: str) -> int:
        place = int(item[1:])
        if item[0] == "b":
            return 3 if who == "p0" and place < accepted else 0
        return 0 if item[0] == "r" and who == "p0" and place < again else 2

    found = with_controls(panel, rank, random.Random(1))
    one = (3,) * run + (0,) + (2, 3) * 3
    return replace(found, sequences={who: one if who == "p0" else (3, 0) for who in found.ratings})


def failing(panel: Panel, items: int, people: int) -> Panel:

    def rank(who: str, item: str) -> int:
        wrong = item[0] == "b" and int(item[1:]) < items and int(who[1:]) < people
        return 3 if wrong or item[0] in "ta" else 2 if item[0] == "r" else 0

    return replace(with_controls(panel, rank, random.Random(1)), sequences={})


MOSTLY = decide_gate(made(mostly), POLICY).numbers
DISAGREE = made(lambda i, j: (i + (j == 0)) % 4)
LOW_AGREEMENT = decide_gate(DISAGREE, POLICY).numbers
TWO_REJECT = made(lambda i, j: 0 if i < 3 and j < 2 else 3, weights={1: 1.0})
REJECTED = decide_gate(TWO_REJECT, POLICY).numbers.rejections.upper
HALF_OF_FIVE = made(lambda i, _: 1 if i % 10 == 4 else 3)
ONE_STRICT = made(lambda i, j: 1 if j == 4 and i % 2 else 3, people=9)
PART_OF_CORE = replace(
    made(good, people=6),
    ratings={**made(good, people=6).ratings, "p5": dict.fromkeys(sorted(made(good).strata)[:64], 3)},
)
LEVEL_65 = changed(POLICY, "level", share=Decimal("0.65"))
CARE = changed(POLICY, "careless", signs=1, longest_run=1000)
ACCEPTS = steps(made(good), accepted=4)
NOT_WORSE = round6(not_worse_p([3] * 4 + [0] * 4, [2] * 8))
OFF = steps(made(good), again=4)
NO_OTHER_SIGN = changed(CARE, "careless", bad_accepted=Decimal(1), not_worse_p=Decimal(1))


@dataclass(frozen=True)
class Bound:
    """One comparison: what is found where the value is just the policy's number, and one step further."""

    name: str
    panel: Panel
    policy: GatePolicy
    field: str
    exact: Decimal | int
    found: Found
    at: bool
    """Whether it is found at equality."""
    step: Decimal | int = STEP
    """Added to the policy's number, it turns the finding over."""


def share(part: int, of: int) -> Decimal:
    return round6(Fraction(part, of))


BOUNDS = [
    Bound("go", made(mostly), POLICY, "level.share", MOSTLY.lower, says("level_reached"), True),  # type: ignore[arg-type]
    Bound("no-go", made(mostly), POLICY, "level.share", MOSTLY.upper, says("level_missed"), False),  # type: ignore[arg-type]
    Bound("go decides", made(mostly), POLICY, "level.share", MOSTLY.lower, outcome("go"), True),  # type: ignore[arg-type]
    Bound("no-go decides", made(mostly), POLICY, "level.share", MOSTLY.upper, outcome("no_go"), False),  # type: ignore[arg-type]
    Bound("veto", TWO_REJECT, POLICY, "veto.most", REJECTED, says("veto"), False, -STEP),
    Bound("rejected by", TWO_REJECT, POLICY, "veto.reviewers", 2,
          lambda v: v["numbers"]["rejections"]["items"] == 3, True, 1),
    Bound("seen by", made(good), POLICY, "veto.reviewers", 5,
          lambda v: v["numbers"]["rejections"]["of"] == 80, True, 1),
    Bound("items", made(good), POLICY, "enough.items", 80, says("few_items"), False, 1),
    Bound("per stratum", made(good), POLICY, "enough.per_stratum", 16, says("few_in_stratum"), False, 1),
    Bound("reviewers", made(good), POLICY, "enough.reviewers", 5, says("few_reviewers"), False, 1),
    Bound("community", made(good), POLICY, "enough.community_reviewers", 5, says("small_panel"), False, 1),
    Bound("community panel", made(good), POLICY, "enough.community_reviewers", 5,
          lambda v: v["community_panel"], True, 1),
    Bound("core", PART_OF_CORE, POLICY, "enough.core_share", share(64, 80), says("reviewer_left_out"), False),
    Bound("weak stratum", HALF_OF_FIVE, POLICY, "stops.weak_stratum_margin", Decimal("0.2"),
          says("weak_stratum"), False, -STEP),
    Bound("low reviewer", ONE_STRICT, LEVEL_65, "stops.reviewer_margin", Decimal("0.15"),
          says("low_reviewer"), False, -STEP),
    Bound("alpha", DISAGREE, changed(POLICY, "guidelines", within_one=Decimal(1)),
          "guidelines.alpha", LOW_AGREEMENT.alpha, says("guidelines"), False),  # type: ignore[arg-type]
    Bound("within one", DISAGREE, changed(POLICY, "guidelines", alpha=Decimal(1)), "guidelines.within_one",
          LOW_AGREEMENT.within_one, says("guidelines"), False),  # type: ignore[arg-type]
    Bound("control raters", failing(made(good), 1, 3), POLICY, "careless.control_reviewers", 5,
          says("control_dropped"), True, 1),
    Bound("spoilt raters", failing(made(good), 8, 5), POLICY, "careless.control_reviewers", 5,
          says("controls_failed"), True, 1),
    Bound("control failed", failing(made(good), 1, 3), POLICY, "careless.control_failed", share(3, 5),
          says("control_dropped"), False, -STEP),
    Bound("spoilt failed", failing(made(good), 3, 5), POLICY, "careless.spoilt_failed", share(3, 8),
          says("controls_failed"), False, -STEP),
    Bound("not worse", ACCEPTS, changed(CARE, "careless", bad_accepted=Decimal(1)),
          "careless.not_worse_p", NOT_WORSE, hasty, True),
    Bound("not worse, pairs", ACCEPTS,
          changed(CARE, "careless", bad_accepted=Decimal(1), not_worse_p=NOT_WORSE),
          "careless.fewest_controls", 8, hasty, True, 1),
    Bound("bad accepted", ACCEPTS, changed(CARE, "careless", not_worse_p=Decimal(1)),
          "careless.bad_accepted", share(4, 8), hasty, False, -STEP),
    Bound("bad accepted, of", ACCEPTS,
          changed(CARE, "careless", not_worse_p=Decimal(1), bad_accepted=Decimal("0.4")),
          "careless.fewest_controls", 8, hasty, True, 1),
    Bound("inconsistent", OFF, NO_OTHER_SIGN, "careless.repeats_within_one", share(4, 8), hasty, False),
    Bound("inconsistent, of", OFF, NO_OTHER_SIGN, "careless.fewest_controls", 8, hasty, True, 1),
    Bound("long run", steps(made(good), run=9), NO_OTHER_SIGN, "careless.longest_run", 9, hasty, True, 1),
    Bound("signs", steps(made(good), again=4, run=9),
          changed(NO_OTHER_SIGN, "careless", longest_run=9), "careless.signs", 2, hasty, True, 1),
]  # fmt: skip


@pytest.mark.parametrize("bound", BOUNDS, ids=[bound.name for bound in BOUNDS])
def test_what_is_just_met_and_what_is_missed_by_one_step(bound: Bound) -> None:
    section, field = bound.field.split(".")
    for number, expected in ((bound.exact, bound.at), (bound.exact + bound.step, not bound.at)):
        policy = changed(bound.policy, section, **{field: number})
        for program, verdict in zip(("main", "second"), both(bound.panel, policy), strict=True):
            assert bound.found(verdict) == expected, (program, number)
