"""The tables of the scoring specification, read from ``specification.toml``.

One data file holds inventory, weights and thresholds, so that code and document can be compared line
by line and no number lives in two places. A quality tier says what a composite tends to mean (§5);
``scoring.card.claim`` says what may be claimed. ``scoring.core.inventory`` knows the metrics of packs too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from math import inf, isnan
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeGuard


class MetricInfo(NamedTuple):
    """What is fixed about a metric: its row in the inventory (scoring-specification §2)."""

    id: str
    title: str
    low: float
    high: float
    """Range of the value; ``-inf`` and ``inf`` where it has no lower or upper end."""
    better: str
    """``higher``, ``lower``, or ``neither`` (see ``one_is_ideal``)."""
    source: str
    """Section of the seed, or paper, that defines it."""

    @property
    def one_is_ideal(self) -> bool:
        """Return whether 1 is the best value; of a pack's metric that has no better end, no value is."""
        return self.better == "neither" and "." not in self.id


class InventoryRow(NamedTuple):
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
    module: str | None = None
    """Where its ``METRICS`` has it; None where nothing computes it."""
    short: str = ""
    """Its name where room is scarce; empty where the title is short."""
    also: tuple[str, ...] = ()
    """Further names, the first of them the one that is typed."""
    annotators: tuple[str, ...] = ()
    """Ids of the annotators that its value asks, be it only to tell the target's words."""
    given_by: tuple[str, ...] = ()
    """Options that are given for its sake."""
    digits: int = 2
    """Digits after the point on a screen."""
    remark: str | None = None
    """What the value is not, where it is easily taken for something else."""
    tasks: tuple[str, ...] = ()
    """Tasks for which a pack has it; empty: for all of the pack's."""

    @property
    def scale(self) -> str:
        """Range and direction in words: ``0–1``, ``0–∞, lower is better``."""
        low, high = (
            f"{end:g}".replace("inf", "∞").replace("-", "−")
            for end in (self.info.low, self.info.high)
        )
        more = {"lower": ", lower is better"}
        ideal = ", 1 is ideal" if self.info.one_is_ideal else ""
        return f"{low}–{high}{more.get(self.info.better, ideal)}"


class Specification(NamedTuple):
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
    data = tomllib.loads(Path(__file__).with_name("specification.toml").read_text("utf-8"))
    return Specification(
        metrics={id_: table_row(id_, row) for id_, row in data["metrics"].items()},
        needs=data["needs"],
        profiles={name: profile["weights"] for name, profile in data["profiles"].items()},
        tiers=tuple((tier["least"], tier["name"]) for tier in data["tiers"]),
    )


def metric_info(id_: str) -> MetricInfo:
    """Return what the specification fixes about its own metric; KeyError where it has no such row."""
    return specification().metrics[id_].info


def table_row(
    id_: str, row: dict[str, Any], document: str = "scoring-specification"
) -> InventoryRow:
    """Read one row of an inventory; KeyError names a field that it lacks."""
    info = MetricInfo(
        id=id_,
        title=row["title"],
        low=row["low"],
        high=row.get("high", inf),
        better=row["better"],
        source=f"{document} {row['section']}",
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
        module=row.get("module"),
        short=row.get("short", ""),
        also=tuple(row.get("also", ())),
        annotators=tuple(row.get("annotators", ())),
        given_by=tuple(row.get("given_by", ())),
        digits=row.get("digits", 2),
        remark=row.get("remark"),
        tasks=tuple(row.get("tasks", ())),
    )


class Tier(StrEnum):
    """The tiers of §5, from the lowest; their order is their rank."""

    UNSCORED = "unscored"
    BASELINE = "baseline"
    EMERGING = "emerging"
    FUNCTIONAL = "functional"
    DEPLOYABLE = "deployable"
    FLUENT = "fluent"

    @property
    def rank(self) -> int:
        """Place from the lowest, 0 for unscored."""
        return _RANKS[self]


_RANKS: Final = {tier: place for place, tier in enumerate(Tier)}


class Weighing(NamedTuple):
    """Weights of the composite and lines of the tiers: those of the specification, or of a calibration."""

    profiles: Mapping[str, Mapping[str, float]]
    """Target weights by profile and metric id (§4.3), each above 0."""
    tiers: tuple[tuple[float, str], ...]
    """Least composite and name, from the top (§5.1)."""
    calibration: str = ""
    """SHA-256 of the signed calibration; empty for the specification's own."""

    def tier(self, composite: float | None) -> Tier:
        """Name the automatic tier of a composite (§5.1)."""
        if composite is None or isnan(composite):
            return Tier.UNSCORED
        for least, name in self.tiers:
            if composite >= least:
                return Tier(name)
        return Tier.UNSCORED


def stated_weighing(scoring: object) -> Weighing | None:
    """Return the weighing of the calibration that a card or an opening states as part of ``scoring``; None without one.

    It may come from elsewhere: what is not of the expected form counts as absent.
    """
    facts = scoring.get("calibration") if isinstance(scoring, Mapping) else None
    if not isinstance(facts, Mapping):
        return None
    weights, tiers = facts.get("weights"), facts.get("tiers")
    if not (_numbers(tiers) and tiers.keys() <= set(Tier) and isinstance(weights, Mapping)):
        return None
    profiles = {
        name: {id_: given[id_] for id_ in own if given.get(id_)}  # a weight of 0 takes it out
        for name, own in specification().profiles.items()
        if _numbers(given := weights.get(name))
    }
    if len(profiles) < len(specification().profiles) or not all(profiles.values()):
        return None
    lines = sorted(((least, name) for name, least in tiers.items()), reverse=True)
    return Weighing(profiles, tuple(lines), str(facts.get("sha256")))


def _numbers(value: object) -> TypeGuard[Mapping[str, float]]:
    return isinstance(value, Mapping) and all(
        isinstance(each, int | float) and not isinstance(each, bool) and 0 <= each <= 1
        for each in value.values()
    )


@cache
def specified() -> Weighing:
    """Return the weights and lines of the specification."""
    return Weighing(specification().profiles, specification().tiers)


def quality_tier(composite: float | None) -> Tier:
    """Name the automatic tier of a composite by the specification's lines (§5.1)."""
    return specified().tier(composite)


COMPOSITE = "composite"
ROSETTA = "rosetta"
"""Name of all metrics of the scoring specification together."""
