"""``--offline``: while it is on, nothing in this process may open a connection to another machine.

The wire refuses such endpoints by itself; this guard also stops plug-ins and libraries, through
Python's audit events, which cannot be bypassed from Python code. They come too late for one thing: a
name given straight to ``socket.connect`` is looked up before the connection is refused. Programs that a
plug-in starts are not covered.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.endpoints import is_this_machine
from harness.failures import ErrorClass, Refused

_LOOKS_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_REACHES = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})


class _Guard:
    """The process-wide hook; audit hooks cannot be removed, so it is installed once and switched."""

    def __init__(self) -> None:
        self.depth = 0
        self.secret = 0
        """How many of these are on for secret entries."""
        self.installed = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.depth or event not in _LOOKS_UP | _REACHES:
            return
        if not _stays_here(event, arguments):
            raise Refused(
                ErrorClass.OFFLINE, f"{why_here()}, and something tried to reach another machine."
            )


_guard = _Guard()


def _stays_here(event: str, arguments: tuple[Any, ...]) -> bool:
    place = arguments[0] if event in _LOOKS_UP else arguments[1]
    if isinstance(place, tuple):
        place = place[0]
    elif event in _REACHES:
        return True  # a local socket's path
    if place is None:
        return True
    host = place.decode(errors="replace") if isinstance(place, bytes) else str(place)
    return not host or is_this_machine(host)


def why_here() -> str:
    """Say why nothing may leave this machine: secret entries keep a run here unasked."""
    if _guard.secret:
        return "The entries belong to a secret segment and may not leave this machine"
    return "--offline is on"


@contextmanager
def offline(on: bool, *, secret: bool = False) -> Iterator[None]:
    """Refuse every connection that leaves this machine while the block runs, where ``on``.

    ``secret``: for the sake of secret entries, which refusals then say.
    """
    if not on:
        yield
        return
    if not _guard.installed:
        sys.addaudithook(_guard)
        _guard.installed = True
    _guard.depth += 1
    _guard.secret += secret
    try:
        yield
    finally:
        _guard.depth -= 1
        _guard.secret -= secret
