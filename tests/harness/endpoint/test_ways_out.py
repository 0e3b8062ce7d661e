"""Whether a computer has a way to other machines: by the tables of three systems, and by what the kernel says itself."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.endpoint import offline, ways_out
from harness.endpoint.ways_out import (
    bsd_routes,
    linux_routes,
    require_none,
    windows_routes,
)
from harness.endpoint.ways_out import ways_out as looked_for

HEAD = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
NONE, DEFAULT, NEAR = "", "00000000\t0100A8C0\t0003", "0000A8C0\t00000000\t0001"
NO_ADDRESS = "00000000000000000000000000000000"
LOOPBACK_6 = f"{NO_ADDRESS[:-1]}1 80 {NO_ADDRESS} 00 {NO_ADDRESS} 00000000 1 0 80200001 lo\n"


def linux(
    root: Path, routes: dict[str, str], routes_6: str = LOOPBACK_6, carrier: str = "1\n"
) -> list[str]:
    """Return what is found in tables of the kernel with these routes by interface, each with such a line."""
    (root / "proc/net").mkdir(parents=True)
    rows = "".join(
        f"{name}\t{route}\t0\t0\t0\t00000000\t0\t0\t0\n" for name, route in routes.items()
    )
    (root / "proc/net/route").write_text(HEAD + rows)
    (root / "proc/net/ipv6_route").write_text(routes_6)
    for name in {*routes, "eth6"} - {"lo", "tun0"}:
        (root / "sys/class/net" / name).mkdir(parents=True)
        (root / "sys/class/net" / name / "carrier").write_text(carrier)
    return list(linux_routes(root))


@pytest.mark.parametrize(
    ("routes", "carrier", "found"),
    [
        ({}, "1\n", []),
        ({"lo": NEAR}, "1\n", []),
        ({"eth0": DEFAULT}, "1\n", ["eth0"]),
        ({"eth0": NEAR, "lo": NEAR}, "1\n", ["eth0"]),
        ({"docker0": NEAR}, "0\n", []),
        ({"tun0": NEAR}, "", ["tun0"]),  # an interface of which the system tells no line
        ({"eth0": "00000000\t00000000\t0201"}, "1\n", []),  # a route that rejects
        ({"eth0": "00000000\t00000000\t0000"}, "1\n", []),  # and one that is not up
    ],
)
def test_the_table_of_linux(
    tmp_path: Path, routes: dict[str, str], carrier: str, found: list[str]
) -> None:
    assert linux(tmp_path, routes, carrier=carrier) == found


@pytest.mark.parametrize(
    ("destination", "flags", "found"),
    [
        (f"{NO_ADDRESS} 00", "00000003", ["eth6"]),
        ("fe800000000000000000000000000000 40", "00000001", ["eth6"]),
        ("ff000000000000000000000000000000 08", "00000001", []),
        (f"{NO_ADDRESS} 00", "00200200", []),
    ],
)
def test_the_table_of_ipv6(tmp_path: Path, destination: str, flags: str, found: list[str]) -> None:
    row = f"{destination} {NO_ADDRESS} 00 {NO_ADDRESS} 00000400 1 0 {flags}     eth6\n"
    assert linux(tmp_path, {}, LOOPBACK_6 + row) == found


def test_a_table_that_cannot_be_read_is_no_sign_of_peace(tmp_path: Path) -> None:
    assert list(linux_routes(tmp_path)) == ["/proc/net/route cannot be read"]


WINDOWS_ALONE = """
Interface List
  1...........................Software Loopback Interface 1

IPv4 Route Table
Active Routes:
Network Destination        Netmask          Gateway       Interface  Metric
        127.0.0.0        255.0.0.0         On-link         127.0.0.1    331
        127.0.0.1  255.255.255.255         On-link         127.0.0.1    331
  127.255.255.255  255.255.255.255         On-link         127.0.0.1    331
        224.0.0.0        240.0.0.0         On-link         127.0.0.1    331
  255.255.255.255  255.255.255.255         On-link         127.0.0.1    331
Persistent Routes:
  None

IPv6 Route Table
Active Routes:
 If Metric Network Destination      Gateway
  1    331 ::1/128                  On-link
  1    331 ff00::/8                 On-link
