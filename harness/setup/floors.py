"""Floors as the store and the events hold them; runs of before know less of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scoring.card.floors import VERSION, FloorScores

EARLIER = 1
"""Version of floors that do not name theirs: four of them, the constant one of eight candidates."""


def floors_json(found: Mapping[str, FloorScores]) -> dict[str, Any]:
    """Return the fields of a run's opening that tell its floors."""
    return {
        "floors": [
            {
                "name": name,
                "composite": floor.composite,
                "chrf": floor.chrf_plus_plus,
                "inputs": list(floor.inputs),
                "entries": floor.entries,
                "searched": floor.searched,
            }
            for name, floor in found.items()
        ],
        "floors_version": VERSION,
    }


def floors_version(opening: Mapping[str, Any]) -> int:
    """Return the version of the floors that a run's opening tells; of floors yet to be worked out, this one's."""
    known = VERSION if opening.get("floors") is None else EARLIER
    return int(opening.get("floors_version") or known)


def read_floors(stored: Iterable[Mapping[str, Any]]) -> dict[str, FloorScores]:
    """Return floors by name, from what ``floors_json`` wrote, now or in an earlier version."""
    return {
        str(each["name"]): FloorScores(
            each["composite"],
            each["chrf"],
            tuple(each.get("inputs", ())),
            each.get("entries"),
            each.get("searched"),
        )
        for each in stored
    }
