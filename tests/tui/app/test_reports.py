"""Reports written from the screens: the page of the command, in the file that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from textual.pilot import Pilot
from textual.widgets import Input

from harness.store.file.database import opened
from harness.store.runs import find_run
from rosetta_tui.app.reporting import page_of
from rosetta_tui.commands import rosetta
from rosetta_tui.leaderboard.screen import LeaderboardScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.settings.ask_setting import AskSettingScreen
from rosetta_tui.sweep.screen import SweepScreen
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen
from rosetta_tui.toolkit.messages import ReportAsked
from tests.harness.sweep.made import made_sweep
from tests.tui.screens import App, at_rest, notices, press, settle, showing, text
from tests.tui.sweep.matrix import AXES, cells


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def asked(app: App, pilot: Pilot[Any]) -> Input:
    """Press the key; gives the field with the path that is proposed."""
    await press(pilot, "E")
    await settle(pilot)
    assert isinstance(app.screen, AskSettingScreen), (text(app), notices(app))
    return app.screen.field


def run_of(folder: Path, monkeypatch: pytest.MonkeyPatch, segment: str) -> str:
    """Run three entries of a segment in a data folder of its own; gives the run's id."""
    rows = [
        "id\tsource\treference\tsegment",
        *(f"{n}\tword {n}\tvorto {n}\t{segment}" for n in range(3)),
    ]
    (folder / "c.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    monkeypatch.setenv("ROSETTA_HOME", str(folder))
    line = "run c.tsv --source-language en --target-language eo --method copy-source --plain"
    done = CliRunner().invoke(rosetta, line.split())
    assert done.exit_code == 0, done.output
    with opened() as store:
        return find_run(store, "last").run_id


async def test_the_page_of_a_run_is_written_and_nothing_replaced_unasked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = run_of(folder, monkeypatch, "diagnostic")
    path = folder / f"run-{run_id[:8]}.html"
    async with at_rest(App(None, folder / "rosetta.sqlite"), (80, 24)) as (app, pilot):
        await press(pilot, "enter")
        assert isinstance(app.screen, LiveScreen)
        field = await asked(app, pilot)
        assert field.value == str(path)
        field.value = str(folder / "absent" / "page.html")
        await press(pilot, "enter")
        assert "There is no such folder" in text(app)
        field.value = str(folder)
        await press(pilot, "enter")
        assert "Give the name of a file" in text(app)
        field.value = str(path)
        await press(pilot, "enter")
        await settle(pilot)
        assert f"Report written: {path}" in notices(app)
        assert run_id in path.read_text("utf-8")

        path.write_text("mine", "utf-8")
        field = await asked(app, pilot)
        assert field.value == str(folder / f"run-{run_id[:8]}-2.html")
        field.value = str(path)
        await press(pilot, "enter")
        assert isinstance(app.screen, ConfirmScreen)
        await press(pilot, "n")
        assert path.read_text("utf-8") == "mine"


async def test_home_writes_the_page_of_the_run_under_the_cursor_and_says_why_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = run_of(folder, monkeypatch, "diagnostic")
    store = folder / "rosetta.sqlite"
    async with at_rest(App(None, store), (160, 24)) as (app, pilot):
        assert "E Report" in text(app)
        field = await asked(app, pilot)
        assert field.value == str(folder / f"run-{run_id[:8]}.html")
        await press(pilot, "escape")
        with opened(store) as connection:
            connection.execute("UPDATE runs SET run_card = NULL, state = 'stopped'")
        await press(pilot, "r", "E")
        await settle(pilot)
        assert "no card yet" in notices(app)[-1]


async def test_a_run_over_secret_entries_has_no_page(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_of(folder, monkeypatch, "gold_standard")
    async with at_rest(App(None, folder / "rosetta.sqlite"), (80, 24)) as (app, pilot):
        await press(pilot, "enter", "E")
        await settle(pilot)
        assert isinstance(app.screen, LiveScreen)
        assert "released card" in notices(app)[-1]
    assert not list(folder.glob("*.html"))


async def test_the_pages_of_the_leaderboard_and_of_a_sweep_are_those_of_the_commands(
    folder: Path,
) -> None:
    store = folder / "rosetta.sqlite"
    made_sweep(store, AXES, cells())
    for screen, name in ((SweepScreen(store), "sweep"), (LeaderboardScreen(store), "leaderboard")):
        async with showing(App(None, store), screen, (80, 24)) as (app, pilot):
            field = await asked(app, pilot)
            path = Path(field.value)
            assert path.name.startswith(name)
            await press(pilot, "enter")
            await settle(pilot)
            wanted = ReportAsked(name, "last" if name == "sweep" else "chrf", "")  # type: ignore[arg-type]
            with opened(store) as connection:
                assert path.read_text("utf-8") == page_of(connection, wanted)
