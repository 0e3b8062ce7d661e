"""Sweeps whose calls are made by the workers of a real Dask cluster."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="the extra [cluster] is not installed")

from corpora.model.entry import Entry
from harness.core.failures import HarnessError, UsageError
from harness.endpoint.keys import no_key
from harness.store.file.database import open_store
from harness.store.holding import lock_folder
from harness.store.replies import read_exchange
from harness.store.results import read_attempts, read_results
from harness.store.runs import find_run
from harness.store.shared_budget import committed_usd
from harness.store.sweeps import forget_troubles
from harness.sweep.cluster.carrier import Cluster
from harness.sweep.cluster.messages import SentEntry, unpacked
from harness.sweep.cluster.scheduler import require_cluster
from harness.sweep.expansion import check_methods
from harness.sweep.working import DRAIN, cells_again, work
from tests.harness.scripted import Answer, Asked, error, price_table, serving, translated
from tests.harness.sweep.dask_cluster import DaskCluster, dask_cluster
from tests.harness.sweep.sweeping import SIZE, begun, never, record, stored_entries
from tests.review.thorough import first

VARIABLE, KEY = "127_0_0_1_API_KEY", "sk-of-the-worker-alone"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A cluster of one worker."""
    with dask_cluster(tmp_path_factory.mktemp("dask"), workers=0) as cluster:
        cluster.worker({VARIABLE: KEY})
        yield cluster


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))


def carried(address: str, store: Path, sweep: int) -> None:
    """Work at a sweep with the workers of a cluster, in this process."""
    with closing(Cluster(address).carrier()) as carrier:
        work(store, sweep, never, carrier)


def test_a_run_made_elsewhere_is_a_run_as_any_other(tmp_path: Path, shared: DaskCluster) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url)
        carried(shared.address, store, sweep.number)
        assert len(server.asked) == 2 * SIZE
        work(store, sweep.number, never)
        assert len(server.asked) == 2 * SIZE, "nothing is left for a worker here"
        found = record(store)
        assert [each.state for each in found.cells] == ["complete", "complete"]
        assert [each.composite for each in found.cells] == [1.0, 1.0]
        with closing(open_store(store)) as connection:
            run = find_run(connection, found.cells[0].run_id or "")
            rows = list(read_results(connection, run.id))
            (attempt,) = read_attempts(connection, run.id, 3)
            exchange = read_exchange(connection, attempt.reply_key or b"")
        assert [each.output for each in rows] == [f"ENTRY NUMBER {n}" for n in range(SIZE)]
        assert {(each.prompt_tokens, each.completion_tokens) for each in rows} == {(20, 10)}
        assert exchange is not None
        assert exchange.stored.reply.text == "ENTRY NUMBER 3"
        store, again = begun(tmp_path, server.url, fixed='metrics = "chrf"\n')
        assert again.number != sweep.number
        carried(shared.address, store, again.number)
        assert len(server.asked) == 2 * SIZE, (
            "the replies of before are found, and nothing is paid again"
        )
    assert record(store).state == "complete"


def test_files_of_a_method_go_with_it(tmp_path: Path, shared: DaskCluster) -> None:
    (tmp_path / "notes.json").write_text('{"notes": ["Plurals end in -j."]}', "utf-8")
    (tmp_path / "mine.txt").write_text("Into {target_language}.\n{notes}", "utf-8")
    axes = '[axes]\nmodel = ["a"]\nprompt = ["mine.txt"]\ncoaching = ["notes.json"]'
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, axes)
        carried(shared.address, store, sweep.number)
        system = server.asked[0].body["messages"][0]["content"]
    assert record(store).state == "complete"
    assert system == "Into Esperanto.\n- Plurals end in -j."


