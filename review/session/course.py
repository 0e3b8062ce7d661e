"""Where in the sitting the person is: what comes first, what comes next, and what comes once more.

Each training item comes once. Time comes from a monotonic clock, so a wrong or changed wall clock does not matter; a pause between
two signs of life counts for a minute at most, which also cuts the time in which the lid was closed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from review.files.manifests import TrainingItem
from review.rating import Rating
from review.session.progress import SittingProgress
from review.session.view import Lesson, Phase

IDLE_SECONDS = 60.0
"""The most that one pause without any key counts."""
GUARD_SECONDS = 0.25
"""Keys this soon after an item was painted were meant for the one before: nobody reads so fast."""
MOST_MS = 86_400_000

Clock = Callable[[], float]


class ActiveTime:
    """The time on the item that is shown; it starts when the item is painted."""

    def __init__(self, clock: Clock, guard: float) -> None:
        self._clock = clock
        self._guard = guard
        self._painted: float | None = None
        self._quiet = 0.0
        """Since when no key came too soon."""
        self._alive = 0.0
        self._seconds = 0.0

    def reset(self) -> None:
        """Wait for another item to be painted."""
        self._painted = None

    @property
    def runs(self) -> bool:
        """Return whether the item was painted."""
        return self._painted is not None

    def painted(self) -> None:
        """Start; painting the same item again, as after a resize, changes nothing."""
        if not self.runs:
            self._painted = self._quiet = self._alive = self._clock()
            self._seconds = 0.0

    def touched(self) -> None:
        """Count the time since the last sign of life."""
        now = self._clock()
        self._seconds += min(max(0.0, now - self._alive), IDLE_SECONDS)
        self._alive = now

    def takes_keys(self) -> bool:
        """Return whether a key now can mean the item that is shown."""
        return self._painted is not None and self._clock() - self._quiet >= self._guard

    def too_soon(self) -> None:
        """Guard again after a key that meant nothing: of many in a row none counts, on a slow computer too."""
        self._quiet = self._clock()

    def milliseconds(self) -> int:
        """Count up to now and give the active time; only meaningful while an item is painted."""
        self.touched()
        return min(round(self._seconds * 1000), MOST_MS)


class Exercise(NamedTuple):
    """A training item with its 1-based place."""

    item: TrainingItem
    number: int
    of: int


def next_exercise(
    items: Sequence[TrainingItem], answers: Mapping[str, Sequence[Rating]]
) -> Exercise | None:
    """Return the next training item, None when training is over; ``answers`` are by item, in order."""
    new = [item for item in items if not answers.get(item.id)]
    if new:
        return Exercise(new[0], len(items) - len(new) + 1, len(items))
    return None


@dataclass(frozen=True, slots=True)
class CoursePlace:
    """A phase and the item that it shows."""

    phase: Phase
    item: str | None = None
    number: int = 0
    """1-based place among the items of the phase."""
    of: int = 0


@dataclass(frozen=True)
class SessionProgress:
    """What the sitting remembers beside the events; every step gives a new one.

    All of it may be lost with the power: the events alone lead back to the same item.
    """

    order: tuple[str, ...]
    """The person's items, in the order of the manifest."""
    training: Sequence[TrainingItem] = ()
    """Empty where this person has learned before."""
    chosen: str | None = None
    """The item that undo or a jump leads to, out of turn."""
    second: tuple[str, ...] | None = None
    """Items that were put aside and are asked once more; None before that began."""
    passed: frozenset[str] = frozenset()
    """Those of them that were put aside again: nothing is asked a third time by itself."""
    lesson: tuple[CoursePlace, Lesson] | None = None
    """The training item that was answered, and what is said about it."""
    resting: bool = False

    def place(self, now: SittingProgress) -> CoursePlace:
        """Return what is to be shown."""
        if now.withdrawn:
            return CoursePlace(Phase.WITHDRAWN)
        if not now.person.consented:
            return CoursePlace(Phase.CONSENT)
        return self._lesson(now) or self._item(now)

    def _lesson(self, now: SittingProgress) -> CoursePlace | None:
        if self.lesson is not None:
            return self.lesson[0]
        exercise = next_exercise(self.training, now.answers)
        if exercise is None:
            return None
        return CoursePlace(Phase.TRAINING, exercise.item.id, *exercise[1:])

    def _item(self, now: SittingProgress) -> CoursePlace:
        if self.resting:
            return CoursePlace(Phase.REST)
        item = self.chosen or now.first_unseen()
        if item is not None:
            return CoursePlace(Phase.ITEMS, item, now.number(item), len(self.order))
        return self._aside(now)

    def _aside(self, now: SittingProgress) -> CoursePlace:
        if self.second is None:
            return CoursePlace(Phase.SKIPPED if now.person.skipped else Phase.END)
        asked = (item_id for item_id in self.second if item_id not in now.person.decided)
        item = next((item_id for item_id in asked if item_id not in self.passed), None)
        if item is None:
            return CoursePlace(Phase.END)
        return CoursePlace(Phase.SKIPPED, item, self.second.index(item) + 1, len(self.second))

    def unrated(self, now: SittingProgress) -> tuple[str, ...]:
        """Return the items without a decision, in the person's order."""
        return tuple(item for item in self.order if item not in now.person.decided)

    def next_unrated(self, now: SittingProgress, here: str | None) -> str | None:
        """Return the first item without a decision after ``here``, else the first of all; None for none."""
        waiting = self.unrated(now)
        at = 0 if here is None else now.number(here)
        later = (item for item in waiting if now.number(item) > at)
        return next(later, waiting[0] if waiting else None)

    def decided(self, *, put_aside: str | None = None, rest: bool = False) -> SessionProgress:
        """Continue after a decision, or after an item was put aside."""
        again = self.second is not None and put_aside in self.second
        passed = self.passed | {put_aside} if again and put_aside else self.passed
        return replace(self, chosen=None, passed=passed, resting=rest)

    def without_practice(self) -> SessionProgress:
        """Remove the training items."""
        return replace(self, training=(), lesson=None)

    def going_to(self, item: str | None) -> SessionProgress:
        """Show an item out of turn."""
        return replace(self, chosen=item, resting=False)

    def going_on(self, now: SittingProgress, place: CoursePlace) -> SessionProgress:
        """Finish a lesson or a rest, or start with what was put aside."""
        if self.lesson is not None:
            return replace(self, lesson=None)
        if place.item is None and place.phase in {Phase.SKIPPED, Phase.END}:
            return replace(
                self, second=tuple(now.person.skipped) or self.second, passed=frozenset()
            )
        return replace(self, resting=False)
