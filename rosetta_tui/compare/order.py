"""Which compared entries are shown, and how they are sorted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.ordered_table import RowOrder
from scoring.core.metric import oriented
from scoring.core.metric_rows import direction
from scoring.statistics.significance import outcomes

if TYPE_CHECKING:
    from harness.compare.comparison import ComparedEntries, Comparison

Mask = npt.NDArray[np.bool_]
Column = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """By what entries are examined: one metric, and two of the runs."""

    metric: str
    first: int
    """Place of the run that differences are seen from."""
    second: int

    def outcomes(self, entries: ComparedEntries) -> npt.NDArray[np.int8]:
        """Return for each entry who is better: 1 the second run, -1 the first, 0 neither; 2 where a value lacks."""
        return self._outcomes(entries.values[self.metric])

    def outcome(self, entries: ComparedEntries, place: int) -> int:
        """Return who is better in one entry, as ``outcomes`` does for all."""
        return int(self._outcomes(entries.values[self.metric][:, place : place + 1])[0])

    def _outcomes(self, values: Column) -> npt.NDArray[np.int8]:
        return outcomes(values[self.first], values[self.second], direction(self.metric))


@dataclass(frozen=True, slots=True)
class ComparedOrder(RowOrder):
    """A wish for entries; the default is all of them, the biggest differences first."""

    sort: str = "apart"
    narrow: str = "all"
    only: Mapping[str, str] = field(default_factory=dict)
    """Dimension → the tag wanted."""

    def words(self, one: str, other: str) -> str:
        """Return what is shown and in which order; ``one`` and ``other`` are the letters of the pair."""
        narrowed = [] if self.narrow == "all" else [narrow_words(one, other)[self.narrow]]
        narrowed += [f"{name} {plain(tag)}" for name, tag in self.only.items()]
        turned = ", turned round" if self.turned else ""
        return self.said(narrowed, sort_words(one, other)[self.sort] + turned)


def sort_words(one: str, other: str) -> dict[str, str]:
    """Return what entries can be sorted by, in words."""
    return {
        "apart": "biggest differences first",
        "second gains": f"where {other} gains most over {one}",
        "first gains": f"where {one} gains most over {other}",
        "first": f"best of {one} first",
        "second": f"best of {other} first",
        "position": "corpus order",
        "id": "by id",
        "difficulty": "by difficulty",
    }


def narrow_words(one: str, other: str) -> dict[str, str]:
    """Return which outcomes entries can be narrowed to, in words."""
    return {
        "all": "all entries",
        "second wins": f"{other} wins",
        "first wins": f"{one} wins",
        "ties": "ties",
        "failed in one": f"failed in one of {one} and {other}",
        "failed": "failed in any run",
    }


def filter_choices(
    order: ComparedOrder, one: str, other: str, tags: Mapping[str, Sequence[str | None]]
) -> list[tuple[ComparedOrder, str]]:
    """Return wishes with their words: everything, each outcome, each tag of each dimension that divides."""
    choices = [
        (order.everything if key == "all" else replace(order, narrow=key), words)
        for key, words in narrow_words(one, other).items()
    ]
    for dimension, own in tags.items():
        there = sorted({tag for tag in own if tag is not None})
        if len(there) > 1 or None in own:
            choices += [
                (replace(order, only={**order.only, dimension: tag}), f"{dimension} {plain(tag)}")
                for tag in there
            ]
    return choices


def ordered_places(
    comparison: Comparison,
    view: ComparisonView,
    order: ComparedOrder,
    tags: Mapping[str, Sequence[str | None]],
    found: Collection[int] | None = None,
) -> list[int]:
    """Return the places of the entries in the order and selection wished for; ``found`` by the search.

    Entries without a value come last, equal ones in the order of the corpus.
    """
    entries = comparison.entries
    outcomes = view.outcomes(entries)
    mask = _narrowed(entries, view, order.narrow, outcomes)
    for dimension, tag in order.only.items():
        mask &= np.array([own == tag for own in tags.get(dimension, [None] * len(entries))], bool)
    if found is not None:
        mask &= np.isin(np.arange(len(entries)), np.fromiter(found, np.int64, len(found)))
    chosen = np.flatnonzero(mask)
    if order.sort == "id":
        by_id = sorted(chosen.tolist(), key=lambda place: _id_key(entries.ids[place]))
        return by_id[::-1] if order.turned else by_id
    keys = _keys(comparison, view, order.sort)[chosen]
    turned = -keys if order.turned else keys
    return [int(place) for place in chosen[np.argsort(turned, kind="stable")]]


def _narrowed(
    entries: ComparedEntries, view: ComparisonView, narrow: str, outcomes: npt.NDArray[np.int8]
) -> Mask:
    failed = entries.failed
    match narrow:
        case "second wins":
            return np.asarray(outcomes == 1)
        case "first wins":
            return np.asarray(outcomes == -1)
        case "ties":
            return np.asarray(outcomes == 0)
        case "failed in one":
            return np.asarray(failed[view.first] ^ failed[view.second])
        case "failed":
            return np.asarray(failed.any(axis=0))
        case _:
            return np.ones(len(entries), np.bool_)


def _keys(comparison: Comparison, view: ComparisonView, sort: str) -> Column:
    """Return what entries are sorted by, ascending; NaN, which comes last, where there is no value."""
    entries = comparison.entries
    values = entries.values[view.metric]
    good = oriented(values, direction(view.metric))
    if sort == "difficulty":
        given = [row.entry.difficulty for row in comparison.sides[0].used]
        return np.array([np.nan if tier is None else tier for tier in given], np.float64)
    keys: dict[str, Column] = {
        "apart": -np.abs(values[view.second] - values[view.first]),
        "second gains": good[view.first] - good[view.second],
        "first gains": good[view.second] - good[view.first],
        "first": -good[view.first],
        "second": -good[view.second],
        "position": entries.positions[0].astype(np.float64),
    }
    return keys[sort]


def _id_key(id_: int | str) -> tuple[bool, int, str]:
    """Sort numbers as numbers, before texts."""
    return (False, id_, "") if isinstance(id_, int) else (True, 0, id_)
