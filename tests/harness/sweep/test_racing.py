"""Races of sweeps: who is stopped, what it saves, and that kills and company change no decision."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from harness.core.failures import UsageError
from harness.core.run_state import RunState
from harness.store.file.database import open_store
from harness.store.runs import find_run
from harness.store.sweeps import find_sweep, forget_troubles
from harness.sweep.processes import WorkerProcesses
from harness.sweep.racing import BLOCK, SweepRace, entry_scores, read_racers
from harness.sweep.record import RacedOutRecord
from harness.sweep.working import cells_again, work
from scoring.statistics.racing import Race, shuffled
from tests.harness.scripted import Answer, Asked, completion, error, json_answer, serving
from tests.harness.sweep.sweeping import begun, never, record, stored_entries
from tests.review.thorough import first

SIZE = 60
SHARES = {"best": 0.95, "second": 0.85, "poor": 0.2, "worst": 0.0}
"""Model → share of its entries that it translates."""
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


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))


def decided(store: Path) -> dict[str, RacedOutRecord]:
    return {each.name: each.raced_out for each in record(store).cells if each.raced_out}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RacedOutRecord]:
    """What one worker decides that nobody disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch, serving(answering()) as server:
        patch.setenv("ROSETTA_HOME", str(folder / "home"))
        store, sweep = begun(folder, server.url, axes(), top="race = true", size=SIZE)
        work(store, sweep.number, never)
    return decided(store)


def test_losers_are_stopped_and_their_calls_saved(tmp_path: Path) -> None:
    with serving(answering()) as server:
        store, sweep = begun(tmp_path, server.url, axes(), top="race = true", size=SIZE)
        work(store, sweep.number, never)
        asked = Counter(str(each.body["model"]) for each in server.asked)
        sources = [each.source for each in server.asked if each.body["model"] == "worst"]
    found = record(store)
    cells = {each.name: each for each in found.cells}
    assert found.state == "complete"
    assert [each.state for each in found.cells] == [
        "complete",
        "complete",
        "raced-out",
        "raced-out",
    ]
    assert [each.trouble for each in found.cells] == [None] * len(SHARES)
    assert asked["best"] == asked["second"] == SIZE
    assert found.entries_spared == 2 * SIZE - asked["poor"] - asked["worst"] > SIZE
    assert (found.entries_done, found.entries_total) == (len(server.asked), len(server.asked))
    out = cells["worst"].raced_out
    assert out is not None
    assert cells["worst"].done == asked["worst"] == out.entries
    assert out.entries % BLOCK == 0
    assert 0 < out.lower < out.difference < out.upper
    # the first of the shuffled order, whatever place they have in the corpus
    first_ones = shuffled(SIZE, 12345)[: out.entries]
    assert sorted(sources) == sorted(f"entry number {place}" for place in first_ones)
    with closing(open_store(store)) as connection:
        run = find_run(connection, cells["worst"].run_id or "")
        assert run.state is RunState.STOPPED
        assert run.live is not None
        assert run.live.reason == out.words(SIZE)
    assert out.words(SIZE).startswith(f"raced out after {out.entries} of {SIZE} entries: 0.")


def test_what_was_decided_follows_from_the_rule(
    tmp_path: Path, undisturbed: dict[str, RacedOutRecord]
) -> None:
    """All entries are scored by sweeps that do not race; the rule alone then decides the same."""
    with serving(answering()) as server:
        store, sweep = begun(tmp_path, server.url, axes(), size=SIZE)
        work(store, sweep.number, never)
    race, order = Race(list(SHARES), SIZE), shuffled(SIZE, 12345)
    with closing(open_store(store)) as connection:
        runs = {each.name: find_run(connection, each.run_id or "") for each in record(store).cells}
        scores = {name: entry_scores(connection, run) for name, run in runs.items()}
    for start in range(0, SIZE, BLOCK):
        block = order[start : start + BLOCK]
        race.add({name: [scores[name][place] for place in block] for name in race.running})
    assert undisturbed.keys() == race.out.keys() == {"poor", "worst"}
    for name, out in race.out.items():
        told = undisturbed[name]
        assert (told.leader, told.entries, told.level) == (out.leader, out.entries, out.level)
        assert (told.lower, told.upper) == pytest.approx((out.lower, out.upper))


