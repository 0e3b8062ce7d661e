"""What of a review can be handed on, and what each of it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rosetta_tui.review.organiser.facts import ReviewNow, RunNow


def choices(now: ReviewNow, run: RunNow) -> dict[str, str]:
    """Return what can be exported now, with words; comments of secret reviews and pages of nothing are left out."""
    offered = {
        "sealed": "Everything, sealed for the review's recipients",
        "page": "The page for the speakers, from the newest certificate",
        "csv": "The ratings as a table (CSV), people as letters",
        "comments": "The table with what people wrote",
        "mtme": "A folder as in the metrics shared tasks",
    }
    if now.secret:
        del offered["comments"]
    if run.newest is None:
        del offered["page"]
    return offered
