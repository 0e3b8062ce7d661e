"""The session script: what a person does with each of many items, for whatever face plays it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from review.log.fold import ReviewerState
from review.session.course import REST_ITEMS

COMMENT = "1 too formal"
REASON = "5"
SAID_OF_REASON = "A word has the wrong form"


@dataclass(frozen=True)
class Doing:
    """What is done with one item."""

    number: int
    """From 1."""
    comments: bool
    later: bool
    rating: str
    """Digit."""
    mistaken: bool
    """The answer is taken back, and 3 is given."""
    reason: bool
    rests: bool
    """A pause is suggested after it."""


def doings(count: int, cut: int) -> Iterator[Doing]:
    """Yield what is done with each item; the program ends before item ``cut``, so pauses count anew there."""
    answered = 0
    for number in range(1, count + 1):
        if number == cut:
            answered = 0
        later = number % 40 == 20 and number < count
        mistaken = number in {10, 50}
        answered += not later
        rests = answered == REST_ITEMS and number < count
        if rests:
            answered = int(mistaken)
        yield Doing(
            number,
            comments=number % 12 == 5 and not later,
            later=later,
            rating="1234"[number % 4],
            mistaken=mistaken,
            reason=number % 8 == 3 and number < count - 4,
            rests=rests,
        )


def said(state: ReviewerState) -> dict[str, object]:
    """Return what a person said, without when and where: two faces must agree on all of it."""
    return {
        "judgements": [
            (item, each.rating, each.why_not) for item, each in state.judgements.items()
        ],
        "reasons": dict(state.reasons),
        "comments": dict(state.comments),
        "suggestions": dict(state.suggestions),
        "harmful": set(state.harmful),
        "skipped": state.skipped,
        "trained": dict(state.trained),
    }


def lines(doing: Doing) -> Iterator[str]:
    """Yield what is typed into the line face for an item."""
    if doing.later:
        yield "s"
        return
    if doing.comments:
        yield f"c {COMMENT}"
    yield doing.rating
    if doing.rests:
        yield ""
    if doing.mistaken:
        yield "u"
        yield "3"
    if doing.reason:
        yield f",{REASON}"
