"""The program in a process of its own, and what it reads out in plain lines."""

from __future__ import annotations

import re
import sys

MAIN = [sys.executable, "-P", "-c", "from rosetta_tui.cli import main; main()"]

_ITEM = re.compile(r"^Original: (.*?)^Translation: (.*?)(?=^[^ ])", re.DOTALL | re.MULTILINE)


def shown_item(seen: str) -> tuple[str, str] | None:
    """Return original and translation of the sentence that was read out last and asks for an answer."""
    if not seen.rstrip().endswith("? for help:"):
        return None
    found = _ITEM.findall(seen)
    return (" ".join(found[-1][0].split()), " ".join(found[-1][1].split())) if found else None
