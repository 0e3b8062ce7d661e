"""What a gate says with every number it rests on, as codes with facts, and English sentences about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum
from typing import Any

from pydantic import JsonValue

from corpora.text.messages import minus, percent
from review.files.identities import printed
from review.verdict.gate.careless import AlikePair, Care, Sign
from review.verdict.gate.panel import Harm

Fact = int | str  # A count, an id, an outcome, or a share as a decimal of six places


class Code(StrEnum):
    """One thing found, in the order in which a verdict lists them."""

    NO_CORE = "no_core"  # No item was given to everyone
    FEW_ITEMS = "few_items"  # Facts: found, needed
    FEW_IN_STRATUM = "few_in_stratum"  # Facts: stratum, found, needed
    FEW_REVIEWERS = "few_reviewers"  # Facts: found, needed
    HARM_OPEN = "harm_open"  # Facts: items. Flagged as harmful, and nobody has looked into it.
    HARM_UPHELD = "harm_upheld"  # Facts: items. Found to be harmful.
    LEVEL_REACHED = "level_reached"  # Facts: lower, level
    LEVEL_MISSED = "level_missed"  # Facts: upper, level
    LEVEL_OPEN = "level_open"  # Facts: lower, upper, level. The level lies between the bounds.
    WEAK_STRATUM = "weak_stratum"  # Facts: stratum, share, needed
    VETO = "veto"  # Facts: items, of, upper, most. Too many items that several people reject.
    LOW_REVIEWER = "low_reviewer"  # Facts: reviewer, share, needed
    # Facts: dropped, of. Most reviewers find that many of the spoilt translations acceptable: who
    # read them?
    CONTROLS_FAILED = "controls_failed"
    # Facts: outcome, which another verdict would be without the reviewers whose ratings show signs
    # of haste
    FLAGS_DECIDE = "flags_decide"
    # Facts: reviewer, rated, core, cannot_judge, the latter three counts of items that all were
    # asked
    REVIEWER_LEFT_OUT = "reviewer_left_out"
    # Facts: stratum, weight. Of the run, but none of it was asked.
    STRATUM_LEFT_OUT = "stratum_left_out"
    CONTROL_DROPPED = "control_dropped"  # Facts: control. Most reviewers fail it.
    SMALL_PANEL = "small_panel"  # Facts: found, needed. Too few to be called the community's.
    LATER_LOOK = "later_look"  # Facts: look, confidence
    # Facts: alpha, within_one. Agreement is so low that the guidelines need work.
    GUIDELINES = "guidelines"


@dataclass(frozen=True, slots=True)
class GateFinding:
    """One reason for a verdict, or one note next to it."""

    code: Code
    facts: Mapping[str, Fact]

    def as_json(self) -> dict[str, Fact]:
        return {"code": str(self.code), **self.facts}


class GateOutcome(StrEnum):
    """What a gate says; only GO opens it."""

    GO = "go"
    NO_GO = "no_go"
    # The numbers do not settle it, or something must be examined by people first
    DISCUSS = "discuss"
    INSUFFICIENT = "insufficient"  # Too little was rated to say anything: never a no


@dataclass(frozen=True, slots=True)
class StratumShare:
    items: int  # Rated items
    asked: int  # Items that were asked
    weight: Decimal  # W_h as used, over the strata with rated items; 0 for one without
    share: Decimal | None


@dataclass(frozen=True, slots=True)
class Rejections:
    """Items that several reviewers reject, and how many there may be of them among all."""

    items: int
    of: int  # Items that enough reviewers rated for it to show
    upper: Decimal  # Clopper–Pearson upper bound of their share


@dataclass(frozen=True, slots=True)
class Numbers:
    """What one set of reviewers adds up to; a value is None where they do not give it."""

    reviewers: Mapping[str, Decimal]  # Valid reviewer → own share; the panel is of that many
    items: int  # Rated by somebody of them
    strata: Mapping[int, StratumShare]
    share: Decimal | None  # Estimated share of acceptable or better (theta)
    # One-sided bound; None without two reviewers, as is all that comes from it
    lower: Decimal | None
    upper: Decimal | None
    # Standard error of the share from the choice of items: root of v_item
    item_error: Decimal | None
    reviewer_error: Decimal | None  # The same from the choice of reviewers
    effective_items: Decimal | None
    df: Decimal | None
    t: Decimal | None
    rejections: Rejections
    # Items whose ratings lie two steps apart or more, by id: what to talk about
    split: tuple[str, ...]
    alpha: Decimal | None  # Ordinal; None where undefined or not computable
    within_one: Decimal | None


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The outcome with everything it rests on."""

    outcome: GateOutcome
    numbers: Numbers
    level: Decimal
    confidence: Decimal  # Of each bound, at this look
    look: int
    harm: Mapping[Harm, int]  # How many items were flagged and not yet looked into, upheld, cleared
    findings: tuple[GateFinding, ...]
    # Whether the valid reviewers are that many that their panel may be called the community's
    community_panel: bool
    # Valid reviewers whose ratings show signs of haste: private, for the organiser, never written
    # to a file
    flagged: tuple[str, ...]
    # The outcome without them; None where there are none, or with them it is no go or no-go anyway
    without_flagged: GateOutcome | None

    def as_json(self) -> dict[str, JsonValue]:
        """Return the verdict for a certificate: whole numbers, and decimals of six places as strings.

        Which reviewers showed signs of haste stays out: a certificate is passed on.
        """
        return {name: value for name, value in record_json(self).items() if name != "flagged"}


