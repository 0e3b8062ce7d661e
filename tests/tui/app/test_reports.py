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
from tests.tui.screens import (
    App,
    at_rest,
    notices,
    press,
    press_in_turn,
    settle,
    showing,
    text,
)
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


def run_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run three entries in a data folder of its own; gives the run's id."""
    rows = ["id\tsource\treference", *(f"{n}\tword {n}\tvorto {n}" for n in range(3))]
    (folder / "c.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    monkeypatch.setenv("ROSETTA_HOME", str(folder))
    line = "run c.tsv --source-language en --target-language eo --method copy-source --plain"
    done = CliRunner().invoke(rosetta, line.split())
    assert done.exit_code == 0, done.output
    with opened() as store:
        return find_run(store, "last").run_id


async def test_run_page_replaces_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = run_of(folder, monkeypatch)
    path = folder / f"run-{run_id[:8]}.html"
    async with at_rest(App(None, folder / "rosetta.sqlite"), (80, 24)) as (app, pilot):
        field = await asked(app, pilot)
        assert field.value == str(path), "Home proposes that of the run under the cursor"
        await press_in_turn(pilot, "escape", "enter")
        assert isinstance(app.screen, LiveScreen)
        field = await asked(app, pilot)
        for wrong, words in (
            (folder / "absent" / "page.html", "There is no such folder"),
            (folder, "Give the name of a file"),
        ):
            field.value = str(wrong)
            await press(pilot, "enter")
            assert words in text(app)
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
    assert list(folder.glob("*.html")) == [path]


async def test_leaderboard_and_sweep_write_the_commands_pages(folder: Path) -> None:
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
