"""Stores with finished runs over one corpus, for the screen that compares them."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry, Segment
from harness.compare.comparing import compare_runs
from harness.compare.comparison import Comparison
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.compare.screen import CompareScreen
from tests.harness.evaluation import corpus_of, run_corpus
from tests.harness.ranked import REFERENCES, SPOILT
from tests.tui.screens import App, settle, text

METRICS = ("exact_match_rate", "chrf_plus_plus", "bleu", "ter", "length_ratio")

SECRET = "sekreta frazo"


def small_corpus(size: int = 40, secret: int = 4) -> Corpus:
    """Entries of five difficulties and two provenances; the last ones are held out."""
    return corpus_of(
        [
            Entry(
                id=n + 1,
                source=f"{SECRET if n >= size - secret else 'source sentence'} {n}",
                reference=f"{REFERENCES[n % 5]} {n}",
                segment=Segment.HELD_OUT if n >= size - secret else Segment.DEVELOPMENT,
                difficulty=1 + n % 5,
                provenance="elicited" if n % 8 else "textbook",
            )
            for n in range(size)
        ]
    )


def spoilt(corpus: Corpus, right: Sequence[int]) -> list[str]:
    return [
        entry.reference if place in right else f"{SPOILT[place % 5]} {place}"
        for place, entry in enumerate(corpus.reveal_here())
    ]


def finished(
    path: Path,
    corpus: Corpus,
    outputs: Sequence[str],
    model: str,
    *,
    number: int | None = None,
    condition: str = "made",
    metrics: Sequence[str] = METRICS,
) -> str:
    """Store a finished run of these outputs; gives its id, a fixed one where ``number`` is given."""
    file = path.parent / f"outputs-{len(list(path.parent.iterdir()))}.jsonl"
    lines = [
        {"id": entry.id, "output": output, "model": model, "latency_seconds": 0.5, "cost_usd": 0.0}
        for entry, output in zip(corpus.entries, outputs, strict=True)
    ]
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    options = MethodOptions(source_language="en", target_language="eo", outputs=file, condition=condition)
    scoring = ScoringOptions(metrics=tuple(metrics))
    plan = Plan(method="replay", options=options, run=RunOptions(offline=True), scoring=scoring)
    run_id = run_corpus(path, corpus, plan).finished.run_id
    if number is None:
        return run_id
    fixed = f"0000000{number}-0"
    execute(path, "UPDATE runs SET run_id = ?, created = ? WHERE run_id = ?", fixed, number, run_id)
    return fixed


def execute(path: Path, statement: str, *values: object) -> None:
    with closing(open_store(path)) as store:
        store.execute(statement, values)


def going_on(path: Path, run_id: str, done: int, *, state: str = "running") -> None:
    """Make a finished run one that is under way, with its first entries done."""
    with closing(open_store(path)) as store:
        number = find_run(store, run_id).id
        store.execute("DELETE FROM results WHERE run = ? AND position >= ?", (number, done))
        store.execute(
            "UPDATE runs SET run_card = NULL, state = ?, live = ? WHERE id = ?",
            (state, json.dumps({"at": time.time() + 3}), number),
        )


def taken_from(whole: Path, path: Path, run_id: str, done: int, *, sealed: bool) -> None:
    """Give a run under way the first entries of a store in which it is finished; with its card at last."""
    with closing(open_store(path)) as store:
        store.execute("ATTACH ? AS whole", (str(whole),))
        store.execute(
            "INSERT OR IGNORE INTO results SELECT w.* FROM whole.results w"
            " JOIN runs u ON u.id = w.run WHERE u.run_id = ? AND w.position < ?",
            (run_id, done),
        )
        if sealed:
            store.execute(
                "UPDATE runs SET state = 'complete', live = NULL, run_card ="
                " (SELECT run_card FROM whole.runs w WHERE w.run_id = runs.run_id) WHERE run_id = ?",
                (run_id,),
            )


def failing(path: Path, run_id: str, position: int) -> None:
    execute(
        path,
        "UPDATE results SET error_class = 'timeout', error = 'No answer within 60 s.', output = NULL"
        " WHERE position = ? AND run = (SELECT id FROM runs WHERE run_id = ?)",
        position,
        run_id,
    )


A, B, C, OTHER = (f"0000000{number}-0" for number in range(4))

WIDE = (120, 36)


def filled(path: Path, corpus: Corpus) -> Path:
    finished(path, corpus, spoilt(corpus, range(10)), "alpha", number=0)
    finished(path, corpus, spoilt(corpus, range(5, 33)), "beta", number=1)
    finished(path, corpus, spoilt(corpus, range(12)), "gamma", number=2)
    other = small_corpus(12, 0)
    finished(path, other, spoilt(other, range(6)), "delta", number=3)
    failing(path, A, 20)
    return path


def compared(path: Path, *runs: str, **wishes: Any) -> Comparison:
    with closing(open_store(path)) as store:
        return compare_runs(store, runs, **wishes)


async def shown(pilot: Pilot[Any], path: Path, *runs: str) -> CompareScreen:
    await settle(pilot)
    screen = CompareScreen(path, runs)
    pilot.app.push_screen(screen)
    await settle(pilot)
    return screen


@asynccontextmanager
async def comparing(path: Path, *runs: str) -> AsyncIterator[tuple[App, Pilot[Any], CompareScreen]]:
    app = App(None, path)
    async with app.run_test(size=WIDE) as pilot:
        yield app, pilot, await shown(pilot, path, *runs)


def joined(app: App) -> str:
    """Return the screen as one line, so that wrapped sentences can be found."""
    return " ".join(text(app).split())
