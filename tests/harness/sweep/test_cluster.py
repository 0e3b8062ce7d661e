"""Sweeps by the workers of a real Dask cluster, that may be lost, lie, or be no place for texts."""

from __future__ import annotations

import os
import random
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("distributed", reason="the extra [cluster] is not installed")

from corpora.model.entry import Entry
from harness.core.failures import HarnessError, UsageError
from harness.core.version import VERSION
from harness.endpoint.keys import no_key
from harness.store.file.database import open_store, opened
from harness.store.holding import lock_folder
from harness.store.replies import read_exchange
from harness.store.results import read_attempts, read_results
from harness.store.runs import find_run
from harness.store.shared_budget import committed_usd
from harness.store.sweeps import forget_troubles, list_sweeps
from harness.sweep.cluster import messages, scheduler
from harness.sweep.cluster.carrier import Cluster
from harness.sweep.cluster.messages import (
    MessageError,
    SentEntry,
    SentReply,
    WorkerReport,
    unpacked,
)
from harness.sweep.cluster.scheduler import connected, require_cluster, require_terms_of
from harness.sweep.expansion import check_methods
from harness.sweep.working import DRAIN, cells_again, work
from rosetta_tui.commands import rosetta
from tests.harness.scripted import Answer, Asked, error, price_table, serving, translated
from tests.harness.sweep.dask_cluster import DaskCluster, dask_cluster
from tests.harness.sweep.sweeping import SIZE, begun, never, record, stored_entries
from tests.review.thorough import first
from tests.tui.commands.processes import Rosetta

LYING = """
import harness.sweep.cluster.remote as remote
from dataclasses import replace

class Lying(remote.RemoteDesk):
    def __init__(self, up, down, wanted):
        super().__init__(up, down, wanted)
        self.model = wanted.options.model
        if self.model == "pickle":
            up.put(b"\\x80\\x04K\\x01.")

    def take(self, made):
        super().take([replace(each, position=each.position + 100 * (self.model == "other")) for each in made])
        if self.model == "twice":
            super().take(made)

remote.RemoteDesk = Lying
"""
VARIABLE, KEY = "127_0_0_1_API_KEY", "sk-of-the-worker-alone"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A cluster whose only worker lies, for the models that ``LYING`` names."""
    folder = tmp_path_factory.mktemp("dask")
    (folder / "lying.py").write_text(LYING, "utf-8")
    with dask_cluster(folder, workers=0) as found:
        found.worker({VARIABLE: KEY}, "--preload", str(folder / "lying.py"))
        yield found


def carried(address: str, store: Path, sweep: int) -> None:
    """Work at a sweep with the workers of a cluster, in this process."""
    with closing(Cluster(address).carrier()) as carrier:
        work(store, sweep, never, carrier)


def test_a_run_made_elsewhere_is_a_run_as_any_other(tmp_path: Path, cluster: DaskCluster) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url)
        carried(cluster.address, store, sweep.number)
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
        assert exchange.stored.reply.text == "ENTRY NUMBER 3"
        store, again = begun(tmp_path, server.url, fixed='metrics = "chrf"\n')
        assert again.number != sweep.number
        carried(cluster.address, store, again.number)
        assert len(server.asked) == 2 * SIZE, (
            "the replies of before are found, and nothing is paid again"
        )
    assert record(store).state == "complete"


def test_files_of_a_method_go_with_it(tmp_path: Path, cluster: DaskCluster) -> None:
    (tmp_path / "notes.json").write_text('{"notes": ["Plurals end in -j."]}', "utf-8")
    (tmp_path / "mine.txt").write_text("Into {target_language}.\n{notes}", "utf-8")
    axes = '[axes]\nmodel = ["a"]\nprompt = ["mine.txt"]\ncoaching = ["notes.json"]'
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, axes)
        carried(cluster.address, store, sweep.number)
        system = server.asked[0].body["messages"][0]["content"]
    assert record(store).state == "complete"
    assert system == "Into Esperanto.\n- Plurals end in -j."


def test_pause_of_a_worker_is_told_to_the_others(
    tmp_path: Path, cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the endpoint were on another machine: that of a worker's own machine concerns nobody else."""
    monkeypatch.setattr("harness.sweep.cluster.carrier.is_loopback", lambda _: False)

    def limited(asked: Asked) -> Answer:
        return error(429, headers={"retry-after": "0.5"}) if asked.number == 3 else translated(asked)  # fmt: skip

    with serving(limited) as server:
        store, sweep = begun(tmp_path, server.url, '[axes]\nmodel = ["a"]')
        carried(cluster.address, store, sweep.number)
    assert record(store).state == "complete"
    assert [*lock_folder(store).glob("endpoint-*.pause")]