def record_json(record: Any) -> dict[str, JsonValue]:
    """Return a record of a verdict as JSON, decimals as strings."""
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: Any) -> JsonValue:
    match value:
        case Decimal() | StrEnum():
            return str(value)
        case GateFinding():
            return {**value.as_json()}
        case Mapping():
            return {str(key): _plain(one) for key, one in value.items()}
        case tuple():
            return [_plain(one) for one in value]
        case None | bool() | int() | str():
            return value
        case _:
            return record_json(value)


# ---- English sentences for an organiser about what a verdict rests on ----

OUTCOMES: Mapping[GateOutcome, str] = {
    GateOutcome.GO: "Go: the speakers find the method good enough.",
    GateOutcome.NO_GO: "No-go: the speakers do not find the method good enough.",
    GateOutcome.DISCUSS: "Discuss: people must talk, or rate more, before there is a yes or a no.",
    GateOutcome.INSUFFICIENT: "Insufficient: too little was rated for a yes or a no.",
}

WORDS: Mapping[Code, str] = {
    Code.NO_CORE: "No translation was given to everyone, so reviewers cannot be compared. Plan a common core.",
    Code.FEW_ITEMS: "{found} translations are rated; {needed} are needed.",
    Code.FEW_IN_STRATUM: "Of {stratum}, {found} translations are rated; {needed} are needed.",
    Code.FEW_REVIEWERS: "{found} reviewers rated enough of the common core; {needed} are needed.",
    Code.HARM_OPEN: "{items} of the translations were called harmful or culturally wrong. Look into them first: "
    "until then there is no verdict.",
    Code.HARM_UPHELD: "{items} of the translations were found to be harmful. People must decide what follows.",
    Code.LEVEL_REACHED: "At least {lower} of the translations would be found acceptable or better; {level} is needed.",
    Code.LEVEL_MISSED: "At most {upper} of the translations would be found acceptable or better; {level} is needed.",
    Code.LEVEL_OPEN: "Between {lower} and {upper} of the translations would be found acceptable or better; {level} is "
    "needed, and it is in between.",
    Code.WEAK_STRATUM: "Of {stratum}, only {share} of the translations are found acceptable or better; below {needed} "
    "people must decide, for instance on a go for all but these.",
    Code.VETO: "{items} of {of} translations are rejected by several reviewers. It could be {upper} of all; at most "
    "{most} may be.",
    Code.LOW_REVIEWER: "Reviewer {reviewer} finds only {share} of the translations acceptable or better; below {needed} "
    "talk about the translations that split the panel.",
    Code.CONTROLS_FAILED: "Most reviewers found {dropped} of {of} spoilt translations acceptable. Either they are no "
    "good test, or the ratings were given without reading. Look at them together before you continue.",
    Code.FLAGS_DECIDE: "Some ratings look hurried, and without them the verdict would be: {outcome}. Look at them together.",
    Code.REVIEWER_LEFT_OUT: "Reviewer {reviewer} rated {rated} of the {core} translations that all were asked "
    "(could not judge {cannot_judge}), too few to count.",
    Code.STRATUM_LEFT_OUT: "Of {stratum}, {weight} of the corpus, nothing was asked: the verdict is about the rest.",
    Code.CONTROL_DROPPED: "Test translation {control} does not count for the signs of haste: most reviewers get it wrong, so it may be wrong "
    "itself.",
    Code.SMALL_PANEL: "This is a panel of {found}; from {needed} on it may be called the community's.",
    Code.LATER_LOOK: "This is look number {look} at these numbers, so each bound is asked to be {confidence} sure.",
    Code.GUIDELINES: "The reviewers use the words differently (alpha {alpha}, within one step {within_one}): the "
    "guidelines need work. This changes no verdict.",
}

