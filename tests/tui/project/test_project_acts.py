"""What the app does with a corpus in the making: sentences in and out again, and what speakers sent back; no sentence is shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.widgets import Input

from harness.core.failures import UsageError
from harness.project.state import read_project
from rosetta_tui.project import screen
from rosetta_tui.project.acts import WantedSentences, add_sentences, checked, gather_here
from rosetta_tui.project.dialogs import AddSentencesScreen, ToldScreen
from rosetta_tui.project.screen import ProjectScreen
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen
from rosetta_tui.toolkit.section_page import Line
from tests.tui.commands.new_language import Office, sentences, speaks, table
from tests.tui.golden import SMALL, look
from tests.tui.project.made import begun, halfway
from tests.tui.screens import (
    App,
    burst,
    notices,
    press,
    press_in_turn,
    settle,
    showing,
    store,
    text,
)

KNOWN = dict(list(sentences().items())[:8])


@pytest.fixture(autouse=True)
def table_of_sentences(home: Path) -> None:
    """Put a table of sentences where the person is."""
    Path("sentences.tsv").write_text(table(KNOWN), "utf-8")


async def test_sentences_are_added_told_of_and_taken_out_again(home: Path) -> None:
    begun(home, Path("words"))
    made = ProjectScreen(store(home), Path("words"))
    async with showing(App(None, store(home)), made, SMALL) as (app, pilot):
        await press(pilot, "u")
        assert app.screen is made
        await press_in_turn(pilot, "s", "enter")
        assert "Name the file." in text(app)
        app.screen.query_one(Input).value = "sentences.tsv"
        app.screen.query_one("#difficulty", Input).value = "hard"
        await press(pilot, "enter")
        look("project-add", app)
        app.screen.query_one("#difficulty", Input).value = ""
        for file, said in (("gone.tsv", "gone.tsv"), ("words", "words")):
            app.screen.query_one(Input).value = file
            await press(pilot, "enter")
            assert isinstance(app.screen, AddSentencesScreen)
            assert said in text(app)
        assert read_project(Path("words"), home).state.entries == ()
        app.screen.query_one(Input).value = "sentences.tsv"
        app.screen.query_one("#most", Input).value = "6"
        await press(pilot, "enter")
        assert isinstance(app.screen, ToldScreen)
        look("project-added", app)
        told = text(app)
        assert "Added: 6 entries" in told
        assert "stand open: erase it" in " ".join(told.replace("│", " ").split())
        assert not any(each in told for each in KNOWN)
        await press_in_turn(pilot, "enter", "2")
        assert "6 sentences collected" in text(app)
        await press(pilot, "u")
        assert isinstance(app.screen, ConfirmScreen)
        await press(pilot, "y")
        assert "Taken out again: 6 entries." in text(app)
        await press(pilot, "enter")
        assert app.screen is made
        assert "There are no sentences yet." in text(app)


async def test_second_enter_adds_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(home, Path("words"))
    begins, typed = [], Event()

    def late(*given: Any) -> Sequence[Line]:
        begins.append(given)
        typed.wait()
        return add_sentences(*given)

    monkeypatch.setattr(screen, "add_sentences", late)
    made = ProjectScreen(store(home), Path("words"))
    async with showing(App(None, store(home)), made, (100, 36)) as (app, pilot):
        await press(pilot, "s")
        app.screen.query_one(Input).value = "sentences.tsv"
        await burst(app, "enter", "enter", "escape")
        typed.set()
        await settle(pilot)
        assert "Added: 8 entries" in text(app)
    assert len(begins) == 1


async def test_act_is_told_under_a_screen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    halfway(home, Path("words"))
    goes_on = Event()

    def late(*_: Path) -> Sequence[Line]:
        goes_on.wait()
        return [("Taken in: 3 translations.", "plain"), ("Left out: 1.", "warn")]

    monkeypatch.setattr(screen, "gather_here", late)
    made = ProjectScreen(store(home), Path("words"))
    async with showing(App(None, store(home)), made, (100, 36), notifications=True) as (app, pilot):
        made.action_gather()
        app.push_screen(ToldScreen("Something else", []))
        await pilot.pause()
        goes_on.set()
        await settle(pilot)
        assert notices(app) == ["Taken in: 3 translations.\nLeft out: 1."]
        monkeypatch.setattr(screen, "gather_here", gather_here)
        before = Path("words", "project.json").read_bytes()
        await press_in_turn(pilot, "escape", "t")
        await settle(pilot)
        assert "another data folder" in notices(app)[-1]
        assert Path("words", "project.json").read_bytes() == before, "nothing is changed"


async def test_translations_are_taken_in_and_none_is_shown(home: Path, tmp_path: Path) -> None:
    office = Office(home)
    begun(home, Path("words"))
    add_sentences(Path("words"), home, WantedSentences(Path("sentences.tsv")))
    office.types("corpus", "translate", "words", "--passphrases", "-o", "stick")
    [card] = office.cards("words-translate-1")
    made = ProjectScreen(store(home), Path("words"))
    async with showing(App(None, store(home)), made, (100, 36), notifications=True) as (app, pilot):
        await press(pilot, "t")
        assert "Taken in: 0 translations" in text(app)
        assert "8 sentences with speakers" in text(app)
        await press(pilot, "enter")
        file = tmp_path / "stick" / "words-translate-1-1.rosetta-batch"
        speaks(tmp_path / "laptop", file, card, lambda original, _: [KNOWN[original][1]])
        office.types("review", "import", "stick", "--enrol", "--yes")
        await press(pilot, "t")
        assert "Taken in: 8 translations" in text(app)
        await press_in_turn(pilot, "enter", "3")
        shown = text(app)
        assert "8 of 8 sentences translated" in shown
        assert not any(each in shown for pair in KNOWN.items() for each in (pair[0], pair[1][1]))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("difficulty", "6", "a number from 1"),
        ("difficulty", "²", "a number from 1"),
        ("register", "loud", "permitted are conversational"),
        ("most", "0", "how many sentences"),
        ("most", "²", "how many sentences"),
    ],
)
def test_a_field_that_is_wrong_is_named(field: str, value: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        checked(WantedSentences(Path("s.tsv"), **{field: value}))
