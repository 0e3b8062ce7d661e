"""Sealed runs of tasks that are no translations: real corpora whose records bring their answers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from harness import api
from harness.core.failures import RunState
from harness.run.events import Control, EntryScored, EventQueue, Progress, Started
from harness.run.running import execute_run
from harness.store.annotations import AnnotationRow, keep_annotations
from harness.store.corpora.entries import read_dataset
from harness.store.results import read_results
from harness.store.runs import Run, find_run
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import ScoringSoFar
from scoring.statistics.intervals import ValueSpread

DIARIZATION = {
    "audio": "talk/3.wav", "reference": "Anna: shall we begin\nBen: yes please\nEve: I am late",
    "predicted": "S1: shall we begin yes please\nS2: I am very late",
}  # fmt: skip
CHAT = {
    "turns": [{"user": "Two plus two?", "reference": "4"}, {"user": "Times three?"}],
    "predicted": ["4", "It is\ntwelve."], "judge_mt_bench": [10, 8],
}  # fmt: skip
TOOL = {"name": "alarm", "parameters": {"properties": {"hour": {"type": "integer"}}}}
FUNCTION_CALL = {
    "source": "Wake me at six.", "tools": [TOOL], "reference_calls": [{"alarm": {"hour": [6]}}],
    "predicted_calls": [{"alarm": {"hour": "6"}}],
}  # fmt: skip
INSTRUCTIONS = {
    "source": "Write a title and three points, without commas.",
    "instructions": [
        {"id": "detectable_format:title"},
        {"id": "detectable_format:number_bullet_lists", "kwargs": {"num_bullets": 3}},
        {"id": "punctuation:no_comma"},
    ],
    "predicted": "<<Trees>>\n* They grow, slowly\n* They give shade\n* They burn",
}
CHOICE = {
    "source": "Which is a mammal?", "choices": ["trout", "whale", "gull"], "reference": "B",
    "predicted": "Neither A nor B.\n\nAnswer: C",
}  # fmt: skip
MATH = {"source": "Half of 3?", "reference": "#### 1.5", "predicted": r"\boxed{\frac{3}{2}}"}
STATE = {
    "source": "User: A cheap hotel.\nSystem: With parking?\nUser: Yes.",
    "reference_state": {"hotel": {"price": "cheap", "parking": "yes"}},
    "predicted_state": {"hotel": {"price": "moderate", "stars": "4"}},
}
RESPONSE = {"source": "Name two rivers of Europe.", "predicted": "The Danube\nand the Rhine."}
JUDGED: list[dict[str, Any]] = [
    {"source": "The capital of Peru?", "reference": "Lima", "predicted": "Cusco", "judge_binary": 0},
    {"source": "Who wrote Faust?", "reference": "Goethe", "predicted": "Goethe", "judge_binary": 1},
]  # fmt: skip


def text2sql(folder: Path) -> list[dict[str, Any]]:
    """Return records with the database that they name: rows too many, a query that drops, a right one."""
    with closing(sqlite3.connect(folder / "shop.sqlite")) as shop:
        shop.executescript(
            "CREATE TABLE item(name TEXT, price REAL);"
            "INSERT INTO item VALUES ('pen', 1.5), ('ink', 4.0), ('desk', 120.0);"
        )
    told = {"source": "What costs less than five?", "database": "shop.sqlite"}
    wanted = "SELECT name FROM item WHERE price < 5"
    queries = (
        "SELECT name FROM item", "DROP TABLE item", "```sql\nselect name from item limit 2\n```",
    )  # fmt: skip
    return [{**told, "reference": wanted, "predicted": query} for query in queries]


def answered(folder: Path, task: str, records: Sequence[Mapping[str, Any]], **options: Any) -> tuple[Path, Run]:
    """Write a corpus, score the answers that its records bring, and return the store with the sealed run."""
    file, path = folder / f"{task}.json", folder / "s.sqlite"
    tags = {"language_pair": "EN→EN", "source_language": "en", "target_language": "en"}
    dataset = {"id": f"{task}-v1", "version": "1.0", "task": task, **tags}
    entries = [{"id": number, **record} for number, record in enumerate(records, 1)]
    file.write_text(json.dumps({"dataset": dataset, "entries": entries}), "utf-8")
    corpus = api.open_corpus(api.CorpusRequest(file))
    ready = api.start(path, api.ask(corpus, "replay", options))
    execute_run(path, ready.number, ready.cleared, lambda _: None, Control(), tools=ready.tools)
    with closing(open_store(path)) as store:
        return path, find_run(store, "last")


def judge(path: Path, run: Run, annotator: str, *judgements: Any, cost: float | None = 0.0028) -> None:
    """Let a judge have said this of the first outputs, one call each."""
    with closing(open_store(path)) as store, store:
        rows = [
            AnnotationRow(place, annotator, "made", said, 1, cost, cost or 0.0) for place, said in enumerate(judgements)
        ]
        keep_annotations(store, run.id, rows)


QA: list[dict[str, Any]] = [
    {
        "source": "Where does the river begin?", "reference": "below the hill",
        "evidence": [{"text": "The river begins below the hill.", "token_count": 7}],
        "predicted": "below hill", "judge_semantic": 0.5,
    },
    {"source": "How long is it?", "reference": "twenty miles", "predicted": "twenty miles"},
    {"source": "Who built the mill?", "reference": "Paul Rivera", "predicted": "nobody knows"},
]  # fmt: skip


def asking(path: Path, run: Run, queue: EventQueue) -> None:
    """Play what a run tells while its judge is asked: two answers came, one of them no judgement."""
    with closing(open_store(path)) as store:
        dataset, results = read_dataset(store, run.corpus), list(read_results(store, run.id))
    queue(Started.of(run, dataset, 0))
    for result in results:
        queue(EntryScored(run.run_id, result))
    total = len(results)
    told: dict[str, Any] = {
        "state": RunState.RUNNING, "elapsed_seconds": 9.0, "total": total, "done": total, "failed": 0,
        "in_flight": (), "waiting": (), "concurrency": 4, "most_concurrency": 8, "rate_limited": 0,
        "retries": 0,
        "values": {
            "lbrag.f1": 0.57, "lbrag.em": 0.33, "lbrag.rlc": 1.0, "lbrag.cost": 7.0,
            "lbrag.semantic_score": 0.5,
        },
        "intervals": {"lbrag.f1": (0.1, 0.93)}, "spread": ValueSpread(0.57, 0.51, total), "cost_usd": 0.0012,
        "spent_usd": 0.0068, "budget_usd": 0.05, "tokens": 412, "per_minute": 80.0, "p50_seconds": 0.41,
        "p95_seconds": 0.98, "scoring": ScoringSoFar(calls=2, cost_usd=0.0056, known_cost_usd=0.0056, failed=1),
        "doing": "asking judge_semantic: 2 of 3",
    }  # fmt: skip
    queue(Progress(run_id=run.run_id, **told))
