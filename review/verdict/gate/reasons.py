"""English sentences for an organiser about what a verdict rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from review.files.reviewer_codes import printed
from review.verdict.gate.alike import AlikePair
from review.verdict.gate.careless import Care, Sign
from review.verdict.gate.verdict import Code, GateFinding, GateOutcome
from scoring.core.messages import minus, percent

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
"""Words for a count of one."""

COUNTED = ("items", "found", "dropped")
"""Facts that the words agree with in number."""

_SIGNS: Mapping[Sign, str] = {
    Sign.NOT_WORSE: "spoilt translations are not rated lower than their originals",
    Sign.BAD_ACCEPTED: "{0.bad_accepted.count} of {0.bad_accepted.of} spoilt translations are rated acceptable or better",
    Sign.INCONSISTENT: "of {0.repeats_close.of} translations shown twice, {0.repeats_close.count} are rated alike",
    Sign.LONG_RUN: "the same rating {0.longest_run} times in a row",
}

_ANCHORS_LOW = "Of {0.of} translations by people, {0.count} are rated below acceptable. "
_QUICK = "Of {0.of} ratings, {0.count} took far less time than this person usually needs. "
"""Beside signs, for information: neither is one itself."""

_NO_SHARES = {"alpha"}
"""Facts that are decimals and no shares."""


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
    dropped = [
        str(finding.facts["control"])
        for finding in findings
        if finding.code is Code.CONTROL_DROPPED
    ]
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
    beside = "".join(
        words.format(tally)
        for words, tally in ((_ANCHORS_LOW, care.anchors_low), (_QUICK, care.quick))
        if tally.count
    )
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
