"""An item that waits for a decision, in words without system and without names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from review.session.words.labels import REASONS

if TYPE_CHECKING:
    from review.files.manifests import BatchItem
    from review.verdict.gate.adjudication import Case, ItemComment

_RATINGS = ("reject", "gist", "acceptable", "excellent")


def ratings_words(case: Case) -> str:
    """Return how many gave each rating, and how many none."""
    return _counts_words(case.counts, case.cannot_judge)


def second_words(case: Case) -> str:
    """Return what people gave in a second look, and that it is advice; empty where there was none."""
    second = case.second
    if second is None:
        return ""
    counts = _counts_words(second.counts, second.cannot_judge)
    flags = f" · {second.flags} called it harmful or culturally wrong" if second.flags else ""
    return (
        f"Second look: {counts}{flags} · {second.changed} of {second.both} changed their rating. "
        "It is advice for you: the gate counts the first round alone."
    )


def _counts_words(counts: Sequence[int], cannot_judge: int) -> str:
    ratings = ", ".join(f"{count} {name}" for name, count in zip(_RATINGS, counts, strict=True))
    return f"{ratings} · {cannot_judge} could not judge"


def voice_words(voices: Sequence[ItemComment]) -> Iterator[tuple[str, str]]:
    """Yield name and text of what people wrote, each person's together; texts are theirs, names are ours."""
    for voice in voices:
        rating = "could not judge" if voice.rating is None else _RATINGS[voice.rating.rank]
        reasons = "; ".join(REASONS[reason].lower() for reason in voice.reasons)
        yield f"Somebody, {rating}{': ' if reasons else ''}{reasons}", ""
        if voice.comment:
            yield "  comment:", voice.comment
        if voice.suggestion:
            yield "  better:", voice.suggestion


def around_words(text: BatchItem) -> Iterator[tuple[str, str]]:
    """Yield name and text of where a sentence stands, as far as its batch told reviewers."""
    around = text.around
    if around is not None:
        named = {
            "before it:": around.before,
            "after it:": around.after,
            "context:": around.context,
            "register:": around.formality,
        }
        yield from ((name, label) for name, label in named.items() if label)


def flags_words(case: Case) -> str:
    """Return how many called it harmful."""
    return f"{case.flags} called it harmful or culturally wrong" if case.flags else "no flag"


def so_far(case: Case, *, why: bool = False) -> str:
    """Return what was decided last, with reason and name where ``why``; empty where nothing was."""
    decision = {True: "upheld", False: "cleared", None: ""}[case.harmful]
    return f"{decision}: {why_words(case)}" if decision and why else decision


def why_words(case: Case) -> str:
    """Return why it was decided so, and who decided."""
    decided = case.decided
    if decided is None or not decided.reason:
        return "no reason was recorded"
    return f"{decided.reason} (decided by {decided.by})"
