"""Word error rate of many records against rapidfuzz alone, on the same words in the same run.

Run from the repository: ``python -m benchmarks.packs_wer [RECORDS]``. Bare rapidfuzz is a loop that takes the texts
apart into the same words and asks for their distance; what the distance costs when the words are there already is
printed next to it.
"""

from __future__ import annotations

import sys

import numpy as np
from rapidfuzz.distance import Levenshtein

from benchmarks.clock import best_cpu_seconds
from benchmarks.synthetic import translations
from scoring.core.setup import ScoringSetup
from scoring.packs.au.speech import WordErrorRate, spoken_words
from scoring.words.source_words import Resources

GOAL = 1.5


def main(records: int) -> None:
    """Print both times and their ratio."""
    items = translations(records)
    pairs = [(item.output, item.entry.reference) for item in items]
    words = [(spoken_words(output), spoken_words(reference)) for output, reference in pairs]
    setup = ScoringSetup(metrics=(), source_language="en", target_language="crk")
    metric = WordErrorRate(Resources(setup))

    def ours() -> float | None:
        rows = np.array(metric.stats_many(items), dtype=np.float64)
        metric.values(rows)
        return metric.value(rows.sum(axis=0))

    def bare() -> float:
        errors = wanted = 0
        for output, reference in pairs:
            target = spoken_words(reference)
            errors += Levenshtein.distance(spoken_words(output), target)
            wanted += len(target)
        return errors / wanted

    def ready() -> int:
        return sum(Levenshtein.distance(output, reference) for output, reference in words)

    if ours() != bare():
        raise SystemExit("the two do not agree")
    best = best_cpu_seconds({"ours": ours, "bare": bare, "ready": ready}, rounds=5)
    ratio = best["ours"] / best["bare"]
    each = {name: seconds / records * 1e6 for name, seconds in best.items()}
    print(
        f"WER of {records:,} records, CPU time per record, best of 5: ours {each['ours']:.1f} µs, bare rapidfuzz "
        f"{each['bare']:.1f} µs (its distance alone {each['ready']:.1f} µs)  ratio {ratio:.2f}  goal {GOAL:g} "
        f"{'met' if ratio <= GOAL else 'MISSED'}"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
