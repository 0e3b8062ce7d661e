"""How often BLEU's interval holds the value of the whole population on small, low-scoring corpora.

Run from the repository: ``python -P -m benchmarks.bleu_coverage [SIMULATIONS]``. Corpora of 30, 100 and 200 entries are
drawn from 20,000 of invented text whose outputs reach a BLEU of 9, as a first system for a small language does.
The percentile interval is the one that the program gives; BCa (Efron 1987) corrects it for bias and skew with
the draws and a jackknife over entries. Nominal: 95 %.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from benchmarks.synthetic import Language, translations
from scoring.core.metric import FloatArray, Metric, Table
from scoring.metrics.chrf_bleu import Bleu, ChrfPlusPlus
from scoring.statistics.intervals import DRAWS, SEED, resample

POPULATION, SIZES = 20_000, (30, 100, 200)
LEVEL = 0.95
LONGEST = 8
KEPT_WORDS, COPIED = 0.10, 0.01
"""Share of a reference's words that an output has, and of outputs that are the reference."""


def population(metrics: list[Metric]) -> Table:
    """Return the statistics of outputs that keep some phrases of their references."""
    chance, language = random.Random(3), Language(7)
    made = []
    for each in translations(POPULATION):
        words = each.entry.reference.split()[: chance.randint(2, LONGEST)]
        entry = each.entry.model_copy(update={"reference": " ".join(words)})
        output, kept = [], chance.random() < 0.5
        for word in words:
            if chance.random() < 0.5:
                kept = chance.random() < KEPT_WORDS
            output.append(word if kept else language.word())
        output = words if chance.random() < COPIED else output
        made.append(replace(each, entry=entry, output=" ".join(output)))
    return Table.of_columns(metrics, [metric.stats_many(made) for metric in metrics], len(made))


def both_ends(drawn: FloatArray, point: float, jackknife: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the percentile and the BCa interval of some draws."""
    tails = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    normal = NormalDist()
    below = (np.sum(drawn < point) + 0.5 * np.sum(drawn == point)) / len(drawn)
    bias = normal.inv_cdf(min(max(float(below), 1e-4), 1 - 1e-4))
    apart = jackknife.mean() - jackknife
    spread = float((apart**2).sum()) ** 1.5
    skew = float((apart**3).sum()) / (6 * spread) if spread else 0.0
    z = np.array([normal.inv_cdf(tail) for tail in tails])
    moved = bias + (bias + z) / (1 - skew * (bias + z))
    corrected = [normal.cdf(each) for each in moved]
    return np.quantile(drawn, tails), np.quantile(drawn, corrected)


def main() -> None:
    """Print the coverage of both intervals by metric and number of entries."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    for metric in (Bleu(), ChrfPlusPlus()):
        whole = population([metric])
        true = float(metric.values(whole.totals())[0])
        chance = np.random.default_rng(11)
        for size in SIZES:
            held = np.zeros(2)
            for _ in range(simulations):
                rows = whole.matrix[chance.choice(len(whole), size, replace=False)]
                total = rows.sum(axis=0, keepdims=True)
                point = float(metric.values(total)[0])
                drawn = metric.values(resample(rows, DRAWS, SEED))
                for place, (low, high) in enumerate(both_ends(drawn, point, metric.values(total - rows))):
                    held[place] += min(low, point) <= true <= max(high, point)
            shares = held / simulations
            print(f"{metric.info.id} {true:.1f}, {size:4} entries: percentile {shares[0]:.1%}, BCa {shares[1]:.1%}")


if __name__ == "__main__":
    main()
