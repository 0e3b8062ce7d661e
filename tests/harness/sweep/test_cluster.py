"""Sweeps by the workers of a real Dask cluster, that may be lost, lie, or be no place for texts."""

import asyncio
import os
import queue
import random
import re
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

pytest.importorskip("distributed", reason="the extra [cluster] is not installed")

from corpora.model.entry import Entry, OpenEntry
from corpora.model.vocabularies import Transmission
from harness.core.failures import BudgetReached, HarnessError, RunState, UsageError
from harness.core.version import VERSION
from harness.endpoint.endpoints import no_key
from harness.method.method import Result
from harness.method.options import MethodOptions
from harness.setup.plan import RunOptions
from harness.store.live_runs import lock_folder
from harness.store.replies import read_exchange
from harness.store.results import read_attempts, read_results
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from harness.store.sweeps import committed_usd, forget_troubles
from harness.sweep.cluster import messages, remote, scheduler
from harness.sweep.cluster.carrier import Cluster
from harness.sweep.cluster.messages import (
    CoordinatorAnswer,
    CoordinatorMessage,
    JobSpec,
    MessageError,
    SentEntry,
    SentReply,
    StartWork,
    WorkerBegin,
    WorkerQuestion,
    WorkerReport,
    unpacked,
)
from harness.sweep.cluster.remote import LEAST_UNHEARD, WorkerSession
from harness.sweep.cluster.scheduler import connected, require_cluster, require_terms_of
from harness.sweep.expansion import check_methods
from harness.sweep.working import cells_again, work
from rosetta_tui.commands import rosetta
from tests.harness.scripted import Answer, Asked, error, price_table, serving, translated
from tests.harness.sealed.refusals import refuses
from tests.harness.shipped_methods.conftest import PLUGIN
from tests.harness.store.stored_rows import SETUP
from tests.harness.sweep.made import SIZE, begun, never, record, stored_entries
from tests.review.thorough import first

ROOT = Path(__file__).parents[3]
_QUIET = {"DASK_DISTRIBUTED__DASHBOARD__LINK": "", "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}


class DaskCluster:
    """A scheduler and its workers; workers can be killed and started at any time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._scheduler = self._program("scheduler", "--no-dashboard", "--port", "0", "--host", "127.0.0.1")
        self.address = self._said(self._scheduler, r"Scheduler at:\s+(tcp://\S+)")
        self.workers: list[subprocess.Popen[str]] = []

    def worker(self, environment: Mapping[str, str] | None = None, *more: str) -> subprocess.Popen[str]:
        """Start a worker of one thread, and wait until the scheduler knows it."""
        found = self._program(
            "worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1",
            "--local-directory", str(self._folder), *more, environment=environment,
        )  # fmt: skip
        self._said(found, r"(Registered to):")
        self.workers.append(found)
        return found

    def end(self, worker: subprocess.Popen[str]) -> None:
        """Kill a worker."""
        self.workers.remove(worker)
        self._end(worker)

    def end_scheduler(self) -> None:
        self._end(self._scheduler)

    def close(self) -> None:
        for each in (*self.workers, self._scheduler):
            self._end(each)

    def _program(self, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "dask", *arguments],
            cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, **_QUIET, "PYTHONPATH": str(ROOT), **(environment or {})},
        )  # fmt: skip

    @staticmethod
    def _said(program: subprocess.Popen[str], pattern: str) -> str:
        """Read what a program logs as far as a line; what it logs afterwards goes nowhere."""
        log = program.stderr
        assert log is not None
        for line in log:
            if found := re.search(pattern, line):
                drain = threading.Thread(target=lambda: deque(log, maxlen=0), name=f"log-{program.pid}", daemon=True)
                drain.start()
                return found[1]
        raise AssertionError(f"it ended: {program.wait()}")

    @staticmethod
    def _end(program: subprocess.Popen[str]) -> None:
        program.kill()
        program.wait()
        for each in threading.enumerate():
            if each.name == f"log-{program.pid}":
                each.join()
        if program.stderr is not None:
            program.stderr.close()


@contextmanager
def dask_cluster(folder: Path, workers: int = 2) -> Iterator[DaskCluster]:
    """Start a scheduler with some workers, until the block ends."""
    cluster = DaskCluster(folder)
    try:
        for _ in range(workers):
            cluster.worker()
        yield cluster
    finally:
        cluster.close()


LYING = """
import harness.sweep.cluster.remote as remote
from dataclasses import replace

class Lying(remote.WorkerSession):
    def __init__(self, up, down, wanted):
        super().__init__(up, down, wanted)
        self.model = wanted.options.model
        if self.model == "pickle":
            up.put(b"\\x80\\x04K\\x01.")

    def take(self, made):
        super().take([replace(each, position=each.position + 100 * (self.model == "other")) for each in made])
        if self.model == "twice":
            super().take(made)

remote.WorkerSession = Lying
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
        assert exchange.reply.text == "ENTRY NUMBER 3"
        store, again = begun(tmp_path, server.url, fixed='metrics = "chrf"\n')
        assert again.number != sweep.number
        carried(cluster.address, store, again.number)
        assert len(server.asked) == 2 * SIZE, "the replies of before are found, and nothing paid"
    assert record(store).state == "complete"


def test_files_go_along_and_keys_stay(tmp_path: Path, cluster: DaskCluster) -> None:
    (tmp_path / "notes.json").write_text('{"notes": ["Plurals end in -j."]}', "utf-8")
    (tmp_path / "mine.txt").write_text("Into {target_language}.\n{notes}", "utf-8")
    axes = '[axes]\nmodel = ["a"]\nprompt = ["mine.txt"]\ncoaching = ["notes.json"]'
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, axes)
        carried(cluster.address, store, sweep.number)
        system = server.asked[0].body["messages"][0]["content"]
        assert {each.headers.get("authorization") for each in server.asked} == {f"Bearer {KEY}"}
    assert record(store).state == "complete"
    assert system == "Into Esperanto.\n- Plurals end in -j."
    assert VARIABLE not in os.environ
    assert KEY.encode() not in store.read_bytes()