def test_a_pause_that_a_worker_is_asked_for_is_told_to_the_others(
    tmp_path: Path, shared: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the endpoint were on another machine: that of a worker's own machine concerns nobody else."""
    monkeypatch.setattr("harness.sweep.cluster.carrier.is_loopback", lambda _: False)

    def limited(asked: Asked) -> Answer:
        return error(429, headers={"retry-after": "0.5"}) if asked.number == 3 else translated(asked)  # fmt: skip

    with serving(limited) as server:
        store, sweep = begun(tmp_path, server.url, '[axes]\nmodel = ["a"]')
        carried(shared.address, store, sweep.number)
    assert record(store).state == "complete"
    assert [*lock_folder(store).glob("endpoint-*.pause")]


@pytest.mark.thorough
def test_a_race_is_run_elsewhere_too(tmp_path: Path, shared: DaskCluster) -> None:
    def answer(asked: Asked) -> Answer:
        return translated(asked, text="wrong") if asked.body["model"] == "b" else translated(asked)

    with serving() as server:
        store, sweep = begun(tmp_path, server.url, top="race = true", size=60)
        carried(shared.address, store, sweep.number)
    found = record(store)
    assert [each.done for each in found.cells] == [60, 60]
    assert found.state == "complete"


def test_keys_are_found_in_the_environment_of_the_worker_alone(
    tmp_path: Path, shared: DaskCluster
) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, '[axes]\nmodel = ["a"]')
        carried(shared.address, store, sweep.number)
        assert {each.headers.get("authorization") for each in server.asked} == {f"Bearer {KEY}"}
        assert VARIABLE not in os.environ
    assert KEY.encode() not in store.read_bytes()


def test_a_key_that_a_worker_lacks_is_named(tmp_path: Path, shared: DaskCluster) -> None:
    axes = (
        '[axes]\nmodel = [{ label = "m", model = "m", endpoint = "openrouter", may_send = "yes" }]'
    )
    store, sweep = begun(tmp_path, "http://127.0.0.1:9/v1", axes)
    cells = cells_again(sweep)
    with pytest.raises(UsageError, match="needs a key"):
        check_methods(cells)
    check_methods(cells, no_key)
    carried(shared.address, store, sweep.number)
    (cell,) = record(store).cells
    assert cell.state == "stopped"
    assert "openrouter needs a key. Keys are not sent to workers" in (cell.trouble or "")
    assert "OPENROUTER_API_KEY" in (cell.trouble or "")


PLUGIN = """
from harness.method.method import MethodClass, Output, Setup


class Same:
    endpoint = None

    def __init__(self, options):
        self.setup = Setup(
            method="same", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1", model_slug="same", condition="own"
        )

    async def translate(self, entries, calls):
        return [Output(each.source) for each in entries]
"""


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="no path that each process sees otherwise")  # fmt: skip
def test_a_plugin_that_a_worker_lacks_is_named_with_the_mend(
    tmp_path: Path, shared: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "same.py").write_text(PLUGIN, "utf-8")
    monkeypatch.chdir(tmp_path)  # the worker is at work in another folder
    axes = '[axes]\nmodel = [{ label = "m", method = "/proc/self/cwd/same.py:Same" }]'
    store, sweep = begun(tmp_path, "http://127.0.0.1:9/v1", axes)
    carried(shared.address, store, sweep.number)
    (cell,) = record(store).cells
    assert (cell.state, cell.done) == ("stopped", 0)
    assert "/proc/self/cwd/same.py: the file cannot be read" in (cell.trouble or "")
    assert "put them at the same path on each worker" in (cell.trouble or "")


def test_a_worker_has_no_reference_and_no_note_of_an_entry() -> None:
    entry = Entry(
        id=1, source="one", reference="UNU", variants=("UN",), notes="why", segment="development"
    )
    sent = SentEntry.of(7, entry)
    assert sent.fields == {"id": 1, "source": "one", "reference": "", "segment": "development"}
    assert unpacked(SentEntry, sent.packed()).entry(entry.of_task).question() == entry.question()


@pytest.mark.thorough
def test_a_stop_is_heeded_and_the_sweep_goes_on_here(tmp_path: Path, shared: DaskCluster) -> None:
    with serving(lambda asked: translated(asked, seconds=0.05)) as server:
        store, sweep = begun(tmp_path, server.url, size=40)
        with closing(Cluster(shared.address).carrier()) as carrier:
            work(store, sweep.number, lambda: DRAIN if len(server.asked) >= 5 else 0, carrier)
        stopped = record(store)
        assert stopped.state == "stopped"
        assert 5 <= stopped.entries_done == len(server.asked) < 80
        work(store, sweep.number, never)
        assert len(server.asked) == 80
    assert record(store).state == "complete"


