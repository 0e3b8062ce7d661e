"""The door to other machines: once shut, nothing in this process opens a connection to one.

It is shut before the code of a method is loaded, by ``--offline`` and by secret entries, and never opens
again: what ran beside secret texts may have kept them. It works through Python's audit events, and
decides by built-in functions and exact types that it holds itself, so patching a module does not open it.

It stops accidents: a library that asks for its newest version, a method that forgot where its endpoint
is. It does not stop a hostile method, which runs with the user's rights: ctypes and programs that it
starts send past it, a socket that was connected before stays connected, files can be written, and who
digs in the interpreter finds its state. On Windows, asyncio may connect to an address given by number
without such an event. Only a box without a network can stop all that.
"""

from __future__ import annotations

import _socket
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from harness.core.failures import ErrorClass, HarnessError, Refused, UsageError

if TYPE_CHECKING:
    from corpora.model.entry import AnyEntry


SECRET = "Secret entries were opened, and nothing may leave this machine"  # noqa: S105  a reason
OFFLINE = "--offline is on"
TERMS = "The terms of the corpus do not say that its texts may be sent anywhere"


Hook = Callable[[str, tuple[Any, ...]], None]


class NetworkGuard(NamedTuple):
    """The two things that can be done with it."""

    shut: Callable[[str], None]
    """Shut it for good, for a reason: ``SECRET``, ``OFFLINE`` or ``TERMS``."""
    why: Callable[[], str]
    """Say why it is shut; empty while it is open."""


def door(install: Callable[[Hook], None] = sys.addaudithook) -> NetworkGuard:
    """Make a door; ``install`` puts its hook in place, in the program for as long as the process lives."""
    reasons: list[str] = []
    seen: list[object] = []
    stays_here = _judge()
    reaching, refused, offline = _EVENTS, Refused, ErrorClass.OFFLINE

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == _CALL:
            seen.append(arguments[0])
        elif event in reaching and reasons and not stays_here(event, arguments):
            raise refused(offline, f"{why()}, and something tried to reach another machine.") from None

    def why() -> str:
        return (SECRET if SECRET in reasons else reasons[0]) if reasons else ""

    def shut(reason: str) -> None:
        if not reasons:
            install(hook)
            # Raise HarnessError where the hook was not installed: code that ran before can prevent it.
            call = object()
            sys.audit(_CALL, call)
            if not any(seen_call is call for seen_call in seen):
                raise HarnessError(
                    "Connections cannot be refused in this process, so no run that must stay on this machine can "
                    "begin. Close Rosetta and begin the run first of all."
                )
            seen.clear()
        reasons.append(reason)

    return NetworkGuard(shut, why)


_REACHES = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"})
_LOOKS_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_NAMES = "socket.getnameinfo"
_EVENTS = _REACHES | _LOOKS_UP | {_NAMES}
_CALL = "harness.endpoint.offline.call"


def _judge() -> Callable[[str, tuple[Any, ...]], bool]:
    """Return the function that tells whether an event stays on this machine; all that it needs is bound here.

    What has another type than the plain one is refused: a subclass may say two things.
    """
    own = _own_hosts()
    family_of, unix = _socket.socket.family.__get__, getattr(_socket, "AF_UNIX", None)
    reaches, names = _REACHES, _NAMES
    kind, text, octets, pair, nothing = type, str, bytes, tuple, type(None)

    def place_is_own(opened: object, place: Any) -> bool:
        if kind(place) is nothing:
            return True  # a connected socket, looked at when it was connected
        if kind(place) is not pair:
            return family_of(opened) == unix and kind(place) in {text, octets}
        return len(place) > 0 and kind(place[0]) is not nothing and own(place[0])

    def stays_here(event: str, arguments: tuple[Any, ...]) -> bool:
        if event in reaches:
            return place_is_own(arguments[0], arguments[1])
        asked = arguments[0]
        if event == names:
            return kind(asked) is pair and len(asked) > 0 and own(asked[0])
        return own(asked)

    return stays_here


def _own_hosts() -> Callable[[object], bool]:
    """Return the function that tells this machine's own names and addresses."""
    to_bytes, v4, v6, failure = _socket.inet_pton, _socket.AF_INET, _socket.AF_INET6, OSError
    kind, text, octets, nothing = type, str, bytes, type(None)

    def own(host: Any) -> bool:
        if kind(host) is nothing:
            return True
        given = octets.decode(host, "latin-1") if kind(host) is octets else host
        if kind(given) is not text:
            return False
        name = text.lower(text.partition(given, "%")[0])
        if name in {"", "localhost"}:
            return True
        try:
            return to_bytes(v4, name)[0] == 127
        except failure:
            pass
        try:
            return to_bytes(v6, name) == b"\0" * 15 + b"\1"
        except failure:
            return False

    return own


def why_secret(entries: Sequence[AnyEntry]) -> str:
    """Return why entries, some of which are secret, may not leave this machine; a beginning of a sentence."""
    if any(entry.segment is not None and entry.segment.secret for entry in entries):
        return "These entries belong to a secret segment (gold_standard, held_out)"
    return "The terms of the corpus keep these entries on this machine"


shut, why = door()


# ---- Whether this computer has a way to other machines: asked of its routes, and nothing is sent
# to find out.
#
# The routes are those that the system lists, of interfaces that are up and have a line. Beside
# them the system is asked where it would send to an address that is nobody's (RFC 5737, RFC
# 3849): a socket of UDP that is connected and not written to sends no packet. What cannot be
# examined counts as a way.
#
# It holds for this moment and this system only. A phone or cable that is plugged in later, what
# the computer that this one is a guest of can reach, radio that carries files without a route,
# and a stick are nothing that it sees.

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
