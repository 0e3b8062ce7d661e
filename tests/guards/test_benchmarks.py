"""`make bench` and docs/benchmarks.md name every script that measures, and no other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = {"bare_app", "mock_endpoint", "straightforward", "window_probe"}
"""Started by a script: the other side of a comparison, or what is watched."""


def scripts() -> set[str]:
    """Return the names of what can be started and measures something."""
    found = (path for path in (ROOT / "benchmarks").glob("*.py"))
    return {path.stem for path in found if "__main__" in path.read_text("utf-8")} - PARTS


def test_make_runs_every_script() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", " ")
    listed = re.findall(r"^BENCHMARKS = (.*)$", makefile, re.MULTILINE)[0].split()
    assert sorted(listed) == sorted(scripts())
    assert "for name in $(BENCHMARKS)" in makefile


def test_the_page_has_a_row_for_every_script() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    last = {
        name for row in rows for name in re.findall(r"`(\w+)`", row.rstrip("| ").split("|")[-1])
    }
    assert last == scripts()


def test_what_a_script_starts_is_there() -> None:
    assert all((ROOT / "benchmarks" / f"{name}.py").exists() for name in PARTS)
