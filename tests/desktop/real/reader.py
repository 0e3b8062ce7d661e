"""A small screen reader: it knows the window only by what the program says on the accessibility bus."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, MatchRule, MessageType, Properties, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.desktop.real.bus import Bus
from tests.desktop.real.waiting import SECONDS, until

ACCESSIBLE = "org.a11y.atspi.Accessible"
Call = Callable[[Any], Any]

_STATES = {
    1: "active", 4: "checked", 7: "editable", 8: "enabled", 11: "focusable", 12: "focused", 16: "modal",
    17: "multi-line", 20: "pressed", 22: "selectable", 23: "selected", 24: "sensitive", 25: "showing",
    30: "visible", 38: "selectable-text", 39: "is-default", 41: "checkable", 43: "read-only",
}  # fmt: skip
"""Bit → its name, of those that mean something here."""
_RELATIONS = {1: "label-for", 2: "labelled-by", 17: "description-for", 18: "described-by"}


class GoneError(Exception):
    """What was asked about is not on the screen any more."""


@dataclass(frozen=True)
class Node:
    """A reference; each question goes to the program, as a screen reader's would."""

    owner: str
    path: str
    call: Call

    @property
    def name(self) -> str:
        return str(self._property("Name"))

    @property
    def description(self) -> str:
        return str(self._property("Description"))

    @property
    def role(self) -> str:
        return str(self._ask(ACCESSIBLE, "GetRoleName")[0])

    @property
    def states(self) -> frozenset[str]:
        low, high = self._ask(ACCESSIBLE, "GetState")[0]
        bits = low | high << 32
        return frozenset(name for place, name in _STATES.items() if bits >> place & 1)

    @property
    def relations(self) -> dict[str, list[Node]]:
        found = self._ask(ACCESSIBLE, "GetRelationSet")[0]
        return {
            _RELATIONS.get(kind, str(kind)): [Node(*target, self.call) for target in targets]  # type: ignore[call-arg]
            for kind, targets in found
        }

    @property
    def children(self) -> list[Node]:
        return [Node(*child, self.call) for child in self._ask(ACCESSIBLE, "GetChildren")[0]]  # type: ignore[call-arg]

    @property
    def text(self) -> str:
        count = self._property("CharacterCount", "org.a11y.atspi.Text")
        return str(self._ask("org.a11y.atspi.Text", "GetText", "ii", 0, count)[0])

    @property
    def value(self) -> tuple[float, float]:
        face = "org.a11y.atspi.Value"
        return self._property("CurrentValue", face), self._property("MaximumValue", face)

    @property
    def place(self) -> tuple[int, int, int, int]:
        x, y, width, height = self._ask("org.a11y.atspi.Component", "GetExtents", "u", 0)[0]
        return x, y, width, height

    @property
    def actions(self) -> list[str]:
        face = "org.a11y.atspi.Action"
        count = self._property("NActions", face)
        return [str(self._ask(face, "GetName", "i", each)[0]) for each in range(count)]

    def press(self) -> None:
        wanted = next(
            at for at, name in enumerate(self.actions) if name in {"Press", "Toggle", "Select"}
        )
        assert self._ask("org.a11y.atspi.Action", "DoAction", "i", wanted)[0]

    def focus(self) -> None:
        assert self._ask("org.a11y.atspi.Component", "GrabFocus")[0]

    def write(self, text: str) -> None:
        assert self._ask("org.a11y.atspi.EditableText", "SetTextContents", "s", text)[0]

    def shown(self) -> Iterator[Node]:
        """Yield this and everything in it that is on the screen, from the top; what goes meanwhile is left out."""
        with contextlib.suppress(GoneError):
            if "showing" in self.states:
                children = self.children
                yield self
                for child in children:
                    yield from child.shown()

    def _ask(self, face: str, method: str, signature: str | None = None, *facts: object) -> Any:
        address = DBusAddress(self.path, self.owner, face)
        return self._answered(new_method_call(address, method, signature, facts))

    def _property(self, name: str, face: str = ACCESSIBLE) -> Any:
        address = DBusAddress(self.path, self.owner, face)
        return self._answered(Properties(address).get(name))[0][1]

    def _answered(self, message: Any) -> Any:
        reply = self.call(message)
        if reply.header.message_type is MessageType.error:
            raise GoneError(f"{self.path}: {reply.body}")
        return reply.body


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
        return Node(_REGISTRY, _ROOT, self._call)

    @property
    def windows(self) -> list[Node]:
        self.app = self.app or until(self._program, "a program on the accessibility bus")
        return until(lambda: self.app.children if self.app else [], "a window")

    @property
    def window(self) -> Node:
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
        return [node for node in self.shown() if _is(node, "…", role)]

    def find(self, name: str, role: str = "", seconds: float = SECONDS) -> Node:
        """Wait for something of this name, or one that begins with it where it ends in ``…``."""

        def look() -> Node | None:
            shown = (node for window in self.windows for node in window.shown())
            return next((each for each in shown if _is(each, name, role)), None)

        return until(look, lambda: f"{role or 'anything'} called {name!r} in\n{self}", seconds)

    def read(self, name: str) -> str:
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
        until(lambda: _so(is_so), lambda: f"as wished on\n{self}")

    def take(self) -> None:
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


# the tree that a screen reader is told


CONTROLS = frozenset({"push button", "check box", "text", "list item", "toggle button"})


def assert_told(reader: Reader) -> None:
    """See that everything that can be reached says what it is."""
    controls = until(lambda: _controls(reader), "a page")  # not between two of them
    assert [told for name, told in controls if not name.strip()] == []


def _controls(reader: Reader) -> list[tuple[str, str]]:
    """Return the name of each control, and all that it says."""
    found = []
    for node in reader.shown():
        with contextlib.suppress(GoneError):
            if "focusable" in node.states or node.role in CONTROLS:
                told = f"{node.role} {node.name!r} {node.description!r} at {node.place}"
                found.append((node.name, told))
    return found


def press(reader: Reader, name: str, role: str = "push button") -> None:
    assert_told(reader)
    reader.find(name, role).press()


def labels(node: Node) -> list[str]:
    """Return the names of what labels it, each of which must say so itself."""
    found = node.relations.get("labelled-by", [])
    assert all(node in label.relations.get("label-for", []) for label in found)
    return [label.name for label in found]
