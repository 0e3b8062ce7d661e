"""What submitters who climb gain on a hidden set, by the real Ladder, and what an honest one learns.

Run from the repository: ``python -P -m benchmarks.ladder [HIDDEN SETS]``. The attackers and hidden sets are those of the
tests (``tests/harness/release/attackers.py``): 96 sentences, ten answers. Each is played where everybody knows the borders,
of the Ladder one step beyond the best score, and of the steps at their multiples, and where chance decides
(``budget.border``, ``rounding.by_chance``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np

from harness.release import budget, rounding
from tests.harness.release.attackers import (
    ATTACKS,
    STEP_OF_96,
    Choice,
    HiddenSet,
    by_level,
    by_steps,
    demo_statistics,
)

SPREADS = (-4.0, -2.0, 0.0, 1.0, 2.0, 4.0, 7.0)
"""How far above the level the middle of the border lies for who knows it, in standard deviations of a choice by coin."""
ASIDE = (0.0, 0.1, 0.3, 0.5)
"""Where a border of the steps is looked for, in steps from their middle."""
GAINS = (2.0, 5.0, 10.0, 20.0)
"""Points by which each run of an honest submitter is better than the one before."""


def worlds(statistics: np.ndarray) -> dict[str, Callable[[int], HiddenSet]]:
    """Return how the hidden sets of each world are drawn, by name."""
    failing = {f"each system fails on {share:.0%}": partial(HiddenSet.drawn, statistics, failing=share) for share in (0.1, 0.5)}  # fmt: skip
    return {
        **failing,
        "a good and a poor output for each": lambda seed: HiddenSet.opposed(statistics, seed),
    }


def spread_of(make: Callable[[int], HiddenSet]) -> float:
    """Return the standard deviation of a choice by coin, in points, the mean over ten hidden sets."""
    random, found = np.random.default_rng(1), []
    for world in map(make, range(10)):
        values = [world.value(random.integers(0, 2, world.entries)) for _ in range(200)]
        found.append(np.std(values))
    return float(np.mean(found))


def gains(make: Callable[[int], HiddenSet], attack: Callable[[HiddenSet, int], Choice], sets: int) -> np.ndarray:  # fmt: skip
    """Return what an attack gains on each hidden set, in points over a choice by coin."""
    found = []
    for seed in range(sets):
        world = make(seed)
        found.append(world.value(attack(world, seed + 5000)) - world.by_coin(200))
    return np.array(found)


def attacks(spread: float, middle: float) -> dict[str, Callable[[HiddenSet, int], Choice]]:
    """Return the attacks by name; ``spread`` as ``spread_of`` gives it, ``middle`` of the border in points."""
    found: dict[str, Callable[[HiddenSet, int], Choice]] = {
        name: lambda world, seed, attack=attack: attack(world.told, world.entries, budget.COUNT, seed)  # type: ignore[misc]
        for name, attack in ATTACKS.items()
    }  # fmt: skip
    for above in SPREADS:
        aim = above * spread - middle + STEP_OF_96
        found[f"knows its level, border {above:+g} sd"] = (
            lambda world, seed, aim=aim: by_level(world.told, world, seed, aim)  # type: ignore[misc]
        )
    for aside in ASIDE:
        for low in (False, True):
            found[
                f"lies on a border of the steps, {aside:g} aside{', begins low' if low else ''}"
            ] = (
                lambda world, seed, aside=aside, low=low: by_steps(
                    world.told, world, seed, aside, low=low
                )  # type: ignore[misc]
            )
    return found


def honest(gain: float, sets: int = 2_000) -> tuple[float, float]:
    """Return how many of ten runs, each better by ``gain``, are told as new, and how far the best one told lies behind."""
    random, told, behind = np.random.default_rng(3), [], []
    for _ in range(sets):
        best, new, value = None, 0, 20 + 10 * random.random()
        for _ in range(budget.COUNT):
            least = budget.border(STEP_OF_96, random.random())
            if best is None or budget.beats(value, best, least, higher=True):
                best, new = value, new + 1
            last, value = value, min(100.0, value + gain)
        told.append(new)
        behind.append(last - best)
    return float(np.mean(told)), float(np.mean(behind))


def main(sets: int) -> None:
    """Print the gains of each attack in each world, and what honest submitters learn."""
    statistics = demo_statistics()
    known, chance = (1.0, lambda step, _: step, range(1)), (budget.MIDDLE_STEPS, budget.border, rounding.PLACES)  # fmt: skip
    for steps, border, places in (known, chance):
        with patch.object(budget, "border", border), patch.object(rounding, "PLACES", places):
            print(f"borders: {'known' if steps == 1 else 'by chance'}")
            for name, make in worlds(statistics).items():
                spread = spread_of(make)
                print(f"  {name}; a choice by coin has a standard deviation of {spread:.2f}")
                for title, attack in attacks(spread, steps * STEP_OF_96).items():
                    found = gains(make, attack, sets)
                    error = found.std(ddof=1) / np.sqrt(sets)
                    print(f"    {title}: {found.mean():.2f} ± {error:.2f}", flush=True)
            for gain in GAINS:
                told, behind = honest(gain)
                print(f"  honest, {gain:g} points better each time: {told:.1f} of {budget.COUNT} told as new, the best told is {behind:.1f} behind")  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
