"""Every number of the policy exactly met and missed by the smallest step, in both programs that judge."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from review.verdict.certificate.certify import without_names
from review.verdict.gate.careless import not_worse_p
from review.verdict.gate.gate import decide
from review.verdict.gate.policy import GatePolicy, proposed
from review.verdict.panel.estimate import round6
from review.verdict.panel.panel import Panel
from review.verdict.stand_alone import rosetta_verify as second
from tests.review.verdict.panels import good, made, with_controls

POLICY, _ = proposed()
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
    """Return a panel as the second program has it."""
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
        "controls": {
            item: (str(control.kind), control.partner)
            for item, control in sorted(panel.controls.items())
        },
    }


def both(panel: Panel, policy: GatePolicy) -> list[dict[str, Any]]:
    return [
        without_names(decide(panel, policy)),
        # one panel after the other, without the files around them
        second._decide(as_second(panel), policy.model_dump())[1],
    ]


def mostly(item: int, person: int) -> int:
    return 1 if (7 * item + 3 * person) % 11 == 0 else 2 + (item + person) % 2


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
    """Let so many people accept so many of eight spoilt items."""

    def rank(who: str, item: str) -> int:
        wrong = item[0] == "b" and int(item[1:]) < items and int(who[1:]) < people
        return 3 if wrong or item[0] in "ta" else 2 if item[0] == "r" else 0

    return replace(with_controls(panel, rank, random.Random(1)), sequences={})


MOSTLY = decide(made(mostly), POLICY).numbers
DISAGREE = made(lambda i, j: (i + (j == 0)) % 4)
LOW_AGREEMENT = decide(DISAGREE, POLICY).numbers
TWO_REJECT = made(lambda i, j: 0 if i < 3 and j < 2 else 3, weights={1: 1.0})
REJECTED = decide(TWO_REJECT, POLICY).numbers.rejections.upper
HALF_OF_FIVE = made(lambda i, _: 1 if i % 10 == 4 else 3)
ONE_STRICT = made(lambda i, j: 1 if j == 4 and i % 2 else 3, people=9)
PART_OF_CORE = replace(
    made(good, people=6),
    ratings={
        **made(good, people=6).ratings,
        "p5": dict.fromkeys(sorted(made(good).strata)[:64], 3),
    },
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
