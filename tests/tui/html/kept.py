"""Pages as they were, but for what is another each time."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from tests.tui.html.strict import masked

_GOLDENS = Path(__file__).parents[1] / "goldens" / "html"


def as_kept(name: str, page: str) -> None:
    """Hold a page against the kept one of this name; ``ROSETTA_WRITE_GOLDENS`` writes it anew."""
    path, drawn = _GOLDENS / f"{name}.html", masked(page)
    if os.environ.get("ROSETTA_WRITE_GOLDENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(drawn, "utf-8")
    kept = path.read_text("utf-8")
    told = difflib.unified_diff(kept.splitlines(), drawn.splitlines(), "kept", "drawn", lineterm="")
    assert drawn == kept, "\n".join(told)
