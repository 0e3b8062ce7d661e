"""Packs: systems of metrics beside the scoring specification's own, each with a table of the same keys.

The id of a metric is the name of its pack, a point, and its name there: ``lbrag.f1``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from corpora.files.toml_text import parse_toml
from scoring.core.specification import InventoryRow, MetricInfo, table_row

SHIPPED = ("lbrag", "au", "nest")
"""Names of the packs that come with the program."""


@dataclass(frozen=True, slots=True)
class Pack:
    """A system of metrics."""

    name: str
    version: str
    title: str
    document: str
    """What defines it: one of the seeds, or a paper."""
    tasks: tuple[str, ...]
    """Tasks of a dataset whose runs are scored with it where nobody says otherwise."""
    rows: Mapping[str, InventoryRow]
    """By metric id, in the order of the table."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """What its metrics may need beside what the specification's may, in words."""
    view: Mapping[str, Any] = field(default_factory=dict)
    """How the system itself prints its values (``scoring.packs.views``)."""


@cache
def shipped_pack(name: str) -> Pack:
    """Read the table of a pack that comes with the program."""
    text = files(f"scoring.packs.{name}").joinpath("pack.toml").read_text(encoding="utf-8")
    return read_pack(name, text)


def read_pack(name: str, text: str) -> Pack:
    """Read the table of a pack; KeyError names a field that it lacks, ValueError a line."""
    data = parse_toml(text)
    told = data["pack"]
    rows = (
        table_row(f"{name}.{metric}", row, told["document"])
        for metric, row in data.get("metrics", {}).items()
    )
    return Pack(
        name,
        version=told["version"],
        title=told["title"],
        document=told["document"],
        tasks=tuple(told["tasks"]),
        rows={row.info.id: row for row in rows},
        needs=data.get("needs", {}),
        view=data.get("view", {}),
    )


def pack_metric(id_: str) -> MetricInfo:
    """Return what the table of a shipped pack fixes about a metric; KeyError where it has no such row."""
    return shipped_pack(id_.partition(".")[0]).rows[id_].info
