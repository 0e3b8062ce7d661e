"""Pictures of screens, held against those that are kept."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

from textual.app import App as TextualApp

from tests.tui.screens import lines

GOLDENS = Path(__file__).parent / "goldens"


SIZES = [(80, 24), (160, 48)]


def compare(name: str, size: tuple[int, int], app: TextualApp[Any]) -> None:
    path = GOLDENS / f"{name}-{size[0]}x{size[1]}.txt"
    drawn = "\n".join(line.rstrip() for line in lines(app)) + "\n"
    if os.environ.get("ROSETTA_WRITE_GOLDENS"):
        path.write_text(drawn, encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    told = difflib.unified_diff(kept.splitlines(), drawn.splitlines(), "kept", "drawn", lineterm="")
    assert drawn == kept, "\n".join([path.name, *told])