def test_pause_of_a_worker_is_told_to_the_others(
    tmp_path: Path, cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the endpoint were on another machine: that of a worker's own machine concerns nobody else."""
    monkeypatch.setattr("harness.sweep.cluster.carrier.is_loopback", lambda _: False)

    def limited(asked: Asked) -> Answer:
        return error(429, headers={"retry-after": "0.5"}) if asked.number == 3 else translated(asked)

    with serving(limited) as server:
        store, sweep = begun(tmp_path, server.url, '[axes]\nmodel = ["a"]')
        carried(cluster.address, store, sweep.number)
    assert record(store).state == "complete"
    assert [*lock_folder(store).glob("endpoint-*.pause")]


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="no path that each process sees otherwise")
def test_plugin_that_a_worker_lacks_is_named(tmp_path: Path, cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    (tmp_path / "same.py").write_text(PLUGIN, "utf-8")
    monkeypatch.chdir(tmp_path)  # the worker is at work in another folder
    axes = '[axes]\nmodel = [{ label = "m", method = "/proc/self/cwd/same.py:M" }]'
    store, sweep = begun(tmp_path, "http://127.0.0.1:9/v1", axes)
    carried(cluster.address, store, sweep.number)
    (cell,) = record(store).cells
    assert (cell.state, cell.done) == ("stopped", 0)
    assert "/proc/self/cwd/same.py: the file cannot be read" in (cell.trouble or "")
    assert "put them at the same path on each worker" in (cell.trouble or "")


def test_missing_scheduler_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for address, said in [
        ("127.0.0.1:8786", "is no address of a Dask scheduler"),
        ("http://127.0.0.1:8786", "is no address of a Dask scheduler"),
        ("tcp://127.0.0.1", "is no address of a Dask scheduler"),
        ("tcp://127.0.0.1:9", "There is no Dask scheduler at tcp://127.0.0.1:9"),
    ]:
        _, sweep = begun(tmp_path, "http://127.0.0.1:9/v1")
        refuses(HarnessError, said, require_cluster, address, cells_again(sweep))
    idle = Mock(run=Mock(return_value={}))  # a scheduler that no worker has come to
    monkeypatch.setattr(scheduler, "connected", lambda _: idle)
    with pytest.raises(HarnessError, match=r"has no workers\. Start one with `dask worker tcp://"):
        require_cluster("tcp://127.0.0.1:8786", cells_again(sweep))
    idle.close.assert_called_once()
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "harness.sweep.cluster.scheduler")
    with pytest.raises(UsageError, match="Install it beside the program, and on each worker"):
        import_module("harness.sweep.cluster.scheduler")


def test_entry_not_given_or_sent_twice_is_refused(tmp_path: Path, cluster: DaskCluster) -> None:
    axes = '[axes]\nmodel = ["twice", "other", "pickle"]'
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, axes)
        carried(cluster.address, store, sweep.number)
    twice, other, pickled = record(store).cells
    assert twice.trouble == "A worker sent an entry that it was not given, or sent one twice."
    assert other.trouble == twice.trouble
    assert "has another form" in (pickled.trouble or "")
    assert (other.done, pickled.done) == (0, 0)
    assert twice.done <= 6
    told = 'label = "m", model = "m", endpoint = "openrouter", may_send = "yes"'
    axes = f"[axes]\nmodel = [{{ {told} }}]"
    store, sweep = begun(tmp_path, "http://127.0.0.1:9/v1", axes)
    cells = cells_again(sweep)
    refuses(UsageError, "needs a key", check_methods, cells)
    check_methods(cells, no_key)
    carried(cluster.address, store, sweep.number)
    (cell,) = record(store).cells
    assert cell.state == "stopped"
    assert "openrouter needs a key. Keys are not sent to workers" in (cell.trouble or "")
    assert "OPENROUTER_API_KEY" in (cell.trouble or "")


