"""A message bus of a test's own, on which programs show themselves, an input method and a small screen reader."""

from __future__ import annotations

import contextlib
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jeepney import DBusAddress, MatchRule, MessageType, Properties, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.desktop.real.display import SECONDS, program, running, until

CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><keep_umask/><listen>unix:path={path}</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>"""
"""It starts no program by itself: what runs here is what a test started."""
_A11Y = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")


@dataclass(frozen=True)
class Bus:
    """Where programs meet."""

    address: str
    accessibility: str
    """Address of the bus on which they show what is on the screen."""

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to meet others, and to show itself without being asked first."""
        return {"DBUS_SESSION_BUS_ADDRESS": self.address, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}


@contextlib.contextmanager
def session_bus(folder: Path, environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Start a bus; gives what stands around a program that meets others on it."""
    socket, config = folder / "bus", folder / "bus.conf"
    config.write_text(CONFIG.format(path=socket))
    around = {**environment, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={socket}"}
    daemon = [program("dbus-daemon"), "--nofork", "--nopidfile", f"--config-file={config}"]
    with running(daemon, around, log=folder / "bus.log"):
        until(socket.exists, "a message bus")
        yield around


@contextlib.contextmanager
def bus(folder: Path, environment: Mapping[str, str]) -> Iterator[Bus]:
    """Start both; they go at the end."""
    launcher = [program("at-spi-bus-launcher"), "--launch-immediately", "--a11y=1"]
    with session_bus(folder, environment) as around, running(launcher, around, log=folder / "a11y.log"):
        address = around["DBUS_SESSION_BUS_ADDRESS"]
        yield Bus(address, until(lambda: _accessibility(address), "a bus for screen readers"))


def _accessibility(address: str) -> str | None:
    with open_dbus_connection(address) as connection:
        reply = connection.send_and_get_reply(new_method_call(_A11Y, "GetAddress"))
    return str(reply.body[0]) if reply.header.message_type.name == "method_return" else None


# a real input method: IBus with the tables of m17n, as communities type syllabics with it

WESTERN_CREE = "m17n:cr:western"


@contextlib.contextmanager
def input_method(folder: Path, environment: Mapping[str, str], engine: str) -> Iterator[dict[str, str]]:
    """Start IBus with this engine chosen; gives what a program needs to be typed in through it."""
    if not Path("/usr/share/ibus/component/m17n.xml").exists():
        pytest.skip("ibus-m17n is not installed")
    command = [
        program("ibus-daemon"), "--panel=disable", "--emoji-extension=disable", "--cache=none",
        f"--config={program('ibus-memconf')}",
    ]  # fmt: skip
    with running(command, environment, log=folder / "ibus.log"):

        def chosen() -> bool:
            _ibus(environment, "engine", engine)
            return _ibus(environment, "engine") == engine

        until(chosen, f"the input method {engine}")
        yield {"QT_IM_MODULE": "ibus"}


def _ibus(environment: Mapping[str, str], *wishes: str) -> str:
    done = subprocess.run(
        [program("ibus"), *wishes], env=dict(environment), check=False, capture_output=True, text=True, timeout=30
    )
    return done.stdout.strip()


# a small screen reader: it knows the window only by what the program says on the accessibility bus

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
        wanted = next(at for at, name in enumerate(self.actions) if name in {"Press", "Toggle", "Select"})
        assert self._ask("org.a11y.atspi.Action", "DoAction", "i", wanted)[0]

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
