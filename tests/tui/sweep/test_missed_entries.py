"""The screen of a sweep names the entries that all runs miss, and opens the best run of one."""

from __future__ import annotations

from pathlib import Path

from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.sweep.screen import SweepScreen
from tests.harness.sweep.made import MadeCell, made_misses, made_sweep
from tests.tui.golden import SMALL
from tests.tui.screens import App, lines, showing, text
from tests.tui.screens import press_in_turn as press


async def test_missed_entries_are_listed_and_open_their_best_run(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    made_misses(path)
    async with showing(App(None, path), SweepScreen(path), (120, 30)) as (app, pilot):
        words = " ".join(text(app).split())
        assert "< 0.30): 3 of 5 entries, and 1 secret entry · e" in words
        await press(pilot, "e")
        assert "Entries that all runs miss" in text(app)
        assert "5 · difficulty 5 · best 0.28 · " in text(app)
        await press(pilot, "down", "enter")
        assert isinstance(app.screen, LiveScreen)


async def test_no_entry_is_listed_where_one_run_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    made_sweep(path, {"model": ("a",)}, [MadeCell({"model": "a"}, 0.5)])
    async with showing(App(None, path), SweepScreen(path), SMALL) as (app, pilot):
        assert "Missed by all" not in text(app)
        await press(pilot, "e")
        assert isinstance(app.screen, SweepScreen)
        assert len(lines(app)) == SMALL[1]
