"""An item that waits for a decision, in words without system and without names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from review.verdict.adjudication import Case


def ratings_words(case: Case) -> str:
    """Say how many gave each rating, and how many none."""
    names = ("reject", "gist", "acceptable", "excellent")
    ratings = ", ".join(f"{count} {name}" for name, count in zip(names, case.counts, strict=True))
    return f"{ratings} · {case.cannot_judge} could not judge"


def flags_words(case: Case) -> str:
    """Say how many called it harmful."""
    return f"{case.flags} called it harmful or culturally wrong" if case.flags else "no flag"


def so_far(case: Case, *, why: bool = False) -> str:
    """Say what was decided last, with reason and name where ``why``; empty where nothing was."""
    said = {True: "upheld", False: "cleared", None: ""}[case.harmful]
    return f"{said}: {why_words(case)}" if said and why else said


def why_words(case: Case) -> str:
    """Say why it was decided so, and who decided."""
    decided = case.decided
    if decided is None or not decided.reason:
        return "no reason was recorded"
    return f"{decided.reason} (decided by {decided.by})"
