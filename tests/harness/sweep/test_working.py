"""Workers of a sweep: what they make, leave alone, take over from killed ones, and pay."""

from __future__ import annotations

import os
import random
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness import api
from harness.core.failures import UsageError
from harness.run.beginning import tools_for
from harness.store.file.database import open_store
from harness.store.holding import alone
from harness.store.shared_budget import committed_usd
from harness.store.sweeps import forget_troubles, read_cells, set_stopping, set_trouble, worker_lock
from harness.sweep.processes import WorkerProcesses
from harness.sweep.working import DRAIN, cells_again, work
from tests.harness.scripted import Answer, Asked, error, price_table, serving, translated
from tests.harness.sweep.sweeping import SIZE, begun, never, record, stored_entries
from tests.review.thorough import first


def test_worker_makes_every_run_in_order_and_none_again(tmp_path: Path) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url)
        work(store, sweep.number, never)
        models = [each.body["model"] for each in server.asked]
    found = record(store)
    assert found.state == "complete"
    assert [each.state for each in found.cells] == ["complete", "complete"]
    assert sorted(models) == ["a"] * SIZE + ["b"] * SIZE
    assert (
        models.index("b") >= SIZE - 2
    )  # the worker's share: so many may wait when the next begins
    assert [each.composite for each in found.cells] == [1.0, 1.0]
    assert (found.entries_done, found.entries_total) == (2 * SIZE, 2 * SIZE)
    with serving() as server:
        store, sweep = begun(tmp_path, server.url)
        work(store, sweep.number, never)
        before = len(server.asked)
        work(store, sweep.number, never)
        store, wider = begun(tmp_path, server.url, '[axes]\nmodel = ["b", "c"]')
        assert wider.key != sweep.key
        work(store, wider.number, never)
        asked = [each.body["model"] for each in server.asked[before:]]
    found = record(store)
    assert (asked, [each.reused for each in found.cells]) == (["c"] * SIZE, [True, False])
    assert found.state == "complete"


def test_the_next_run_begins_while_the_last_call_of_one_is_under_way(tmp_path: Path) -> None:
    def waiting(asked: Asked) -> Answer:
        def others() -> bool:
            return any(each.body["model"] == "b" for each in server.asked)

        return translated(asked, until=others if asked.number == SIZE - 1 else None)

    with serving(waiting) as server:
        store, sweep = begun(tmp_path, server.url)
        work(store, sweep.number, never)
        models = [each.body["model"] for each in server.asked]
        assert server.most_under_way <= 2  # the worker's share
    assert (record(store).state, sorted(models)) == ("complete", ["a"] * SIZE + ["b"] * SIZE)


def test_under_a_budget_the_next_run_begins_once_the_calls_of_one_are_in(tmp_path: Path) -> None:
    """Two that wait for each other's money, with all places for calls taken by one of them, would wait for good."""
    looks = 0

    def waiting(asked: Asked) -> Answer:
        def others() -> bool:
            nonlocal looks
            looks += 1
            return looks > 200 or any(each.body["model"] == "b" for each in server.asked)

        return translated(asked, until=others if asked.number == SIZE - 1 else None)

    prices = price_table(tmp_path, {"a": (1.0, 1.0), "b": (1.0, 1.0)})
    with serving(waiting) as server:
        fixed = f'prices = "{prices.name}"\nmax_tokens = 20\n'
        store, sweep = begun(tmp_path, server.url, top="budget_usd = 5", fixed=fixed)
        work(store, sweep.number, never)
        models = [each.body["model"] for each in server.asked]
    assert record(store).state == "complete"
    assert looks > 200, "the second was asked while a call of the first was under way"
    assert sorted(models) == ["a"] * SIZE + ["b"] * SIZE


def test_the_next_run_gets_ready_before_the_last_calls_of_one_go_out(tmp_path: Path) -> None:
    looks, seen = 0, list[int]()

    def runs() -> int:
        with closing(open_store(store)) as connection:
            return int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])

    def ready() -> bool:
        nonlocal looks
        looks += 1
        seen.append(runs())
        return seen[-1] == 2 or looks > 1000

    def held(asked: Asked) -> Answer:
        last = asked.number in {SIZE - 4, SIZE - 3}  # both calls of the worker's share
        return translated(asked, until=ready if last else None)

    with serving(held) as server:
        store, sweep = begun(tmp_path, server.url)
        work(store, sweep.number, never)
        assert server.most_under_way <= 2
    assert seen[-1] == 2
    assert looks <= 1000
    assert record(store).state == "complete"


