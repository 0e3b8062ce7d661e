"""The tree that a screen reader is told."""

from __future__ import annotations

import contextlib

from tests.desktop.real.node import GoneError, Node
from tests.desktop.real.reader import Reader
from tests.desktop.real.waiting import until

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
    """Press what has this name, without a key or a mouse."""
    assert_told(reader)
    reader.find(name, role).press()


def labels(node: Node) -> list[str]:
    """Return the names of what labels it, each of which must say so itself."""
    found = node.relations.get("labelled-by", [])
    assert all(node in label.relations.get("label-for", []) for label in found)
    return [label.name for label in found]
