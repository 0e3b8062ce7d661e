"""The names of all methods, found without importing one: help and suggestions need no more."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "rosetta.methods"
"""Entry points of this group are methods."""

SERVICE_NAMES = ("deepl", "google", "microsoft", "libretranslate")
"""Translation services that ``api:NAME`` asks."""

SHIPPED = {
    "copy-source": "the source itself",
    "constant": "one text for every entry",
    "glossary": "word by word from a dictionary",
    "replay": "outputs made elsewhere",
    "human": "a human translator's work",
    "chat": "a language model, as it is or coached",
    "pipeline": "a language model, checked and asked again",
} | {f"api:{name}": f"the service {name}" for name in SERVICE_NAMES}
"""The methods that come with the program, with a word on each."""


def installed() -> dict[str, EntryPoint]:
    """Return the methods that installed packages offer, by name."""
    if not _named_anywhere():
        return {}
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def method_names() -> dict[str, str]:
    """List every method that can be named, those of installed plug-ins included."""
    found = {name: f"plug-in {point.value}" for name, point in installed().items()}
    return found | SHIPPED


def _named_anywhere() -> bool:
    """Tell whether a package may offer a method; True where that cannot be seen from the files.

    Reading all metadata as ``importlib.metadata`` does costs more than the rest of ``rosetta run --help``.
    """
    for place in map(Path, sys.path):
        if place.is_file():  # an archive
            return True
        for file in place.glob("*.*-info/entry_points.txt"):
            try:
                if GROUP in file.read_text(encoding="utf-8", errors="replace"):
                    return True
            except OSError:
                return True
    return False
