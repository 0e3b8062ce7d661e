"""One thing on the screen as a screen reader knows it: role, name, states, text, value, actions, relations."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, MessageType, Properties, new_method_call

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
    def interfaces(self) -> frozenset[str]:
        return frozenset(
            each.rpartition(".")[2] for each in self._ask(ACCESSIBLE, "GetInterfaces")[0]
        )

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
        """The whole of a text that can be read letter by letter."""
        count = self._property("CharacterCount", "org.a11y.atspi.Text")
        return str(self._ask("org.a11y.atspi.Text", "GetText", "ii", 0, count)[0])

    @property
    def value(self) -> tuple[float, float]:
        """The value and the largest one that can be."""
        face = "org.a11y.atspi.Value"
        return self._property("CurrentValue", face), self._property("MaximumValue", face)

    @property
    def place(self) -> tuple[int, int, int, int]:
        """Left, top, width and height on the screen, in pixels."""
        x, y, width, height = self._ask("org.a11y.atspi.Component", "GetExtents", "u", 0)[0]
        return x, y, width, height

    @property
    def actions(self) -> list[str]:
        face = "org.a11y.atspi.Action"
        count = self._property("NActions", face)
        return [str(self._ask(face, "GetName", "i", each)[0]) for each in range(count)]

    def press(self) -> None:
        """Do the first of its actions, as a screen reader does when asked to."""
        wanted = next(
            at for at, name in enumerate(self.actions) if name in {"Press", "Toggle", "Select"}
        )
        assert self._ask("org.a11y.atspi.Action", "DoAction", "i", wanted)[0]

    def focus(self) -> None:
        """Let it have the keys."""
        assert self._ask("org.a11y.atspi.Component", "GrabFocus")[0]

    def write(self, text: str) -> None:
        """Replace what stands in a box."""
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
