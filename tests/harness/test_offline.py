"""While --offline is on, no code of this process reaches another machine."""

from __future__ import annotations

import asyncio
import socket
import urllib.request
from collections.abc import Callable
from contextlib import suppress

import pytest

from harness.failures import ErrorClass, Refused
from harness.offline import offline
from tests.harness.scripted import Scripted

ELSEWHERE = "192.0.2.1"
"""An address that is reserved for documentation: nobody is there."""


def connect(address: object, family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM) -> None:
    with socket.socket(family, kind) as opened:
        opened.settimeout(0.01)
        opened.connect(address)  # type: ignore[arg-type]


def send_to(address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.sendto(b"x", address)


def send_message(address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.sendmsg([b"x"], [], 0, address)


async def open_stream() -> None:
    await asyncio.open_connection(ELSEWHERE, 9)


WAYS: dict[str, Callable[[], object]] = {
    "tcp": lambda: connect((ELSEWHERE, 9)),
    "tcp over IPv6": lambda: connect(("2001:db8::1", 9), socket.AF_INET6),
    "mapped IPv4": lambda: connect(("::ffff:192.0.2.1", 9), socket.AF_INET6),
    "udp": lambda: send_to((ELSEWHERE, 9)),
    "udp message": lambda: send_message((ELSEWHERE, 9)),
    "connected udp": lambda: connect((ELSEWHERE, 9), kind=socket.SOCK_DGRAM),
    "a name is looked up": lambda: socket.getaddrinfo("secret.elsewhere.example", 80),
    "a name as bytes": lambda: socket.getaddrinfo(b"elsewhere.example", 80),
    "the old look-up": lambda: socket.gethostbyname("secret.elsewhere.example"),
    "the old look-up, more": lambda: socket.gethostbyname_ex("secret.elsewhere.example"),
    "an address is looked up": lambda: socket.gethostbyaddr(ELSEWHERE),
    "localhost in a longer name": lambda: socket.getaddrinfo("localhost.evil.example", 80),
    "asyncio": lambda: asyncio.run(open_stream()),
    "urllib": lambda: urllib.request.urlopen(f"http://{ELSEWHERE}:9/", timeout=0.01),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_out_is_shut(way: str) -> None:
    with offline(True), pytest.raises(Refused) as caught:
        WAYS[way]()
    assert caught.value.error_class is ErrorClass.OFFLINE
    assert "secret" not in str(caught.value)


def test_this_machine_stays_reachable(endpoint: Scripted) -> None:
    with offline(True):
        for host in ("127.0.0.1", "localhost"):
            with socket.create_connection((host, endpoint.port), timeout=5):
                pass
        first, second = socket.socketpair()
        first.close()
        second.close()
        with suppress(OSError):
            connect("/nowhere/at/all", socket.AF_UNIX)


def test_blocks_may_be_nested_and_the_door_opens_again() -> None:
    with offline(True):
        with offline(True):
            pass
        with pytest.raises(Refused):
            connect((ELSEWHERE, 9))
    with offline(False), suppress(OSError):
        connect((ELSEWHERE, 9))
