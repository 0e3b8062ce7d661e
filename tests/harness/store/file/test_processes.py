"""Several processes use one store at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.core.run_state import RunState
from tests.harness.evaluation import chat_plan, corpus, kept, query, run_corpus
from tests.harness.process import ROOT, spawn
from tests.harness.scripted import Scripted, completion, json_answer

READ = """
import sys
from pathlib import Path
from harness.store.file.database import open_store
from harness.store.ordering import ordered_positions
from harness.store.results import read_outcome
from harness.store.runs import find_run, list_runs
connection = open_store(Path(sys.argv[1]))
done = []
while True:
    run = find_run(connection, "last")
    done.append(read_outcome(connection, run.id).done)
    positions = ordered_positions(connection, run.id, sort="chrf", narrow="done")
    assert len(positions) >= done[-1], (positions, done)
    list_runs(connection)
    if run.state == "complete":
        break
assert done == sorted(done)
print(len(done), done[-1])
"""


@pytest.mark.thorough
def test_two_read_while_one_writes(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: json_answer(completion(asked.source.upper()), seconds=0.02)
    run_corpus(store_path, corpus(1), chat_plan(endpoint.url))
    query(store_path, "UPDATE runs SET created = 0")
    writer = spawn("begin", store_path, endpoint.url, 400)
    while len(endpoint.asked) < 20:  # the run is under way
        assert writer.poll() is None
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READ, str(store_path)],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [reader.communicate(timeout=60) for reader in readers]
    out, problems = writer.communicate(timeout=60)
    assert out.strip() == RunState.COMPLETE, problems
    for text, problem in said:
        looks, last = map(int, text.split())
        assert problem == ""
        assert looks > 3
        assert last == 400


@pytest.mark.thorough
def test_two_runs_write_at_once(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: json_answer(completion(asked.source.upper()), seconds=0.01)
    writers = [spawn("begin", store_path, endpoint.url, size) for size in (300, 301)]
    said = [writer.communicate(timeout=60) for writer in writers]
    assert [out.strip() for out, _ in said] == [RunState.COMPLETE] * 2, said
    ids = [row[0] for row in query(store_path, "SELECT run_id FROM runs")]
    sizes = sorted(len(kept(store_path, run_id).results) for run_id in ids)
    assert sizes == [300, 301]
    assert query(store_path, "PRAGMA integrity_check") == [("ok",)]
