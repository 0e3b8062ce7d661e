"""Connections that several runs of one process share: what is used again, and what never outlasts its run."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from harness.core.failures import HarnessError, Refused
from harness.endpoint import client, offline
from harness.endpoint.client import Connections, OverlappingConnections
from tests.harness.endpoint.sending import GOOD, request

REPLY = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(GOOD), GOOD)


class CountingServer:
    """Answers every request, and counts the connections that it took."""

    def __init__(self, listening: socket.socket) -> None:
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        self.taken: list[socket.socket] = []
        self._listening = listening
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        while True:
            try:
                self.taken.append(self._listening.accept()[0])
            except OSError:
                return
            threading.Thread(target=self._answer, args=(self.taken[-1],), daemon=True).start()

    def _answer(self, taken: socket.socket) -> None:
        try:
            while data := taken.recv(65536):
                if data.endswith(b"}"):
                    taken.sendall(REPLY)
        except OSError:
            return


@contextmanager
def counting() -> Iterator[CountingServer]:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        server = CountingServer(listening)
        try:
            yield server
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            for each in server.taken:
                each.close()


async def ask(ways: Connections, url: str) -> str:
    client = ways.client(timeout_seconds=20.0, offline=False)
    return (await client.send(request(url)))[0].text


def test_a_later_run_uses_the_connection_of_an_earlier_one() -> None:
    with counting() as server, closing(Connections()) as ways:
        assert [ways.run(ask(ways, server.url)) for _ in range(3)] == ["whole"] * 3
        assert len(server.taken) == 1


def test_a_connection_that_was_closed_between_two_runs_is_not_used_again() -> None:
    with counting() as server, closing(Connections()) as ways:
        ways.run(ask(ways, server.url))
        server.taken[0].shutdown(socket.SHUT_RDWR)
        assert ways.run(ask(ways, server.url)) == "whole"
        assert len(server.taken) == 2


def test_other_limits_are_another_client() -> None:
    with closing(Connections()) as ways:
        own = ways.client(timeout_seconds=20.0, offline=False)
        assert ways.client(timeout_seconds=20.0, offline=False) is own
        assert ways.client(timeout_seconds=20.0, offline=True) is not own
        assert ways.client(timeout_seconds=5.0, offline=False) is not own


def test_a_client_that_is_at_hand_refuses_other_machines_once_the_door_is_shut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with counting() as server, closing(Connections()) as ways:
        ways.run(ask(ways, server.url))
        monkeypatch.setattr(offline, "why", lambda: offline.SECRET)
        with pytest.raises(Refused, match="nothing may leave"):
            ways.run(ask(ways, "http://192.0.2.1/v1"))
        assert ways.run(ask(ways, server.url)) == "whole"


def test_what_a_run_leaves_behind_is_broken_off() -> None:
    broken: list[str] = []

    async def left() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            broken.append("left")
            raise

    async def begin() -> asyncio.Task[None]:
        task = asyncio.create_task(left())
        await asyncio.sleep(0)
        return task

    with closing(Connections()) as ways:
        assert ways.run(begin()).cancelled()
        assert broken == ["left"]


def test_runs_that_overlap_share_a_loop_and_break_off_only_what_is_their_own() -> None:
    broken: list[str] = []
    met = asyncio.Event()

    async def left(name: str) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            broken.append(name)
            raise

    async def one() -> list[str]:
        behind = asyncio.create_task(left("of the one"))
        await asyncio.wait_for(met.wait(), 20)
        assert not behind.done()
        return list(broken)

    async def other() -> asyncio.Task[None]:
        behind = asyncio.create_task(left("of the other"))
        await asyncio.sleep(0)
        return behind

    async def meet() -> None:
        met.set()

    with closing(OverlappingConnections()) as ways, ThreadPoolExecutor(1) as threads:
        whole = threads.submit(ways.run, one())
        ways.run(other())
        ways.run(meet())
        assert whole.result(20) == ["of the other"]
        assert broken == ["of the other", "of the one"]


def test_overlapping_runs_use_one_pool_and_what_they_raise_is_theirs() -> None:
    async def wrong() -> None:
        raise LookupError

    with counting() as server, closing(OverlappingConnections()) as ways:
        with pytest.raises(LookupError):
            ways.run(wrong())
        assert [ways.run(ask(ways, server.url)) for _ in range(3)] == ["whole"] * 3
        assert len(server.taken) == 1


def test_calls_whose_loop_a_method_ended_are_told_and_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def ending() -> None:
        asyncio.get_running_loop().stop()
        await asyncio.Event().wait()

    monkeypatch.setattr(client, "ALIVE_SECONDS", 0.01)
    ways = OverlappingConnections()
    with pytest.raises(HarnessError, match="broke off"):
        ways.run(ending())
    ways.close()
