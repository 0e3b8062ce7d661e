"""Runs as lists show them, and runs that were stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.core.failures import RunState
from harness.store.run_list import RunSummary
from harness.store.runs import set_live
from rosetta_tui.app.app import Begin
from rosetta_tui.session.run_sources import WatchedRun
from tests.tui.scenes import Scene, scene
from tests.tui.screens import App


def run(number: int, **changes: object) -> RunSummary:
    made = RunSummary(
        run_id=f"{number:08d}-6c1d-4a70-9a52-0123456789ab", number=number, state=RunState.COMPLETE,
        created=1_700_000_000.0 + number, dataset_id="eo-demo-v1", language_pair="EN→EO",
        model_slug="qwen2.5-7b", condition="naive", method="chat", total=10, done=10, failed=0,
        card={"scores": {"composite": number / 10, "chrf_plus_plus": 50.0 - number}}, live=None, imported=False,
    )  # fmt: skip
    return made._replace(**changes)  # type: ignore[arg-type]


def noting(app: App) -> list[dict[str, Any]]:
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