def test_messages_are_checked_and_hold_no_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"id": 1, "source": "one", "reference": "UNU", "variants": ("UN",), "notes": "why"}
    entry = Entry.model_validate({**given, "segment": "development"})
    sent = SentEntry.of(7, OpenEntry(entry))
    assert sent.fields == {"id": 1, "source": "one", "reference": "", "segment": "development"}
    assert unpacked(SentEntry, sent.packed()).entry(entry.of_task).question() == entry.question()
    start = b'{"attempt": "a", "serial": 1, '
    for data in (
        "text", b"", b"[]", b"\x80\x04K\x01.", b'{"attempt": "a", "serial": -1}', start + b'"more": 1}',
        start + b'"committed": -0.5}', start + b'"committed": NaN}', start + b'"rows": [{"position": 0}]}',
    ):  # fmt: skip
        refuses(MessageError, "", unpacked, WorkerReport, data)
    told = {
        "key": b"0" * 16, "text": "x", "usage": None, "model_id": None, "finish_reason": None,
        "reported_cost_usd": None, "latency_seconds": 0.1, "cost_usd": None,
    }  # fmt: skip
    for body, calls in (("[", "[]"), ("{}", "[1]"), ("1", "[]")):
        with pytest.raises(MessageError):
            _ = SentReply.model_validate(told | {"body": body, "tool_calls": calls}).stored
    monkeypatch.setattr(messages, "MOST_BYTES", 100)
    refuses(MessageError, "not bytes, or longer than 100", unpacked, WorkerReport, b" " * 101)
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
        assert f"The scheduler at {mine.address} is not reached any more" in (found.cells[0].trouble or "")
        assert found.cells[1].state == "waiting"
        refuses(HarnessError, "There is no Dask scheduler", require_cluster, mine.address, cells_again(sweep))
        with closing(open_store(store)) as connection:
            forget_troubles(connection, sweep.number)
        before, kept = len(server.asked), found.cells[0].done
        work(store, sweep.number, never)
        assert len(server.asked) - before == 40 - kept
    assert record(store).state == "complete"


