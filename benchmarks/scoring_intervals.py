"""Confidence intervals of stored statistics against sacreBLEU's bootstrap: time and peak memory.

Run from the repository: ``python -m benchmarks.scoring_intervals``. sacreBLEU gives chrF++, BLEU and TER;
ours gives exact match, length ratio and the composite as well, in the same time.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from functools import partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import _bootstrap_resample, estimate_ci  # timed beside ours

from benchmarks.clock import best_cpu_seconds
from benchmarks.synthetic import translations
from scoring.core.metric import EntryStatistics, Table
from scoring.core.scorer import Scorer
from scoring.metrics.inventory import surface_metrics
from scoring.statistics.intervals import bootstrap, kept_counts

_SMALL, _LARGE = 2_000, 20_000
METRICS = surface_metrics(tokenizer="13a", has_variants=False)


def ready(entries: int) -> list[EntryStatistics]:
    """Take statistics as a store would hold them; the large corpus repeats the small one."""
    statistics = Scorer(METRICS).statistics(translations(_SMALL))
    return [statistics[place % _SMALL] for place in range(entries)]


def ours(statistics: list[EntryStatistics]) -> None:
    """Lay the statistics out and give all intervals."""
    bootstrap(Table.of(METRICS, statistics))


def first(statistics: list[EntryStatistics]) -> None:
    """Do the same without the counts kept from an earlier run."""
    kept_counts.cache_clear()
    ours(statistics)


def theirs(rows: dict[str, list[list[float]]]) -> None:
    """Give sacreBLEU's three intervals from the same statistics, in the lists that it asks for."""
    for id_, metric in (("chrf_plus_plus", CHRF(word_order=2)), ("bleu", BLEU()), ("ter", TER())):
        _, scores = _bootstrap_resample(rows[id_], metric, 1000)
        estimate_ci(np.array([score.score for score in scores]))


def listed(statistics: list[EntryStatistics]) -> dict[str, list[list[float]]]:
    """Write statistics as sacreBLEU holds them."""
    ids = ("chrf_plus_plus", "bleu", "ter")
    return {id_: [list(entry[id_] or ()) for entry in statistics] for id_ in ids}


def peak_megabytes(who: str) -> float:
    """Run one side on the large corpus in its own process and give its peak memory above idle."""
    finished = subprocess.run(
        [sys.executable, "-m", "benchmarks.scoring_intervals", who],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(finished.stdout)


def measure(who: str) -> None:
    """Print the peak memory in MB that the bootstrap adds to a process with ready statistics."""
    statistics = ready(_LARGE)
    rows = listed(statistics)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if who == "ours":
        ours(statistics)
    else:
        theirs(rows)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print((after - before) / 1024)


def main() -> None:
    """Print memory at the large size and time at both.

    Memory goes first: a child starts with the peak that its parent has reached.
    """
    ours_mb, theirs_mb = peak_megabytes("ours"), peak_megabytes("theirs")
    share = ours_mb / theirs_mb
    print(
        f"peak memory added at {_LARGE:,} entries: ours {ours_mb:.0f} MB, sacreBLEU {theirs_mb:.0f} MB, "
        f"share 1/{1 / share:.1f}, goal 1/6 {'met' if share <= 1 / 6 else 'MISSED'}"
    )
    for entries in (_SMALL, _LARGE):
        statistics = ready(entries)
        rows = listed(statistics)
        best = best_cpu_seconds(
            {
                "first run of a corpus": partial(first, statistics),
                "next run of a corpus": partial(ours, statistics),
                "sacreBLEU": partial(theirs, rows),
            },
            rounds=5,
        )
        peer = best.pop("sacreBLEU")
        if entries == _LARGE:
            del best["next run of a corpus"]  # too many counts to keep
        for what, seconds in best.items():
            ratio = peer / seconds
            goal = f", goal 12 {'met' if ratio >= 12 else 'MISSED'}" if entries == _SMALL else ""
            print(
                f"all intervals, 1,000 draws, {entries:,} entries, {what}: {seconds * 1e3:.1f} ms, "
                f"sacreBLEU {peer * 1e3:.1f} ms, ratio {ratio:.1f}{goal}"
            )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        main()