def test_the_budget_is_kept_here(tmp_path: Path, shared: DaskCluster) -> None:
    prices = price_table(tmp_path, {"a": (1000.0, 1000.0), "b": (1000.0, 1000.0)})
    fixed = f'prices = "{prices.name}"\nmax_tokens = 20\n'
    with serving() as server:  # each call is billed 30 tokens: $0.03
        store, sweep = begun(tmp_path, server.url, top="budget_usd = 0.8", fixed=fixed, size=20)
        carried(shared.address, store, sweep.number)
        found, charged = record(store), 0.03 * len(server.asked)
        assert found.state == "stopped"
        assert 0.1 < charged <= 0.8
        assert found.committed_usd == pytest.approx(charged)
        assert any("budget of the sweep" in (each.trouble or "") for each in found.cells)
        store, again = begun(tmp_path, server.url, top="budget_usd = 5", fixed=fixed, size=20)
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        carried(shared.address, store, again.number)
        assert len(server.asked) == 40
    assert record(store).committed_usd == pytest.approx(0.03 * 40)


def test_a_worker_of_another_version_is_refused(tmp_path: Path, shared: DaskCluster) -> None:
    (tmp_path / "older.py").write_text("import harness.core.version as v\nv.VERSION = '0.0.9'\n")
    _, sweep = begun(tmp_path, "http://127.0.0.1:9/v1")
    cells = cells_again(sweep)
    require_cluster(shared.address, cells)
    older = shared.worker({}, "--preload", str(tmp_path / "older.py"))
    with pytest.raises(HarnessError, match=r"tcp://127\.0\.0\.1:\d+ has 0\.0\.9\. Install it"):
        require_cluster(shared.address, cells)
    shared.end(older)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:8786", "is no address of a Dask scheduler"),
        ("http://127.0.0.1:8786", "is no address of a Dask scheduler"),
        ("tcp://127.0.0.1", "is no address of a Dask scheduler"),
        ("tcp://127.0.0.1:9", "There is no Dask scheduler at tcp://127.0.0.1:9"),
    ],
)
def test_a_scheduler_that_is_not_there_is_named(tmp_path: Path, address: str, said: str) -> None:
    _, sweep = begun(tmp_path, "http://127.0.0.1:9/v1")
    with pytest.raises(HarnessError, match=said):
        require_cluster(address, cells_again(sweep))


@pytest.mark.thorough
def test_a_scheduler_without_workers_is_refused(tmp_path: Path) -> None:
    _, sweep = begun(tmp_path, "http://127.0.0.1:9/v1")
    with (
        dask_cluster(tmp_path / "dask", workers=0) as alone,
        pytest.raises(HarnessError, match=r"has no workers\. Start one with `dask worker tcp://"),
    ):
        require_cluster(alone.address, cells_again(sweep))


@pytest.mark.parametrize("seed", first(1, range(50)))
def test_a_worker_killed_at_any_instant_loses_doubles_and_pays_nothing_twice(
    tmp_path: Path, shared: DaskCluster, seed: int
) -> None:
    prices = price_table(tmp_path, {"a": (10.0, 10.0), "b": (10.0, 10.0)})
    fixed = f'prices = "{prices.name}"\nmax_tokens = 20\n'
    instant = random.Random(seed).randrange(1, 36)
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, top="budget_usd = 5", fixed=fixed, size=20)

        def kill(asked: Asked) -> Answer:
            if asked.number == instant:
                shared.end(shared.workers[0])
                starting.start()
            return translated(asked, seconds=0.02)

        starting = threading.Thread(target=shared.worker, args=[{VARIABLE: KEY}])
        server.answer = kill
        carried(shared.address, store, sweep.number)
        starting.join()
        pairs = [(each.body["model"], each.source) for each in server.asked]
    found = record(store)
    assert found.state == "complete"
    for each in found.cells:
        assert sorted(stored_entries(store, each.run_id or "")) == sorted(map(str, range(20)))
    assert len(set(pairs)) == 40
    assert len(pairs) - 40 <= 2  # the calls under way at the killed worker
    with closing(open_store(store)) as connection:
        assert 0.0003 * len(pairs) <= committed_usd(connection, sweep.number) * 1.000001 <= 5
