"""The tests themselves reach this machine only, and so do the programs that they start where the system has namespaces."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import without_network

UNKNOWN = "a.machine.elsewhere"

WAYS: dict[str, Callable[[], object]] = {
    "8.8.8.8": lambda: socket.create_connection(("8.8.8.8", 53), timeout=0.01),
    "2600::1": lambda: socket.socket(socket.AF_INET6).connect(("2600::1", 9)),
    "10.0.0.1": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(
        b"", ("10.0.0.1", 9)
    ),
    "9.9.9.9": lambda: socket.socket(socket.AF_INET6).connect(("::ffff:9.9.9.9", 9)),
    UNKNOWN: lambda: socket.getaddrinfo(UNKNOWN, 80),
}


@pytest.mark.filterwarnings("ignore:unclosed")
@pytest.mark.parametrize("where", WAYS)
def test_another_machine_is_refused_and_the_test_would_fail(where: str) -> None:
    with pytest.raises(OSError, match="no other machine"):
        WAYS[where]()
    assert without_network.attempts == [where]
    without_network.attempts.clear()


def test_this_machine_is_reached_and_nobodys_address_is_no_attempt() -> None:
    with socket.create_server(("localhost", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()
    for host in ("192.0.2.1", "nobody.example"):
        with pytest.raises(OSError, match="no other machine"):
            socket.create_connection((host, 9), timeout=0.01)
    assert without_network.attempts == []


ALONE = """
import errno, socket, sys
from tests.without_network import leave_network
try:
    leave_network()
except OSError:
    sys.exit(7)
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname(), timeout=5).close()
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9))
except OSError as error:
    print(errno.errorcode[error.errno])
"""


def test_programs_are_where_no_route_leads_out() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", ALONE],
        check=False,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    if done.returncode == 7:
        pytest.skip("this system gives no namespace")
    assert done.stdout == "ENETUNREACH\n", done.stderr