@pytest.mark.thorough
def test_a_race_is_run_elsewhere_too(tmp_path: Path, cluster: DaskCluster) -> None:
    def answer(asked: Asked) -> Answer:
        return translated(asked, text="wrong") if asked.body["model"] == "b" else translated(asked)

    with serving() as server:
        store, sweep = begun(tmp_path, server.url, top="race = true", size=60)
        carried(cluster.address, store, sweep.number)
    found = record(store)
    assert ([each.done for each in found.cells], found.state) == ([60, 60], "complete")


def test_keys_are_found_on_the_worker_alone(tmp_path: Path, cluster: DaskCluster) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, '[axes]\nmodel = ["a"]')
        carried(cluster.address, store, sweep.number)
        assert {each.headers.get("authorization") for each in server.asked} == {f"Bearer {KEY}"}
        assert VARIABLE not in os.environ
    assert KEY.encode() not in store.read_bytes()


def test_a_key_that_a_worker_lacks_is_named(tmp_path: Path, cluster: DaskCluster) -> None:
    axes = (
        '[axes]\nmodel = [{ label = "m", model = "m", endpoint = "openrouter", may_send = "yes" }]'
    )
    store, sweep = begun(tmp_path, "http://127.0.0.1:9/v1", axes)
    cells = cells_again(sweep)
    with pytest.raises(UsageError, match="needs a key"):
        check_methods(cells)
    check_methods(cells, no_key)
    carried(cluster.address, store, sweep.number)
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
def test_plugin_that_a_worker_lacks_is_named(
    tmp_path: Path, cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "same.py").write_text(PLUGIN, "utf-8")
    monkeypatch.chdir(tmp_path)  # the worker is at work in another folder
    axes = '[axes]\nmodel = [{ label = "m", method = "/proc/self/cwd/same.py:Same" }]'
    store, sweep = begun(tmp_path, "http://127.0.0.1:9/v1", axes)
    carried(cluster.address, store, sweep.number)
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
def test_a_stop_is_heeded_and_the_sweep_goes_on_here(tmp_path: Path, cluster: DaskCluster) -> None:
    with serving(lambda asked: translated(asked, seconds=0.05)) as server:
        store, sweep = begun(tmp_path, server.url, size=40)
        with closing(Cluster(cluster.address).carrier()) as carrier:
            work(store, sweep.number, lambda: DRAIN if len(server.asked) >= 5 else 0, carrier)
        stopped = record(store)
        assert stopped.state == "stopped"
        assert 5 <= stopped.entries_done == len(server.asked) < 80
        work(store, sweep.number, never)
        assert len(server.asked) == 80
    assert record(store).state == "complete"


def test_the_budget_is_kept_here(tmp_path: Path, cluster: DaskCluster) -> None:
    prices = price_table(tmp_path, {"a": (1000.0, 1000.0), "b": (1000.0, 1000.0)})
    fixed = f'prices = "{prices.name}"\nmax_tokens = 20\n'
    with serving() as server:  # each call is billed 30 tokens: $0.03
        store, sweep = begun(tmp_path, server.url, top="budget_usd = 0.8", fixed=fixed, size=20)
        carried(cluster.address, store, sweep.number)
        found, charged = record(store), 0.03 * len(server.asked)
        assert found.state == "stopped"
        assert 0.1 < charged <= 0.8
        assert found.committed_usd == pytest.approx(charged)
        assert any("budget of the sweep" in (each.trouble or "") for each in found.cells)
        store, again = begun(tmp_path, server.url, top="budget_usd = 5", fixed=fixed, size=20)
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        carried(cluster.address, store, again.number)
        assert len(server.asked) == 40
    assert record(store).committed_usd == pytest.approx(0.03 * 40)