def test_terms_hold_for_the_machines_of_a_cluster(
    tmp_path: Path, cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers are on this machine here, so that texts that need an answer may go to them; --offline never may."""
    _, sweep = begun(tmp_path, "http://127.0.0.1:9/v1", '[axes]\nmodel = ["a"]')
    (cell,) = cells_again(sweep)
    require_cluster(cluster.address, [cell])
    asked = cell.request
    for address in ("tcp://10.0.0.5:8786", "tcp://[fd00::5]:8786"):
        with pytest.raises(UsageError, match=r"May these texts be sent to (10\.0\.0\.5|fd00::5)"):
            require_terms_of(asked.corpus.dataset, asked.entries, asked.plan, [address])
    _, sweep = begun(tmp_path, "http://127.0.0.1:9/v1", fixed="offline = true\n")
    with pytest.raises(UsageError, match="--offline is on, and workers of a cluster are other"):
        require_cluster(cluster.address, cells_again(sweep))
    secret = Entry(id=1, source="a", reference="b", segment="gold_standard")
    with pytest.raises(UsageError, match="Secret entries go to no worker"):
        require_terms_of(cell.request.corpus.dataset, [secret], cell.request.plan, [])
    (tmp_path / "c.tsv").write_text("id\tsource\treference\tsegment\n1\tone\tUNU\tgold_standard\n", "utf-8")
    path, before = tmp_path / "plan.toml", (tmp_path / "home" / "rosetta.sqlite").read_bytes()
    called = CliRunner().invoke(rosetta, ["sweep", str(path), "--scheduler", cluster.address])
    assert isinstance(called.exception, UsageError)
    assert "a sweep takes secret entries out of a vault only" in str(called.exception)
    assert (tmp_path / "home" / "rosetta.sqlite").read_bytes() == before
    _, sweep = begun(tmp_path, "http://127.0.0.1:9/v1")
    cells = cells_again(sweep)
    require_cluster(cluster.address, cells)
    monkeypatch.setattr(scheduler, "VERSION", "99.9")
    with pytest.raises(HarnessError, match=rf"tcp://127\.0\.0\.1:\d+ has {VERSION}\. Install it"):
        require_cluster(cluster.address, cells)


SAID = [b"HTTP/1.1 400 Bad Request\r\n\r\n" * 40, b"", b"\x00" * 64, None]


@pytest.mark.parametrize("said", first(1, SAID))
def test_no_scheduler_there(said: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
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
        refuses(HarnessError, f"There is no Dask scheduler at {address} ", connected, address)
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
    for each in held:
        each.close()


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(50))
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


class Way:
    """A queue as Dask has them: it raises TimeoutError where nothing comes."""

    def __init__(self) -> None:
        self._queue: queue.Queue[bytes] = queue.Queue()

    def put(self, data: bytes) -> None:
        self._queue.put(data)

    def get(self, timeout: float) -> bytes:
        try:
            return self._queue.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError from None


class Home:
    """The other end of a desk."""

    def __init__(self, held: float | None) -> None:
        self.up, self.down = Way(), Way()
        options = MethodOptions(source_language="en", target_language="eo")
        wanted = JobSpec(
            run_id="r", method="chat", options=options, run=RunOptions(concurrency=2), files=(),
            begun_with=2, spent=0.0, held=held, earlier=False, transmission=Transmission.OPEN, endpoints=(),
        )  # fmt: skip
        self.desk = WorkerSession(self.up, self.down, wanted)
        self.moved = threading.Semaphore(0)
        self.desk.control.listen(self.moved.release)

    def report(self) -> WorkerReport:
        return unpacked(WorkerReport, self.up.get(600))

    def question(self) -> WorkerQuestion:
        while not (found := self.report()).asks:
            pass
        return found.asks[0]

    def say(self, heard: int = 0, **more: Any) -> None:
        self.down.put(CoordinatorMessage(heard=heard, **{"state": RunState.RUNNING, **more}).packed())


@contextmanager
def at_home(held: float | None = None) -> Iterator[Home]:
    home = Home(held)
    with home.desk:
        yield home
        home.say(state=RunState.STOPPED)


def row(place: int) -> Result:
    return Result(place, place, "A")


def test_nothing_is_begun_unheard_and_wishes_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    with at_home() as home:
        home.desk.take([row(place) for place in range(LEAST_UNHEARD - 1)])
        assert home.desk.control.state is RunState.RUNNING
        home.desk.take([row(LEAST_UNHEARD)])
        assert home.desk.control.state is RunState.PAUSED
        serial, rows = 0, 0
        while rows < LEAST_UNHEARD:
            report = home.report()
            serial, rows = report.serial, rows + len(report.rows)
        home.moved.acquire()
        home.say(heard=serial)
        home.moved.acquire()
        assert home.desk.control.state is RunState.RUNNING
    with at_home() as home:
        for state in (RunState.PAUSED, RunState.RUNNING, RunState.DRAINING):
            home.say(state=state)
            home.moved.acquire()
            assert home.desk.control.state is state
    # home has held that one against the terms; this one it has not seen yet
    with at_home() as home, ThreadPoolExecutor() as pool:
        begun = pool.submit(home.desk.begin, WorkerBegin(address="tcp://a", setup=SETUP))
        home.say(attempt="another", go=StartWork(entries=(), known=()))
        home.say(attempt=home.report().attempt, state=RunState.STOPPED)
        assert begun.result() is None
    monkeypatch.setattr(remote, "LEASH_SECONDS", -1.0)
    with at_home() as home:
        home.moved.acquire()
        assert home.desk.control.state is RunState.STOPPED


def test_no_call_goes_out_before_its_money_is_safe_at_home() -> None:
    async def scenario(home: Home) -> float:
        call = asyncio.create_task(home.desk.spending.reserve(0.25))
        asked = await asyncio.to_thread(home.question)
        assert (asked.kind, asked.wanted) == ("take", 0.25)
        home.say(answers=(CoordinatorAnswer(number=asked.number, taken=True, held=1.0, budget=5.0),))
        asked = await asyncio.to_thread(home.question)
        assert asked.kind == "secure"
        assert not call.done()
        home.say(answers=(CoordinatorAnswer(number=asked.number),))
        return await call

    with at_home(held=0.0) as home:
        assert (asyncio.run(scenario(home)), home.desk.spending.committed) == (0.25, 0.25)


def test_a_budget_that_home_has_not_ends_the_run() -> None:
    async def scenario(home: Home) -> None:
        call = asyncio.create_task(home.desk.spending.reserve(0.25))
        asked = await asyncio.to_thread(home.question)
        assert asked.spent == 0.0, "nothing is under way, so what is left goes back"
        home.say(answers=(CoordinatorAnswer(number=asked.number, taken=False, budget=1.0, others=0.9),))
        with pytest.raises(BudgetReached, match="budget of the sweep"):
            await call

    with at_home(held=0.0) as home:
        asyncio.run(scenario(home))
        assert home.desk.spending.reached
