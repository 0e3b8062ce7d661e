"""How often the gate lets a method pass that is just at the level, and whether the planner keeps its promises.

Run from the repository: ``python -m benchmarks.gate_simulation [TRIALS]``. The reviews and the T rule here are
written apart from the program, with scipy; on a sample of the simulated reviews they are held against ``decide``.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from review.verdict.gate.gate import decide_gate
from review.verdict.gate.panel import Panel
from review.verdict.gate.planner import power
from review.verdict.gate.policy import GatePolicy, proposed

LEVEL, CONFIDENCE = 0.70, 0.95
MOST_FALSE_GO, MOST_MISS = 0.07, 0.03
REVIEWERS, ITEMS = (3, 5, 8), (50, 80, 100, 150)
_SHIFTS = np.array([1.2, 0.6, 0.0, -0.6, -1.2])
_BLOCK = 200

Marks = npt.NDArray[np.float64]
"""1 acceptable or better, 0 not; shape (reviews, strata, items of one, reviewers)."""


def reviews(items: int, reviewers: int, truth: float, sd: float, trials: int, seed: int = 7) -> Marks:
    """Simulate reviews: each rating is a coin with the chance that person and item give it."""
    random = np.random.default_rng(seed)
    wide = np.sqrt(1 + 1.2**2 + sd**2)

    def off(middle: float) -> float:
        return float(stats.norm.cdf((middle + _SHIFTS) / wide).mean() - truth)

    middle = optimize.brentq(off, -20, 20)
    item = random.normal(0, 1.2, (trials, 5, items // 5, 1))
    person = sd * random.standard_normal((trials, 1, 1, reviewers))
    chance = stats.norm.cdf(middle + _SHIFTS[:, None, None] + item + person)
    return np.asarray(random.random(chance.shape) < chance, np.float64)


def bounds(marks: Marks) -> tuple[Marks, Marks]:
    """Apply the T rule, strata alike: lower and upper bound of each review."""
    _, strata, size, people = marks.shape
    n = strata * size
    shares = marks.mean(axis=3)
    p = shares.mean(axis=(1, 2))
    items = (shares.var(axis=2, ddof=1) / size).mean(axis=1) / strata
    own = marks.mean(axis=(1, 2)).var(axis=1, ddof=1) / people
    total = np.maximum(items + own, 1e-20)
    effective = p * (1 - p) / total
    df = total**2 / np.maximum(items**2 / (n - strata) + own**2 / (people - 1), 1e-50)
    t2 = stats.t.ppf(CONFIDENCE, np.maximum(df, 1)) ** 2 / np.maximum(effective, 1e-20)
    half = np.sqrt(t2 * p * (1 - p) + t2**2 / 4)
    low, high = ((p + t2 / 2 + sign * half) / (1 + t2) for sign in (-1, 1))
    flat = (items + own < 1e-12) | (p * (1 - p) < 1e-12)
    exact_low = np.nan_to_num(stats.beta.ppf(1 - CONFIDENCE, p * n, n - p * n + 1), nan=0.0)
    exact_high = np.nan_to_num(stats.beta.ppf(CONFIDENCE, p * n + 1, n - p * n), nan=1.0)
    return np.where(flat, exact_low, low), np.where(flat, exact_high, high)


def panel(marks: Marks) -> Panel:
    """Write one simulated review as the program holds it; below acceptable is gist."""
    strata, size, people = marks.shape
    places = {f"{h}-{i:03}": (h, i) for h in range(strata) for i in range(size)}
    ratings = {f"p{j}": {id_: 1 + int(marks[h, i, j]) for id_, (h, i) in places.items()} for j in range(people)}
    return Panel(
        {id_: h + 1 for id_, (h, _) in places.items()},
        dict.fromkeys(range(1, strata + 1), 1 / strata),
        ratings,
        frozenset(places),
    )


def largest_difference(marks: Marks, policy: GatePolicy) -> float:
    """Return the largest difference of a bound here and of ``decide``."""
    ours = [decide_gate(panel(one), policy).numbers for one in marks]
    theirs = np.stack(bounds(marks), axis=1)
    return float(max(np.abs([float(o.lower or 0), float(o.upper or 0)] - t).max() for o, t in zip(ours, theirs, strict=True)))  # fmt: skip


def share_passed(items: int, reviewers: int, truth: float, sd: float, trials: int) -> float:
    """Return the share of simulated reviews whose lower bound reaches the level."""
    passed = 0
    for start in range(0, trials, _BLOCK):
        rows = min(_BLOCK, trials - start)
        marks = reviews(items, reviewers, truth, sd, rows, seed=1000 * reviewers + start + items)
        passed += int((bounds(marks)[0] >= LEVEL).sum())
    return passed / trials


def share_go(items: int, reviewers: int, policy: GatePolicy, trials: int) -> float:
    """Return the share of reviews just at the level for which the whole gate says go."""
    marks = reviews(items, reviewers, LEVEL, 0.5, trials, seed=11)
    return sum(decide_gate(panel(one), policy).outcome == "go" for one in marks) / trials


def false_go(trials: int, policy: GatePolicy) -> None:
    """Print the table of methods that are just at the level and pass."""
    print(
        f"false go at {LEVEL:.2f}, {trials:,} trials each (standard error about {0.22 / trials**0.5:.1%}), goal ≤ 7 %"
    )
    for sd in (0.0, 0.5, 0.8):
        for people in REVIEWERS:
            rates = [share_passed(items, people, LEVEL, sd, trials) for items in ITEMS]
            cells = "  ".join(f"n={n} {rate:.1%}" for n, rate in zip(ITEMS, rates, strict=True))
            word = "met" if max(rates) <= MOST_FALSE_GO else "MISSED"
            print(f"  leniency sd {sd}  {people} reviewers  {cells}   {word}")
    whole = "  ".join(f"{r} reviewers {share_go(100, r, policy, 400):.1%}" for r in REVIEWERS)
    print(f"  whole gate by decide_gate(), n=100, sd 0.5, 400 trials: {whole}")


def kept_promises(trials: int, policy: GatePolicy) -> None:
    """Print what the planner promises beside what happens."""
    worst, slowest = 0.0, 0.0
    print(f"power, planner / simulation ({trials:,} trials), goal within 3 points")
    for people in REVIEWERS:
        for items in ITEMS:
            cells = []
            for truth in (0.85, 0.90):
                start = time.perf_counter()
                promised = power(items, people, truth, policy)
                slowest = max(slowest, time.perf_counter() - start)
                seen = share_passed(items, people, truth, 0.5, trials)
                worst = max(worst, abs(promised - seen))
                cells.append(f"true {truth:.2f}: {promised:.3f} / {seen:.3f}")
            print(f"  {people} reviewers  n={items:<4} {'   '.join(cells)}")
    word = "met" if worst <= MOST_MISS else "MISSED"
    print(f"  largest miss {100 * worst:.1f} points: goal {word}; slowest answer {slowest:.2f} s")


def main() -> None:
    """Print both tables, after holding this rule against the program's."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    policy, _ = proposed()
    marks = [reviews(50, people, truth, 0.5, 60) for people in REVIEWERS for truth in (0.7, 0.97)]
    worst = max(largest_difference(one, policy) for one in marks)
    print(f"bounds here and of decide_gate() on 360 reviews: largest difference {worst:.1e}")
    false_go(trials, policy)
    kept_promises(trials, policy)


if __name__ == "__main__":
    main()
