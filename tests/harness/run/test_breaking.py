"""Whatever breaks within the engine is said, leaves a run that can go on, and holds nothing open."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from harness.card import build
from harness.core.failures import StoreError
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event, Finished
from harness.events.progress import ProgressBoard
from harness.methods.baselines import CopySource
from harness.run import running
from harness.run.loop import Dispatcher, Streak
from harness.run.recorder import Recorder
from harness.run.running import execute_run
from harness.store.file.database import open_store
from scoring.core.scorer import Scorer
from tests.harness.evaluation import Heard, begun, corpus, kept, query, resume, run_corpus
from tests.harness.run.breaking_plan import CHEAP

SECRET = "the medicine bundle"


def breaking(*_: Any, **__: Any) -> Any:
    raise ValueError(f"cannot read {SECRET!r}")


def closed(connection: sqlite3.Connection) -> bool:
    with suppress(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")
        return False
    return True


@pytest.mark.parametrize(
    "places",
    [
        [(running, "read_entries"), (running, "begin_stretch"), (Dispatcher, "_room"),
         (ProgressBoard, "progress"), (ProgressBoard, "heartbeat")],
        [(Scorer, "statistics"), (Streak, "note"), (Scorer, "pack"), (Recorder, "_gather")],
        [(running, "seal")],
    ],
    ids=["before", "on-the-way", "at-the-end"],
)  # fmt: skip
def test_whatever_breaks_is_said_and_the_run_goes_on(
    store_path: Path, monkeypatch: pytest.MonkeyPatch, places: list[tuple[Any, str]]
) -> None:
    opened: list[sqlite3.Connection] = []

    def opening(path: Path) -> sqlite3.Connection:
        opened.append(open_store(path))
        return opened[-1]

    number, method = begun(store_path, corpus(12, segment="held_out", source=SECRET), CHEAP)
    for place, name in places:
        heard = Heard()
        with monkeypatch.context() as patch:
            patch.setattr(place, name, breaking)
            patch.setattr(running, "open_store", opening)
            with pytest.raises(ValueError, match="cannot read"):
                execute_run(store_path, number, method, heard, heard.control)
        assert "ValueError" in heard.failed.message, name
        assert SECRET not in heard.failed.message, name
        stored = kept(store_path).run
        assert heard.failed.run_id == stored.run_id
        assert stored.state is RunState.STOPPED
        assert stored.live is not None
        assert stored.live.model_fields_set == {"so_far"}
        assert all(map(closed, opened)), name
    assert resume(store_path).finished.state is RunState.COMPLETE
    assert [each.position for each in kept(store_path).results] == list(range(12))


def test_breaking_listener_stops_the_run_and_keeps_rows(store_path: Path) -> None:
    def react_to(kind: type[Event]) -> Heard:
        def react(event: Event, _: Control) -> None:
            if isinstance(event, kind):
                raise BrokenPipeError

        return Heard(react=react)

    with pytest.raises(BrokenPipeError):
        run_corpus(store_path, corpus(5), CHEAP, react_to(EntryScored))
    assert kept(store_path).run.state is RunState.STOPPED
    assert resume(store_path).finished.done == 5
    with pytest.raises(BrokenPipeError):
        run_corpus(store_path, corpus(5), CHEAP, react_to(Finished))
    assert kept(store_path).run.state is RunState.COMPLETE, "it is sealed already"
    assert kept(store_path).card is not None


@pytest.mark.parametrize("content", [b"no database " * 99, None])
def test_unusable_store_is_said(tmp_path: Path, content: bytes | None) -> None:
    path, heard = tmp_path / "rosetta.sqlite", Heard()
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(StoreError, match="cannot be used as a store"):
        execute_run(path, 1, CopySource(CHEAP.options), heard, heard.control)
    assert "cannot be used as a store" in heard.failed.message


@pytest.mark.parametrize(
    ("segment", "damage", "said"),
    [
        ("held_out", "results SET statistics = x'c1'", "the statistics of an entry are damaged"),
        ("held_out", "entries SET sealed = x'7b' || sealed", "it is damaged"),
        ("development", "entries SET rest = '{'", "it is damaged"),
        ("held_out", f"texts SET body = CAST(x'ff' || '{SECRET}' AS TEXT)", "it is damaged"),
    ],
    ids=["statistics", "sealed", "rest", "text"],
)
def test_damaged_store_is_said_without_quoting_it(
    store_path: Path, segment: str, damage: str, said: str
) -> None:
    heard = Heard()
    number, method = begun(store_path, corpus(8, segment=segment, source=SECRET), CHEAP)
    execute_run(store_path, number, method, heard, heard.control)
    query(store_path, "UPDATE runs SET run_card = NULL, state = 'stopped'")
    query(store_path, "DELETE FROM results WHERE position > 4")
    query(store_path, f"UPDATE {damage}")
    with pytest.raises(StoreError, match=said):
        execute_run(store_path, number, method, heard, heard.control)
    assert said in heard.failed.message
    assert SECRET not in heard.failed.message


def test_breaking_seal_is_undone(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(build, "seal_run", breaking)
        with pytest.raises(ValueError, match="cannot read"):
            run_corpus(store_path, corpus(5), CHEAP)
    assert kept(store_path).card is None
    with closing(open_store(store_path)) as connection:
        connection.execute("BEGIN IMMEDIATE")  # nobody holds the store
    assert resume(store_path).finished.state is RunState.COMPLETE
