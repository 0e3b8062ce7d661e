"""A cluster that is lost, that lies, or that texts may not go to."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("distributed", reason="the extra [cluster] is not installed")

from corpora.model.entry import Entry
from harness.core.failures import HarnessError, UsageError
from harness.store.file.database import open_store, opened
from harness.store.sweeps import forget_troubles, list_sweeps
from harness.sweep.cluster import messages, scheduler
from harness.sweep.cluster.carrier import Cluster
from harness.sweep.cluster.messages import (
    MessageError,
    SentReply,
    WorkerReport,
    unpacked,
)
from harness.sweep.cluster.scheduler import connected, require_cluster, require_terms_of
from harness.sweep.working import cells_again, work
from rosetta_tui.commands import rosetta
from tests.harness.scripted import Answer, Asked, serving, translated
from tests.harness.sweep.dask_cluster import DaskCluster, dask_cluster
from tests.harness.sweep.sweeping import begun, never, record
from tests.tui.commands.processes import START, Rosetta

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


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A cluster whose only worker lies, for some models."""
    folder = tmp_path_factory.mktemp("dask")
    (folder / "lying.py").write_text(LYING, "utf-8")
    with dask_cluster(folder, workers=0) as found:
        found.worker({}, "--preload", str(folder / "lying.py"))
        yield found


def test_what_a_worker_was_not_given_or_sends_twice_is_refused(
    tmp_path: Path, cluster: DaskCluster
) -> None:
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


@pytest.mark.parametrize(
    "data",
    [
        "text",
        b"",
        b"[]",
        b"\x80\x04K\x01.",
        b'{"attempt": "a", "serial": -1}',
        b'{"attempt": "a", "serial": 1, "more": 1}',
        b'{"attempt": "a", "serial": 1, "committed": -0.5}',
        b'{"attempt": "a", "serial": 1, "committed": NaN}',
        b'{"attempt": "a", "serial": 1, "rows": [{"position": 0}]}',
    ],
)
def test_what_is_no_message_is_refused(data: object) -> None:
    with pytest.raises(MessageError):
        unpacked(WorkerReport, data)


def test_what_is_too_long_is_neither_sent_nor_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MOST_BYTES", 100)
    with pytest.raises(MessageError, match="not bytes, or longer than 100"):
        unpacked(WorkerReport, b" " * 101)
    with pytest.raises(MessageError, match="Run it without --scheduler"):
        WorkerReport(attempt="a" * 100, serial=1).packed()


def test_a_reply_whose_parts_are_no_json_is_refused() -> None:
    told = {
        "key": b"0" * 16, "text": "x", "usage": None, "model_id": None, "finish_reason": None,
        "reported_cost_usd": None, "latency_seconds": 0.1, "cost_usd": None,
    }  # fmt: skip
    for parts in ({"body": "[", "tool_calls": "[]"}, {"body": "{}", "tool_calls": "[1]"}, {"body": "1", "tool_calls": "[]"}):  # fmt: skip
        with pytest.raises(MessageError):
            _ = SentReply.model_validate(told | parts).new


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


def test_secret_entries_are_refused_before_anything_is_begun(
    tmp_path: Path, cluster: DaskCluster
) -> None:
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


def test_without_the_extra_the_program_says_what_to_install(tmp_path: Path) -> None:
    begun(tmp_path, "http://127.0.0.1:9/v1")
    called = Rosetta(tmp_path / "other")
    found = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.modules['distributed'] = None; {START}",
         "sweep", str(tmp_path / "plan.toml"), "--scheduler", "tcp://127.0.0.1:9"],
        env=called.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (2, "")
    assert "Install it beside the program, and on each worker" in found.stderr
    assert not called.store.exists()


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
    "said",
    [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 40, b"\x00" * 64, None],
    ids=["silent", "http", "zeros", "closed"],
)
def test_another_program_behind_the_port_is_no_scheduler(
    said: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words of a web server, read as lengths, are exabytes; whoever says nothing is not waited for."""
    monkeypatch.setattr(scheduler, "CONNECT_SECONDS", 0.5)
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
