"""From nothing to a scored run in a real terminal: no documents, no key, no network, one key press."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from tests.tui.home.terminal import Terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with closing(Terminal(tmp_path)) as opened:
        yield opened


@pytest.mark.thorough
def test_one_key_leads_from_nothing_to_a_scored_run(terminal: Terminal, tmp_path: Path) -> None:
    seen = terminal.wait_for("D  Run the demo", "n  New run", "w  What is missing", "? Help")
    assert "Is a machine translation good enough?" in seen
    terminal.press("Enter")
    terminal.wait_for("chrF++", "complete")
    terminal.press("Down", "Enter")
    terminal.wait_for("Reference", "Output")
    terminal.press("q")
    terminal.wait_for("complete")
    terminal.press("q")
    seen = terminal.wait_for("Rosetta › Home   1 run", "✓")
    assert "◆" in seen
    terminal.press("q")
    with closing(open_store(tmp_path / "home" / "rosetta.sqlite")) as store:
        [made] = list_runs(store)
    assert made.state == "complete"
    assert made.card is not None
