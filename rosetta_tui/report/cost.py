"""An estimate as people read it: about so much, between so much and so much, and where that comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from rosetta_tui.show import figures
from rosetta_tui.show.text import stacked

if TYPE_CHECKING:
    from harness.estimate.earlier import Range
    from harness.estimate.estimate import RunEstimate
    from harness.estimate.framework import CostRange, Worked, WorkedFramework


def estimate_rows(estimate: RunEstimate) -> list[tuple[str, str]]:
    """Return label and words of each line."""
    # How many tokens will be read and written.
    read, written = estimate.prompt_tokens, estimate.completion_tokens
    token_words = "unknown" if read is None or written is None else between(read + written, _count)
    rows = [
        ("Entries", figures.count(estimate.entries)),
        ("Cost", cost_words(estimate)),
        ("Time", time_words(estimate)),
        ("Calls", between(estimate.calls, _count)),
        ("Tokens", token_words),
    ]
    if estimate.budget:
        rows.insert(2, ("Budget", f"! {estimate.budget}"))
    if (judges := estimate.judges) is not None:
        cost = "unknown" if judges.cost_usd is None else between(judges.cost_usd, figures.money)
        calls = between(judges.calls, _count)
        known = f"; {figures.count(judges.judged)} judged already" if judges.judged else ""
        noun = "call" if calls == "1" else "calls"
        rows.append(("Judges", f"{cost} beside that, {calls} {noun} to {judges.model}{known}"))
    return [*rows, *(("From" if not place else "", basis) for place, basis in enumerate(estimate.from_what))]


def cost_words(estimate: RunEstimate) -> str:
    """Return what the run will cost; an unknown price is said to be unknown."""
    return "unknown" if estimate.cost_usd is None else between(estimate.cost_usd, figures.money)


def time_words(estimate: RunEstimate) -> str:
    """Return how long the run will take."""
    return "unknown" if estimate.seconds is None else between(estimate.seconds, _clock)


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


# ---- The cost framework as lines of text: one table for a run, a sweep, a language and a
# programme each.


def framework_lines(found: WorkedFramework, width: int | None) -> Iterator[str]:
    total = () if found.establishment_total is None else (found.establishment_total,)
    parts: tuple[tuple[str, Iterable[Worked]], ...] = (
        ("one run", found.runs),
        ("one sweep", found.sweeps),
        ("establishing a language", (*found.establishment, *total)),
        ("a year of a programme", found.programs),
    )
    yield f"US dollars, numbers of {found.source or 'the file'}"
    for title, rows in parts:
        lines = [
            (row.name, amount(row.usd), f"{_stated(row)}{' !' if row.differs else ''}", row.factors, row.notes)
            for row in rows
        ]
        if lines:
            yield ""
            yield from stacked([(title, "cost", "stated", "worked out of", "notes"), *lines], width, ("cost", "stated"))
    if found.differing:
        yield ""
    for worked in found.differing:
        yield f"! {worked.name}: {_stated(worked)} is stated, but the numbers above come to {amount(worked.usd)}."


def amount(usd: CostRange) -> str:
    """Return US dollars with both ends, or with one where they are the same; cents where there are any."""
    whole = all(float(value).is_integer() for value in usd)
    low, high = (f"{value:,.{0 if whole else 2}f}" for value in usd)
    return f"${low}" if low == high else f"${low}–{high}"


def _stated(each: Worked) -> str:
    return figures.NONE if each.stated_usd is None else amount(each.stated_usd)
