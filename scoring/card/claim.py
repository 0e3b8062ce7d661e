"""What may be said of a run in public: one decision, from which every place writes its words (DESIGN T1, T2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from corpora.files.json_types import JsonObject
from corpora.text.messages import percent
from scoring.card.caveats import Caveat, CaveatKind
from scoring.core.inventory import Composite, counting_gaps
from scoring.core.specification import Tier, Weighing, specified

SERIOUS_SHARE = 0.5
"""Share of a caveat from which a run claims baseline; from a quarter on it claims emerging at most."""
CLAIM_RULES = 2
"""By which rules claims are decided: 1 took the composite itself, 2 takes the lower end of its interval and looks at
the order of words. A card states its rules; claims by others are not computed again."""
FLOORS_VERSION = 2
"""Of what floors there are and how they are worked out; floors of another version are not compared with these."""


@dataclass(frozen=True, slots=True)
class FloorScores:
    """What one kind of worthless output reaches."""

    composite: float | None
    chrf_plus_plus: float | None
    inputs: tuple[str, ...] = ()
    """Metrics of the composite that have a value."""
    entries: int | None = None
    """Entries that it was scored on, None where nobody said."""
    searched: int | None = None
    """Of ``constant``: distinct references that it was chosen from."""


def best(found: Mapping[str, FloorScores], name: str) -> float | None:
    """Return the highest ``composite`` or ``chrf_plus_plus`` among the floors; None where none has one."""
    values = (getattr(floor, name) for floor in found.values())
    return max((value for value in values if value is not None), default=None)


def attainable(found: Mapping[str, FloorScores]) -> frozenset[str]:
    """Return the inputs of the composite that some worthless output has a value of."""
    return frozenset(id_ for floor in found.values() for id_ in floor.inputs)


class ClaimReason(StrEnum):
    """Why no more may be claimed, the gravest first."""

    IDENTICAL = "identical"
    """The outputs are mostly one and the same text, digits and punctuation aside."""
    CHRF_FLOOR = "chrf_floor"
    """The interval of chrF++ does not clear the best chrF++ of the floors."""
    COMPOSITE_FLOOR = "composite_floor"
    """The interval of the composite does not clear the best composite of the floors."""
    NO_CHRF = "no_chrf"
    """chrF++ has no value, and it stands first."""
    GAP = "gap"
    """An input has no value here though worthless outputs have one: it counts as nothing."""
    INTERVAL = "interval"
    """The lower end of the composite's interval does not reach the tier of the composite."""
    CAVEAT = "caveat"
    """A part of the outputs fails."""
    REVIEW = "review"
    """No review by speakers was passed."""
    STATED = "stated"
    """The card itself claims no more."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One reason why no more may be claimed."""

    reason: ClaimReason
    most: Tier
    """The highest tier that it leaves."""
    kind: CaveatKind | None = None
    """Which caveat, where it is one."""
    lower: float | None = None
    """Of a floor or an interval: the lower end of the run's interval, on the metric's own scale."""
    floor: float | None = None
    """Of a floor: what the best worthless method reaches."""
    clear: bool | None = None
    """Of a floor: whether the value itself, if not its interval, lies above."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What may be claimed, and why no more."""

    composite: float | None
    """As stated (§4), 0–1."""
    quality_tier: Tier
    """The automatic label of the composite (§5.1)."""
    claimable_tier: Tier
    """Before any review."""
    limits: tuple[Limit, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    weighing: Weighing = field(default_factory=specified)
    """By whose lines the tiers are named; the card has it elsewhere, as ``scoring.calibration``."""
    coverage: float = 1.0
    """Share of the profile's weight that the composite rests on, 0–1; the card has it as ``composite_coverage``."""
    rules: int = CLAIM_RULES

    def record(self) -> JsonObject:
        """Return the fields as a card has them."""
        return {name: value for name, value in asdict(self).items() if name != "weighing"}

    @property
    def at_floor(self) -> bool:
        """True where a floor is not cleared, or the outputs are mostly one and the same (T2)."""
        floors = {*_FLOORS, ClaimReason.IDENTICAL, ClaimReason.NO_CHRF}
        return any(limit.reason in floors for limit in self.limits)

    def tier(self, *, review_passed: bool = False) -> Tier:
        """Return the tier that may be claimed; a passed review lifts its own limit and no other."""
        return self._tier_without({ClaimReason.REVIEW} if review_passed else set())

    def possible_tier(self, *, review_passed: bool = False) -> Tier | None:
        """Return the higher tier that the composite would allow if its interval were narrower; None if there is none."""
        lifted = {ClaimReason.INTERVAL} | ({ClaimReason.REVIEW} if review_passed else set())
        possible = self._tier_without(lifted)
        return possible if possible.rank > self.tier(review_passed=review_passed).rank else None

    def _tier_without(self, lifted: Collection[ClaimReason]) -> Tier:
        binding = (limit.most for limit in self.limits if limit.reason not in lifted)
        return min([self.quality_tier, *binding], key=lambda tier: tier.rank)

    def words(
        self, *, review_passed: bool = False, review: str = "review pending", brief: bool = False, caveats: bool = True
    ) -> str:
        """Write what people see, such as ``functional (automatic 0.78 on 55 % of its weight; review pending)``.

        Where only the interval stands against a higher tier, that is named: ``emerging, perhaps functional``.
        ``review`` says why a review has not lifted the tier. ``brief`` leaves out the interval's end, where
        the interval is next to; without ``caveats`` these are next to, too.
        """
        if self.composite is None:
            return Tier.UNSCORED.value
        covered = percent(self.coverage)
        part = "" if covered == percent(1.0) else f" on {covered} of its weight"
        parts = [f"automatic {shown(self.composite, self.weighing)}{part}"]
        if self.weighing.calibration:
            parts.append(f"by calibration {self.weighing.calibration[:8]}")
        parts += self._floor_words(brief=brief)
        identical = any(limit.reason is ClaimReason.IDENTICAL for limit in self.limits)
        for caveat in self.caveats if caveats else ():
            if not (identical and caveat.kind is CaveatKind.REPEATED):
                parts.append(caveat_words(caveat))
        others = self.possible_tier(review_passed=True) or self.tier(review_passed=True)
        if review_passed and not self.at_floor:
            parts.append("reviewed")
        elif not review_passed and others.rank > HIGHEST_WITHOUT_REVIEW.rank:
            parts.append(review)
        possible = self.possible_tier(review_passed=review_passed)
        perhaps = f", perhaps {possible}" if possible else ""
        return f"{self.tier(review_passed=review_passed)}{perhaps} ({'; '.join(parts)})"

    def _floor_words(self, *, brief: bool) -> Iterator[str]:
        by_reason = {limit.reason: limit for limit in self.limits}
        if ClaimReason.IDENTICAL in by_reason:
            yield "mostly one and the same output"
        yield from _not_cleared(by_reason, brief=brief)
        if ClaimReason.NO_CHRF in by_reason:
            yield "chrF++ has no value"
        if ClaimReason.GAP in by_reason:
            yield "an input without a value counts as nothing"


HIGHEST_WITHOUT_REVIEW = Tier.FUNCTIONAL


class Score(NamedTuple):
    """A value and the lower end of its interval, None where there is none."""

    value: float | None
    lower: float | None


def decide_claim(
    mixed: Composite,
    lower: float | None,
    chrf: Score,
    floors: Mapping[str, FloorScores],
    *,
    identical: bool = False,
    caveats: Sequence[Caveat] = (),
) -> Claim:
    """Decide what may be claimed of a run before a review.

    ``lower`` is the lower end of the composite's interval. Without floors, as on cards of other programs,
    nothing is compared with them.
    """
    quality = mixed.tier
    if mixed.value is None:
        return Claim(None, quality, quality, (), tuple(caveats), mixed.weighing, mixed.coverage)
    even = counting_gaps(mixed, attainable(floors)) or 0.0
    share = even / mixed.value if mixed.value else 1.0
    scaled = Score(even, None if lower is None else lower * share)
    even_tier, lower_tier = mixed.weighing.tier(even), mixed.weighing.tier(scaled.lower)
    chrf_floor = best(floors, "chrf_plus_plus")
    candidates = (
        (identical, Limit(ClaimReason.IDENTICAL, Tier.BASELINE)),
        _floor(ClaimReason.CHRF_FLOOR, chrf, chrf_floor),
        _floor(ClaimReason.COMPOSITE_FLOOR, scaled, best(floors, "composite")),
        (chrf_floor is not None and chrf.value is None, Limit(ClaimReason.NO_CHRF, Tier.BASELINE)),
        (even_tier.rank < quality.rank, Limit(ClaimReason.GAP, even_tier)),
        (
            scaled.lower is not None and lower_tier.rank < even_tier.rank,
            Limit(ClaimReason.INTERVAL, lower_tier, lower=scaled.lower),
        ),
        *((True, Limit(ClaimReason.CAVEAT, _most(caveat), caveat.kind)) for caveat in caveats),
        (quality.rank > HIGHEST_WITHOUT_REVIEW.rank, Limit(ClaimReason.REVIEW, HIGHEST_WITHOUT_REVIEW)),
    )
    limits = tuple(limit for applies, limit in candidates if applies)
    rest = (tuple(caveats), mixed.weighing, mixed.coverage)
    made = Claim(mixed.value, quality, quality, limits, *rest)
    return replace(made, claimable_tier=made.tier())


def _floor(reason: ClaimReason, score: Score, floor: float | None) -> tuple[bool, Limit]:
    """Return whether a score is not clear of its floor, and the limit that it then is."""
    if score.value is None or floor is None:
        return False, Limit(reason, Tier.BASELINE)
    limit = Limit(reason, Tier.BASELINE, None, score.lower, floor, score.value > floor)
    return score.lower is None or score.lower <= floor, limit


def _most(caveat: Caveat) -> Tier:
    return Tier.BASELINE if caveat.share >= SERIOUS_SHARE else Tier.EMERGING


_FLOORS = {ClaimReason.CHRF_FLOOR: ("chrF++", 1), ClaimReason.COMPOSITE_FLOOR: ("composite", 2)}
"""Name and decimal places of what is held against a floor."""


def _not_cleared(limits: Mapping[ClaimReason, Limit], *, brief: bool) -> Iterator[str]:
    """Name the floors that are not cleared: that of chrF++, that of the composite, or either."""
    names: dict[str, str] = {}
    for reason, (name, digits) in _FLOORS.items():
        if reason in limits:
            limit = limits[reason]  # a card may say that it is at its floor, and not at which
            known = limit.floor is not None
            names[name if known else ""] = _floor_words(limit, digits, brief=brief)
    if len(names) > 1 and len(set(names.values())) == 1:
        yield names["composite"].replace("the floor", "either floor")
        return
    for name, words in names.items():
        yield f"{name} {words}".lstrip()


def _floor_words(limit: Limit, digits: int, *, brief: bool) -> str:
    if not limit.clear:
        return "not above the floor"
    if brief or limit.lower is None:
        return "not clear of the floor"
    return f"not clearly above the floor: interval reaches {limit.lower:.{digits}f}"


_SHORTLY = {
    CaveatKind.REPEATED: "{share} one text",
    CaveatKind.SHORT: "{share} too short",
    CaveatKind.LONG: "{share} too long",
    CaveatKind.UNTRANSLATED: "{share} untranslated",
    CaveatKind.DISORDERED: "{share} out of order",
}
_WHOLLY = {
    CaveatKind.REPEATED: "one text, digits and punctuation aside, was given for {share} of the different sources",
    CaveatKind.SHORT: "{share} of the outputs are empty, or less than half as long as the reference",
    CaveatKind.LONG: "{share} of the outputs are more than twice as long as the reference",
    CaveatKind.UNTRANSLATED: "{share} of the outputs are the source, or mostly words of its language",
    CaveatKind.DISORDERED: "{share} of the outputs have the words of the reference in destroyed order",
}


def caveat_words(caveat: Caveat) -> str:
    """Return in few words what is wrong with a part of the outputs."""
    return _SHORTLY[caveat.kind].format(share=share_words(caveat))


def caveat_sentence(caveat: Caveat) -> str:
    """Return it with its numbers and what follows."""
    words = _WHOLLY[caveat.kind].format(share=share_words(caveat))
    return (
        f"{words} ({caveat.entries:,} of {caveat.of:,}; said from {percent(caveat.threshold)} on): "
        f"no more than {_most(caveat)} may be claimed"
    )


def share_words(caveat: Caveat) -> str:
    """Round a share down to whole per cents, so that it never looks larger than it is."""
    return percent(int(caveat.share * 100 + 1e-9) / 100)


def shown(composite: float, weighing: Weighing) -> str:
    """Round to two places, or to as many as it takes to stay in the same tier."""
    for places in range(2, 17):
        rounded = f"{composite:.{places}f}"
        if weighing.tier(float(rounded)) is weighing.tier(composite):
            return rounded
    return repr(composite)
