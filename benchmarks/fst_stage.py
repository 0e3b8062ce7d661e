"""The FST stage of a run: its first time, its second time, and the engines against each other.

Needs the Plains Cree analysers (tests/README.md, ``ROSETTA_TEST_DATA``).
Run from the repository: ``python -m benchmarks.fst_stage [ENTRIES]``.
"""

from __future__ import annotations

import gc
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from corpora.languages.cards import find_card
from corpora.model.entry import Entry
from harness.annotators.fst import FstAnnotator
from harness.fst.analyser import open_analyser
from harness.fst.model import installed_engines, read_model
from harness.store.replies import StoredFindings
from harness.store.sqlite.database import open_store
from scoring.core.setup import Translation
from tests.harness.fst.making import layout_of, mutated, spelt_by
from tests.outside import DESCRIPTIVE, STRICT

GOAL = 0.05
"""Share of the first run's time that the second may take."""


def corpus(path: Path, entries: int, vocabulary: Sequence[str]) -> list[Translation]:
    """Make entries of fifteen words each, drawn as words are in texts: few often, many once."""
    choice = random.Random(1)
    ranks = list(accumulate(1 / (10 + rank) for rank in range(len(vocabulary))))

    def text() -> str:
        return " ".join(choice.choices(vocabulary, cum_weights=ranks, k=15))

    return [Translation(Entry(id=number, source=path.name, reference=text()), text()) for number in range(entries)]


def stage(path: Path, engine: str, items: list[Translation], store: Path) -> tuple[float, int]:
    """Annotate all entries as a run does; gives CPU seconds and the number of distinct words."""
    card = find_card("crk")
    gc.collect()  # what an earlier stage left behind is not this one's
    start = time.process_time()
    annotator = FstAnnotator(
        lambda: open_analyser(path, engine),
        card.card.writing("Latn") if card else None,
        StoredFindings(store),
        sha256=read_model(path).sha256,
    )
    found = annotator.annotate(items)
    annotator.close()
    seconds = time.process_time() - start
    return seconds, len({word.word for one in found for word in (*one.output, *one.reference)})


def main(entries: int) -> None:
    """Print for each analyser and engine: words a second, first run, second run, their ratio."""
    for path in (STRICT, DESCRIPTIVE):
        walked = spelt_by(layout_of(path), 12_000)
        known = [word for word in walked if len(word) < 17 and word.replace("-", "").isalpha()]
        vocabulary = known + mutated(known[::2], "âêtš")
        random.Random(2).shuffle(vocabulary)
        items = corpus(path, entries, vocabulary)
        for engine in installed_engines():
            with tempfile.TemporaryDirectory() as folder:
                warm, store = Path(folder) / "warm.db", Path(folder) / "store.db"
                open_store(store).close()
                stage(path, engine, items[:1], warm)  # what is imported is not the stage's
                first, count = stage(path, engine, items, store)
                second, _ = min(stage(path, engine, items, store) for _ in range(3))
            verdict = "met" if second <= GOAL * first else "MISSED"
            print(
                f"{path.stem:<27}{engine:<23}{count:6,} words {count / first:8,.0f} words/s  "
                f"first {first * 1e3:7,.0f} ms  second {second * 1e3:5,.0f} ms  "
                f"ratio {second / first:6.1%}  goal {GOAL:.0%} {verdict}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