def test_worker_of_another_version_is_refused(
    tmp_path: Path, cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sweep = begun(tmp_path, "http://127.0.0.1:9/v1")
    cells = cells_again(sweep)
    require_cluster(cluster.address, cells)
    monkeypatch.setattr(scheduler, "VERSION", "99.9")
    with pytest.raises(HarnessError, match=rf"tcp://127\.0\.0\.1:\d+ has {VERSION}\. Install it"):
        require_cluster(cluster.address, cells)


def test_a_scheduler_that_is_not_there_is_named(tmp_path: Path) -> None:
    for address, said in [
        ("127.0.0.1:8786", "is no address of a Dask scheduler"),
        ("http://127.0.0.1:8786", "is no address of a Dask scheduler"),
        ("tcp://127.0.0.1", "is no address of a Dask scheduler"),
        ("tcp://127.0.0.1:9", "There is no Dask scheduler at tcp://127.0.0.1:9"),
    ]:
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


def test_entry_not_given_or_sent_twice_is_refused(tmp_path: Path, cluster: DaskCluster) -> None:
    axes = '[axes]\nmodel = ["twice", "other", "pickle"]'
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, axes)
        with closing(Cluster(cluster.address).carrier()) as carrier:
            work(store, sweep.number, never, carrier)
    twice, other, pickled = record(store).cells
    assert twice.trouble == "A worker sent an entry that it was not given, or sent one twice."
    assert other.trouble == twice.trouble
    assert "has another form" in (pickled.trouble or "")
    assert (other.done, pickled.done) == (0, 0)
    assert twice.done <= 6


def test_what_is_no_message_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    start = b'{"attempt": "a", "serial": 1, '
    for data in (
        "text", b"", b"[]", b"\x80\x04K\x01.", b'{"attempt": "a", "serial": -1}', start + b'"more": 1}',
        start + b'"committed": -0.5}', start + b'"committed": NaN}', start + b'"rows": [{"position": 0}]}',
    ):  # fmt: skip
        with pytest.raises(MessageError):
            unpacked(WorkerReport, data)
    told = {
        "key": b"0" * 16, "text": "x", "usage": None, "model_id": None, "finish_reason": None,
        "reported_cost_usd": None, "latency_seconds": 0.1, "cost_usd": None,
    }  # fmt: skip
    for body, calls in (("[", "[]"), ("{}", "[1]"), ("1", "[]")):
        with pytest.raises(MessageError):
            _ = SentReply.model_validate(told | {"body": body, "tool_calls": calls}).new
    monkeypatch.setattr(messages, "MOST_BYTES", 100)
    with pytest.raises(MessageError, match="not bytes, or longer than 100"):
        unpacked(WorkerReport, b" " * 101)
    with pytest.raises(MessageError, match="Run it without --scheduler"):
        WorkerReport(attempt="a" * 100, serial=1).packed()


@pytest.mark.thorough
def test_a_scheduler_that_goes_away_leaves_what_came_back(tmp_path: Path) -> None:
    with dask_cluster(tmp_path / "dask", workers=1) as mine, serving() as server:
        store, sweep = begun(tmp_path, server.url, size=20)

        def end(asked: Asked) -> Answer:
            if asked.number == 10:
                mine.end_scheduler()
            return translated(asked, seconds=0.02)

        server.answer = end
        with closing(Cluster(mine.address).carrier()) as carrier:
            work(store, sweep.number, never, carrier)
        found = record(store)
        assert found.state == "stopped"
        assert found.cells[0].done > 0
        assert f"The scheduler at {mine.address} is not reached any more" in (found.cells[0].trouble or "")  # fmt: skip
        assert found.cells[1].state == "waiting"
        with pytest.raises(HarnessError, match="There is no Dask scheduler"):
            require_cluster(mine.address, cells_again(sweep))
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        before, kept = len(server.asked), found.cells[0].done
        work(store, sweep.number, never)
        assert len(server.asked) - before == 40 - kept
    assert record(store).state == "complete"


def test_terms_hold_for_the_machines_of_a_cluster(tmp_path: Path, cluster: DaskCluster) -> None:
    """Workers are on this machine here, so that texts that need an answer may go to them; --offline never may."""
    _, sweep = begun(tmp_path, "http://127.0.0.1:9/v1", '[axes]\nmodel = ["a"]')
    (cell,) = cells_again(sweep)
    require_cluster(cluster.address, [cell])
    for address in ("tcp://10.0.0.5:8786", "tcp://[fd00::5]:8786"):
        with pytest.raises(UsageError, match=r"May these texts be sent to (10\.0\.0\.5|fd00::5)"):
            require_terms_of(
                cell.request.corpus.dataset, cell.request.entries, cell.request.plan, [address]
            )
    _, sweep = begun(tmp_path, "http://127.0.0.1:9/v1", fixed="offline = true\n")
    with pytest.raises(UsageError, match="--offline is on, and workers of a cluster are other"):
        require_cluster(cluster.address, cells_again(sweep))
    secret = Entry(id=1, source="a", reference="b", segment="held_out")
    with pytest.raises(UsageError, match="Secret entries go to no worker"):
        require_terms_of(cell.request.corpus.dataset, [secret], cell.request.plan, [])


