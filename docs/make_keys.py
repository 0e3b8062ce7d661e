"""Writes the list of screens and keys in docs/app.md from the screens' own bindings.

Run ``python -P docs/make_keys.py`` after a change of a key.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen

import rosetta_tui
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.show.key_names import key_name
from rosetta_tui.toolkit.result_table import ResultTable

PAGE = Path(__file__).parent / "app.md"
WITHOUT = ("rosetta_tui.commands", "rosetta_tui.review.rating")
"""What has no screens of the app, or those of speakers, which their own guide shows."""
BASES = frozenset(
    {
        "EntryByEntryScreen",
        "ListScreen",
        "ReadAgain",
        "ReadingScreen",
        "FilteredScreen",
        "PanedScreen",
        "ExaminedScreen",
        "ReasonedScreen",
        "SearchedScreen",
        "SectionScreen",
    }
)
"""Screens that others are made from."""
BEGIN = "<!-- written by docs/make_keys.py -->\n"


def screens() -> list[type[Screen[object]]]:
    """Return every screen that is no dialog, Home first, then by title."""
    found: set[type[Screen[object]]] = set()
    for module in pkgutil.walk_packages(rosetta_tui.__path__, "rosetta_tui."):
        if not module.name.startswith(WITHOUT):
            for each in [*vars(importlib.import_module(module.name)).values()]:
                if isinstance(each, type) and each.__module__ == module.name and is_place(each):
                    found.add(each)
    return sorted(found, key=lambda each: (each is not HomeScreen, each.TITLE or "", each.__name__))


def is_place(kind: type) -> bool:
    """Tell a screen from a dialog on a screen."""
    modal = issubclass(kind, ModalScreen)
    return issubclass(kind, Screen) and not modal and kind.__name__ not in BASES


def bindings(kind: type[DOMNode]) -> Iterator[Binding]:
    """Yield the keys that a class brings with it and that have a meaning for people."""
    for binding in vars(kind).get("BINDINGS", ()):
        if isinstance(binding, Binding) and binding.description:
            yield binding


def table(kind: type[DOMNode]) -> Iterator[str]:
    """Write the keys of a class as a table, one line for each meaning."""
    yield "| key | what it does | name |"
    yield "|---|---|---|"
    for binding in bindings(kind):
        keys = " ".join(f"`{key_name(key.strip())}`" for key in binding.key.split(","))
        name = f"`{binding.id}`" if binding.id else ""
        yield f"| {keys} | {binding.description} | {name} |"


def page() -> str:
    """Return the list."""
    parts: list[tuple[str, type[DOMNode]]] = [("Everywhere", RosettaApp), ("Every table", ResultTable)]
    parts += [(f"{kind.TITLE}", kind) for kind in screens() if any(bindings(kind))]
    return "\n".join(
        "\n".join([f"### {title}\n", *table(kind), ""])  # a table needs an empty line before it
        for title, kind in parts
    )


def main() -> None:
    """Write the list into the page."""
    before = PAGE.read_text("utf-8").partition(BEGIN)[0]
    PAGE.write_text(f"{before}{BEGIN}\n{page()}", encoding="utf-8")


if __name__ == "__main__":
    main()