def test_tools_of_scoring_are_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[object] = []

    def counted(*given: Any) -> Any:
        found.append(tools_for(*given))
        return found[-1]

    monkeypatch.setattr(api, "tools_for", counted)
    with serving() as server:
        store, sweep = begun(tmp_path, server.url)
        work(store, sweep.number, never)
    assert (record(store).state, len(found)) == ("complete", 1)


def test_files_of_scoring_are_known_by_their_content_whatever_their_path(tmp_path: Path) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text("number\tNUMBER\n", "utf-8")
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, fixed='terms = "terms.tsv"\n')
        work(store, sweep.number, never)
        asked = len(server.asked)
        terms.rename(tmp_path / "moved.tsv")
        store, moved = begun(tmp_path, server.url, fixed='terms = "moved.tsv"\n')
        work(store, moved.number, never)
        assert [each.reused for each in record(store).cells] == [True, True]
        assert len(server.asked) == asked
        terms.write_text("number\tNOMBRO\n", "utf-8")
        store, other = begun(tmp_path, server.url, fixed='terms = "terms.tsv"\n')
        work(store, other.number, never)
    assert len({sweep.key, moved.key, other.key}) == 3
    assert [each.reused for each in record(store).cells] == [False, False]


def test_a_run_that_no_worker_is_at_waits_while_others_work(tmp_path: Path) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url)
        cell = cells_again(sweep)[0]
        with closing(open_store(store)) as connection:
            run_id = read_cells(connection, sweep.number, 0)[0].run_id
        api.start(store, cell.request, run_id=run_id)
        assert record(store).cells[0].state == "stopped"
        with alone(store, worker_lock(sweep, 0)):
            assert record(store).cells[0].state == "waiting"
            with closing(open_store(store)) as connection:
                set_trouble(connection, sweep.number, 0, "no credit")
            assert record(store).cells[0].state == "stopped"


def test_a_plan_whose_corpus_changed_is_another_sweep(tmp_path: Path) -> None:
    with serving() as server:
        _, sweep = begun(tmp_path, server.url)
        (tmp_path / "c.tsv").write_text("id\tsource\treference\n1\tother\tOTHER\n", "utf-8")
        with pytest.raises(UsageError, match="would be others than before"):
            cells_again(sweep)


@pytest.mark.parametrize("option", ["terms", "prompt"])
def test_changed_file_stops_the_runs_that_follow(tmp_path: Path, option: str) -> None:
    file, first = tmp_path / "words.txt", "number\tNUMBER\n" if option == "terms" else "Say it."
    file.write_text(first, "utf-8")

    def changing(asked: Asked) -> Answer:
        if asked.number == 2:
            file.write_text(f"{first}entry\tENTRY\n", "utf-8")
        return translated(asked)

    with serving(changing) as server:
        fixed = f'{option} = "{file.name}"\n'
        store, sweep = begun(tmp_path, server.url, fixed=fixed)
        work(store, sweep.number, never)
        assert {each.body["model"] for each in server.asked} == {"a"}
        found = record(store)
        assert [each.state for each in found.cells] == ["complete", "waiting"]
        assert "no longer what it was when the sweep was begun" in (found.cells[1].trouble or "")
        assert (file.name in (found.cells[1].trouble or "")) == (option == "terms")
        with pytest.raises(UsageError, match="would be others than before"):
            work(store, sweep.number, never)
        file.write_text(first, "utf-8")
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        work(store, sweep.number, never)
    assert record(store).state == "complete"


def test_cells_and_places_that_others_hold_are_left_to_them(tmp_path: Path) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url)
        with alone(store, f"sweep-{sweep.id}-0"), alone(store, f"sweep-{sweep.id}-1"):
            work(store, sweep.number, never)
            assert record(store).state == "running"
        assert server.asked == []
        held = cells_again(sweep)[0]
        with alone(store, f"cell-{held.key[:32]}"):
            work(store, sweep.number, lambda: DRAIN if len(server.asked) >= SIZE else 0)
        assert {each.body["model"] for each in server.asked} == {"b"}