@pytest.mark.parametrize("instant", first(1, (25, 47, 8, 40, 41, 60, 80, 100)))
def test_a_kill_changes_no_decision(
    tmp_path: Path, undisturbed: dict[str, RacedOutRecord], instant: int
) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, axes(), top="race = true", size=SIZE)
        with closing(WorkerProcesses(store, sweep.number, 2)) as workers:

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
    assert decided(store) == undisturbed
    assert record(store).state == "complete"
    assert max(pairs.values()) <= 2  # what was under way is asked again, once


def test_several_workers_decide_the_same(
    tmp_path: Path, undisturbed: dict[str, RacedOutRecord]
) -> None:
    with serving(answering()) as server:
        store, sweep = begun(tmp_path, server.url, axes(), top="race = true", size=SIZE)
        with closing(WorkerProcesses(store, sweep.number, 2)) as workers:
            workers.start()
            while not workers.wait(600):
                pass
            assert not workers.failed
        asked = Counter(str(each.body["model"]) for each in server.asked)
    assert decided(store) == undisturbed
    assert record(store).state == "complete"
    assert {name: asked[name] for name in undisturbed} == {
        name: out.entries for name, out in undisturbed.items()
    }


def test_equal_configurations_are_all_finished(tmp_path: Path) -> None:
    shares = {"one": 1.0, "other": 1.0}
    with serving(answering(shares)) as server:
        store, sweep = begun(tmp_path, server.url, axes(shares), top="race = true", size=30)
        work(store, sweep.number, never)
        assert len(server.asked) == 60
    assert [each.state for each in record(store).cells] == ["complete", "complete"]
    assert decided(store) == {}


def test_a_corpus_smaller_than_a_block_stops_nobody(tmp_path: Path) -> None:
    with serving(answering()) as server:
        store, sweep = begun(tmp_path, server.url, axes(), top="race = true", size=BLOCK - 1)
        work(store, sweep.number, never)
        assert len(server.asked) == len(SHARES) * (BLOCK - 1)
    assert {each.state for each in record(store).cells} == {"complete"}


def test_repetitions_race_together(tmp_path: Path) -> None:
    with serving(answering()) as server:
        store, sweep = begun(
            tmp_path, server.url, axes(), top="race = true\nreplicates = 2", size=SIZE
        )
        work(store, sweep.number, never)
    found = record(store)
    out = {each.name: each.raced_out for each in found.cells if each.raced_out}
    assert out.keys() == {"poor · #1", "poor · #2", "worst · #1", "worst · #2"}
    assert out["poor · #1"] == out["poor · #2"]
    assert {each.leader for each in out.values()} == {"best"}
    assert [each.done for each in found.cells[4:6]] == [out["poor · #1"].entries] * 2


