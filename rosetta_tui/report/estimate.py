"""An estimate as people read it: about so much, between so much and so much, and where that comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rosetta_tui.show import figures

if TYPE_CHECKING:
    from harness.estimate.earlier import Range
    from harness.estimate.estimate import RunEstimate


def estimate_rows(estimate: RunEstimate) -> list[tuple[str, str]]:
    """Return label and words of each line."""
    rows = [
        ("Entries", figures.count(estimate.entries)),
        ("Cost", cost_words(estimate)),
        ("Time", time_words(estimate)),
        ("Calls", between(estimate.calls, _count)),
        ("Tokens", token_words(estimate)),
    ]
    if estimate.budget:
        rows.insert(2, ("Budget", f"! {estimate.budget}"))
    if (judges := estimate.judges) is not None:
        cost = "unknown" if judges.cost_usd is None else between(judges.cost_usd, figures.money)
        calls = between(judges.calls, _count)
        known = f"; {figures.count(judges.judged)} judged already" if judges.judged else ""
        noun = "call" if calls == "1" else "calls"
        rows.append(("Judges", f"{cost} beside that, {calls} {noun} to {judges.model}{known}"))
    return [
        *rows,
        *(("From" if not place else "", basis) for place, basis in enumerate(estimate.from_what)),
    ]


def cost_words(estimate: RunEstimate) -> str:
    """Return what the run will cost; an unknown price is said to be unknown."""
    return "unknown" if estimate.cost_usd is None else between(estimate.cost_usd, figures.money)


def time_words(estimate: RunEstimate) -> str:
    """Return how long the run will take."""
    return "unknown" if estimate.seconds is None else between(estimate.seconds, _clock)


def token_words(estimate: RunEstimate) -> str:
    """Return how many tokens will be read and written."""
    read, written = estimate.prompt_tokens, estimate.completion_tokens
    if read is None or written is None:
        return "unknown"
    return between(read + written, _count)


def between(amount: Range, word: Callable[[float], str]) -> str:
    """Return an amount with its bounds, each once."""
    low, expected, high = word(amount.low), word(amount.expected), word(amount.high)
    if low == high:
        return expected
    if low == expected:
        return f"{expected}, at most {high}"
    return f"about {expected} ({low} to {high})"


def _count(value: float) -> str:
    return figures.count(round(value))


def _clock(value: float) -> str:
    return "under a second" if value < 1 else figures.clock(value)
