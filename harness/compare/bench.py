"""The entries of a bench: which are the worst of a run, and what chance alone gives entries that were chosen for that.

Entries that were chosen because they scored lowest score higher when they are asked again in any other way: the next
answer has other bad luck (regression to the mean). Other runs over the same entries show how much. They are not chosen
by their own scores, so what they gain on these entries beyond what they gain overall is chance. Example: a run has 40
overall and 10 on its 20 worst entries, another run has 42 overall and 25 on the same 20. It gains 15 on them and 2
overall, so 13 points come by chance alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

from harness.core.failures import RunState
from harness.store.results import headlines_by_place
from harness.store.runs import Run
from scoring.core.inventory import direction
from scoring.core.specification import stated_columns

MOST_WORST = 20
_MOST_RUNS = 20  # other runs that are read


@dataclass(frozen=True, slots=True)
class ChanceGain:
    """What other runs gain on the chosen entries beyond what they gain overall, in points of the headline."""

    gain: float
    runs: int


def headline_of(run: Run) -> str:
    """Return the metric by which entries of a run are ordered."""
    return stated_columns(run.opening.scoring).headline


def worst_places(
    connection: sqlite3.Connection, run: Run, among: Collection[int] | None = None, most: int = MOST_WORST
) -> list[int]:
    """Return the places of the entries with the lowest values, the worst first; failed ones are for ``rosetta retry``.

    ``among``: only these entries count.
    """
    values = headlines_by_place(connection, run.id)
    better = -1.0 if direction(headline_of(run)) == "lower" else 1.0
    places = [place for place in values if among is None or place in among]
    return sorted(places, key=lambda place: (better * values[place], place))[:most]


def gain_by_chance(connection: sqlite3.Connection, run: Run, places: Sequence[int]) -> ChanceGain | None:
    """Return what chance alone gives; None where no other complete run has all entries of this one, with other values."""
    own, gains = headlines_by_place(connection, run.id), []
    query = "SELECT id FROM runs WHERE corpus = ? AND id <> ? AND state = ? AND put_away IS NULL ORDER BY id DESC"
    for (number,) in connection.execute(query, (run.corpus, run.id, RunState.COMPLETE)).fetchmany(_MOST_RUNS):
        other = headlines_by_place(connection, number)
        if not own.keys() <= other.keys() or all(other[place] == value for place, value in own.items()):
            continue
        overall = fmean(other[place] - value for place, value in own.items())
        gains.append(fmean(other[place] - own[place] for place in places) - overall)
    return ChanceGain(fmean(gains), len(gains)) if gains else None
