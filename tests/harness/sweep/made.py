"""Stores with a sweep whose runs came to what a test says: copies of one real run, their cards changed."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from harness.core.failures import RunState
from harness.store.results import read_results
from harness.store.runs import find_run, set_live
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import Live
from harness.store.sweeps import NewCell, StoredSweep, find_sweep, keep_sweep, read_cells, set_run, set_trouble
from harness.sweep.expansion import expand, open_plan_corpus
from harness.sweep.plan import read_plan
from harness.sweep.record import SweepRecord, sweep_record
from harness.sweep.working import begin_sweep
from tests.harness.ranked import play, ranked_corpus

ENTRIES = 6
INPUTS = ("chrf_plus_plus", "exact_match_rate")


@dataclass(frozen=True)
class MadeCell:
    """What one run of a sweep came to."""

    labels: Mapping[str, str]
    composite: float | None = None
    """None: it has not begun, or has no card."""
    chrf: float | None = None
    cost: float | None = None
    """US dollars an entry."""
    seconds: float | None = None
    kind: str = "raw-llm"
    """Class of its method."""
    method: str = "chat"
    replicate: int = 0
    state: str = "complete"
    inputs: Sequence[str] = INPUTS
    trouble: str = ""

    @property
    def name(self) -> str:
        return " · ".join([*self.labels.values(), f"#{self.replicate + 1}"])


def made_sweep(path: Path, axes: Mapping[str, Sequence[str]], cells: Sequence[MadeCell], *, name: str = "matrix") -> StoredSweep:  # fmt: skip
    """Store a sweep of these cells; the first that is complete keeps its run's entries, of the others the card is there."""
    with ThreadPoolExecutor(1) as aside:  # a run has a loop of its own, and the test may have one
        origin = aside.submit(play, path, ranked_corpus(ENTRIES), 3, "origin").result()
    count = max((each.replicate for each in cells), default=0) + 1
    stated = {axis: [{"label": each, "options": {}} for each in labels] for axis, labels in axes.items()}
    with closing(open_store(path)) as store:
        number = find_run(store, origin).id
        sweep = keep_sweep(
            store, key=name.encode().hex().ljust(64, "0"), name=name, file="plan.toml", budget_usd=None, workers=1,
            plan=json.dumps({"version": 1, "corpus": "c", "axes": stated, "replicates": count}),
            cells=[NewCell(each.name, each.labels, each.replicate, f"{place:064x}", ENTRIES) for place, each in enumerate(cells)],
        )  # fmt: skip
        for cell, stored in zip(cells, read_cells(store, sweep.number), strict=True):
            if cell.state != "waiting":
                run_id = f"{sweep.number}{stored.place:07}-made"
                _run(store, number, run_id, cell)
                set_run(store, sweep.number, stored.place, run_id, reused=False)
            if cell.trouble:
                set_trouble(store, sweep.number, stored.place, cell.trouble)
        store.execute("UPDATE runs SET put_away = 1 WHERE id = ?", (number,))
    return sweep


def _run(store: sqlite3.Connection, origin: int, run_id: str, cell: MadeCell) -> None:
    """Copy a run with its entries, and say in its card what it came to."""
    number = _copied(store, "runs", "id = ?", origin, {"run_id": run_id})
    _copied(store, "results", "run = ?", origin, {"run": number})
    if cell.state != "complete":
        store.execute("UPDATE runs SET run_card = NULL, state = ? WHERE id = ?", (cell.state, number))
        store.execute("DELETE FROM results WHERE run = ? AND position > 1", (number,))
        if cell.state == "running":
            set_live(store, number, RunState.RUNNING, Live(at=time.time()))
        return
    told = {
        "$.method.method": cell.method, "$.method.method_class": cell.kind,
        "$.scores.composite": cell.composite, "$.scores.chrf_plus_plus": cell.chrf,
        "$.cost.cost_per_entry_usd": cell.cost, "$.speed.avg_latency_seconds": cell.seconds,
    }  # fmt: skip
    parts = ", ".join("?, ?" for _ in told)
    store.execute(
        f"UPDATE runs SET run_card = json_set(run_card, {parts},"
        " '$.scores.composite_inputs', json(?), '$.scores.confidence_intervals', json('{}')) WHERE id = ?",
        [x for pair in told.items() for x in pair] + [json.dumps([{"metric": each} for each in cell.inputs]), number],
    )


def _copied(store: sqlite3.Connection, table: str, which: str, value: int, changed: Mapping[str, object]) -> int:
    names = [row[1] for row in store.execute(f"PRAGMA table_info({table})")]
    left = {"id", *changed}
    kept = [name for name in names if name not in left]
    into, taken = ", ".join([*changed, *kept]), ", ".join([*("?" for _ in changed), *kept])
    cursor = store.execute(
        f"INSERT INTO {table} ({into}) SELECT {taken} FROM {table} WHERE {which}", [*changed.values(), value]
    )
    return int(cursor.lastrowid or 0)


COMPOSITES = {
    0: (0.10, 0.20, 0.29),  # all in the lowest tier
    1: (0.10, 0.30, 0.20),  # b reaches the next one
    2: (None, None, None),  # all failed
    3: (0.50, 0.60, 0.70),
    4: (None, 0.28, 0.05),
    5: (0.10, 0.10, 0.10),  # secret
}
"""Place → composite by run, None where it failed."""


