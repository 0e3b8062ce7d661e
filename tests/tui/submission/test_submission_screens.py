"""The screens of submissions: the desk, one of them on its way, what its maker wrote and was told; nothing of it acts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.submission.desk import DeskAct, SubmissionDesk
from rosetta_tui.submission import list_screen, screen
from rosetta_tui.submission.facts import read_desk, read_submission_facts
from rosetta_tui.submission.list_screen import SubmissionsScreen
from rosetta_tui.submission.screen import SECTIONS, SubmissionScreen
from tests.harness.submission.made import sample_card
from tests.keyring_in_memory import memory_keyring
from tests.tui.screens import App, press, settle, showing
from tests.tui.submission.made import received, steady, steady_desk, told
from tests.tui.vault.looks import LOOKS, look, store


@pytest.fixture(autouse=True)
def keyring() -> Iterator[None]:
    with memory_keyring():
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder whose desk is empty."""
    sample_card("data")  # made once, outside of a test's own loop
    found = tmp_path / "home"
    found.mkdir(mode=0o700)
    monkeypatch.setenv("ROSETTA_HOME", str(found))
    read, desk = read_submission_facts, read_desk
    monkeypatch.setattr(screen, "read_submission_facts", lambda *all_, **more: steady(read(*all_, **more)))  # fmt: skip
    monkeypatch.setattr(list_screen, "read_desk", lambda *all_, **more: steady_desk(desk(*all_, **more)))  # fmt: skip
    return found


# What they look like


@pytest.mark.parametrize(("size", "theme"), LOOKS)
async def test_a_submission_that_just_came(
    size: tuple[int, int], theme: str, home: Path, tmp_path: Path
) -> None:
    readme = b"# Words\n\nReplaces words.\n\n## What it does badly\n\nEndings.\n"
    kept = received(home, tmp_path / "in", members={"README.md": readme})
    made = SubmissionScreen(store(home), kept.number)
    async with showing(App(None, store(home)), made, size) as (app, pilot):
        app.theme = theme
        for number, name in enumerate(SECTIONS, 1):
            await press(pilot, str(number))
            look(f"submission-{name.lower()}", size, app)


@pytest.mark.parametrize(("size", "theme"), LOOKS)
async def test_what_its_maker_was_told(
    size: tuple[int, int], theme: str, home: Path, tmp_path: Path
) -> None:
    kept = received(home, tmp_path / "in")
    told(home, kept)
    made = SubmissionScreen(store(home), kept.number)
    async with showing(App(None, store(home)), made, size) as (app, pilot):
        app.theme = theme
        await press(pilot, "5")
        look("submission-told-scores", size, app)


@pytest.mark.parametrize(("size", "theme"), LOOKS)
async def test_the_desk(size: tuple[int, int], theme: str, home: Path, tmp_path: Path) -> None:
    async with showing(App(None, store(home)), SubmissionsScreen(store(home)), size) as (app, pilot):  # fmt: skip
        app.theme = theme
        await settle(pilot)
        look("submissions-empty", size, app)
    received(home, tmp_path / "in")
    second = received(home, tmp_path / "in", "bob", name="A dictionary of birds", submitter="Bob of the north")  # fmt: skip
    SubmissionDesk(home).note(second.submission, DeskAct.NOT_REPEATED)
    (SubmissionDesk(home).folder / ("0" * 16)).mkdir()
    (SubmissionDesk(home).folder / ("0" * 16) / "notes.jsonl").write_text("{}\n")
    async with showing(App(None, store(home)), SubmissionsScreen(store(home)), size) as (app, pilot):  # fmt: skip
        app.theme = theme
        await settle(pilot)
        look("submissions", size, app)
