"""Driving the form of a new run: an app whose runs really go, a data folder of its own, secret entries."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from corpora.samples import DEMO_COACHING, DEMO_CORPUS, sample_path
from harness.endpoint.keys import known_variables
from rosetta_tui.app.app import Begin, RosettaApp
from rosetta_tui.new_run.screen import NewRunScreen
from rosetta_tui.request import look
from rosetta_tui.request.draft import RunDraft
from rosetta_tui.session.engine import Engine
from rosetta_tui.session.watched import WatchedRun
from rosetta_tui.toolkit.messages import NewRunAsked
from tests.keyring_in_memory import memory_keyring
from tests.tui.screens import AnyApp, App, press, settle

CORPUS = str(sample_path(DEMO_CORPUS))
COACHING = str(sample_path(DEMO_COACHING))
CHAT = {"file": CORPUS, "method": "chat", "endpoint": "ollama", "model": "tiny"}


class Starting(App):
    """The app with runs that really go."""

    def __init__(self, path: Path) -> None:
        super().__init__(None, path)
        self.engines: list[Engine] = []
        self.start_run = self._begin
        self._data = path

    def _begin(self, begin: Begin) -> WatchedRun:
        engine = begin(self._data)
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


SECRET = {
    "dataset": {"id": "secret-v1", "version": "1", "language_pair": "EN→EO",
                "source_language": "en", "target_language": "eo"},
    "entries": [{"id": n, "source": f"hidden source {n}", "reference": f"kaŝita {n}",
                 "segment": "gold_standard"} for n in range(3)],
}  # fmt: skip


@pytest.fixture
def secret(tmp_path: Path) -> str:
    (tmp_path / "secret.json").write_text(json.dumps(SECRET), "utf-8")
    return str(tmp_path / "secret.json")


async def opened(pilot: Pilot[Any], draft: dict[str, Any] | None = None) -> NewRunScreen:
    await settle(pilot)
    pilot.app.screen.post_message(NewRunAsked(None if draft is None else RunDraft.of(draft)))
    await settle(pilot)
    await settle(pilot)
    assert isinstance(pilot.app.screen, NewRunScreen)
    return pilot.app.screen


@asynccontextmanager
async def at_form(
    app: AnyApp, size: tuple[int, int], draft: dict[str, Any] | None = None
) -> AsyncIterator[tuple[AnyApp, Pilot[Any], NewRunScreen]]:
    """Run an app on a terminal of ``size`` columns and lines; the block begins at the form of a new run."""
    async with app.run_test(size=size) as pilot:
        yield app, pilot, await opened(pilot, draft)


async def typed(pilot: Pilot[Any], words: str) -> None:
    await press(pilot, *("space" if each == " " else each for each in words))


def shown(app: RosettaApp) -> type[object]:
    return type(app.screen)


def beside(app: RosettaApp) -> str:
    return str(app.screen.query_one("#facts").render())
