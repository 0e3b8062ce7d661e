"""The tables of the scoring specification, read from ``specification.toml``.

One data file holds inventory, weights and thresholds, so that code and document can be compared line
by line and no number lives in two places.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import inf
from typing import Any

from scoring.core.metric import MetricInfo


@dataclass(frozen=True, slots=True)
class InventoryRow:
    """One row of the metric inventory (§2)."""

    info: MetricInfo
    category: str
    """surface, structural, semantic, behavioral or compliance."""
    level: str
    """``both`` for entry and corpus, ``corpus`` where an entry has no value of its own."""
    normalization: str | None
    """``none``, ``percent`` or ``invert`` (§4.2); None for a metric outside the composite."""
    excluded: str | None
    """Why it stays out of the composite (appendix A); None for a metric inside."""
    what: str
    """What it measures, in a sentence for people."""
    status: str
    """``implemented``, ``partial`` or ``absent`` (§3)."""
    lacks: str | None
    """What a partial metric cannot do; None for the others."""
    needs: tuple[str, ...]
    """What a user must have, as keys of ``Specification.needs``."""
    library: str
    """What computes it."""
    interval: bool
    """Whether its corpus value has a bootstrap interval (§8.1)."""

    @property
    def scale(self) -> str:
        """Range and direction in words: ``0–1``, ``0–∞, lower is better``."""
        high = "∞" if self.info.high == inf else f"{self.info.high:g}"
        more = {"lower": ", lower is better", "neither": ", 1 is ideal"}
        return f"{self.info.low:g}–{high}{more.get(self.info.better, '')}"


@dataclass(frozen=True, slots=True)
class Specification:
    """All tables together."""

    metrics: dict[str, InventoryRow]
    needs: dict[str, str]
    """What a metric may need, in words."""
    profiles: dict[str, dict[str, float]]
    """Target weights of §4.3 by profile and metric id."""
    tiers: tuple[tuple[float, str], ...]
    """Least composite and name, from the top (§5.1)."""


@cache
def specification() -> Specification:
    """Read the tables once."""
    data = tomllib.loads(
        files("scoring.core").joinpath("specification.toml").read_text(encoding="utf-8")
    )
    return Specification(
        metrics={id_: _row(id_, row) for id_, row in data["metrics"].items()},
        needs=data["needs"],
        profiles={name: profile["weights"] for name, profile in data["profiles"].items()},
        tiers=tuple((tier["least"], tier["name"]) for tier in data["tiers"]),
    )


def metric_info(id_: str) -> MetricInfo:
    """Return what the inventory fixes about a metric; KeyError where it has no such row."""
    return specification().metrics[id_].info


def _row(id_: str, row: dict[str, Any]) -> InventoryRow:
    info = MetricInfo(
        id=id_,
        title=row["title"],
        low=row["low"],
        high=row.get("high", inf),
        better=row["better"],
        source=f"scoring-specification {row['section']}",
    )
    return InventoryRow(
        info,
        category=row["category"],
        level=row["level"],
        normalization=row.get("normalization"),
        excluded=row.get("excluded"),
        what=row["what"],
        status=row["status"],
        lacks=row.get("lacks"),
        needs=tuple(row["needs"]),
        library=row["library"],
        interval=row["interval"],
    )