def test_secret_entries_are_refused_before_all(tmp_path: Path, cluster: DaskCluster) -> None:
    (tmp_path / "c.tsv").write_text("id\tsource\treference\tsegment\n1\tone\tUNU\theld_out\n", "utf-8")  # fmt: skip
    (tmp_path / "plan.toml").write_text(
        'version = 1\ncorpus = "c.tsv"\n[reading]\nsource_language = "en"\ntarget_language = "eo"\n'
        '[fixed]\nmethod = "chat"\nmodel = "m"\nendpoint = "http://127.0.0.1:9/v1"\n',
        "utf-8",
    )
    called = CliRunner().invoke(
        rosetta, ["sweep", str(tmp_path / "plan.toml"), "--scheduler", cluster.address]
    )
    assert isinstance(called.exception, UsageError)
    assert "a sweep takes no secret entries" in str(called.exception)
    assert not (tmp_path / "home" / "rosetta.sqlite").exists()


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "harness.sweep.cluster.scheduler")
    with pytest.raises(UsageError, match="Install it beside the program, and on each worker"):
        import_module("harness.sweep.cluster.scheduler")


@pytest.mark.thorough
def test_the_program_carries_out_a_plan_elsewhere(tmp_path: Path, cluster: DaskCluster) -> None:
    with serving() as server:
        begun(tmp_path, server.url)
        called = Rosetta(tmp_path / "other")
        for address, code, said in (("tcp://127.0.0.1:9", 1, "no Dask scheduler at"), ("x", 2, "no address")):  # fmt: skip
            found = called("sweep", tmp_path / "plan.toml", "--scheduler", address)
            assert (found[0], found[1]) == (code, "")
            assert said in found[2]
        with opened(called.store) as connection:
            assert list_sweeps(connection) == []
        code, out, problems = called("sweep", tmp_path / "plan.toml", "--scheduler", cluster.address, "--plain")  # fmt: skip
        assert (code, len(server.asked)) == (0, 12), problems
        assert "Complete: 2 runs (2 complete), 12 of 12 entries." in out
        assert called("sweep", "resume", "last", "--scheduler", cluster.address)[0] == 0
        assert len(server.asked) == 12


@pytest.mark.parametrize(
    "said", first(1, [b"HTTP/1.1 400 Bad Request\r\n\r\n" * 40, b"", b"\x00" * 64, None])
)
def test_another_program_behind_the_port_is_no_scheduler(
    said: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words of a web server, read as lengths, are exabytes; whoever says nothing is not waited for."""
    monkeypatch.setattr(scheduler, "CONNECT_SECONDS", 0.2)
    held: list[socket.socket] = []

    def answer() -> None:
        with suppress(OSError):
            while True:
                held.append(server.accept()[0])
                if said is None:
                    held[-1].close()
                elif said:
                    held[-1].sendall(said)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer)
        thread.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(HarnessError, match=f"There is no Dask scheduler at {address} "):
            connected(address)
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
    for each in held:
        each.close()


@pytest.mark.costly("kills a worker of a real cluster and starts another")
@pytest.mark.parametrize("seed", first(1, range(50)))
def test_killed_worker_pays_nothing_twice(tmp_path: Path, cluster: DaskCluster, seed: int) -> None:
    prices = price_table(tmp_path, {"a": (10.0, 10.0), "b": (10.0, 10.0)})
    fixed = f'prices = "{prices.name}"\nmax_tokens = 20\n'
    instant = random.Random(seed).randrange(1, 36)
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, top="budget_usd = 5", fixed=fixed, size=20)

        def kill(asked: Asked) -> Answer:
            if asked.number == instant:
                cluster.end(cluster.workers[0])
                starting.start()
            return translated(asked, seconds=0.02)

        starting = threading.Thread(target=cluster.worker, args=[{VARIABLE: KEY}])
        server.answer = kill
        carried(cluster.address, store, sweep.number)
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
