"""How often looking at a comparison while it runs deceives: the confidence sequence and a naive test.

Run from the repository: ``python -P -m benchmarks.peeking [SIMULATIONS]``. Two runs of the same method are alike
(A/A); somebody looks after every entry and stops at the first finding. The differences of entries are those of two
noisy systems on invented text, drawn again for each simulation; the naive test is the usual paired one, whose 5 %
hold for a single look.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.synthetic import Language, translations
from scoring.core.metric import FloatArray
from scoring.core.scorer import Scorer
from scoring.core.setup import Translation
from scoring.metrics.inventory import surface_metrics
from scoring.statistics.racing import ConfidenceSequence, enough, log_capital, power_sums

ENTRIES, FIRST_LOOK = 2_000, 10
LEVEL, SPAN = 0.95, 100.0
MOST_FALSE, LEAST_NAIVE = 0.05, 0.20
EFFECTS = (1.0, 2.0, 4.0, 8.0)
"""Real mean differences of chrF++ points an entry."""


def differences() -> FloatArray:
    """Return entry differences in chrF++ of two outputs of one noisy system."""
    language, scorer = Language(5), Scorer(surface_metrics())
    made = translations(ENTRIES)
    again = [Translation(each.entry, language.noisy(each.entry.reference)) for each in made]
    one, other = (
        scorer.table(scorer.statistics(outputs)).entry_values()["chrf_plus_plus"] for outputs in (made, again)
    )
    return other - one


def drawn(pool: FloatArray, effect: float, random: np.random.Generator) -> FloatArray:
    """Draw one simulated comparison: a coin says whose output is whose, then a share of entries is better."""
    values: FloatArray = random.choice(pool, ENTRIES) * random.choice((-1.0, 1.0), ENTRIES)
    if effect:
        moved = random.random(ENTRIES) < 0.25
        values = np.clip(values + moved * effect / 0.25, -SPAN, SPAN)
    return values


def first_finding(values: FloatArray) -> int | None:
    """Return after how many entries the confidence sequence first leaves zero out, examined after every one."""
    sums = power_sums(values / SPAN)
    sides = (log_capital(sums, 0.0), log_capital(sums * (-1.0) ** np.arange(sums.shape[1]), 0.0))
    return _first(np.maximum(*sides) >= enough(LEVEL))


def first_naive(values: FloatArray) -> int | None:
    """Return after how many entries the usual paired test first says that the runs differ."""
    count = np.arange(1, len(values) + 1)
    mean = np.cumsum(values) / count
    spread = np.cumsum(values**2) / count - mean**2
    z = np.abs(mean) * np.sqrt(count) / np.sqrt(np.maximum(spread, 1e-12))
    return _first(z > 1.959964)


def _first(found: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int | None:
    found[: FIRST_LOOK - 1] = False
    return int(found.argmax()) + 1 if found.any() else None


def agrees(values: FloatArray) -> bool:
    """Compare this quick way of looking with the class that the program uses, look by look."""
    sequence, at = ConfidenceSequence(SPAN, level=LEVEL), None
    for place, value in enumerate(values, 1):
        sequence.add([value])
        ends = sequence.interval()
        if place >= FIRST_LOOK and ends is not None and not ends[0] <= 0 <= ends[1]:
            at = place
            break
    return at == first_finding(values)


def simulate(pool: FloatArray, effect: float, simulations: int) -> None:
    """Print how often each test finds a difference, and when."""
    random = np.random.default_rng(7)
    found, naive, single = [], [], 0
    for _ in range(simulations):
        values = drawn(pool, effect, random)
        found.append(first_finding(values))
        naive.append(first_naive(values))
        single += abs(values.mean()) * len(values) ** 0.5 / values.std() > 1.959964
    shares = [sum(at is not None for at in each) / simulations for each in (found, naive)]
    if effect:
        middle = np.median([ENTRIES + 1 if at is None else at for at in found])
        print(
            f"real difference of {effect:g} points: found in {shares[0]:.1%}, in the middle after "
            f"{'none of these' if middle > ENTRIES else format(int(middle), ',')} entries; one look at the end "
            f"finds it in {single / simulations:.1%}"
        )
        return
    print(
        f"A/A, {simulations:,} simulations of {ENTRIES:,} entries, a look after every entry from the "
        f"{FIRST_LOOK}th: false alarms of the confidence sequence {shares[0]:.1%}, goal ≤ 5 % "
        f"{'met' if shares[0] <= MOST_FALSE else 'MISSED'}; of the naive test {shares[1]:.1%}, expected > 20 % "
        f"{'as expected' if shares[1] > LEAST_NAIVE else 'NOT SO'}; of one naive look at the end "
        f"{single / simulations:.1%}"
    )


def main() -> None:
    """Print false alarms and power, after holding the quick way against the class."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    pool = differences()
    print(f"differences of entries: standard deviation {pool.std():.1f} points")
    random = np.random.default_rng(3)
    same = all(agrees(drawn(pool, effect, random)) for effect in (0.0, 4.0) for _ in range(3))
    print(f"quick looks equal the program's own: {'yes' if same else 'NO'}")
    simulate(pool, 0.0, simulations)
    for effect in EFFECTS:
        simulate(pool, effect, simulations // 4)


if __name__ == "__main__":
    main()
