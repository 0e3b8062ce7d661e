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
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.core.failures import ErrorClass, HarnessError, Refused

if TYPE_CHECKING:
    from corpora.model.entry import Entry

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
            raise refused(
                offline, f"{why()}, and something tried to reach another machine."
            ) from None

    def why() -> str:
        return (SECRET if SECRET in reasons else reasons[0]) if reasons else ""

    def shut(reason: str) -> None:
        if not reasons:
            install(hook)
            _require_hook(seen)
        reasons.append(reason)

    return NetworkGuard(shut, why)


_REACHES = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"})
_LOOKS_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_NAMES = "socket.getnameinfo"
_EVENTS = _REACHES | _LOOKS_UP | {_NAMES}
_CALL = "harness.endpoint.offline.call"


def _require_hook(seen: list[object]) -> None:
    """Raise HarnessError where the hook was not installed: code that ran before can prevent it."""
    call = object()
    sys.audit(_CALL, call)
    if not any(seen_call is call for seen_call in seen):
        raise HarnessError(
            "Connections cannot be refused in this process, so no run that must stay on this machine can "
            "begin. Close Rosetta and begin the run first of all."
        )
    seen.clear()


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


def why_secret(entries: Sequence[Entry]) -> str:
    """Return why entries, some of which are secret, may not leave this machine; a beginning of a sentence."""
    if any(entry.segment is not None and entry.segment.secret for entry in entries):
        return "These entries belong to a secret segment (gold_standard, held_out)"
    return "The terms of the corpus keep these entries on this machine"


shut, why = door()
