"""Panels for the tests of the verdict: whole ones by chance, and ones made to a plan."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from review.verdict.gate.key import ControlKind
from review.verdict.gate.panel import ControlItem, Harm, Panel

FIVE = {1: 0.3, 2: 0.25, 3: 0.2, 4: 0.15, 5: 0.1}


def made(rank: Callable[[int, int], int], items: int = 80, people: int = 5, weights: Mapping[int, float] = FIVE) -> Panel:  # fmt: skip
    """Make a panel in which person j gives item i the rank ``rank(i, j)``; strata take turns."""
    strata = sorted(weights)
    names = [f"i{place:03}" for place in range(items)]
    return Panel(
        {name: strata[place % len(strata)] for place, name in enumerate(names)},
        dict(weights),
        {f"p{j}": {name: rank(i, j) for i, name in enumerate(names)} for j in range(people)},
        frozenset(names),
    )


def good(_item: int, _person: int) -> int:
    return 3


def bad(_item: int, _person: int) -> int:
    return 1


def by_chance(seed: int) -> Panel:
    """Make any panel at all: gaps, few or many people, flags, controls, extra items, looks."""
    draw = random.Random(seed)
    whole = draw.random() < 0.6  # enough for a verdict
    strata = draw.sample(range(6), draw.randint(1, 5))
    weights = {stratum: draw.uniform(0.05, 1) for stratum in strata}
    weights = {stratum: weight / sum(weights.values()) for stratum, weight in weights.items()}
    asked = strata[: draw.randint(1, len(strata))]
    count = draw.choice([60, 90] if whole else [3, 40, 60, 90])
    names = [f"i{n}" for n in draw.sample(range(1000), count)]
    quality = draw.choice([0.3, 0.7, 0.85, 0.95, 1.0])
    gaps = draw.choice([0, 0.05] if whole else [0, 0.1, 0.5])

    def ranks(items: list[str]) -> dict[str, int]:
        lenient = draw.gauss(0, 0.1)
        return {
            item: draw.choice([2, 3, 3]) if draw.random() < quality + lenient else draw.choice([0, 1])
            for item in items
            if draw.random() >= gaps
        }

    count = draw.choice([3, 5, 8] if whole else [0, 1, 2, 3, 5, 8])
    people = [f"p{n}" for n in draw.sample(range(50), count)]
    core = names[: len(names) if whole else draw.choice([len(names), len(names) // 2, 0])]
    found = Panel(
        strata={name: asked[place % len(asked)] for place, name in enumerate(names)},
        weights=weights, ratings={who: ranks(names) for who in people}, core=frozenset(core),
        cannot_judge={who: frozenset(draw.sample(names, 2)) for who in people[:2]},
        harm={name: draw.choice(list(Harm)) for name in names if draw.random() < 0.003},
        look=draw.choice([1, 1, 2, 3]),
    )  # fmt: skip
    return with_controls(found, lambda *_: draw.randint(0, 3), draw)


def with_controls(panel: Panel, rank: Callable[[str, str], int], draw: random.Random, each: int = 8) -> Panel:
    """Return everyone bad items and repeats, with partners, and ``each`` // 2 anchors."""
    first = [f"t{n}" for n in range(2 * each)]
    controls = {f"b{n}": ControlItem(ControlKind.BAD, first[n]) for n in range(each)}
    controls |= {f"r{n}": ControlItem(ControlKind.REPEAT, first[each + n]) for n in range(each)}
    controls |= {f"a{n}": ControlItem(ControlKind.ANCHOR) for n in range(each // 2)}
    return replace(
        panel,
        controls=controls,
        control_ratings={who: {c: rank(who, c) for c in controls} for who in panel.ratings},
        partner_ratings={who: {p: rank(who, p) for p in first} for who in panel.ratings},
        sequences={who: tuple(draw.randint(0, 3) for _ in mine) for who, mine in panel.ratings.items()},
        times_ms={who: tuple(draw.randint(500, 20_000) for _ in mine) for who, mine in panel.ratings.items()},
    )  # fmt: skip
