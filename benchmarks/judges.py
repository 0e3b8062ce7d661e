"""Outputs judged by a model at a local endpoint with a fixed delay, every judgement stored as it comes.

Prints the time from the first call to the last reply as a multiple of the ideal (outputs × delay / connections),
beside a bare client on the same endpoint in the same minute, and how many calls the same scoring takes once more.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from benchmarks.run_live import DELAY, LocalEndpoint, bare_client
from corpora.formats.load import load
from harness.api import Ready, ask, start
from harness.run.events import Control
from harness.run.running import execute_run
from scoring.core.packs import shipped_pack
from scoring.core.specification import specification

GOAL = 1.25
METRIC = "lbrag.semantic_score"
REPLY = '{"score": 0.5, "explanation": "The answer says a part of it."}'


def write(folder: Path, entries: int) -> tuple[Path, Path]:
    """Write questions with expected answers, and answers."""
    corpus, outputs = folder / "corpus.jsonl", folder / "outputs.txt"
    corpus.write_text(
        "".join(f'{{"id": {n}, "source": "What is number {n}?", "reference": "It is {n}."}}\n' for n in range(entries)),
        "utf-8",
    )
    outputs.write_text("".join(f"Number {n}, I think.\n" for n in range(entries)), "utf-8")
    return corpus, outputs


def begin(folder: Path, entries: int, connections: int, url: str) -> Ready:
    """Make a run of the outputs ready."""
    corpus, outputs = write(folder, entries)
    told = {
        "outputs": outputs,
        "metrics": f"chrf,{METRIC}",
        "judge": f"{url}/v1",
        "judge_model": "mock-1",
        "concurrency": connections,
    }
    found = load(corpus, dataset={"source_language": "en", "target_language": "fr"})
    return start(folder / "home" / "rosetta.sqlite", ask(found, "replay", told))


def judged(ready: Ready) -> float:
    """Bring the run to its end; seconds."""
    began = time.perf_counter()
    execute_run(ready.path, ready.number, ready.cleared, lambda _: None, Control(), tools=ready.tools)
    return time.perf_counter() - began


def measure(entries: int, connections: int) -> None:
    """Judge the outputs twice and print a line."""
    specification().metrics.setdefault(METRIC, shipped_pack("lbrag").rows[METRIC])
    ideal = entries * DELAY / connections
    bare = LocalEndpoint()
    floor = bare_client(bare.url, entries, connections)
    bare.end()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["ROSETTA_HOME"] = str(folder / "home")
        endpoint = LocalEndpoint(reply=REPLY)
        whole = judged(begin(folder, entries, connections, endpoint.url))
        phase, asked = (endpoint.statistics()[each] for each in ("seconds", "served"))
        again = judged(begin(folder, entries, connections, endpoint.url))
        further = endpoint.statistics()["served"] - asked
        endpoint.end()
    verdict = "met" if phase / ideal <= GOAL and asked == entries and not further else "MISSED"
    print(
        f"{entries} judged outputs, {connections} connections: {phase / ideal:.2f} × ideal "
        f"(bare client {floor / ideal:.2f} ×), goal {GOAL} ×: {verdict}; the whole run {whole:.2f} s, "
        f"once more {again:.2f} s ({further:.0f} calls)"
    )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--entries", type=int, default=2000)
    arguments.add_argument("--connections", type=int, default=32)
    chosen = arguments.parse_args()
    measure(chosen.entries, chosen.connections)
