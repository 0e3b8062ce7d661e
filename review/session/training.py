"""Which training item comes next: each once, and once more those that were answered otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from review.files.batch_form import TrainingItem
from review.rating import Rating


class Exercise(NamedTuple):
    """A training item with its 1-based place in this round."""

    item: TrainingItem
    number: int
    of: int
    again: bool = False
    """True in the second round, which asks what was missed in the first."""


def next_exercise(
    items: Sequence[TrainingItem], answers: Mapping[str, Sequence[Rating]]
) -> Exercise | None:
    """Return the next training item, None when training is over; ``answers`` are by item, in order."""
    new = [item for item in items if not answers.get(item.id)]
    if new:
        return Exercise(new[0], len(items) - len(new) + 1, len(items))
    missed = [item for item in items if answers[item.id][0] != item.rating]
    again = [item for item in missed if len(answers[item.id]) == 1]
    if again:
        return Exercise(again[0], len(missed) - len(again) + 1, len(missed), again=True)
    return None
