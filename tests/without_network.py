"""Tests reach this machine only: sockets of Python are refused in every process of pytest, and where the system has
namespaces, ``python -P tests/without_network.py`` runs pytest and all that it starts in one without a network.

An attempt fails its test, even where the program takes the refusal for a dead line and goes on. Addresses and names
that are reserved for documentation, where nobody is, may be tried: the answer is that there is no way.
"""

from __future__ import annotations

import ctypes
import errno
import ipaddress
import os
import re
import socket
import struct
import sys
from pathlib import Path
from typing import Any, Final

_REACHES: Final = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOOKS_UP: Final = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_NOBODY: Final = tuple(
    map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))
)
"""RFC 5737 and RFC 3849."""
_NOBODYS_NAME: Final = re.compile(r"(^|\.)(example(\.(com|net|org))?|invalid|test|localhost)\.?$")
"""RFC 2606 and RFC 6761."""

attempts: list[str] = []
"""What the test under way tried to reach, beside what is reserved for documentation."""


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Be a hook of Python's audit events: raise OSError where something would reach another machine."""
    if event in _REACHES:
        place = arguments[1]
        host = place[0] if isinstance(place, tuple) and place else None
    elif event in _LOOKS_UP:
        host = arguments[0]
    else:
        return
    where = _elsewhere(host)
    if where is None:
        return
    if not _is_nobodys(where):
        attempts.append(where)
    if event in _LOOKS_UP:
        raise socket.gaierror(socket.EAI_AGAIN, f"tests look up no other machine: {where}")
    raise OSError(errno.ENETUNREACH, f"tests reach no other machine: {where}")


def _elsewhere(host: object) -> str | None:
    """Return the name or address of another machine; None for what is this one, or no address at all."""
    if isinstance(host, bytes | bytearray):
        host = host.decode("latin-1")
    if not isinstance(host, str) or host in {"", "localhost", socket.gethostname()}:
        return None
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    mapped = getattr(address, "ipv4_mapped", None) or address
    return None if mapped.is_loopback or mapped.is_unspecified else str(mapped)


def _is_nobodys(where: str) -> bool:
    try:
        address = ipaddress.ip_address(where)
    except ValueError:
        return _NOBODYS_NAME.search(where.lower()) is not None
    return any(address in network for network in _NOBODY if network.version == address.version)


_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_SET_FLAGS, _UP = 0x8914, 0x1


def leave_network() -> None:
    """Put this process and all that it will start where there is no network but this machine's own; OSError where not.

    Linux only. Whoever is not root becomes the owner of a namespace of users with nobody else in it; the rights that
    come with it end when another program takes the place of this one.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "no namespaces on this system")
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NETWORK | (_NEW_USER if user else 0)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))


def main() -> None:
    """Run pytest with the arguments of this program, without a network where the system can do that."""
    try:
        leave_network()
    except OSError as error:
        print(f"Programs that tests start are not kept off the network here ({error.strerror}).")
    else:
        print("Tests, and the programs that they start, run without a network.")
    sys.stdout.flush()
    # a thread that ends leaves its arena behind, and tests start thousands of threads
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")
    os.execv(sys.executable, [sys.executable, "-P", "-m", "pytest", *sys.argv[1:]])


if __name__ == "__main__":
    main()
