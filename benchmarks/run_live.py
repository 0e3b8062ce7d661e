"""A whole run with the live screen on a real terminal, against a local endpoint with a fixed delay.

Prints the request phase as a multiple of the ideal (entries × delay / connections), beside a bare
client on the same endpoint in the same minute, the whole process, the same again from the cache, and
the disk that an entry takes beside its own texts. Then the request phase with all metrics, an analyser
among them, beside that with surface metrics only, in turns, each in its own store.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import aiohttp

from benchmarks.end_to_end import compiled, write
from benchmarks.synthetic import translations
from benchmarks.terminal import ROSETTA, Terminal

DELAY = 0.05
LANGUAGES = ("--source-language", "en", "--target-language", "crk")
ROUNDS = 3
GOAL = 1.05
"""Request phase with all metrics, as a multiple of that with surface metrics only."""
PANELS_GOAL = 1.10
"""Processor time with pane, reasons and parts open, as a multiple of that with all of them closed."""
SURFACE = "exact_match_rate,equivalent_match_rate,chrf_plus_plus,bleu,ter,length_ratio"


class LocalEndpoint:
    """The mock endpoint in its own process."""

    def __init__(self, answers: Path | None = None, reply: str | None = None) -> None:
        command = [sys.executable, "-P", "-m", "benchmarks.mock_endpoint", "--delay", str(DELAY)]
        command += ["--answers", str(answers)] if answers else []
        command += [] if reply is None else ["--reply", reply]
        root = Path(__file__).parent.parent
        path = {**os.environ, "PYTHONPATH": str(root)}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, env=path)
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def statistics(self) -> dict[str, float]:
        """Return what it saw."""
        with urllib.request.urlopen(f"{self.url}/stats") as reply:
            figures: dict[str, float] = json.loads(reply.read())
        return figures

    def end(self) -> None:
        """Stop it."""
        self._process.kill()
        self._process.wait()


def write_corpus(path: Path, entries: int) -> int:
    """Write a corpus whose sources are noisy copies, which the endpoint gives back; bytes of its texts."""
    made = translations(entries)
    rows = [
        {"id": place, "source": each.output or "-", "reference": each.entry.reference}
        for place, each in enumerate(made)
    ]
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
    return sum(len(str(row["source"]).encode()) * 2 + len(str(row["reference"]).encode()) for row in rows)


def watched_run(
    home: Path, corpus: Path, endpoint: str, connections: int, further: Sequence[str] = LANGUAGES, keys: str = ""
) -> tuple[float, float]:
    """Run it on a terminal until its card is sealed, then leave; gives the seconds in all, and the processor's.

    ``keys`` are typed once the run is shown.
    """
    options = ["--method", "chat", "--model", "mock-1", "--endpoint", f"{endpoint}/v1", *further]
    options += ["--concurrency", str(connections)]
    env = {**os.environ, "ROSETTA_HOME": str(home)}
    terminal = Terminal([*ROSETTA, "run", str(corpus), *options], env)
    try:
        if keys:
            terminal.see("eta", 60)
            terminal.press(keys)
        terminal.see("run card is sealed", 120)
        processor = terminal.processor()
        terminal.press("q")
        return terminal.wait(20), processor
    finally:
        terminal.end()


def bare_client(url: str, entries: int, connections: int) -> float:
    """Send the same requests with nothing around them; seconds."""
    body = {"model": "m", "messages": [{"role": "user", "content": "x" * 160}]}

    async def work() -> float:
        left = iter(range(entries))
        connector = aiohttp.TCPConnector(limit=connections)
        async with aiohttp.ClientSession(connector=connector) as client:

            async def worker() -> None:
                for _ in left:
                    async with client.post(f"{url}/v1/chat/completions", json=body) as reply:
                        await reply.json()

            began = time.perf_counter()
            await asyncio.gather(*(worker() for _ in range(connections)))
            return time.perf_counter() - began

    return asyncio.run(work())


def measure(entries: int, connections: int) -> None:
    """Measure one number of connections and print a line."""
    ideal = entries * DELAY / connections
    with tempfile.TemporaryDirectory() as folder:
        home, corpus = Path(folder) / "home", Path(folder) / "corpus.jsonl"
        texts = write_corpus(corpus, entries)
        bare = LocalEndpoint()
        floor = bare_client(bare.url, entries, connections)
        bare.end()
        endpoint = LocalEndpoint()
        whole, _ = watched_run(home, corpus, endpoint.url, connections)
        phase = endpoint.statistics()["seconds"]
        size = store_bytes(home)
        again, _ = watched_run(home, corpus, endpoint.url, connections)
        asked = endpoint.statistics()["served"]
        endpoint.end()
    print(
        f"{entries} entries, {connections} connections: request phase {phase / ideal:.2f} × ideal "
        f"(bare client {floor / ideal:.2f} ×), process {whole:.2f} s, from the cache {again:.2f} s "
        f"({asked - entries:.0f} calls), {(size - texts) / entries:.0f} bytes an entry beside its texts"
    )


def compare(entries: int, connections: int) -> None:
    """Measure what all metrics add to the request phase, and print a line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus, outputs = write(folder, entries)
        answers = folder / "answers.json"
        answers.write_text(json.dumps(_answers(corpus, outputs)), "utf-8")
        kinds = {"surface": ["--metrics", SURFACE], "all": ["--analyser", str(compiled(folder))]}
        best = dict.fromkeys(kinds, float("inf"))
        for turn in range(ROUNDS):
            for kind, scoring in kinds.items():
                endpoint = LocalEndpoint(answers)
                home = folder / f"{kind}-{turn}"
                watched_run(home, corpus, endpoint.url, connections, scoring)
                best[kind] = min(best[kind], endpoint.statistics()["seconds"])
                endpoint.end()
    ratio = best["all"] / best["surface"]
    print(
        f"{entries} entries, {connections} connections: request phase with all metrics {best['all']:.3f} s, "
        f"with surface metrics {best['surface']:.3f} s, ratio {ratio:.3f}, goal {GOAL:g} "
        f"{'met' if ratio <= GOAL else 'MISSED'}"
    )