def test_an_entry_that_failed_counts_as_nothing(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        number = int(asked.source.split()[-1])
        if asked.body["model"] == "worst" and number % 3:
            return error(400, f"no answer to {asked.source}")
        return json_answer(completion(asked.source.upper()))

    shares = {"best": 1.0, "worst": 0.3}
    with serving(answer) as server:
        store, sweep = begun(tmp_path, server.url, axes(shares), top="race = true", size=SIZE)
        work(store, sweep.number, never)
    found = record(store).cells[1]
    assert found.state == "raced-out"
    assert found.failed
    with closing(open_store(store)) as connection:
        scores = entry_scores(connection, find_run(connection, found.run_id or ""))
    assert {place for place, score in scores.items() if score == 0} == {
        place for place in scores if place % 3
    }


def test_an_incomplete_block_decides_nothing(tmp_path: Path) -> None:
    with serving(answering()) as server:
        store, sweep = begun(tmp_path, server.url, axes(), top="race = true", size=SIZE)
        work(store, sweep.number, never)
        cells = cells_again(sweep)
    with closing(open_store(store)) as connection:
        race = SweepRace(cells, 12345)
        whole = race.replay(read_racers(connection, sweep.number))
        last = race.order[BLOCK - 1]
        run = find_run(connection, record(store).cells[1].run_id or "")
        connection.execute("DELETE FROM results WHERE run = ? AND position = ?", (run.id, last))
        lacking = race.replay(read_racers(connection, sweep.number))
    assert whole.seen == SIZE
    assert (lacking.seen, lacking.out) == (0, {})


def test_a_run_that_stopped_by_itself_leaves_the_race_and_comes_back(tmp_path: Path) -> None:
    def refuse(asked: Asked) -> Answer:
        return error(404, "no such model") if asked.body["model"] == "second" else usual(asked)

    usual = answering()
    with serving(refuse) as server:
        store, sweep = begun(tmp_path, server.url, axes(), top="race = true", size=SIZE)
        work(store, sweep.number, never)
        found = record(store)
        before = decided(store)
        assert [each.state for each in found.cells] == ["complete", "stopped", "raced-out", "raced-out"]  # fmt: skip
        server.answer = usual
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        work(store, sweep.number, never)
    found = record(store)
    assert found.state == "complete"
    assert found.cells[1].trouble is None
    assert before.keys() == {"poor", "worst"}
    assert before.items() <= decided(store).items()  # its failures may race it out, too


def test_a_race_stays_one_and_a_run_may_be_finished_by_hand(tmp_path: Path) -> None:
    from harness import api
    from harness.events.control import Control
    from harness.run.running import execute_run

    with serving(answering()) as server:
        store, sweep = begun(tmp_path, server.url, axes(), top="race = true", size=SIZE)
        work(store, sweep.number, never)
        store, again = begun(tmp_path, server.url, axes(), size=SIZE)
        assert again.number == sweep.number
        asked = len(server.asked)
        work(store, again.number, never)
        assert len(server.asked) == asked
        ready = api.resume(store, record(store).cells[3].run_id or "")
        execute_run(ready.path, ready.number, ready.method, lambda _: None, Control())
        work(store, again.number, never)
    found = record(store).cells[3]
    assert (found.state, found.done) == ("complete", SIZE)
    assert found.raced_out is not None
    assert len(stored_entries(store, found.run_id or "")) == SIZE
    with closing(open_store(store)) as connection:
        assert find_sweep(connection, "last").key == sweep.key


def test_runs_that_are_held_against_different_terms_cannot_race(tmp_path: Path) -> None:
    coaching = tmp_path / "coaching.json"
    coaching.write_text('{"notes": "Be brief.", "dictionary": {"number": "NUMBER"}}', "utf-8")
    axes, url = (
        '[axes]\nmodel = ["a"]\ncoaching = [false, "coaching.json"]',
        "http://127.0.0.1:9/v1",
    )
    with pytest.raises(UsageError, match=r"field 'race': .* Say terms = .*coaching\.json"):
        begun(tmp_path, url, axes, top="race = true")
    begun(tmp_path, url, axes, top="race = true", fixed='terms = "coaching.json"\n')
    begun(tmp_path, url, axes, top="race = true", fixed='metrics = "chrf,exact"\n')
    coaching.write_text('{"notes": "Be brief."}', "utf-8")
    begun(tmp_path, url, axes, top="race = true")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (AXES.format('"a"'), "a race takes two configurations or more"),
        (AXES.format('"a", { label = "b", model = "b", metrics = "chrf" }'), "scored in different ways"),
    ],
)  # fmt: skip
def test_runs_that_cannot_race_are_refused(tmp_path: Path, parts: str, said: str) -> None:
    with pytest.raises(UsageError, match=r"plan\.toml: line 4, field 'race': .*" + said):
        begun(tmp_path, "http://127.0.0.1:9/v1", parts, top="race = true")
