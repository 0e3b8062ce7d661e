"""A store with runs to score again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from rosetta_tui.runs.score_again import ScoreAgainScreen
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.tui.scenes import HOSTILE
from tests.tui.screens import press, settle

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
