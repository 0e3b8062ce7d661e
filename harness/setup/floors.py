"""Floors as the store and the events hold them; runs of before know less of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.setup.scoring_tools import ScoringTools
from harness.store.file.openings import Floor, RunOpening
from scoring.card.claim import FLOORS_VERSION, FloorScores
from scoring.card.floors import FloorWork

EARLIER = 1
"""Version of floors that do not name theirs: four of them, the constant one of eight candidates."""


def floor_work(tools: ScoringTools) -> FloorWork:
    """Return the work of finding the floors of a run, without the annotators that are asked at its end."""
    return FloorWork(
        tools.resources.entries,
        tools.scorer.metrics,
        annotate=tools.annotated,
        weighing=tools.scorer.weighing,
    )


def stored_floors(scores: Mapping[str, FloorScores]) -> tuple[Floor, ...]:
    """Return floors as the store and the events hold them."""
    return tuple(
        Floor(
            name, floor.composite, floor.chrf_plus_plus, floor.inputs, floor.entries, floor.searched
        )
        for name, floor in scores.items()
    )


def floor_fields(scores: Mapping[str, FloorScores]) -> dict[str, Any]:
    """Return the fields of a run's opening that tell its floors."""
    return {"floors": stored_floors(scores), "floors_version": FLOORS_VERSION}


def floors_version(opening: RunOpening) -> int:
    """Return the version of the floors that a run's opening tells; of floors yet to be worked out, this one's."""
    return opening.floors_version or (FLOORS_VERSION if opening.floors is None else EARLIER)


def floor_scores(opening: RunOpening) -> dict[str, FloorScores] | None:
    """Return the floors of a run by name; None where they are yet to be worked out."""
    return None if opening.floors is None else scores_of(opening.floors)


def scores_of(floors: Sequence[Floor]) -> dict[str, FloorScores]:
    """Return stored floors by name."""
    return {
        floor.name: FloorScores(
            floor.composite, floor.chrf, floor.inputs, floor.entries, floor.searched
        )
        for floor in floors
    }
