"""How many calls a race of 36 set-ups over 150 entries saves, and whether the best is kept.

Run from the repository: ``python -P -m benchmarks.racing [RACES]``. The set-ups' true means differ with a standard
deviation of 0.08 composite; entries differ in difficulty, and each output has its own chance, more or less of it
from world to world. Composites stay between 0 and 1.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from scoring.core.metric import FloatArray
from scoring.statistics.racing import Race

SETUPS, ENTRIES, SPREAD, BLOCK = 36, 150, 0.08, 10
LEAST_SAVED, LEAST_KEPT, MOST_FALSE = 0.35, 0.95, 0.05


class RacingWorld(NamedTuple):
    """How composites of entries come about."""

    name: str
    difficulty: float
    """Standard deviation of what entries do to all set-ups alike."""
    chance: float
    """Standard deviation of each output's own."""
    spread: float = SPREAD
    exact: float = 0.0
    """Share of outputs that are exact and have the composite 1."""

    def drawn(self, random: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the true means (set-ups,) and the composites (set-ups, entries) of one race."""
        means = random.normal(0.5, self.spread, SETUPS)
        entries = random.normal(0, self.difficulty, ENTRIES)
        own = random.normal(0, self.chance, (SETUPS, ENTRIES))
        values = np.clip(means[:, None] + entries + own, 0, 1)
        exact = random.random((SETUPS, ENTRIES)) < self.exact
        return means, np.where(exact, 1.0, values)


WORLDS = (
    RacingWorld("little chance", 0.15, 0.10),
    RacingWorld("some chance", 0.15, 0.15),
    RacingWorld("much chance", 0.10, 0.20),
    RacingWorld("much chance, a tenth exact", 0.10, 0.20, exact=0.1),
    RacingWorld("all set-ups equal", 0.15, 0.15, spread=0.0),
)


class Finish(NamedTuple):
    """What came of one race."""

    saved: float
    """Share of the calls of all set-ups over all entries."""
    best_kept: bool
    """Whether the set-up with the best mean on all entries has them all."""
    truly_best_kept: bool
    """Whether the set-up with the highest true mean has them all, whatever its mean on these."""
    false_pair: bool
    """Whether any set-up was stopped by one that is not ahead of it on all entries."""
    missed: float
    """Share of stopped set-ups whose interval does not hold the difference on all entries."""


def raced(values: FloatArray, means: FloatArray, block: int = BLOCK) -> Finish:
    """Run one race; ``values`` has the shape (set-ups, entries)."""
    race, calls = Race([str(row) for row in range(SETUPS)], ENTRIES), 0
    for start in range(0, ENTRIES, block):
        taken = {name: values[int(name), start : start + block].tolist() for name in race.running}
        calls += sum(map(len, taken.values()))
        race.add(taken)
    ends = values.mean(axis=1)
    real = {name: ends[int(out.leader)] - ends[int(name)] for name, out in race.out.items()}
    missed = [not out.lower <= real[name] <= out.upper for name, out in race.out.items()]
    return Finish(
        saved=1 - calls / values.size,
        best_kept=str(ends.argmax()) in race.running,
        truly_best_kept=str(means.argmax()) in race.running,
        false_pair=any(difference <= 0 for difference in real.values()),
        missed=float(np.mean(missed)) if missed else 0.0,
    )


def met(*, goal: bool) -> str:
    """Say whether a goal was met."""
    return "met" if goal else "MISSED"


def main() -> None:
    """Print what races save and lose in each world."""
    races = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for world in WORLDS:
        random = np.random.default_rng(7)
        drawn = [world.drawn(random) for _ in range(races)]
        apart = np.mean([(values[0] - values[1]).std() for _, values in drawn])
        done = np.array([raced(values, means) for means, values in drawn])
        saved, kept, truly, false, missed = done.mean(axis=0)
        print(
            f"{world.name} (differences of an entry: sd {apart:.2f}), {races} races: calls saved {saved:.0%}; best on "
            f"all entries kept {kept:.1%}; races with a false pair {false:.1%}, goal ≤ 5 % "
            f"{met(goal=false <= MOST_FALSE)}; intervals that miss {missed:.1%}"
        )
        if world.spread:  # of equal set-ups none is best, and nothing is to be saved
            print(
                f"  goal ≥ 35 % saved {met(goal=saved >= LEAST_SAVED)}; truly best kept {truly:.1%}, goal ≥ 95 % "
                f"{met(goal=min(kept, truly) >= LEAST_KEPT)}"
            )


if __name__ == "__main__":
    main()
