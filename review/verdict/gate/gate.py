"""The gate: go, no-go, discuss or insufficient, from a panel and a policy alone.

Anyone who has both finds the same verdict to the byte, on any machine and with any program that follows
docs/internals/gate.md: no clock, no chance, no order of input enters, and every comparison is one of six-place decimals.
A verdict on a panel that contradicts itself would be a verdict on nothing: such a panel is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from math import isfinite, sqrt

from harness.core.failures import HarnessError
from review.rating import RANKS
from review.verdict.gate.agreement import alpha, pair_row, ratio, tallies
from review.verdict.gate.careless import carelessness
from review.verdict.gate.panel import Harm, Number, Panel, Spread, clopper_pearson, estimate, round6
from review.verdict.gate.policy import GatePolicy, Veto
from review.verdict.gate.verdict import (
    Code,
    Fact,
    GateFinding,
    GateOutcome,
    GateVerdict,
    Numbers,
    Rejections,
    StratumShare,
)

# Steps between two ratings of one item from which on it splits the panel; one of them accepts it
# then
_SPLIT = 2

_OF_SPREAD = ("lower", "upper", "item_error", "reviewer_error", "effective_items", "df", "t")


def panel_numbers(panel: Panel, reviewers: Collection[str], confidence: Decimal, veto: Veto) -> Numbers:
    """Return every number of a verdict that comes from the ratings of these reviewers."""
    panel_estimate = estimate(panel, reviewers)
    rows = tallies(panel, reviewers)
    # Items that several reviewers reject, among those that that many rated
    seen = [row for row in rows.values() if sum(row) >= veto.reviewers]
    rejected = sum(row[0] >= veto.reviewers for row in seen)
    upper = clopper_pearson(rejected, len(seen), float(veto.confidence))[1]
    pairs = [pair_row(row, 1) for row in rows.values()]
    within_one = ratio([sum(column) for column in zip(*pairs, strict=True)] or [Fraction(0)] * 2)
    # Every stratum that was asked; one without ratings has no share and no weight.
    asked = list(panel.strata.values())
    rated = panel_estimate.strata if panel_estimate else {}
    weights = panel_estimate.weights if panel_estimate else {}
    strata = {
        stratum: StratumShare(
            items=rated[stratum][0] if stratum in rated else 0,
            asked=asked.count(stratum),
            weight=round6(weights.get(stratum, 0)),
            share=round6(rated[stratum][1]) if stratum in rated else None,
        )
        for stratum in sorted(set(asked))
    }
    return Numbers(
        reviewers={who: round6(share) for who, share in panel_estimate.reviewers.items()} if panel_estimate else {},
        items=len(rows),
        strata=strata,
        share=round6(panel_estimate.share) if panel_estimate else None,
        **_bounds(panel_estimate.spread if panel_estimate else None, confidence),
        rejections=Rejections(rejected, len(seen), round6(upper)),
        split=tuple(item for item, row in rows.items() if is_split(row)),
        alpha=_round6(alpha(list(rows.values()))),
        within_one=_round6(within_one),
    )


def _bounds(spread: Spread | None, confidence: Decimal) -> dict[str, Decimal | None]:
    """Return the fields that need two reviewers, all None with fewer."""
    if spread is None:
        return dict.fromkeys(_OF_SPREAD)
    bounds = spread.bounds(float(confidence))
    errors = sqrt(spread.item_variance), sqrt(spread.reviewer_variance)
    values = (bounds.lower, bounds.upper, *errors, bounds.effective_items, bounds.df, bounds.t)
    return dict(zip(_OF_SPREAD, map(_round6, values), strict=True))


def is_split(row: Sequence[int]) -> bool:
    """Return whether the ratings of one item, counted by rank, lie two steps apart or more."""
    ranks = [rank for rank, count in enumerate(row) if count]
    return bool(ranks) and ranks[-1] - ranks[0] >= _SPLIT


def _round6(value: Number | None) -> Decimal | None:
    return None if value is None else round6(value)


def check(panel: Panel) -> None:
    """Raise HarnessError, which names the part that is wrong, for a panel that cannot be judged."""
    if problem := next(_problems(panel), None):
        raise HarnessError(
            f"The ratings cannot be judged: {problem}. They do not fit this review's answer key; "
            "merge them again with the key that was made with the batch."
        )


def _problems(panel: Panel) -> Iterator[str]:
    items, controls = panel.strata.keys(), panel.controls.keys()
    yield from _unknown("ratings", panel.ratings.values(), items)
    yield from _unknown("items that could not be judged", panel.cannot_judge.values(), items)
    yield from _unknown("items of the common core", [panel.core], items)
    yield from _unknown("flags of harm", [panel.harm], items)
    yield from _unknown("ratings of controls", panel.control_ratings.values(), controls)
    by_item = (panel.ratings, panel.control_ratings, panel.partner_ratings)
    maps = chain.from_iterable(ratings.values() for ratings in by_item)
    ranks = chain(*(mine.values() for mine in maps), *panel.sequences.values())
    if not all(type(rank) is int and 0 <= rank < RANKS for rank in ranks):
        yield f"a rating is not one of 0 to {RANKS - 1}"
    for stratum in sorted(set(panel.strata.values())):
        weight = panel.weights.get(stratum, 0)
        if not (isfinite(weight) and 1e-6 <= weight <= 1):
            yield f"difficulty {stratum} has no weight between 0 and 1"
    if not all(isfinite(weight) and weight >= 0 for weight in panel.weights.values()):
        yield "a weight is no share"
    if panel.look < 1:
        yield "the first look at the numbers is number 1"


def _unknown(what: str, parts: Iterable[Iterable[str]], known: Iterable[str]) -> Iterator[str]:
    if any(not set(known).issuperset(part) for part in parts):
        yield f"{what} name items that this method does not have"


__all__ = ["GateOutcome", "GateVerdict", "decide_gate"]

# Any of these, and there is no verdict
NOT_ENOUGH = frozenset({Code.NO_CORE, Code.FEW_ITEMS, Code.FEW_IN_STRATUM, Code.FEW_REVIEWERS})
# Any of these, and a go needs people to talk; they take nothing from a no-go
STOPS = frozenset({Code.HARM_UPHELD, Code.WEAK_STRATUM, Code.VETO, Code.LOW_REVIEWER, Code.CONTROLS_FAILED})


def decide_gate(panel: Panel, policy: GatePolicy) -> GateVerdict:
    """Judge one method; HarnessError where the panel contradicts itself."""
    check(panel)
    care = carelessness(panel, policy.careless)
    least, spoilt = policy.enough.core_share, care.spoilt_failed
    valid = [who for who, k in _core_ratings(panel).items() if k and round6(Fraction(k, len(panel.core))) >= least]
    flagged = tuple(who for who in care.advised if who in valid)
    # Where most people accept most of what was spoilt, nothing shows that anybody read.
    failed = [GateFinding(Code.CONTROLS_FAILED, {"dropped": spoilt.count, "of": spoilt.of})]
    failed = failed if round6(spoilt.share) > policy.careless.spoilt_failed else []
    numbers, findings = _judge(panel, valid, policy, failed)
    outcome = without = _outcome(findings)
    if flagged and outcome in {GateOutcome.GO, GateOutcome.NO_GO}:
        without = _outcome(_judge(panel, set(valid) - set(flagged), policy, failed)[1])
    changed = []
    if without != outcome:
        changed.append(GateFinding(Code.FLAGS_DECIDE, {"outcome": str(without)}))
    enough = outcome is not GateOutcome.INSUFFICIENT
    notes = _notes(panel, valid, care.dropped, numbers, policy, enough=enough)
    return GateVerdict(
        outcome=GateOutcome.DISCUSS if changed else outcome,
        numbers=numbers,
        level=round6(policy.level.share),
        confidence=round6(policy.confidence(panel.look)),
        look=panel.look,
        harm=_harm(panel),
        findings=(*findings, *changed, *notes),
        community_panel=len(valid) >= policy.enough.community_reviewers,
        flagged=flagged,
        without_flagged=without if flagged and outcome in {GateOutcome.GO, GateOutcome.NO_GO} else None,
    )


def _outcome(findings: Collection[GateFinding]) -> GateOutcome:
    codes = {finding.code for finding in findings}
    if codes & NOT_ENOUGH:
        return GateOutcome.INSUFFICIENT
    if Code.HARM_OPEN in codes:
        return GateOutcome.DISCUSS
    if Code.LEVEL_MISSED in codes:
        return GateOutcome.NO_GO
    reached = Code.LEVEL_REACHED in codes and not codes & STOPS
    return GateOutcome.GO if reached else GateOutcome.DISCUSS


def _judge(
    panel: Panel, reviewers: Collection[str], policy: GatePolicy, failed: Collection[GateFinding]
) -> tuple[Numbers, list[GateFinding]]:
    """Compare the ratings of these reviewers with the policy; ``failed`` lists the controls of all."""
    numbers = panel_numbers(panel, reviewers, policy.confidence(panel.look), policy.veto)
    lacking, harm = list(_lacking(panel, numbers, policy)), _harm(panel)
    # Rule 4, second half: what was called harmful stops the gate until people have looked into it.
    stops = ((Harm.FLAGGED, Code.HARM_OPEN), (Harm.UPHELD, Code.HARM_UPHELD))
    findings = [*lacking, *(GateFinding(code, {"items": harm[kind]}) for kind, code in stops if harm[kind])]
    if not lacking:
        findings += [*_level_and_stops(numbers, policy), *failed]
    return numbers, findings


def _core_ratings(panel: Panel) -> dict[str, int]:
    """Count for everyone who said anything, by id, the items of the core that this person rated."""
    answer_maps = (panel.ratings, panel.cannot_judge)
    people = sorted({who for part in answer_maps for who, items in part.items() if items})
    return {who: len(panel.core & panel.ratings.get(who, {}).keys()) for who in people}


def _lacking(panel: Panel, numbers: Numbers, policy: GatePolicy) -> Iterator[GateFinding]:
    """Rule 1: is there enough to say anything?"""
    need = policy.enough
    if not panel.core:
        yield GateFinding(Code.NO_CORE, {})
    if numbers.items < need.items:
        yield GateFinding(Code.FEW_ITEMS, {"found": numbers.items, "needed": need.items})
    for stratum, stratum_share in numbers.strata.items():
        if stratum_share.items < need.per_stratum:
            facts = {"stratum": stratum, "found": stratum_share.items, "needed": need.per_stratum}
            yield GateFinding(Code.FEW_IN_STRATUM, facts)
    if len(numbers.reviewers) < need.reviewers:
        facts = {"found": len(numbers.reviewers), "needed": need.reviewers}
        yield GateFinding(Code.FEW_REVIEWERS, facts)


def _harm(panel: Panel) -> dict[Harm, int]:
    counts = Counter(panel.harm.values())
    return {kind: counts[kind] for kind in Harm}


def _level_and_stops(numbers: Numbers, policy: GatePolicy) -> Iterator[GateFinding]:
    """Rules 2 to 6: where the level lies; then a weak stratum, too many rejected items, a reviewer far below the level."""
    level, lower, upper = round6(policy.level.share), numbers.lower, numbers.upper
    if lower is not None and lower >= level:
        yield GateFinding(Code.LEVEL_REACHED, _facts(lower=lower, level=level))
    elif upper is not None and upper < level:
        yield GateFinding(Code.LEVEL_MISSED, _facts(upper=upper, level=level))
    else:
        yield GateFinding(Code.LEVEL_OPEN, _facts(lower=lower, upper=upper, level=level))
    needed = round6(policy.level.share - policy.stops.weak_stratum_margin)
    for stratum, stratum_share in numbers.strata.items():
        if stratum_share.share is not None and stratum_share.share < needed:
            shares = _facts(share=stratum_share.share, needed=needed)
            yield GateFinding(Code.WEAK_STRATUM, {"stratum": stratum, **shares})
    rejected = numbers.rejections
    if rejected.upper > policy.veto.most:
        shares = _facts(upper=rejected.upper, most=round6(policy.veto.most))
        yield GateFinding(Code.VETO, {"items": rejected.items, "of": rejected.of, **shares})
    needed = round6(policy.level.share - policy.stops.reviewer_margin)
    for who, share in numbers.reviewers.items():
        if share < needed:
            shares = _facts(share=share, needed=needed)
            yield GateFinding(Code.LOW_REVIEWER, {"reviewer": who, **shares})


def _notes(
    panel: Panel,
    valid: Collection[str],
    dropped: Iterable[str],
    numbers: Numbers,
    policy: GatePolicy,
    *,
    enough: bool,
) -> Iterator[GateFinding]:
    """Yield what a reader should know beside the verdict; ``enough``: whether numbers can be shown at all."""
    # Whose ratings do not count, and of which strata nothing was asked
    for who, rated in _core_ratings(panel).items():
        if who not in valid and panel.core:
            not_judged = len(panel.core & panel.cannot_judge.get(who, frozenset()))
            counts = {"rated": rated, "core": len(panel.core), "cannot_judge": not_judged}
            yield GateFinding(Code.REVIEWER_LEFT_OUT, {"reviewer": who, **counts})
    for stratum in sorted(panel.weights.keys() - panel.strata.values()):
        if weight := round6(panel.weights[stratum]):
            yield GateFinding(Code.STRATUM_LEFT_OUT, {"stratum": stratum, **_facts(weight=weight)})
    for control in dropped:
        yield GateFinding(Code.CONTROL_DROPPED, {"control": control})
    reviewer_count, needed = len(numbers.reviewers), policy.enough.community_reviewers
    if reviewer_count < needed:
        yield GateFinding(Code.SMALL_PANEL, {"found": reviewer_count, "needed": needed})
    if panel.look > 1:
        confidence = round6(policy.confidence(panel.look))
        yield GateFinding(Code.LATER_LOOK, {"look": panel.look, **_facts(confidence=confidence)})
    alpha, near, limit = numbers.alpha, numbers.within_one, policy.guidelines
    if enough and alpha is not None and near is not None and alpha < limit.alpha and near < limit.within_one:
        yield GateFinding(Code.GUIDELINES, _facts(alpha=alpha, within_one=near))


def _facts(**shares: Decimal | None) -> dict[str, Fact]:
    return {name: str(share) for name, share in shares.items() if share is not None}
