"""Runs that were stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.core.run_state import RunState
from harness.store.runs import set_live
from rosetta_tui.app.app import Begin
from rosetta_tui.session.watched import WatchedRun
from tests.tui.scenes import Scene, scene
from tests.tui.screens import App


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
