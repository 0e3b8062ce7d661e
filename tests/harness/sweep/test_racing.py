"""Races of sweeps: who is stopped, what it saves, and that kills and company change no decision."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from harness import api
from harness.core.failures import UsageError
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.run.running import execute_run
from harness.store.file.database import open_store
from harness.store.runs import find_run
from harness.store.sweeps import StoredSweep, find_sweep, forget_troubles
from harness.sweep.processes import WorkerProcesses
from harness.sweep.racing import BLOCK, SweepRace, entry_scores, read_racers
from harness.sweep.record import RacedOutRecord
from harness.sweep.working import cells_again, work
from scoring.statistics.racing import Race, shuffled
from tests.harness.scripted import Answer, Asked, completion, error, json_answer, serving
from tests.harness.sweep.sweeping import begun, never, record, stored_entries
from tests.review.thorough import first, times

SIZE = 60
SHARES = {"best": 0.95, "second": 0.85, "poor": 0.2, "worst": 0.0}
"""Model → share of its entries that it translates."""
TWO = {"best": 1.0, "worst": 0.0}
AXES = "[axes]\nmodel = [{}]"


def axes(shares: Mapping[str, float] = SHARES) -> str:
    return AXES.format(", ".join(f'"{name}"' for name in shares))


def answering(
    shares: Mapping[str, float] = SHARES, before: Callable[[Asked], None] = lambda _: None
) -> Callable[[Asked], Answer]:
    """Translate a share of the entries of each model, the same ones each time."""

    def answer(asked: Asked) -> Answer:
        before(asked)
        model, entry = str(asked.body["model"]), int(asked.source.split()[-1])
        drawn = np.random.default_rng([list(shares).index(model), entry]).random()
        return json_answer(completion(asked.source.upper() if drawn < shares[model] else "%%%"))

    return answer


def decided(store: Path) -> dict[str, RacedOutRecord]:
    return {each.name: each.raced_out for each in record(store).cells if each.raced_out}


@dataclass(frozen=True)
class Undisturbed:
    """A race that one worker made and nobody disturbed."""

    store: Path
    sweep: StoredSweep
    asked: list[tuple[str, str]]
    """Model and source of each call."""
    out: dict[str, RacedOutRecord]


def raced(folder: Path, url: str, shares: Mapping[str, float] = SHARES, top: str = "", size: int = SIZE) -> tuple[Path, StoredSweep]:  # fmt: skip
    """Store a race of these models, and bring it as far as it goes."""
    store, sweep = begun(folder, url, axes(shares), top=f"race = true\n{top}", size=size)
    work(store, sweep.number, never)
    return store, sweep


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch, serving(answering()) as server:
        patch.setenv("ROSETTA_HOME", str(folder / "home"))
        store, sweep = raced(folder, server.url)
        asked = [(str(each.body["model"]), each.source) for each in server.asked]
    return Undisturbed(store, sweep, asked, decided(store))


def test_losers_are_stopped_and_their_calls_saved(undisturbed: Undisturbed) -> None:
    asked = Counter(model for model, _ in undisturbed.asked)
    found = record(undisturbed.store)
    cells = {each.name: each for each in found.cells}
    assert found.state == "complete"
    assert [each.state for each in found.cells] == ["complete"] * 2 + ["raced-out"] * 2
    assert [each.trouble for each in found.cells] == [None] * len(SHARES)
    assert asked["best"] == asked["second"] == SIZE
    assert found.entries_spared == 2 * SIZE - asked["poor"] - asked["worst"] > SIZE
    assert (found.entries_done, found.entries_total) == (asked.total(), asked.total())
    out = undisturbed.out["worst"]
    assert cells["worst"].done == asked["worst"] == out.entries
    assert out.entries % BLOCK == 0
    assert 0 < out.lower < out.difference < out.upper
    # the first of the shuffled order, whatever place they have in the corpus
    first_ones = shuffled(SIZE, 12345)[: out.entries]
    sources = sorted(source for model, source in undisturbed.asked if model == "worst")
    assert sources == sorted(f"entry number {place}" for place in first_ones)
    with closing(open_store(undisturbed.store)) as connection:
        run = find_run(connection, cells["worst"].run_id or "")
        assert run.state is RunState.STOPPED
        assert run.live.reason == out.words(SIZE)
    assert out.words(SIZE).startswith(f"raced out after {out.entries} of {SIZE} entries: 0.")


def test_what_was_decided_follows_from_the_rule(undisturbed: Undisturbed) -> None:
    """The rule alone decides the same from the scores of single entries."""
    race, order = Race(list(SHARES), SIZE), shuffled(SIZE, 12345)
    with closing(open_store(undisturbed.store)) as connection:
        cells = record(undisturbed.store).cells
        seen = {
            each.name: entry_scores(connection, find_run(connection, each.run_id or ""))
            for each in cells
        }

    for start in range(0, SIZE, BLOCK):
        block = order[start : start + BLOCK]
        race.add({name: [seen[name][place] for place in block] for name in race.running})
    assert undisturbed.out.keys() == race.out.keys() == {"poor", "worst"}
    for name, out in race.out.items():
        told = undisturbed.out[name]
        assert (told.leader, told.entries, told.level) == (out.leader, out.entries, out.level)
        assert (told.lower, told.upper) == pytest.approx((out.lower, out.upper))


@pytest.mark.costly("kills real processes and finishes what they left")
@pytest.mark.parametrize("instant", first(1, (25, 47, 8, 40, 41, 60, 80, 100)))
def test_kill_changes_no_decision(tmp_path: Path, undisturbed: Undisturbed, instant: int) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, axes(), top="race = true", size=SIZE)
        with closing(WorkerProcesses(store, sweep.number, times(1, 2))) as workers:

            def kill(asked: Asked) -> None:
                if asked.number == instant:
                    for pid in workers.pids:
                        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))

            server.answer = answering(before=kill)
            workers.start()
            while not workers.wait(600):
                pass
            assert workers.failed
        assert record(store).state == "stopped"
        work(store, sweep.number, never)
        pairs = Counter((each.body["model"], each.source) for each in server.asked)
    assert decided(store) == undisturbed.out
    assert record(store).state == "complete"
    assert max(pairs.values()) <= 2  # what was under way is asked again, once


@pytest.mark.thorough
def test_several_workers_decide_the_same(tmp_path: Path, undisturbed: Undisturbed) -> None:
    with serving(answering()) as server:
        store, sweep = begun(tmp_path, server.url, axes(), top="race = true", size=SIZE)
        with closing(WorkerProcesses(store, sweep.number, 2)) as workers:
            workers.start()
            while not workers.wait(600):
                pass
            assert not workers.failed
        asked = Counter(str(each.body["model"]) for each in server.asked)
    assert decided(store) == undisturbed.out
    assert record(store).state == "complete"
    assert {name: asked[name] for name in undisturbed.out} == {
        name: out.entries for name, out in undisturbed.out.items()
    }


def test_equal_configurations_and_small_corpora_are_finished(tmp_path: Path) -> None:
    for shares, size in (({"one": 1.0, "other": 1.0}, 20), (SHARES, BLOCK - 1)):
        with serving(answering(shares)) as server:
            store, _ = raced(tmp_path, server.url, shares, size=size)
            assert len(server.asked) == len(shares) * size
        assert {each.state for each in record(store).cells} == {"complete"}
        assert decided(store) == {}


def test_repetitions_race_together(tmp_path: Path) -> None:
    with serving(answering(TWO)) as server:
        store, _ = raced(tmp_path, server.url, TWO, "replicates = 2")
    found = record(store)
    out = {each.name: each.raced_out for each in found.cells if each.raced_out}
    assert out.keys() == {"worst · #1", "worst · #2"}
    assert out["worst · #1"] == out["worst · #2"]
    assert {each.leader for each in out.values()} == {"best"}
    assert [each.done for each in found.cells[2:]] == [out["worst · #1"].entries] * 2


def test_failed_entry_counts_as_nothing(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.body["model"] == "worst" and int(asked.source.split()[-1]) % 3:
            return error(400, f"no answer to {asked.source}")
        return json_answer(completion(asked.source.upper()))

    with serving(answer) as server:
        store, _ = raced(tmp_path, server.url, TWO)
    found = record(store).cells[1]
    assert found.state == "raced-out"
    assert found.failed
    with closing(open_store(store)) as connection:
        scores = entry_scores(connection, find_run(connection, found.run_id or ""))
    assert {n for n, score in scores.items() if score == 0} == {n for n in scores if n % 3}


def test_incomplete_block_decides_nothing(tmp_path: Path, undisturbed: Undisturbed) -> None:
    store = tmp_path / "copy.sqlite"
    with closing(open_store(undisturbed.store)) as whole_store:
        whole_store.execute("VACUUM INTO ?", (str(store),))
    with closing(open_store(store)) as connection:
        race = SweepRace(cells_again(undisturbed.sweep), 12345)
        whole = race.replay(read_racers(connection, undisturbed.sweep.number))
        last = race.order[BLOCK - 1]
        run = find_run(connection, record(store).cells[1].run_id or "")
        connection.execute("DELETE FROM results WHERE run = ? AND position = ?", (run.id, last))
        lacking = race.replay(read_racers(connection, undisturbed.sweep.number))
    assert whole.seen == SIZE
    assert (lacking.seen, lacking.out) == (0, {})


@pytest.mark.thorough
def test_run_that_stopped_leaves_the_race_and_comes_back(tmp_path: Path) -> None:
    def refuse(asked: Asked) -> Answer:
        return error(404, "no such model") if asked.body["model"] == "second" else usual(asked)

    shares = {"best": 0.95, "second": 0.85, "worst": 0.0}
    usual = answering(shares)
    with serving(refuse) as server:
        store, sweep = raced(tmp_path, server.url, shares)
        found, before = record(store), decided(store)
        assert [each.state for each in found.cells] == ["complete", "stopped", "raced-out"]
        server.answer = usual
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        work(store, sweep.number, never)
    found = record(store)
    assert found.state == "complete"
    assert found.cells[1].trouble is None
    assert before.keys() == {"worst"}
    assert before.items() <= decided(store).items()  # its failures may race it out, too


def test_race_stays_one_and_a_run_may_be_finished_by_hand(tmp_path: Path) -> None:
    with serving(answering(TWO)) as server:
        store, sweep = raced(tmp_path, server.url, TWO)
        store, again = begun(tmp_path, server.url, axes(TWO), size=SIZE)
        assert again.number == sweep.number
        asked = len(server.asked)
        work(store, again.number, never)
        assert len(server.asked) == asked
        ready = api.resume(store, record(store).cells[1].run_id or "")
        execute_run(ready.path, ready.number, ready.method, lambda _: None, Control())
        work(store, again.number, never)
    found = record(store).cells[1]
    assert (found.state, found.done) == ("complete", SIZE)
    assert found.raced_out is not None
    assert len(stored_entries(store, found.run_id or "")) == SIZE
    with closing(open_store(store)) as connection:
        assert find_sweep(connection, "last").key == sweep.key


def test_runs_that_cannot_race_are_refused(tmp_path: Path) -> None:
    coaching = tmp_path / "coaching.json"
    coaching.write_text('{"notes": "Be brief.", "dictionary": {"number": "NUMBER"}}', "utf-8")
    url, coached = (
        "http://127.0.0.1:9/v1",
        '[axes]\nmodel = ["a"]\ncoaching = [false, "coaching.json"]',
    )
    for parts, said in (
        (coached, r"Say terms = .*coaching\.json"),
        (AXES.format('"a"'), "a race takes two configurations or more"),
        (AXES.format('"a", { label = "b", model = "b", metrics = "chrf" }'), "scored in different"),
    ):
        with pytest.raises(UsageError, match=r"plan\.toml: line 4, field 'race': .*" + said):
            begun(tmp_path, url, parts, top="race = true")
    for fixed in ('terms = "coaching.json"\n', 'metrics = "chrf,exact"\n'):
        begun(tmp_path, url, coached, top="race = true", fixed=fixed)
    coaching.write_text('{"notes": "Be brief."}', "utf-8")
    begun(tmp_path, url, coached, top="race = true")
