"""A small screen reader: it knows the window only by what the program says on the accessibility bus."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, MatchRule, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.desktop.real.bus import Bus
from tests.desktop.real.node import GoneError, Node
from tests.desktop.real.waiting import SECONDS, until

_REGISTRY = "org.a11y.atspi.Registry"
_ROOT = "/org/a11y/atspi/accessible/root"
_OBJECT = "org.a11y.atspi.Event.Object"
_EVENTS = ("object:announcement", "object:text-changed", "object:state-changed:focused")


@dataclass(frozen=True)
class Happened:
    """One event that a program told."""

    kind: str
    """``Announcement``, ``TextChanged``, ``StateChanged``."""
    detail: str
    what: object
    by: Node


class Reader:
    """Reads the first program that shows itself, hears what it announces, and presses what can be pressed."""

    def __init__(self, connection: DBusConnection) -> None:
        self._connection = connection
        self._queue: deque[Any] = deque()
        self.heard: list[Happened] = []
        """Everything that was told, the oldest first."""
        self.app: Node | None = None

    def listen(self) -> None:
        """Ask to be told; programs say nothing before somebody does."""
        rule = MatchRule(type="signal", interface=_OBJECT)
        self._connection.send_and_get_reply(message_bus.AddMatch(rule))
        self._connection.filter(rule, queue=self._queue)
        registry = DBusAddress("/org/a11y/atspi/registry", _REGISTRY, _REGISTRY)
        for event in _EVENTS:
            message = new_method_call(registry, "RegisterEvent", "sass", (event, [], ""))
            self._connection.send_and_get_reply(message)

    @property
    def desktop(self) -> Node:
        """What holds the programs."""
        return Node(_REGISTRY, _ROOT, self._call)

    @property
    def windows(self) -> list[Node]:
        """The windows of the program, as soon as there is one."""
        self.app = self.app or until(self._program, "a program on the accessibility bus")
        return until(lambda: self.app.children if self.app else [], "a window")

    @property
    def window(self) -> Node:
        """The first of them."""
        return self.windows[0]

    def forget(self) -> None:
        """Look for a new program: the one before has ended."""
        gone, self.app = self.app, None
        until(lambda: gone not in self.desktop.children, "the end of a program")
        self.heard.clear()

    def shown(self) -> list[Node]:
        """Return everything that is on the screen now."""
        return [node for window in self.windows for node in window.shown()]

    def all(self, role: str) -> list[Node]:
        """Return what has this role and is on the screen."""
        return [node for node in self.shown() if _is(node, "…", role)]

    def find(self, name: str, role: str = "", seconds: float = SECONDS) -> Node:
        """Wait for something of this name, or one that begins with it where it ends in ``…``."""

        def look() -> Node | None:
            shown = (node for window in self.windows for node in window.shown())
            return next((each for each in shown if _is(each, name, role)), None)

        return until(look, lambda: f"{role or 'anything'} called {name!r} in\n{self}", seconds)

    def read(self, name: str) -> str:
        """Return the text of what has this name."""
        return self.find(name, "text").text

    def hear(self, words: str, seconds: float = SECONDS) -> Happened:
        """Wait for an announcement that has these words, after the last one that was waited for."""

        def look() -> Happened | None:
            self.take()
            for at, each in enumerate(self.heard):
                if each.kind == "Announcement" and words in str(each.what):
                    del self.heard[: at + 1]
                    return each
            return None

        return until(look, lambda: f"{words!r} among {[each.what for each in self.heard]}", seconds)

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so on the screen."""
        until(lambda: _so(is_so), lambda: f"as wished on\n{self}")

    def take(self) -> None:
        """Take in what was told."""
        with contextlib.suppress(TimeoutError):
            while True:
                self._connection.recv_messages(timeout=0)
        while self._queue:
            message = self._queue.popleft()
            detail, _, _, (_, what) = message.body[:4]
            header = message.header.fields
            by = Node(str(header[7]), str(header[1]), self._call)
            self.heard.append(Happened(str(header[3]), str(detail), what, by))

    def _call(self, message: Any) -> Any:
        return self._connection.send_and_get_reply(message, timeout=20)

    def _program(self) -> Node | None:
        return next(iter(self.desktop.children), None)

    def __str__(self) -> str:
        return "\n".join(_line(node) for node in self.shown())


@contextlib.contextmanager
def reader(bus: Bus) -> Iterator[Reader]:
    """Listen on a bus before any program is there."""
    with open_dbus_connection(bus.accessibility) as connection:
        made = Reader(connection)
        made.listen()
        yield made


def _so(ask: Callable[[], object]) -> bool:
    try:
        return bool(ask())
    except GoneError:
        return False


def _is(node: Node, name: str, role: str) -> bool:
    def right() -> bool:
        begins = name.endswith("…") and node.name.startswith(name[:-1])
        return (node.name == name or begins) and role in {"", node.role}

    return _so(right)


def _line(node: Node) -> str:
    try:
        return f"{node.role} | {node.name!r} | {node.description!r} | {sorted(node.states)}"
    except GoneError:
        return "(gone)"
