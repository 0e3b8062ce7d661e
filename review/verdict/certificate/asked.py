"""What became of everybody who was asked: nobody is left out of a certificate without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from enum import StrEnum

from review.log.event import Event
from review.log.payloads import ANSWERS, Scope, Withdraw
from review.verdict.certificate.evidence import Evidence


class Became(StrEnum):
    """What became of a person; the first that holds, in this order."""

    COUNTED = "counted"
    """Rated enough of what all were asked."""
    WITHDREW = "withdrew"
    """Took everything back, or this review's, at a laptop."""
    WITHDREW_AT_THE_DESK = "withdrew_at_the_desk"
    """The organisation did so in the person's name."""
    WAITING = "waiting"
    """Several laptops speak for this person, and the organisation has not said which."""
    NOT_HEARD = "not_heard"
    """Spoke on laptops only that the organisation does not hear."""
    NO_CONSENT = "no_consent"
    """Answered, and there is no agreement to the terms."""
    TOO_FEW = "too_few"
    """Agreed, and rated too little to count."""
    NOTHING = "nothing"
    """Nothing of this person was handed in."""


WORDS = {
    Became.COUNTED: "{} counted",
    Became.WITHDREW: "{} took theirs back",
    Became.WITHDREW_AT_THE_DESK: "{} taken back by the organisation in their name",
    Became.WAITING: "{} of whom several laptops speak, undecided",
    Became.NOT_HEARD: "{} on laptops that the organisation does not hear",
    Became.NO_CONSENT: "{} without agreement to the terms",
    Became.TOO_FEW: "{} rated too little to count",
    Became.NOTHING: "{} handed nothing in",
}


def what_became(evidence: Evidence, counted: Collection[str]) -> dict[str, int]:
    """Return how many of the people who were asked came to what, for one run; ``counted`` are its valid reviewers."""
    own, theirs = _taken_back(evidence)
    batches = set(evidence.key.batches)
    spoke, heard = _spoke(evidence.events, batches), _spoke(evidence.counted, batches)
    waiting = {who for _, who in evidence.voices.waiting}
    agreed = {who for (_, who), said in evidence.state.reviewers.items() if said.consented}

    def of(who: str) -> Became:
        tests = {
            Became.COUNTED: who in counted,
            Became.WITHDREW: who in theirs,
            Became.WITHDREW_AT_THE_DESK: who in own,
            Became.WAITING: who in waiting,
            Became.NOT_HEARD: who in spoke - heard,
            Became.NO_CONSENT: who in spoke - agreed,
            Became.TOO_FEW: who in spoke,
        }
        return next((became for became, holds in tests.items() if holds), Became.NOTHING)

    found = Counter(map(of, evidence.key.orders))
    return {str(each): found[each] for each in Became}


def _spoke(events: Iterable[Event], batches: Collection[str]) -> set[str]:
    """Return the people of whom there is an answer to one of the review's batches."""
    return {
        event.payload.reviewer  # type: ignore[union-attr]  # every kind of answer has one
        for event in events
        if event.kind in ANSWERS
        and not isinstance(event.payload, Withdraw)
        and getattr(event.payload, "batch", None) in batches
    }


def _taken_back(evidence: Evidence) -> tuple[set[str], set[str]]:
    """Return the people whose ratings were taken back at the office's desk, and those who did so at a laptop."""
    own, theirs = set[str](), set[str]()
    places = {None, *evidence.key.batches}
    for event in evidence.events:
        said = event.payload
        if not isinstance(said, Withdraw) or said.scope is Scope.COMMENTS:
            continue
        if (None if said.scope is Scope.EVERYTHING else said.batch) in places:
            (own if event.device in evidence.own_devices else theirs).add(said.reviewer)
    return own, theirs
