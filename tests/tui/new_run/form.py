"""An app whose runs really go, and a data folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from corpora.samples import DEMO_COACHING, DEMO_CORPUS, sample_path
from harness.endpoint.endpoints import known_variables
from rosetta_tui.app.app import Begin
from rosetta_tui.request import look
from rosetta_tui.session.engine import Engine
from rosetta_tui.session.run_sources import WatchedRun
from tests.keyring_in_memory import memory_keyring
from tests.tui.screens import App

CORPUS = str(sample_path(DEMO_CORPUS))
COACHING = str(sample_path(DEMO_COACHING))
CHAT = {"file": CORPUS, "method": "chat", "endpoint": "ollama", "model": "tiny"}


class Starting(App):
    def __init__(self, path: Path) -> None:
        super().__init__(None, path)
        self.engines: list[Engine] = []
        self.start_run = self._begin
        self._data = path

    def _begin(self, begin: Begin) -> WatchedRun:
        engine = begin(self._data)
        if isinstance(engine, Engine):  # repeats are followed in the store
            self.engines.append(engine)
        engine.start()
        return WatchedRun(engine.events, engine.control)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder of one's own, no key of the machine, and no look at which servers it runs."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(look, "nobody_listens", lambda _: False)
    for variable in known_variables().values():
        monkeypatch.delenv(variable, raising=False)
    with memory_keyring():
        yield tmp_path / "home" / "rosetta.sqlite"
