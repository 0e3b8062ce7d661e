"""The text of every file of the repository, read once."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("corpora", "scoring", "harness", "review", "rosetta_tui", "rosetta")


@cache
def texts(folder: str) -> dict[str, str]:
    return {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted((ROOT / folder).rglob("*.py"))
    }


def sources(*folders: str) -> dict[str, str]:
    """Return the text of each file under its path."""
    return {path: text for folder in folders for path, text in texts(folder).items()}


def lines_with(pattern: str, *folders: str) -> list[str]:
    """Return ``file:line: text`` of each place that matches, ``^`` at the beginning of a line."""
    return [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group().strip()}"
        for path, text in sources(*folders).items()
        for match in re.finditer(pattern, text, re.MULTILINE)
    ]
