"""Once the door is shut, no code of this process reaches another machine."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from contextlib import suppress

import pytest

from harness.core.failures import ErrorClass, HarnessError, Refused
from harness.endpoint import offline
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


def listen(host: str) -> None:
    with socket.socket() as opened:
        opened.bind((host, 0))


async def open_stream() -> None:
    await asyncio.open_connection(ELSEWHERE, 9)


class Said(str):  # noqa: SLOT000
    """A text that says another thing when it is asked twice."""

    def lower(self) -> str:
        return "127.0.0.1"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Pair(tuple[object, ...]):  # noqa: SLOT001
    """An address that shows this machine to Python, and another one to the system."""

    def __getitem__(self, place: object) -> object:  # type: ignore[override]
        return "127.0.0.1"


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
    "a tuple of another type": lambda: connect(Pair((ELSEWHERE, 9))),
    "a text of another type": lambda: connect((Said(ELSEWHERE), 9)),
    "a name of another type": lambda: socket.getaddrinfo(Said(ELSEWHERE), 80),
    "an address as bytes that change": lambda: connect((bytearray(b"192.0.2.1"), 9)),
    "the name of an address": lambda: socket.getnameinfo((ELSEWHERE, 9), 0),
    "a name below localhost": lambda: socket.getaddrinfo("secret.localhost", 80),
    "listening to others": lambda: listen("192.0.2.1"),
    "asyncio": lambda: asyncio.run(open_stream()),
    "urllib": lambda: urllib.request.urlopen(f"http://{ELSEWHERE}:9/", timeout=0.01),
}


@pytest.mark.parametrize("reason", [offline.SECRET, offline.OFFLINE])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_out_is_shut(way: str, reason: str) -> None:
    offline.shut(reason)
    with pytest.raises(Refused) as caught:
        WAYS[way]()
    assert caught.value.error_class is ErrorClass.OFFLINE
    assert str(caught.value).startswith(reason)


def test_this_machine_stays_reachable(endpoint: Scripted) -> None:
    offline.shut(offline.SECRET)
    for host in ("127.0.0.1", "localhost"):
        with socket.create_connection((host, endpoint.port), timeout=5):
            pass
    first, second = socket.socketpair()
    first.close()
    second.close()
    with suppress(OSError):
        connect("/nowhere/at/all", socket.AF_UNIX)


def test_the_door_is_open_until_it_is_shut_and_says_why() -> None:
    assert offline.why() == ""
    with suppress(OSError):
        connect((ELSEWHERE, 9))
    offline.shut(offline.OFFLINE)
    assert offline.why() == offline.OFFLINE
    offline.shut(offline.SECRET)
    offline.shut(offline.OFFLINE)
    assert offline.why() == offline.SECRET


def test_a_door_whose_hook_is_not_taken_cannot_be_relied_on() -> None:
    with pytest.raises(HarnessError, match="cannot be refused"):
        offline.door(lambda _hook: None).shut(offline.SECRET)


TAKES_IT_APART = """
import atexit, ipaddress, socket, sys
from harness.endpoint import endpoints, offline
from harness.core import failures

offline.shut(offline.SECRET)
offline.shut = offline.why = offline._judge = offline.door = lambda *_: None
endpoints.is_this_machine = endpoints.is_loopback = lambda *_: True
offline._EVENTS = offline._REACHES = offline._LOOKS_UP = frozenset()
ipaddress.IPv4Address.is_loopback = property(lambda self: True)
socket.inet_pton = lambda *_: bytes([127, 0, 0, 1])
failures.Refused = KeyError
sys.addaudithook = lambda *_: None

def tried(when):
    opened = socket.socket()
    opened.settimeout(0.01)
    try:
        opened.connect(("192.0.2.1", 9))
    except OSError:
        print(when, "went out")
    except BaseException as error:
        print(when, type(error).__name__)

tried("now")
atexit.register(tried, "at the end")
"""


def test_a_module_that_is_patched_does_not_open_it() -> None:
    done = subprocess.run([sys.executable, "-c", TAKES_IT_APART], capture_output=True, check=True)
    assert done.stdout.split(b"\n")[:2] == [b"now Refused", b"at the end Refused"]
