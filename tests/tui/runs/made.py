"""Runs as lists show them, runs that were stopped, and a store with one to score again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.core.run_state import RunState
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.run_list import RunSummary, list_runs
from harness.store.runs import set_live
from rosetta_tui.app.app import Begin
from rosetta_tui.runs.score_again import ScoreAgainScreen
from rosetta_tui.session.watched import WatchedRun
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.tui.scenes import HOSTILE, Scene, scene
from tests.tui.screens import App, press, settle


def run(number: int, **changes: object) -> RunSummary:
    made = RunSummary(
        run_id=f"{number:08d}-6c1d-4a70-9a52-0123456789ab", number=number, state=RunState.COMPLETE,
        created=1_700_000_000.0 + number, dataset_id="eo-demo-v1", language_pair="EN→EO",
        model_slug="qwen2.5-7b", condition="naive", method="chat", total=10, done=10, failed=0,
        card={"scores": {"composite": number / 10, "chrf_plus_plus": 50.0 - number}}, live=None, imported=False,
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def noting(app: App) -> list[dict[str, Any]]:
    """Note with what runs are begun."""
    begun: list[dict[str, Any]] = []
    start = app.start_run

    def note(begin: Begin) -> WatchedRun:
        begun.append(dict(begin.keywords))  # type: ignore[attr-defined]
        return start(begin)

    app.start_run = note
    return begun


def stopped(path: Path, *, stored: int, plan: str = "{}") -> Scene:
    """A run of 20 entries; the twelfth failed where so many are stored."""
    made = scene(path, total=20, stored=stored)
    made.store.execute("UPDATE runs SET plan = ?", (plan,))
    set_live(made.store, made.number, RunState.STOPPED, None)
    return made


FEW = ("exact_match_rate", "chrf_plus_plus")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with one finished run that was scored with two metrics."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    store = tmp_path / "rosetta.sqlite"
    options = MethodOptions(**LANGUAGES, text="ENTRY NUMBER 3", condition=HOSTILE[0])
    run_corpus(
        store,
        corpus(8),
        Plan(method="constant", options=options, scoring=ScoringOptions(metrics=FEW)),
    )
    return store


def runs(path: Path) -> Sequence[Any]:
    with closing(open_store(path)) as store:
        return list_runs(store)


async def opened(pilot: Any) -> ScoreAgainScreen:
    await settle(pilot)
    await press(pilot, "S")
    screen = pilot.app.screen
    assert isinstance(screen, ScoreAgainScreen)
    return screen
