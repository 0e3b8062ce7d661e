"""``rosetta corpus open`` in a real terminal: it opens at the corpus, and q leads home."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.core.failures import UsageError
from rosetta_tui.commands import rosetta
from tests.tui.project.made import begun


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of the system")
def test_it_opens_at_the_corpus_and_q_leads_home(tmp_path: Path) -> None:
    from tests.tui.real.pseudo import Pseudo

    home = tmp_path / "home"
    begun(home, tmp_path / "words")
    with Pseudo(home, "corpus", "open", tmp_path / "words") as terminal:
        terminal.wait_for("› New languages › Words of our school", "1 of 7 met", "press s")
        terminal.press("q")
        terminal.wait_for("› New languages   1 corpus")
        terminal.press("q")
        terminal.wait_for("› Home", "A corpus for a new language")
        terminal.press("q")
        assert terminal.ended() == 0


def test_without_a_terminal_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    done = CliRunner().invoke(rosetta, ["corpus", "open", "words"])
    assert isinstance(done.exception, UsageError)
    assert "The app needs a terminal" in str(done.exception)
