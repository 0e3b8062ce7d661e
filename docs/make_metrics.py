"""Writes the page of metrics from the tables of the specification: ``python -P docs/make_metrics.py``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from scoring.core.packs import Pack, shipped_packs
from scoring.core.specification import InventoryRow, Specification, specification

PAGE = Path(__file__).parent / "metrics.md"

HEAD = """\
# Metrics

This page is written by `docs/make_metrics.py` from `scoring/core/specification.toml` and the tables of the packs; a test fails where they differ.
How to read scores: [scores.md](scores.md). First come the metrics of the scoring specification, then the [packs](#packs).

| column | what it says |
|---|---|
| scale, direction | lowest and highest value; whether more is better, less, or neither |
| level | *both*: an entry has its own value; *corpus*: only all entries together have one |
| status | *implemented*; *partial* with what it lacks; *absent* |
| needs | what you must have; without it the value is null, with the reason |
| interval | whether the value of a run has a 95 % bootstrap interval |
| composite | the weight in profile A (the FST metric has a value) and in profile B (it has none), or why it is no part |

A metric is computed by a machine and does not replace the judgement of speakers. How some metrics count in detail, and where an output can score more by saying less, is in
[internals](internals/metrics.md).
"""


PACKS = """\
## Packs

A pack is a system of metrics beside the specification's, with a document and its own version. None of its metrics is part of the composite, of tiers
or of claims. `--metrics rosetta,lbrag` names all of a pack, `--metrics lbrag.f1` one of its metrics; without the option a run is scored by the pack of its
corpus's task. Where a pack differs from the code that was published for it: [internals](internals/packs.md). How to make one: [plugins.md](plugins.md).
"""


def page() -> str:
    """Return the whole page."""
    tables = specification()
    parts = [HEAD]
    for category, group in groupby(tables.metrics.items(), key=lambda item: item[1].category):
        rows = dict(group)
        parts.append(f"## {category.capitalize()} metrics\n\n{_inventory(rows, tables)}")
    parts.append(f"## Composite\n\n{_weights(tables)}")
    parts.append(f"## Tiers\n\n{_tiers(tables)}")
    parts.append(PACKS)
    parts += [_pack(pack, tables) for pack in shipped_packs()]
    return "\n".join(parts)


def _pack(pack: Pack, tables: Specification) -> str:
    """Return the section of a pack."""
    told = "".join(f"* `{id_}`: {row.what}\n" for id_, row in pack.rows.items())
    by_task = any(row.tasks for row in pack.rows.values())
    heads = ["id", "scale", "direction", "level", "status", "needs", "computed with", "interval"]
    table = _table(*heads, *(["task"] if by_task else []))
    for id_, row in pack.rows.items():
        task = [", ".join(row.tasks) or "all of these"] if by_task else []
        table += _cells(*_facts(id_, row, {**tables.needs, **pack.needs}), *task)
    return (
        f"### {pack.title}: `{pack.name}`\n\n"
        f"Version {pack.version}, by {pack.document}. Without `--metrics` it scores {', '.join(pack.tasks)}.\n\n"
        f"{told}\n{table}"
    )


def _inventory(rows: dict[str, InventoryRow], tables: Specification) -> str:
    told = "".join(f"* `{id_}`: {row.what}\n" for id_, row in rows.items())
    table = _table(
        "id", "scale", "direction", "level", "status", "needs", "computed with", "interval", "composite"
    )  # fmt: skip
    for id_, row in rows.items():
        table += _cells(*_facts(id_, row, tables.needs), _composite(id_, row, tables))
    return f"{told}\n{table}"


def _facts(id_: str, row: InventoryRow, needs: Mapping[str, str]) -> tuple[str, ...]:
    return (
        f"`{id_}`",
        row.scale.split(",")[0],
        "1 is ideal" if row.info.one_is_ideal else row.info.better,
        row.level,
        f"{row.status}: {row.lacks}" if row.lacks else row.status,
        "; ".join(needs[need] for need in row.needs),
        row.library,
        "yes" if row.interval else "no",
    )


def _composite(id_: str, row: InventoryRow, tables: Specification) -> str:
    if row.excluded:
        return f"no: {row.excluded[0].lower()}{row.excluded[1:].rstrip('.')}"
    weights = (f"{name} {profile[id_]:.2f}" for name, profile in tables.profiles.items() if id_ in profile)
    return ", ".join(weights)


def _weights(tables: Specification) -> str:
    """Tell the weights side by side, and how a value enters."""
    enters = {"none": "as it is", "percent": "divided by 100", "invert": "1 − value"}
    table = _table("metric", *(f"profile {name}" for name in tables.profiles), "enters")
    for id_, row in tables.metrics.items():
        if row.normalization:
            weights = (profile.get(id_) for profile in tables.profiles.values())
            told = ("–" if weight is None else f"{weight:.2f}" for weight in weights)
            table += _cells(f"`{id_}`", *told, enters[row.normalization])
    return f"{table}\nWeights of metrics without a value are shared out among those that have one, in proportion.\n"


def _tiers(tables: Specification) -> str:
    table = _table("tier", "composite from")
    for least, name in tables.tiers:
        table += _cells(name, f"{least:.2f}")
    return table


def _table(*names: str) -> str:
    return _cells(*names) + _cells(*("---" for _ in names)).replace(" ", "")


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
