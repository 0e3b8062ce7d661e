"""Comparing stored runs against sacreBLEU's paired bootstrap from text, and all pairs of many runs.

Run from the repository: ``python -P -m benchmarks.compare``. sacreBLEU makes its paired bootstrap of chrF++, BLEU
and TER and an interval for each run. Ours reads the store and gives the same numbers, and the approximate
randomisation with 10,000 shuffles, effect sizes, wins and losses, and the intervals of the differences.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sqlite3
import tempfile
import time
import uuid
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from benchmarks.clock import best_cpu_seconds
from benchmarks.synthetic import Language, translations
from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry
from harness.compare.comparing import compare_runs
from harness.compare.rows import RowReader
from harness.method.method import MethodClass, Result, Setup
from harness.store.corpora.entries import save_corpus
from harness.store.results import add_results
from harness.store.runs import create_run, find_run
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import RunOpening
from scoring.core.metric import EntryStatistics, Table
from scoring.core.scorer import Scorer
from scoring.core.setup import ScoringSetup, Translation
from scoring.metrics.inventory import make_scorer
from scoring.statistics.clusters import rank
from scoring.statistics.intervals import kept_counts
from scoring.statistics.significance import COMPOSITE, kept_coins
from scoring.words.source_words import Resources

ENTRIES, RUNS = 2_000, 144
METRICS = ("chrf_plus_plus", "bleu", "ter")
SETUP = ScoringSetup(metrics=METRICS, source_language="en", target_language="und")


def stored_run(store: sqlite3.Connection, corpus: int, scorer: Scorer, rows: Sequence[EntryStatistics]) -> str:
    """Put a run into the store as a finished one is there, but for its card and texts."""
    run_id = str(uuid.uuid4())
    setup = Setup(
        method="replay",
        method_class=MethodClass.CUSTOM_PLUGIN,
        method_version="1",
        model_slug=run_id,
        condition="benchmark",
    )
    number = create_run(
        store, run_id=run_id, corpus=corpus, positions=range(len(rows)), setup=setup, setup_hash="",
        fingerprint_hash="", plan={}, opening=RunOpening(scoring=SETUP.model_dump(mode="json")),
        dataset_id="made", language_pair="EN→XX", harness_version="0",
    )  # fmt: skip
    results = [
        Result(place, place, None, scorer.pack(row), None, exact=False, second=None) for place, row in enumerate(rows)
    ]
    add_results(store, number, results)
    store.execute("UPDATE runs SET state = 'complete', run_card = '{}' WHERE id = ?", (number,))
    return run_id


def filled(path: Path, entries: Sequence[Entry], outputs: Sequence[Sequence[str]], runs: int) -> list[str]:
    """Fill a store: runs with these outputs, then runs that mix the statistics of the first two."""
    scorer = make_scorer(Resources(SETUP))
    taken = [scorer.statistics([Translation(e, o) for e, o in zip(entries, own, strict=True)]) for own in outputs]
    for number in range(len(outputs), runs):
        share = number / runs
        taken.append([taken[(place * 7919 % 997) / 997 < share][place] for place in range(len(entries))])
    store = open_store(path)
    store.execute("BEGIN IMMEDIATE")
    dataset = Dataset(id="made", language_pair="EN→XX", source_language="en", target_language="und")
    corpus = save_corpus(store, Corpus(dataset, tuple(entries), "0" * 64, Form.SPECIFICATION))
    names = [stored_run(store, corpus, scorer, rows) for rows in taken]
    store.execute("COMMIT")
    store.close()
    return names


def theirs(references: list[str], outputs: Sequence[list[str]], test: str) -> None:
    """Run one of sacreBLEU's tests from the texts."""
    metrics = {"chrF": CHRF(word_order=2), "BLEU": BLEU(), "TER": TER()}
    PairedTest([("A", outputs[0]), ("B", outputs[1])], metrics, [references], test_type=test)()


def ours(path: Path, names: Sequence[str]) -> None:
    """Open the store, read both runs, and give all intervals and tests."""
    store = open_store(path)
    compare_runs(store, names[:2], metrics=METRICS)
    store.close()


def ours_bootstrap(path: Path, names: Sequence[str]) -> None:
    """Do the same without the randomisation, which sacreBLEU's paired bootstrap has not either."""
    store = open_store(path)
    compare_runs(store, names[:2], metrics=METRICS, trials=1)
    store.close()


def first(path: Path, names: Sequence[str]) -> None:
    """Do all of it as the first comparison of a process, without resamples kept from another."""
    kept_counts.cache_clear()
    kept_coins.cache_clear()
    ours(path, names)


def two_runs(path: Path, names: Sequence[str], references: list[str], outputs: Sequence[list[str]]) -> None:
    """Print the comparison of two runs beside sacreBLEU's."""
    best = best_cpu_seconds(
        {
            "next comparison, bootstrap alone": lambda: ours_bootstrap(path, names),
            "first comparison, with 10,000 shuffles": lambda: first(path, names),
            "next comparison, with 10,000 shuffles": lambda: ours(path, names),
            "bs": lambda: theirs(references, outputs, "bs"),
            "ar": lambda: theirs(references, outputs, "ar"),
        },
        rounds=5,
    )
    bootstrap, shuffles = best.pop("bs"), best.pop("ar")
    print(
        f"two runs, 3 metrics, {ENTRIES:,} entries: sacreBLEU --paired-bs {bootstrap * 1e3:.0f} ms, "
        f"--paired-ar {shuffles * 1e3:.0f} ms"
    )
    for what, seconds in best.items():
        ratio = bootstrap / seconds
        print(
            f"  {what}: {seconds * 1e3:.1f} ms, ratio to --paired-bs {ratio:.0f}, goal 100 "
            f"{'met' if ratio >= 100 else 'MISSED'}; to both {(bootstrap + shuffles) / seconds:.0f}"
        )


def tables(path: Path, names: Sequence[str]) -> list[Table]:
    """Read the statistics of many runs."""
    store = open_store(path)
    reader, found = RowReader(store), []
    for name in names:
        rows = reader.read(find_run(store, name))
        found.append(rows.scorer.unpack_table([row.statistics for row in rows.rows]))
    store.close()
    return found


def many_runs(path: Path, names: Sequence[str]) -> None:
    """Print how long all pairs of many runs take."""
    start = time.process_time()
    read = tables(path, names)
    reading = time.process_time() - start
    for metric in (*METRICS, COMPOSITE):
        best = best_cpu_seconds({"rank": partial(rank, read, metric)})["rank"]
        pairs = len(names) * (len(names) - 1) // 2
        print(
            f"all {pairs:,} pairs of {len(names)} runs × {ENTRIES:,} entries by {metric}: {best:.2f} s, goal 1.5 s "
            f"{'met' if best <= 1.5 else 'MISSED'}; {len(rank(read, metric).clusters)} clusters; "
            f"reading the runs takes {reading:.2f} s before"
        )


def main() -> None:
    """Print both tables."""
    language = Language(5)
    made = translations(ENTRIES)
    references = [each.entry.reference for each in made]
    outputs = [[each.output for each in made], [language.noisy(text) for text in references]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rosetta.sqlite"
        names = filled(path, [each.entry for each in made], outputs, RUNS)
        two_runs(path, names, references, outputs)
        many_runs(path, names)


if __name__ == "__main__":
    main()
