"""Screens that stand for themselves: anybody can go there from anywhere, by key or by name.

A folder of ``rosetta_tui`` that has one says so in its ``PLACE``; nothing else has to know of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple, cast

import rosetta_tui

if TYPE_CHECKING:
    from textual.screen import Screen


class Place(NamedTuple):
    """One screen that needs nothing but the store."""

    name: str  # by which keys and actions name it, as in `app.place('doctor')`
    title: str
    about: str  # what a person finds there, in a few words
    module: str  # where its class is; imported when somebody goes there
    screen: str
    order: int = 100  # its place in the palette, from the top; by name where it is the same
    key: str = ""  # leads there from everywhere, in Textual's words; may be empty

    def open(self, store_path: Path) -> Screen[None]:
        made = getattr(import_module(self.module), self.screen)(store_path)
        return cast("Screen[None]", made)


@cache
def places() -> Mapping[str, Place]:
    """Return the screens by name, in the order in which the palette offers them."""
    folders = (module.name for module in iter_modules(rosetta_tui.__path__) if module.ispkg)
    stated = (getattr(import_module(f"rosetta_tui.{name}"), "PLACE", None) for name in folders)
    places = [place for place in stated if isinstance(place, Place)]
    return {place.name: place for place in sorted(places, key=lambda p: (p.order, p.name))}