def made_misses(path: Path) -> None:
    """Store a sweep of three complete runs that came to ``COMPOSITES``, and one that was stopped."""
    cells = [MadeCell({"model": name}, 0.2, 20.0) for name in "abc"]
    made_sweep(path, {"model": (*"abcd",)}, [*cells, MadeCell({"model": "d"}, state="stopped")])
    with closing(open_store(path)) as store:
        runs = [row[0] for row in store.execute("SELECT id FROM runs WHERE run_card IS NOT NULL AND put_away IS NULL ORDER BY id")]  # fmt: skip
        for place, found in COMPOSITES.items():
            for run, composite in zip(runs, found, strict=True):
                store.execute(
                    "UPDATE results SET second = ?, error_class = ? WHERE run = ? AND position = ?",
                    (composite or 0.0, "timeout" if composite is None else None, run, place),
                )
            store.execute("UPDATE entries SET difficulty = ? WHERE position = ?", (5 if place in (2, 4) else 1, place))
        store.execute("UPDATE entries SET segment = 'gold_standard' WHERE position = 5")


SIZE = 6
LANGUAGES = '[reading]\nsource_language = "en"\ntarget_language = "eo"\n'
HEAD = f'version = 1\ncorpus = "c.tsv"\nworkers = 2\n{{top}}\n{LANGUAGES}'


def written(folder: Path, *parts: str, head: str) -> Path:
    """Write a plan of these parts."""
    path = folder / "plan.toml"
    path.write_text(head + "\n".join(parts), "utf-8")
    return path


def begun(folder: Path, url: str, *parts: str, top: str = "", fixed: str = "", size: int = SIZE) -> tuple[Path, StoredSweep]:  # fmt: skip
    """Store a sweep over two models at an endpoint; gives the store's path too."""
    rows = "".join(f"{n}\tentry number {n}\tENTRY NUMBER {n}\n" for n in range(size))
    (folder / "c.tsv").write_text(f"id\tsource\treference\n{rows}", "utf-8")
    options = f'method = "chat"\nendpoint = "{url}"\nconcurrency = 4\nattempts = 2\n{fixed}'
    axes = parts or ('[axes]\nmodel = ["a", "b"]',)
    path = written(folder, *axes, f"[fixed]\n{options}", head=HEAD.format(top=top))
    found = read_plan(path)
    store = folder / "home" / "rosetta.sqlite"
    return store, begin_sweep(store, found, expand(found, open_plan_corpus(found)))


def record(store: Path) -> SweepRecord:
    with closing(open_store(store)) as connection:
        return sweep_record(connection, find_sweep(connection, "last"))


def stored_entries(store: Path, run_id: str) -> list[str]:
    with closing(open_store(store)) as connection:
        run = find_run(connection, run_id)
        return [str(each.entry_id) for each in read_results(connection, run.id)]


def never() -> int:
    """Tell a worker to go on."""
    return 0


AXES = {
    "model": ("qwen2.5:7b", "gemma2:9b", "source copied"), "temperature": ("0", "0.7"),
    "coaching": ("none", "notes"),
}  # fmt: skip


def cells() -> list[MadeCell]:
    """A sweep in the middle: complete, running, waiting and stopped runs, one with other inputs, two repetitions."""

    def chat(model: str, heat: str, coaching: str, *told: float, **other: object) -> MadeCell:
        labels = {"model": model, "temperature": heat, "coaching": coaching}
        kind = "raw-llm" if coaching == "none" else "coached-llm"
        return MadeCell(labels, *told, **{"kind": kind, **other})  # type: ignore[arg-type]

    qwen, gemma, copied = AXES["model"]
    return [
        chat(qwen, "0", "none", 0.412, 44.1, 0.0004, 0.82),
        chat(qwen, "0", "none", 0.436, 45.3, 0.0004, 0.80, replicate=1),
        chat(qwen, "0", "notes", 0.633, 60.2, 0.0011, 1.12),
        chat(qwen, "0", "notes", 0.645, 61.0, 0.0011, 1.16, replicate=1),
        chat(qwen, "0.7", "none", 0.391, 41.7, 0.0004, 0.84),
        chat(qwen, "0.7", "none", state="waiting", replicate=1),
        chat(qwen, "0.7", "notes", 0.71, 63.9, 0.0012, 1.2, inputs=("chrf_plus_plus",)),
        chat(qwen, "0.7", "notes", state="running", replicate=1),
        chat(gemma, "0", "none", 0.524, 52.0, 0.0009, 1.4),
        chat(gemma, "0", "none", 0.518, 51.5, 0.0009, 1.5, replicate=1),
        chat(gemma, "0", "notes", 0.688, 64.4, 0.0021, 1.9),
        chat(gemma, "0", "notes", 0.676, 63.8, 0.0021, 1.8, replicate=1),
        chat(gemma, "0.7", "none", state="stopped", trouble="401: the key was refused"),
        chat(gemma, "0.7", "none", state="stopped", replicate=1),
        chat(gemma, "0.7", "notes", state="waiting"),
        chat(gemma, "0.7", "notes", state="waiting", replicate=1),
        MadeCell({"model": copied}, 0.152, 14.2, 0.0, 0.01, "custom-plugin", "copy-source"),
    ]
