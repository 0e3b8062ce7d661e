"""How wide the terminal draws texts, found out by writing them and asking where its cursor is.

A terminal and this program must agree on widths, or columns shift. The answer comes back on the terminal's own
input, so this is for a command that has it for itself, and not for the app.
"""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Mapping

from rich.cells import cell_len

SAMPLES = {
    "letters with marks": "a\u0302e\u0301i\u0328",
    "stacked marks": "a\u0302\u0323o\u0328\u0301",
    "Cree syllabics": "ᓂᐚᐸᒫᐤ",
    "Cherokee": "ᏣᎳᎩ",
    "Arabic with marks": "كَتَبَ",
    "Devanagari": "हिन्दी",
    "Chinese": "漢字",
    "symbols of this program": "◆◇●▶▁█├─┤",
}
"""What is tried, by a name for people."""

_ANSWER = re.compile(rb"\x1b\[(\d+);(\d+)R")
_SECONDS = 1.0
"""A terminal that does not answer within it is not asked again."""


def differing_widths() -> Mapping[str, tuple[int, int]] | None:
    """Return for each sample that is drawn otherwise the expected and the drawn width, in cells.

    None where nothing can be found out: no terminal, no answer, or a system without terminal modes.
    """
    try:
        import termios
        import tty
    except ImportError:
        return None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    keys, screen = sys.stdin.fileno(), sys.stdout.fileno()
    before = termios.tcgetattr(keys)
    sys.stdout.flush()
    try:
        tty.setcbreak(keys)
        return _measured(keys, screen)
    finally:
        termios.tcsetattr(keys, termios.TCSAFLUSH, before)


def _measured(keys: int, screen: int) -> dict[str, tuple[int, int]] | None:
    found = {}
    for name, text in SAMPLES.items():
        os.write(screen, f"\r{text}\x1b[6n".encode())
        column = _column(keys)
        os.write(screen, b"\r\x1b[2K")
        if column is None:
            return None
        if column - 1 != cell_len(text):
            found[name] = (cell_len(text), column - 1)
    return found


def _column(keys: int) -> int | None:
    """Read the terminal's answer; what a person types meanwhile is lost."""
    read, end = b"", time.monotonic() + _SECONDS
    while (left := end - time.monotonic()) > 0 and select.select([keys], [], [], left)[0]:
        read += os.read(keys, 64)
        if answer := _ANSWER.search(read):
            return int(answer[2])
    return None
