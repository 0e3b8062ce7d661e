"""What a run says from its first moment, and what it was told to do: kept with it, and taken up by later runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.store.file.positions import pack_positions
from harness.store.file.trouble import stored_object

OPENING = ("floors", "floors_version", "missing", "scoring", "packed")
"""Fields of a run's opening that depend on its entries and its scoring setup only."""


def find_openings(
    connection: sqlite3.Connection, corpus: int, positions: Sequence[int], harness_version: str
) -> Iterator[dict[str, Any]]:
    """Return what earlier runs on the same entries worked out for their beginning, the newest first."""
    rows = connection.execute(
        "SELECT opening FROM runs WHERE corpus = ? AND positions = ? AND harness_version = ?"
        " AND imported IS NULL ORDER BY id DESC",
        (corpus, pack_positions(positions), harness_version),
    )
    return (stored_object(row[0]) for row in rows)


def set_plan(
    connection: sqlite3.Connection, run: int, plan: Mapping[str, Any], opening: Mapping[str, Any]
) -> None:
    """Replace what resume needs, where a person chose another budget or concurrency."""
    connection.execute(
        "UPDATE runs SET plan = ?, opening = ? WHERE id = ?",
        (json.dumps(plan), json.dumps(opening, ensure_ascii=False), run),
    )


def set_opening(connection: sqlite3.Connection, run: int, opening: Mapping[str, Any]) -> None:
    """Replace what a run says of its floors, missing metrics and scoring."""
    connection.execute(
        "UPDATE runs SET opening = ? WHERE id = ?", (json.dumps(opening, ensure_ascii=False), run)
    )
