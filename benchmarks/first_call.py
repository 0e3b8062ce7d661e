"""How long a run takes to its first call, and what its floors take beside its own scoring, in processor time.

The start-up is the same command over a corpus of one entry: imports, method, store. What a larger corpus adds until
the first call is reading, preparing and storing it.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.end_to_end import write
from harness.annotators.annotator import NoMemo
from harness.api import CorpusRequest, open_corpus
from harness.setup.preparing import prepare
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import floor_work
from scoring.core.setup import Translation

SIZES = (2_000, 20_000)
ROUNDS = 3
GOAL_SECONDS = 0.5
GOAL_RATIO = 0.3
BATCH = 32
"""Outputs that a run scores together while they stream in."""

_UNTIL_THE_FIRST_CALL = """
import os, sys, time
from harness.shipped_methods.baselines import CopySource
async def translate(self, entries, calls):
    os.write(1, f"{time.process_time()} {opened}\\n".encode())
    os._exit(0)
CopySource.translate = translate
from harness import api
read, opened = api.open_corpus, 0.0
def open_corpus(*given):
    global opened
    began = time.process_time()
    corpus = read(*given)
    opened = time.process_time() - began
    return corpus
api.open_corpus = open_corpus
from rosetta_tui.cli import main
main(["run", sys.argv[1], "--method", "copy-source", "--quiet"])
"""


def first_call(corpus: Path) -> tuple[float, float]:
    """Return the processor seconds until the first call in a fresh store, and those of reading the corpus."""
    best = (float("inf"), 0.0)
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "ROSETTA_HOME": home, "OPENBLAS_NUM_THREADS": "1"}
            command = [sys.executable, "-P", "-c", _UNTIL_THE_FIRST_CALL, str(corpus)]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        seconds, reading = map(float, done.stdout.split()[-2:])
        best = min(best, (seconds, reading))
    return best


def floors_beside_scoring(corpus: Path, outputs: Path) -> tuple[float, float]:
    """Return the processor seconds of a corpus's floors, and those of scoring one run's outputs."""
    found = open_corpus(CorpusRequest(corpus))
    texts = [json.loads(line)["output"] for line in outputs.read_text("utf-8").splitlines()]
    entries = found.reveal_here()
    tools = prepare(found.dataset, entries, entries, ScoringOptions(), NoMemo())
    gc.freeze()
    began = time.process_time()
    pairs = [Translation(*pair) for pair in zip(entries, texts, strict=True)]
    for start in range(0, len(pairs), BATCH):
        taken = tools.scorer.statistics(tools.annotated(pairs[start : start + BATCH]))
        tools.scorer.entries_values(taken)
    middle = time.process_time()
    work = floor_work(tools)
    while work.step():
        pass
    return time.process_time() - middle, middle - began


def main() -> None:
    """Print both for each size."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, _ = first_call(write(folder, 1)[0])
        for size in SIZES:
            corpus, outputs = write(folder, size)
            seconds, reading = first_call(corpus)
            after = seconds - one - reading
            print(
                f"{size:,} entries: first call after {seconds:.2f} s of the processor, {seconds / one:.1f} × the "
                f"start-up of {one:.2f} s; of it {reading:.2f} s for reading the corpus and {after:.2f} s for "
                f"preparing and storing it (goal ≤ {GOAL_SECONDS:g} {'met' if after <= GOAL_SECONDS else 'MISSED'})"
            )
            floors, scoring = floors_beside_scoring(corpus, outputs)
            ratio = floors / scoring
            print(
                f"{size:,} entries: floors {floors:.2f} s, the run's own scoring {scoring:.2f} s, ratio {ratio:.2f} "
                f"(goal ≤ {GOAL_RATIO:g} {'met' if ratio <= GOAL_RATIO else 'MISSED'})"
            )


if __name__ == "__main__":
    main()