def panels(entries: int, connections: int) -> None:
    """Measure what pane, reasons and parts add to the processor time of a run, in turns, and print a line."""
    kinds = {"closed": "p", "open": "wb"}  # the pane is open from the beginning
    best = dict.fromkeys(kinds, float("inf"))
    with tempfile.TemporaryDirectory() as name:
        corpus = Path(name) / "corpus.jsonl"
        write_corpus(corpus, entries)
        for turn in range(ROUNDS):
            for kind, keys in kinds.items():
                endpoint = LocalEndpoint()
                home = Path(name) / f"{kind}-{turn}"
                best[kind] = min(best[kind], watched_run(home, corpus, endpoint.url, connections, keys=keys)[1])
                endpoint.end()
    ratio = best["open"] / best["closed"]
    print(
        f"{entries} entries, {connections} connections: processor with pane, reasons and parts open {best['open']:.2f} s, "
        f"closed {best['closed']:.2f} s, ratio {ratio:.3f}, goal {PANELS_GOAL:g} {'met' if ratio <= PANELS_GOAL else 'MISSED'}"
    )


def _answers(corpus: Path, outputs: Path) -> dict[str, str]:
    """Return the output for each source."""
    entries = json.loads(corpus.read_text("utf-8"))["entries"]
    lines = outputs.read_text("utf-8").splitlines()
    return {entry["source"]: json.loads(line)["output"] for entry, line in zip(entries, lines, strict=True)}


def store_bytes(home: Path) -> int:
    """Return the size of a store with its log folded in."""
    with sqlite3.connect(home / "rosetta.sqlite") as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (home / "rosetta.sqlite").stat().st_size


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--entries", type=int, default=2000)
    arguments.add_argument("--connections", type=int, nargs="*", default=[32, 128])
    chosen = arguments.parse_args()
    for count in chosen.connections:
        measure(chosen.entries, count)
    panels(chosen.entries, min(chosen.connections))
    compare(chosen.entries, min(chosen.connections))