# Words for a count of one
ONE: Mapping[Code, str] = {
    Code.FEW_ITEMS: "{found} translation is rated; {needed} are needed.",
    Code.FEW_IN_STRATUM: "Of {stratum}, {found} translation is rated; {needed} are needed.",
    Code.FEW_REVIEWERS: "{found} reviewer rated enough of the common core; {needed} are needed.",
    Code.HARM_OPEN: "{items} of the translations was called harmful or culturally wrong. Look into it first: "
    "until then there is no verdict.",
    Code.HARM_UPHELD: "{items} of the translations was found to be harmful. People must decide what follows.",
    Code.VETO: "{items} of {of} translations is rejected by several reviewers. It could be {upper} of all; at most "
    "{most} may be.",
    Code.CONTROLS_FAILED: "Most reviewers found {dropped} of {of} spoilt translations acceptable. Either it is no "
    "good test, or the ratings were given without reading. Look at it together before you continue.",
}

COUNTED = ("items", "found", "dropped")  # Facts that the words agree with in number

_SIGNS: Mapping[Sign, str] = {
    Sign.NOT_WORSE: "spoilt translations are not rated lower than their originals",
    Sign.BAD_ACCEPTED: "{0.bad_accepted.count} of {0.bad_accepted.of} spoilt translations are rated acceptable or better",
    Sign.INCONSISTENT: "of {0.repeats_close.of} translations shown twice, {0.repeats_close.count} are rated alike",
    Sign.LONG_RUN: "the same rating {0.longest_run} times in a row",
}

_ANCHORS_LOW = "Of {0.of} translations by people, {0.count} are rated below acceptable. "
# Beside signs, for information: neither is one itself
_QUICK = "Of {0.of} ratings, {0.count} took far less time than this person usually needs. "

_NO_SHARES = {"alpha"}  # Facts that are decimals and no shares


def finding_words(finding: GateFinding) -> str:
    """Return one finding in a sentence or two; shares as per cent, ids as they are.

    Shares have one decimal, and four where two different ones would otherwise look the same.
    """
    facts, words = finding.facts, WORDS[finding.code]
    if any(facts.get(name) == 1 for name in COUNTED):
        words = ONE.get(finding.code, words)
    fact_words = {name: _fact(name, fact, 1) for name, fact in facts.items()}
    if len(set(fact_words.values())) < len(set(facts.values())):
        fact_words = {name: _fact(name, fact, 4) for name, fact in facts.items()}
    return words.format_map(fact_words)


def findings_words(
    findings: Sequence[GateFinding], say: Callable[[GateFinding], str] = finding_words
) -> list[tuple[str, list[str]]]:
    """Return findings in sentences (``say`` words one), in their order, each with the test translations that it lists.

    Several test translations that most people get wrong are one sentence; alone, one is named within its own.
    """
    dropped = [str(f.facts["control"]) for f in findings if f.code is Code.CONTROL_DROPPED]
    sentences: list[tuple[str, list[str]]] = []
    for finding in findings:
        if finding.code is not Code.CONTROL_DROPPED or len(dropped) == 1:
            sentences.append((say(finding), []))
        elif str(finding.facts["control"]) == dropped[0]:
            sentences.append((_DROPPED.format(len(dropped)), dropped))
    return sentences


_DROPPED = (
    "{} test translations do not count for the signs of haste: most reviewers get them wrong, so they may be wrong "
    "themselves:"
)


def care_words(reviewer: str, care: Care) -> str:
    """Return as private advice which signs of haste a reviewer's ratings show; empty where none is advised."""
    if not care.advised:
        return ""
    signs = "; ".join(_SIGNS[sign].format(care) for sign in care.signs)
    tallies = ((_ANCHORS_LOW, care.anchors_low), (_QUICK, care.quick))
    beside = "".join(words.format(tally) for words, tally in tallies if tally.count)
    return (
        f"Please look at the ratings of {reviewer} together: {signs}. {beside}"
        "There may be good reasons. It is between you and this person, and excludes nobody."
    )


def alike_words(pair: AlikePair) -> str:
    """Return as private advice that two people agree far beyond the panel; the pair names them by their codes."""
    one, other = map(printed, pair.reviewers)
    chance = f"{pair.chance:.2g}" if pair.chance >= 1e-6 else "less than one in a million"
    return (
        f"{one} and {other} give the same rating for {pair.equal} of {pair.items} translations; the closest other "
        f"pair does for {pair.other_equal} of {pair.other_items} (chance: {chance}). Ask both how they rated. There may be "
        "good reasons; it excludes nobody."
    )


def _fact(name: str, fact: int | str, places: int) -> str:
    if name == "stratum":
        return f"difficulty {fact}" if fact else "unknown difficulty"
    if name == "outcome":
        return {"no_go": "no-go"}.get(str(fact), str(fact))
    if isinstance(fact, int) or name in {"reviewer", "control"}:
        return str(fact)
    if name in _NO_SHARES:
        return minus(f"{float(fact):.2f}")
    return percent(float(fact), places).replace(f".{'0' * places} %", " %")