def test_stop_is_heeded_and_the_sweep_goes_on(tmp_path: Path) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, size=40)

        def stopping(asked: Asked) -> Answer:
            if asked.number == 5:
                with closing(open_store(store)) as connection:
                    set_stopping(connection, sweep.number, stopping=True)
            return translated(asked, seconds=0.05)

        server.answer = stopping
        work(store, sweep.number, never)
        stopped = record(store)
        assert stopped.state == "stopped"
        assert 5 <= stopped.entries_done == len(server.asked) < 80
        with closing(open_store(store)) as connection:
            set_stopping(connection, sweep.number, stopping=False)
        server.answer = translated
        work(store, sweep.number, never)
        assert len(server.asked) == 80
    assert record(store).state == "complete"


def test_stopped_run_is_left_until_the_sweep_goes_on(tmp_path: Path) -> None:
    def refuse(asked: Asked) -> Answer:
        return error(404, "no such model") if asked.body["model"] == "a" else translated(asked)

    with serving(refuse) as server:
        store, sweep = begun(tmp_path, server.url)
        work(store, sweep.number, never)
        found = record(store)
        assert [each.state for each in found.cells] == ["stopped", "complete"]
        assert found.cells[0].trouble
        before = len(server.asked)
        work(store, sweep.number, never)
        assert len(server.asked) == before
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        work(store, sweep.number, never)
        assert len(server.asked) >= before


def test_runs_share_one_budget_and_a_greater_one_lets_them_go_on(tmp_path: Path) -> None:
    prices = price_table(tmp_path, {"a": (1000.0, 1000.0), "b": (1000.0, 1000.0)})
    fixed = f'prices = "{prices.name}"\nmax_tokens = 20\n'
    with serving() as server:  # each call is billed 30 tokens: $0.03
        store, sweep = begun(tmp_path, server.url, top="budget_usd = 0.8", fixed=fixed, size=20)
        work(store, sweep.number, never)
        found = record(store)
        charged = 0.03 * len(server.asked)
        assert found.state == "stopped"
        assert 0.1 < charged <= 0.8
        assert found.committed_usd == pytest.approx(charged)
        assert any("budget of the sweep" in (each.trouble or "") for each in found.cells)
        store, again = begun(tmp_path, server.url, top="budget_usd = 5", fixed=fixed, size=20)
        assert again.number == sweep.number
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        work(store, sweep.number, never)
        assert len(server.asked) == 40
    assert record(store).committed_usd == pytest.approx(0.03 * 40)


@pytest.mark.costly("kills a real process and finishes what it left")
@pytest.mark.parametrize("seed", first(1, range(50)))
def test_killed_worker_pays_nothing_twice(tmp_path: Path, seed: int) -> None:
    prices = price_table(tmp_path, {"a": (10.0, 10.0), "b": (10.0, 10.0)})
    fixed = f'prices = "{prices.name}"\nmax_tokens = 20\n'
    instant = random.Random(seed).randrange(1, 36)
    dead: list[int] = []
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, top="budget_usd = 5", fixed=fixed, size=20)
        count = 1 + seed % 2  # one alone is at two runs by turns
        with closing(WorkerProcesses(store, sweep.number, count)) as workers:

            def kill(asked: Asked) -> Answer:
                if asked.number == instant:
                    victim = workers.pids[seed % count]
                    dead.append(victim)
                    os.kill(victim, getattr(signal, "SIGKILL", signal.SIGTERM))
                return translated(asked, seconds=0.02)

            server.answer = kill
            workers.start()
            while not workers.wait(600):
                pass
        assert dead
        work(store, sweep.number, never)
        pairs = [(each.body["model"], each.source) for each in server.asked]
        found = record(store)
    assert found.state == "complete"
    for each in found.cells:
        assert sorted(stored_entries(store, each.run_id or "")) == sorted(map(str, range(20)))
    assert len(set(pairs)) == 40
    # in the killed process two calls under way, and where it was at two runs, two answers not yet written
    assert len(pairs) - 40 <= 2 * (3 - count)
    with closing(open_store(store)) as connection:
        assert 0.0003 * len(pairs) <= committed_usd(connection, sweep.number) * 1.000001 <= 5
