"""Before the numbers of a run are shown: that looking is written down, and what that means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from rosetta_tui.review.organiser.words.voices import waiting_words
from scoring.core.wording import percent

if TYPE_CHECKING:
    from review.verdict.gate.policy import GatePolicy
    from rosetta_tui.review.organiser.facts import ReviewNow, RunNow


def hidden(now: ReviewNow, run: RunNow, what: str = "The numbers of this run") -> Iterator[Static]:
    """Say that numbers or ratings are hidden, why, and which key shows them."""
    before = "Nobody has looked yet." if not run.looks else f"Looks so far: {run.looks}."
    later = " Ratings have changed since the last one." if run.looks else ""
    yield Static(
        Content.assemble(
            (f"{what} are hidden until you look.\n\n", "bold"),
            f"{rule(now, run)}\n\n",
            f"{before}{later} ",
            f"{now.progress.done:,} of {now.progress.asked:,} decisions are here.\n\n",
            _waiting(now, "", "\n\n"),
            ("l", "bold $mark"),
            "  look now",
        ),
        classes="words",
    )


def question(now: ReviewNow, run: RunNow, what: str = "numbers") -> Content:
    """Ask once before the look."""
    return Content.assemble(
        (f"Look at the {what}? This is look {run.looks + 1}.\n\n", "bold"),
        f"{rule(now, run)}\n\n",
        f"{now.progress.done:,} of {now.progress.asked:,} decisions are here.",
        _waiting(now, "\n\n", ""),
    )


def _waiting(now: ReviewNow, before: str, after: str) -> Content:
    """Say who would not be counted in this look; empty where everybody would be."""
    words = not_counted(now)
    return Content.assemble(before, (words, "$warn"), after) if words else Content()


def not_counted(now: ReviewNow) -> str:
    """Say of how many people nothing counts because several laptops speak for them, and where it is decided."""
    waiting = sum(each.waits for each in now.speaking.several)
    return waiting_words(waiting, len(now.review.key.orders), now.review.name)


def rule(now: ReviewNow, run: RunNow) -> str:
    """Say what a look costs, by the review's own policy."""
    policy = _policy(now)
    sure, later = (f"{percent(float(policy.confidence(look)), 1)}" for look in (1, 2))
    first = f"the first asks each bound to be {sure} sure, every later one {later}"
    held = f"This one asks for {sure if not run.looks else later}."
    return (
        f"Every look at new ratings is written down and counts: {first}. {held} "
        "So look when the ratings are in, not while they come."
    )


def _policy(now: ReviewNow) -> GatePolicy:
    from review.verdict.gate.policy import read_policy

    return read_policy(now.review.policy, "policy.toml")
