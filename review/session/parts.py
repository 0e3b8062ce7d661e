"""The parts in which a person answers their sentences: how many sentences each has, when one ends, how long it takes.

How long a part takes is computed here from the person's own answers; only they see it, and it is stored nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from review.log.payloads import AnyPayload, Judged

USUAL, MOST = 15, 20
"""Sentences of a part."""
SECONDS_TO_JUDGE, SECONDS_TO_WRITE = (8, 15), (20, 60)
"""Seconds that most people need for a sentence, quick and slow ones."""
_FEWEST_ANSWERS = 5
"""Answers from which a person's own pace is computed."""


def part_size(total: int) -> int:
    """Return the number of sentences of each part, 1–20; the last part has what is left.

    60 sentences make 4 parts of 15, 100 make 7 of which the last has 10, and 20 are one part.
    """
    parts = max(1, round(total / USUAL), -(-total // MOST))
    return max(1, -(-total // parts))


def seconds_each(decisions: Iterable[AnyPayload], *, translating: bool) -> float:
    """Return seconds that a person needs for a sentence: the median of their answers, or what slow people need."""
    times = [given.active_ms / 1000 for given in decisions if isinstance(given, Judged)]
    if len(times) < _FEWEST_ANSWERS:
        return max(SECONDS_TO_WRITE if translating else SECONDS_TO_JUDGE)
    return median(times)


def minutes_for(sentences: int, seconds: float) -> int:
    """Return the whole minutes that sentences take at a number of seconds each, at least 1."""
    return max(1, round(sentences * seconds / 60))


class Parts:
    """Notes when a part ends, once for each part of a sitting."""

    def __init__(self, total: int, done: int) -> None:
        """``done`` of the sentences were answered before this sitting."""
        self._size, self._told = part_size(total), done

    def end_with(self, done: int) -> bool:
        """Return whether ``done`` answers end a part, for the first time in this sitting."""
        if done <= self._told or done % self._size:
            return False
        self._told = done
        return True
