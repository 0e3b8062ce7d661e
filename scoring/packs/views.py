"""The values of a run as the document of a pack prints them: its names, its scale, its rounding.

Values are stored in full and on the metric's own scale; a view only shows them. How a pack prints is in its table
(``view`` in ``pack.toml``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from functools import cache
from math import inf
from typing import Final, NamedTuple

from scoring.core.packs import Pack, shipped_pack
from scoring.core.specification import MetricInfo

# ---- Numbers as pages print them: rounded half up on the decimal that a number is written with.
#
# Rounding the binary number instead prints 0.3565 as 0.356, for it lies a hair below.

_EXACT = Context(prec=400)
"""More digits than any finite float has before its point."""


def half_up(value: float, digits: int) -> Decimal:
    """Round a finite value to some digits after the point, a half away from zero."""
    return Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _EXACT)


def half_even(value: float, digits: int) -> Decimal:
    """Round a finite value as Python prints it: the binary number, and a half to the even digit."""
    return Decimal(float(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN, _EXACT)


_ROUNDINGS: Final[dict[str, Callable[[float, int], Decimal]]] = {"half up": half_up, "half even": half_even}
_ARROWS: Final = {"higher": "↑", "lower": "↓"}
NOTHING = "–"
"""Stands where a metric has no value."""


class MetricTotals(NamedTuple):
    """What a run has of one metric."""

    mean: float | None
    """Of the entries' values; None without any."""
    std: float | None
    """Their sample standard deviation, 0 for fewer than two."""
    corpus: float | None
    """The value of all entries together."""
    n: int
    """How many entries have a value."""


RunTotals = Mapping[str, MetricTotals]
"""By metric id."""


@dataclass(frozen=True, slots=True)
class ReportedColumn:
    """One number that a view prints."""

    metric: str
    name: str
    """As the document reports it."""
    of: str
    """``mean`` of the entries, or ``corpus``."""
    digits: int
    heading: str
    """In a line of several; empty where the line leaves the number out."""


@dataclass(frozen=True, slots=True)
class PackView:
    """How a pack prints."""

    columns: tuple[ReportedColumn, ...]
    rounding: Callable[[float, int], Decimal]
    full: float | None
    """What the best value becomes, and the highest that is printed; None where values stay as they are."""


class ReportedFigure(NamedTuple):
    """A value as a view prints it."""

    name: str
    metric: str
    text: str
    """The number, or a dash where there is none."""
    arrow: str
    """↑ where more is better, ↓ where less is; empty where neither is."""
    cut: bool
    """True where the value lies beyond the scale and its end is printed."""


def pack_view(pack: Pack) -> PackView:
    """Read how a pack prints; KeyError names a field that its table lacks, ValueError a rounding that it misnames."""
    view = pack.view
    if view["rounding"] not in _ROUNDINGS:
        known = ", ".join(_ROUNDINGS)
        raise ValueError(f"view: there is no rounding {view['rounding']!r}; there is {known}")
    columns = tuple(
        ReportedColumn(
            metric=f"{pack.name}.{column['metric']}",
            name=column["name"],
            of=column.get("of", "mean"),
            digits=column.get("digits", view["digits"]),
            heading=column.get("heading", ""),
        )
        for column in view["columns"]
    )
    return PackView(columns, _ROUNDINGS[view["rounding"]], view.get("full"))


@cache
def _shipped(name: str) -> PackView:
    return pack_view(shipped_pack(name))


def figures(pack: Pack, totals: RunTotals) -> list[ReportedFigure]:
    """Return what the document of a pack reports of a run, in its order; metrics that the run has not are left out."""
    view = pack_view(pack)
    return [
        _figure(view, column, pack.rows[column.metric].info, totals[column.metric])
        for column in view.columns
        if column.metric in totals and column.metric in pack.rows
    ]


def _figure(view: PackView, column: ReportedColumn, info: MetricInfo, totals: MetricTotals) -> ReportedFigure:
    value = totals.corpus if column.of == "corpus" else totals.mean
    arrow = _ARROWS.get(info.better, "")
    if value is None:
        return ReportedFigure(column.name, column.metric, NOTHING, arrow, cut=False)
    if view.full is not None:  # of a metric without an upper end the scale counts from 1
        high = 1.0 if info.high == inf else info.high
        value = float(Decimal(repr(value)) * Decimal(view.full) / Decimal(repr(float(high))))
    shown = view.rounding(value, column.digits)
    most = shown if view.full is None else Decimal(view.full)
    inside = min(max(shown, Decimal(0)), most) if view.full is not None else shown
    text = f"{inside:.{column.digits}f}"
    return ReportedFigure(column.name, column.metric, text, arrow, cut=inside != shown)


def lbrag_line(system: str, totals: RunTotals) -> str:
    """Return the summary of one system as its document prints it: ``direct   | EM=0.100±0.302 | F1=…``.

    A number of fewer entries than the run has says so behind it.
    """
    view, entries = _shipped("lbrag"), _entries(totals)
    columns = [
        f"{column.heading}={_spread(view, column, totals[column.metric], entries)}"
        for column in view.columns
        if column.heading and column.metric in totals
    ]
    return " | ".join([f"{system:<8}", *columns])


def _spread(view: PackView, column: ReportedColumn, totals: MetricTotals, entries: int) -> str:
    if totals.mean is None or totals.std is None:
        return NOTHING
    values = (view.rounding(value, column.digits) for value in (totals.mean, totals.std))
    short = f" (n={totals.n:,} of {entries:,})" if totals.n < entries else ""
    return "±".join(f"{value:.{column.digits}f}" for value in values) + short


def lbrag_summary(systems: Mapping[str, RunTotals]) -> list[str]:
    """Return the summary of several systems, line by line."""
    rule = "=" * 80
    lines = [lbrag_line(system, totals) for system, totals in systems.items()]
    return [rule, "Experiment Results Summary", rule, *lines, rule]


def lbrag_metrics(systems: Mapping[str, RunTotals]) -> dict[str, dict[str, dict[str, float | None]]]:
    """Return the content of ``metrics.json``: mean and ``_std`` of each metric in full, and ``n`` as a float.

    Where a metric has values of fewer entries, ``…_n`` says of how many; the document knows no such case.
    """
    return {"metrics": {system: _system_metrics(totals) for system, totals in systems.items()}}


def _system_metrics(totals: RunTotals) -> dict[str, float | None]:
    entries = _entries(totals)
    fields: dict[str, float | None] = {}
    for column in _shipped("lbrag").columns:
        metric_totals = totals.get(column.metric)
        if metric_totals is None:
            continue
        fields |= {column.name: metric_totals.mean, f"{column.name}_std": metric_totals.std}
        if metric_totals.n < entries:
            fields[f"{column.name}_n"] = float(metric_totals.n)
    return {**fields, "n": float(entries)}


def _entries(totals: RunTotals) -> int:
    """Return how many entries a run has: exact match and F1 have a value of each."""
    return max((total.n for id_, total in totals.items() if id_.startswith("lbrag.")), default=0)


def figure_lines(figures_: Sequence[ReportedFigure]) -> list[str]:
    """Return figures as lines of text, names in a column; a value beyond the scale has a remark."""
    width = max((len(figure.name) for figure in figures_), default=0)
    return [
        f"{figure.name:<{width}} {figure.arrow or ' '} {figure.text}{' (cut)' if figure.cut else ''}"
        for figure in figures_
    ]
