"""What holds for the tests of the app."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.notifications import Notification
from textual.widgets import Input, TextArea

from corpora.model.entry import Segment
from rosetta_tui.toolkit import textual_inside
from rosetta_tui.toolkit.form import form_line
from tests.harness.ranked import play, ranked_corpus
from tests.keyring_in_memory import memory_keyring
from tests.tui.scenes import SET_UP


@pytest.fixture(autouse=True)
def scenes_are_closed() -> Iterator[None]:
    """Close the scenes that a test has set up, whatever became of it."""
    before = len(SET_UP)  # those of a whole module
    yield
    while len(SET_UP) > before:
        SET_UP.pop().close()


@pytest.fixture(autouse=True)
def heartbeats_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run of a scene live to the end of its test; one whose process is lost was heard of an hour ago."""
    monkeypatch.setattr("harness.store.runs.SILENT_SECONDS", 1800.0)


@pytest.fixture(autouse=True)
def clocks_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep cursors and notices where a busy machine would lose them, and let a key wait for the one before it."""
    for blinks in (Input.cursor_blink, TextArea.cursor_blink):
        # before one is made, nobody can be asked
        monkeypatch.setattr(blinks, "_default", False)
    monkeypatch.setattr(Notification, "time_left", 600.0)
    monkeypatch.setattr(textual_inside, "PATIENCE_SECONDS", 600.0)
    monkeypatch.setattr(form_line, "LIST_SECONDS", 600.0)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder of its own with a keyring in memory; the person is in the folder above it."""
    found = tmp_path / "home"
    found.mkdir(mode=0o700)
    monkeypatch.setenv("ROSETTA_HOME", str(found))
    monkeypatch.chdir(tmp_path)
    with memory_keyring():
        yield found


@dataclass(frozen=True)
class Played:
    """A store with three runs of one list, best first, one over fewer entries, and one over secret ones."""

    home: Path
    runs: tuple[str, str, str]
    few: str
    secret: str

    @property
    def path(self) -> Path:
        return self.home / "rosetta.sqlite"


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    home = tmp_path_factory.mktemp("played")
    path, corpus = home / "rosetta.sqlite", ranked_corpus(30)
    best = play(path, corpus, 30, "alpha", cost=0.004)
    near, worst = play(path, corpus, 29, "beta", cost=0.0), play(path, corpus, 2, "gamma")
    few = play(path, corpus, 30, "alpha", positions=range(12))
    secret = play(path, ranked_corpus(20, Segment.GOLD_STANDARD), 10, "delta")
    return Played(home, (best, near, worst), few, secret)
