"""The screens of corpora in the making: what they show of one, that no sentence stands on them, and how one gets there."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from textual.widgets import Input

from harness.project.known import known_folders
from harness.project.making import changing
from rosetta_tui.project import list_screen, screen
from rosetta_tui.project.facts import ProjectReading, read_facts, read_known
from rosetta_tui.project.list_screen import ProjectsScreen
from rosetta_tui.project.needs import bar, commands_of, needs
from rosetta_tui.project.screen import SECTIONS, ProjectScreen
from rosetta_tui.project.sentences import sentences
from rosetta_tui.project.speakers import speakers
from rosetta_tui.project.worth import costs, worth_having
from rosetta_tui.report.project import NextStep, next_step
from rosetta_tui.toolkit.dialogs.path import PathScreen
from tests.tui.golden import SMALL, look
from tests.tui.project.made import CANARY, begun, halfway
from tests.tui.screens import (
    App,
    at_rest,
    notices,
    press,
    press_in_turn,
    settle,
    showing,
    store,
    text,
)
from tests.tui.vault.made import taken


async def test_project_screen_section_by_section(home: Path) -> None:
    halfway(home, Path("words"))
    made = ProjectScreen(store(home), Path("words"))
    async with showing(App(None, store(home)), made, SMALL) as (app, pilot):
        for number, name in enumerate(SECTIONS, 1):
            await press(pilot, str(number))
            look(f"project-{name.lower().replace(' ', '-')}", app)
            assert CANARY not in text(app)
        await press_in_turn(pilot, "1", "c", "down")
        look("project-what-to-do", app)


async def test_project_list_with_one_gone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_screen, "read_known", _steady)
    async with showing(App(None, store(home)), ProjectsScreen(store(home)), SMALL) as (app, pilot):
        look("projects-empty", app)
        halfway(home, Path("words"))
        begun(home, Path("songs"), "Songs of the river")
        begun(home, Path("gone"), "Letters")
        Path("gone", "project.json").unlink()
        await settle(pilot)
        look("projects", app)


def _steady(*all_: object, **more: object) -> list[ProjectReading]:
    """Read as the screen does, with folders as they are called from here."""
    here = f"{Path.cwd()}{os.sep}"
    return [
        replace(each, folder=Path(each.folder.name), trouble=each.trouble.replace(here, ""))
        for each in read_known(*all_, **more)  # type: ignore[arg-type]
    ]


async def test_project_walk_from_home_to_another_folder(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "the words"
    begun(tmp_path / "elsewhere", folder)
    async with at_rest(App(None, store(home)), (100, 30), notifications=True) as (app, pilot):
        await press(pilot, "L")
        assert "begins a new one, in an empty folder" in text(app)
        for typed, said in ((tmp_path, "holds no corpus in the making"), (folder, "1 of 7 met")):
            await press(pilot, "o")
            assert isinstance(app.screen, PathScreen)
            app.screen.query_one(Input).value = str(typed)
            await press(pilot, "enter")
            assert said in f"{text(app)}{notices(app)}"
        await press_in_turn(pilot, "c", "enter")
        assert app.clipboard == f"rosetta corpus sources '{folder}' FILE", (
            "the next command is first"
        )
        await press(pilot, "q")
        assert "Words of our school" in text(app)
        await press(pilot, "delete")
        assert "No corpus has been begun here yet" in text(app)
        assert (folder / "project.json").is_file()
        await press(pilot, "q")
        assert "A corpus for a new language" in text(app)


async def test_a_change_of_the_folder_is_seen_and_what_cannot_be_read_is_said(home: Path) -> None:
    begun(home, Path("words"))
    async with showing(App(None, store(home)), ProjectScreen(store(home), Path("words")), (100, 30)) as (app, pilot):  # fmt: skip
        assert "1 of 7 met" in text(app)
        Path("words", "project.json").write_text('{"format": "rosetta-corpus-project/1"}')
        await settle(pilot)
        assert f"✗ {screen.UNREADABLE}" in text(app)
        assert "field 'number'" in " ".join(text(app).split())
        await press_in_turn(pilot, "2", "c", "right")
        assert isinstance(app.screen, ProjectScreen)
        Path("words", "project.json").unlink()
        Path("words").rmdir()
        halfway(home, Path("words"))
        await settle(pilot)
        assert "3 of 8 met" in text(app)


def test_each_command_is_one_that_the_program_takes(home: Path) -> None:
    halfway(home, Path("words"))
    Path("STICK").mkdir()
    for name in ("FILE", "FILE.toml", "FILE.txt", "CORPUS"):
        Path(name).touch()
    facts = read_facts(Path("words"), home).facts
    assert facts is not None
    pages = [make(facts, Path("words")) for make in (needs, sentences, speakers, worth_having)]
    closed = commands_of(NextStep("nothing"), Path("words"), in_vault=True)
    told = [told.values() for page in (*pages, costs(facts)) for told in page.commands]
    assert all(taken(words) for words in chain(*told, closed.values()))


def test_of_what_came_back_only_the_rest_is_out(home: Path) -> None:
    """A translation that a second speaker did not agree to came back; it is asked for anew, and then looked over anew."""
    halfway(home, Path("words"))
    facts = read_facts(Path("words"), home).facts
    assert [(each.kind, each.sentences, each.out) for each in facts.reviews] == [("translate", 90, 30), ("agree", 30, 10)]  # fmt: skip
    assert dict(facts.reviews[0].people) == {"A": 40, "B": 20}
    assert (facts.corrected, facts.refused, facts.came_translated) == (5, 0, 0)
    with changing(Path("words"), home) as project:
        for each in project.state.entries:
            if not each.has_reference:
                texts = replace(project.texts(each), reference="vorto")
                project.put([project.with_texts(each, texts)])
        refused = project.state.entries[20:30]
        project.put(
            each.model_copy(update={"refused": ("words-translate-1",), "translated": None, "has_reference": False})
            for each in refused
        )  # fmt: skip
    facts = read_facts(Path("words"), home).facts
    assert [each.out for each in facts.reviews] == [0, 0]
    assert (facts.refused, facts.progress.waiting) == (10, ())
    assert not next_step(facts.progress, Path("words")).words.startswith("take in")


def test_a_bar_is_as_long_as_what_is_there() -> None:
    assert bar(0, 50) == "·" * 16
    assert bar(25, 50, 40) == "━" * 8 + "╌" * 4 + "·" * 4
    assert bar(60, 50, 90) == "━" * 16
    assert bar(0, 0) == "·" * 16


def test_folders_are_known_once_and_found_where_they_were_moved(home: Path, tmp_path: Path) -> None:
    begun(home, Path("words"))
    Path("words").rename("moved")
    assert known_folders(home) == [tmp_path / "words"]
    with changing(Path("moved"), home):
        pass
    assert known_folders(home) == [tmp_path / "moved"]
    next((home / "projects").iterdir()).write_text("{")
    assert known_folders(home) == []
    with changing(Path("moved"), home):
        pass
    assert known_folders(home) == [tmp_path / "moved"]
