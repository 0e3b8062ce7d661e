"""Whether this computer has a way to other machines: asked of its routes, and nothing is sent to find out.

The routes are those that the system lists, of interfaces that are up and have a line. Beside them the system is asked
where it would send to an address that is nobody's (RFC 5737, RFC 3849): a socket of UDP that is connected and not
written to sends no packet. What cannot be examined counts as a way.

It holds for this moment and this system only. A phone or cable that is plugged in later, what the computer that
this one is a guest of can reach, radio that carries files without a route, and a stick are nothing that it sees.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness.core.failures import Refused, UsageError

OPTION: Final = "--despite-network"

NOBODYS: Final = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses that are reserved for documentation."""
PORT: Final = 9
_UP, _REJECT = 0x0001, 0x0200
_PATIENCE_SECONDS: Final = 20.0


def network_routes() -> tuple[str, ...]:
    """Return what leads to other machines, by the system's names of interfaces, the first ten; none where nothing does."""
    interfaces = dict.fromkeys(routed())
    if not interfaces and any(_leads_on(family, address) for family, address in NOBODYS):
        interfaces = {"a route that the table does not show": None}
    return tuple(sorted(interfaces))[:10]


def require_none(reason: str, what: str = "a run") -> str:
    """Raise UsageError where this computer has a way to other machines and a custodian gives no ``reason`` to continue.

    ``what`` they were to be opened for, in words. Returns the reason where there is a way, to be noted with the run; empty where there is none.
    """
    routes = network_routes()
    if routes and not reason.strip():
        raise UsageError(
            f"This computer has a way to other machines ({', '.join(routes)}), and sentences of a vault were to be opened for "
            f"{what}. Nothing was opened. Pull the cable, switch off Wi-Fi and Bluetooth, unplug phones, and try again, or "
            f'use a computer that has no network. If you answer for it, add {OPTION} "WHY": your words are in the log of '
            "the vault and on the card. For a try with made-up sentences, that is reason enough."
        )
    return reason if routes else ""


def notice(found: Iterable[str]) -> str:
    """Return the warning for somebody whose secret entries, out of a file, are used beside such routes."""
    return (
        f"This computer has a way to other machines ({', '.join(found)}). This program refuses connections to them from now "
        "on; other programs do not, nor does a method that wants out. Cut the computer off before you use sentences that "
        "must not leave it."
    )


def routed(system: str = sys.platform) -> Iterator[str]:
    """Yield the interfaces over which a route leads to other machines; words where nobody can tell."""
    if system.startswith("linux"):
        yield from linux_routes(Path("/"))
        return
    program, reading = (
        (Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "netstat.exe"), windows_routes)
        if system == "win32"
        else (Path("/usr/sbin/netstat"), bsd_routes)
    )  # fmt: skip
    try:
        process = subprocess.run(  # noqa: S603  a program of the system, by its whole path
            [program, "-rn"], capture_output=True, check=True, timeout=_PATIENCE_SECONDS,
            env={**os.environ, "LC_ALL": "C"}, stdin=subprocess.DEVNULL,
        ).stdout.decode("utf-8", "replace")  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        yield f"{program} tells no routes"
        return
    yield from reading(process)


def linux_routes(root: Path) -> Iterator[str]:
    """Read the tables of the kernel below ``root``; yields each interface of a route that leads to other machines."""
    tables = 0
    with suppress(OSError):
        for row in _rows(root / "proc/net/route")[1:]:
            flags = int(row[3], 16)
            if flags & _UP and not flags & _REJECT and _has_line(root, row[0]):
                yield row[0]
        tables += 1
    with suppress(OSError):
        for row in _rows(root / "proc/net/ipv6_route"):
            flags = int(row[8], 16)
            multicast = row[0].startswith("ff")
            if flags & _UP and not flags & _REJECT and not multicast and _has_line(root, row[9]):
                yield row[9]
        tables += 1
    if not tables:
        yield "/proc/net/route cannot be read"


def _rows(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text("ascii", "replace").splitlines()]


def _has_line(root: Path, interface: str) -> bool:
    """Return whether something is at the other end of an interface; loopback has nobody, and what is unknown may have."""
    if interface == "lo":
        return False
    try:
        return (root / "sys/class/net" / interface / "carrier").read_text("ascii").strip() != "0"
    except FileNotFoundError:
        return True
    except OSError:  # the interface is down
        return False


_OWN_OR_MANY: Final = re.compile(r"127\.|224\.|255\.255\.255\.255|ff[0-9a-f]{2}:|fe80:|::1(/|$)")
"""Destinations that are this machine, a broadcast or multicast, or neighbours that every interface lists."""
_DOTTED: Final = re.compile(r"\d+\.\d+\.\d+\.\d+")
_LOOPBACK_NUMBER: Final = "1"
"""Of the interface, in Windows' table of IPv6."""


def windows_routes(told: str) -> Iterator[str]:
    """Read what ``netstat -rn`` prints on Windows, in any language; yields the address or number of each interface."""
    for line in told.splitlines():
        words = line.split()
        if len(words) >= 4 and _DOTTED.fullmatch(words[0]) and _DOTTED.fullmatch(words[1]):
            *_, interface = _DOTTED.findall(line)
            if not interface.startswith("127.") and not _OWN_OR_MANY.match(words[0]):
                yield interface
        elif re.match(r"\s*\d+\s+\d+\s+[0-9a-f:]+/\d+", line):
            number, _, destination = words[:3]
            if number != _LOOPBACK_NUMBER and not _OWN_OR_MANY.match(destination):
                yield f"interface {number}"


def bsd_routes(told: str) -> Iterator[str]:
    """Read what ``netstat -rn`` prints on macOS; yields each interface of a route that counts without being asked for by name."""
    for line in told.splitlines():
        words = line.split()
        if len(words) < 4 or not re.fullmatch(r"[A-Za-z0-9]+", words[2]) or "U" not in words[2]:
            continue
        destination, _, flags, interface = words[:4]
        counts = set("IRB").isdisjoint(flags) and not interface.startswith("lo")
        if counts and not _OWN_OR_MANY.match(destination) and destination != "127":
            yield interface


def _leads_on(family: socket.AddressFamily, address: str) -> bool:
    """Return whether the system knows where it would send to an address; nothing is sent."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as opened:
            opened.connect((address, PORT))
    except (OSError, Refused):  # no way, no such protocol, or shut by this program itself
        return False
    return True