"""
WINDOWS_NEAR = "      192.168.1.0    255.255.255.0   Auf Verbindung      192.168.1.23    281\n"
WINDOWS_DEFAULT = "          0.0.0.0          0.0.0.0      192.168.1.1     192.168.1.23     25\n"
WINDOWS_SIX = " 12    281 2001:db8:1::/64          On-link\n"


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("", set()),
        (WINDOWS_NEAR, {"192.168.1.23"}),
        (WINDOWS_DEFAULT + WINDOWS_NEAR, {"192.168.1.23"}),
        (WINDOWS_SIX, {"interface 12"}),
        ("  224.0.0.0   240.0.0.0   On-link   192.168.1.23   281\n", set()),
    ],
)
def test_what_windows_prints(more: str, found: set[str]) -> None:
    assert set(windows_routes(WINDOWS_ALONE + more)) == found


MACOS_ALONE = """Routing tables

Internet:
Destination        Gateway            Flags               Netif Expire
127                127.0.0.1          UCS                   lo0
127.0.0.1          127.0.0.1          UH                    lo0

Internet6:
Destination                             Gateway                                 Flags               Netif Expire
default                                 fe80::%utun0                            UGcIg               utun0
::1                                     ::1                                     UHL                   lo0
fe80::%lo0/64                           fe80::1%lo0                             UcI                   lo0
fe80::%utun0/64                         fe80::1c2d:3e4f:5061:7283%utun0         UcI                 utun0
ff01::%lo0/32                           ::1                                     UmCI                  lo0
ff02::%utun0/32                         fe80::1c2d:3e4f:5061:7283%utun0         UmCI                utun0
"""


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("", set()),
        ("default            192.168.1.1        UGScg                 en0       \n", {"en0"}),
        ("192.168.1          link#6             UCS                   en0      !\n", {"en0"}),
        ("169.254            link#6             UCS                   en0      !\n", {"en0"}),
        ("224.0.0/4          link#6             UmCS                  en0      !\n", set()),
        ("255.255.255.255/32 link#6             UCS                   en0      !\n", set()),
        ("10.8/16            10.8.0.1           UGSc                utun4\n", {"utun4"}),
        ("10.9/16            127.0.0.1          UGRS                  en0\n", set()),
    ],
)
def test_what_macos_prints(more: str, found: set[str]) -> None:
    assert set(bsd_routes(MACOS_ALONE + more)) == found


ALONE = """
import socket, sys
from harness.endpoint.ways_out import ways_out
from tests.without_network import leave_network
print(*ways_out())
try:
    leave_network()
except OSError:
    sys.exit(7)
print("alone:", *ways_out())
"""


def test_a_machine_that_is_alone_is_known_by_its_own_kernel() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", ALONE], check=False, capture_output=True, text=True,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    if done.returncode == 7:
        pytest.skip("this system gives no namespace")
    assert done.stdout.endswith("\nalone:\n"), done.stderr


def test_an_address_that_the_kernel_would_send_to_is_a_way_that_no_table_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ways_out, "routed", lambda: iter(()))
    monkeypatch.setattr(ways_out, "NOBODYS", ((socket.AF_INET, "127.0.0.1"),))
    assert looked_for() == ("a route that the table does not show",)
    monkeypatch.setattr(ways_out, "NOBODYS", ((socket.AF_INET, "192.0.2.1"),))
    offline.shut(offline.SECRET)  # the door answers in the kernel's place
    assert looked_for() == ()


def test_nothing_is_sent_to_find_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket of UDP that is connected here would have its packet heard."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind(("127.0.0.1", 0))
        heard.setblocking(False)
        place = heard.getsockname()
        monkeypatch.setattr(ways_out, "routed", lambda: iter(()))
        monkeypatch.setattr(ways_out, "PORT", place[1])
        monkeypatch.setattr(ways_out, "NOBODYS", ((socket.AF_INET, place[0]),))
        assert looked_for() != ()
        with pytest.raises(BlockingIOError):
            heard.recv(1)


def test_the_refusal_names_the_way_and_both_mends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways_out, "ways_out", lambda: ("wlan0",))
    for reason in ("", "  "):
        with pytest.raises(UsageError, match=r"\(wlan0\).*Pull the cable.*--despite-network"):
            require_none(reason)
    assert require_none("the cable is cut, I looked") == "the cable is cut, I looked"
    monkeypatch.setattr(ways_out, "ways_out", lambda: ())
    assert require_none("") == ""
    assert require_none("not needed") == "", "there is nothing to note"
