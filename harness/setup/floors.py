"""Floors as the store and the events hold them; runs of before know less of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.store.file.openings import Floor, RunOpening
from scoring.card.claim import FLOORS_VERSION, FloorScores

EARLIER = 1
"""Version of floors that do not name theirs: four of them, the constant one of eight candidates."""


def floor_fields(found: Mapping[str, FloorScores]) -> dict[str, Any]:
    """Return the fields of a run's opening that tell its floors."""
    floors = (
        Floor(
            name,
            floor_scores.composite,
            floor_scores.chrf_plus_plus,
            floor_scores.inputs,
            floor_scores.entries,
            floor_scores.searched,
        )
        for name, floor_scores in found.items()
    )
    return {"floors": tuple(floors), "floors_version": FLOORS_VERSION}


def floors_version(opening: RunOpening) -> int:
    """Return the version of the floors that a run's opening tells; of floors yet to be worked out, this one's."""
    return opening.floors_version or (FLOORS_VERSION if opening.floors is None else EARLIER)


def floor_scores(opening: RunOpening) -> dict[str, FloorScores]:
    """Return the floors of a run by name; none where they are yet to be worked out."""
    return {
        floor.name: FloorScores(
            floor.composite, floor.chrf, floor.inputs, floor.entries, floor.searched
        )
        for floor in opening.floors or ()
    }
