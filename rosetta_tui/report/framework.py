"""The cost framework as lines of text: one table for a run, a sweep, a language and a programme each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rosetta_tui.show import figures
from rosetta_tui.show.text import stacked

if TYPE_CHECKING:
    from harness.estimate.framework import CostRange, Worked, WorkedFramework


def framework_lines(found: WorkedFramework, width: int | None) -> Iterator[str]:
    """Yield what ``rosetta cost`` prints."""
    total = () if found.establishment_total is None else (found.establishment_total,)
    parts: tuple[tuple[str, Iterable[Worked]], ...] = (
        ("one run", found.runs),
        ("one sweep", found.sweeps),
        ("establishing a language", (*found.establishment, *total)),
        ("a year of a programme", found.programs),
    )
    yield f"US dollars, numbers of {found.source or 'the file'}"
    for title, rows in parts:
        lines = [_row(row) for row in rows]
        if lines:
            yield ""
            yield from stacked([(title, "cost", "stated", "worked out of", "notes"), *lines], width, ("cost", "stated"))  # fmt: skip
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


def _row(each: Worked) -> tuple[str, ...]:
    mark = " !" if each.differs else ""
    return each.name, amount(each.usd), f"{_stated(each)}{mark}", each.factors, each.notes
