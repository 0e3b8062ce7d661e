"""Whatever breaks within the engine is said, leaves a run that can go on, and holds nothing open."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.card import build
from harness.core.failures import StoreError
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event
from harness.events.progress import ProgressBoard
from harness.methods.baselines import CopySource
from harness.run import running
from harness.run.loop import Dispatcher, Streak
from harness.run.recorder import Recorder
from harness.run.running import execute_run
from harness.store.file.database import open_store
from scoring.core.scorer import Scorer
from tests.harness.evaluation import Heard, begun, corpus, kept, resume, run_corpus
from tests.harness.run.breaking_plan import PLAN

SECRET = "the medicine bundle"


def breaking(*_: Any, **__: Any) -> Any:
    raise ValueError(f"cannot read {SECRET!r}")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (Scorer, "statistics"),
        (Scorer, "pack"),
        (Recorder, "_gather"),
        (ProgressBoard, "progress"),
        (ProgressBoard, "heartbeat"),
        (Streak, "note"),
        (Dispatcher, "_room"),
        (running, "read_entries"),
        (running, "begin_stretch"),
        (running, "seal"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_what_breaks_is_said_and_the_run_can_go_on(
    store_path: Path, monkeypatch: pytest.MonkeyPatch, place: Any, name: str
) -> None:
    opened: list[sqlite3.Connection] = []

    def opening(path: Path) -> sqlite3.Connection:
        opened.append(open_store(path))
        return opened[-1]

    heard = Heard()
    number, method = begun(store_path, corpus(40, segment="held_out", source=SECRET), PLAN)
    with monkeypatch.context() as patch:
        patch.setattr(place, name, breaking)
        patch.setattr(running, "open_store", opening)
        with pytest.raises(ValueError, match="cannot read"):
            execute_run(store_path, number, method, heard, heard.control)
    assert "ValueError" in heard.failed.message
    assert SECRET not in heard.failed.message
    assert heard.failed.run_id == kept(store_path).run.run_id
    stored = kept(store_path).run
    assert (stored.state, stored.live and stored.live.model_fields_set) == (
        RunState.STOPPED,
        {"so_far"},
    )
    assert all(map(closed, opened))
    assert resume(store_path).finished.state is RunState.COMPLETE
    assert [each.position for each in kept(store_path).results] == list(range(40))


def closed(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return True
    return False


def test_a_listener_that_breaks_breaks_the_run_but_not_its_rows(store_path: Path) -> None:
    def react(event: Event, _: Control) -> None:
        if isinstance(event, EntryScored):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run_corpus(store_path, corpus(5), PLAN, Heard(react=react))
    assert kept(store_path).run.state is RunState.STOPPED
    assert resume(store_path).finished.done == 5


@pytest.mark.parametrize(
    "spoil", [lambda path: path.write_bytes(b"no database " * 99), lambda path: path.mkdir()]
)
def test_a_store_that_cannot_be_opened_is_said(
    tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    path = tmp_path / "rosetta.sqlite"
    spoil(path)
    heard = Heard()
    with pytest.raises(StoreError, match="cannot be used as a store"):
        execute_run(path, 1, CopySource(PLAN.options), heard, heard.control)
    assert "cannot be used as a store" in heard.failed.message


@pytest.mark.parametrize(
    ("segment", "damage", "said"),
    [
        (
            "held_out",
            "UPDATE results SET statistics = x'c1'",
            "the statistics of an entry are damaged",
        ),
        ("held_out", "UPDATE entries SET sealed = x'7b' || sealed", "it is damaged"),
        ("development", "UPDATE entries SET rest = '{'", "it is damaged"),
        ("held_out", f"UPDATE texts SET body = CAST(x'ff' || '{SECRET}' AS TEXT)", "it is damaged"),
    ],
    ids=["statistics", "sealed", "rest", "text"],
)
def test_a_damaged_store_is_said_and_nothing_of_it_quoted(
    store_path: Path, segment: str, damage: str, said: str
) -> None:
    heard = Heard()
    number, method = begun(store_path, corpus(8, segment=segment, source=SECRET), PLAN)
    execute_run(store_path, number, method, heard, heard.control)
    with closing(open_store(store_path)) as connection:
        connection.execute("UPDATE runs SET run_card = NULL, state = 'stopped'")
        connection.execute("DELETE FROM results WHERE position > 4")
        connection.execute(damage)
    with pytest.raises(StoreError, match=said):
        execute_run(store_path, number, method, heard, heard.control)
    assert said in heard.failed.message
    assert SECRET not in heard.failed.message


def test_a_sealed_run_stays_complete_when_the_last_listener_breaks(store_path: Path) -> None:
    def react(event: Event, _: Control) -> None:
        if type(event).__name__ == "Finished":
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run_corpus(store_path, corpus(5), PLAN, Heard(react=react))
    assert kept(store_path).run.state is RunState.COMPLETE
    assert kept(store_path).card is not None


def test_a_seal_that_breaks_halfway_is_undone(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(build, "seal_run", breaking)
        with pytest.raises(ValueError, match="cannot read"):
            run_corpus(store_path, corpus(5), PLAN)
    assert kept(store_path).card is None
    with closing(open_store(store_path)) as connection:
        connection.execute("BEGIN IMMEDIATE")  # nobody holds the store
    assert resume(store_path).finished.state is RunState.COMPLETE
