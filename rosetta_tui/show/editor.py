"""Opening a file of a person with their own program, at a line where the program can do that."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

_PLUS = frozenset(
    {
        "vi",
        "vim",
        "nvim",
        "view",
        "nano",
        "pico",
        "emacs",
        "emacsclient",
        "joe",
        "kak",
        "micro",
        "mg",
    }
)
"""Editors that take ``+LINE`` before the file."""

_COLON = frozenset({"hx", "helix", "subl", "zed"})
"""Editors that take ``FILE:LINE``."""

_GOTO = frozenset({"code", "codium", "code-insiders", "cursor"})
"""Editors that take ``--goto FILE:LINE``."""


def editor_command(
    path: Path, line: int | None, environment: Mapping[str, str] = os.environ
) -> list[str] | None:
    """Return the command of the person's editor ($VISUAL, else $EDITOR); None where they named none.

    ``line`` is 1-based and left out for an editor of which it is not known how to say it.
    """
    named = environment.get("VISUAL") or environment.get("EDITOR")
    try:
        words = shlex.split(named or "")
    except ValueError:
        return None
    if not words:
        return None
    program = Path(words[0]).stem.lower()
    if line is not None and program in _PLUS:
        return [*words, f"+{line}", str(path)]
    if line is not None and program in _COLON:
        return [*words, f"{path}:{line}"]
    if line is not None and program in _GOTO:
        return [*words, "--goto", f"{path}:{line}"]
    return [*words, str(path)]


def system_command(path: Path, platform: str = sys.platform) -> list[str] | None:
    """Return the command by which the desktop opens a file; None where there is no desktop."""
    match platform:
        case "darwin":
            return ["open", str(path)]
        case "win32":
            return ["cmd", "/c", "start", "", str(path)]
        case _:
            found = shutil.which("xdg-open")
            return None if found is None else [found, str(path)]
