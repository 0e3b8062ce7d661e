"""Tags and a note: nothing that was typed is lost, and nothing that others wrote."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from harness.store.database import open_store
from harness.store.deletion import put_away
from harness.store.notes import MOST_NOTE, change_tags, set_note
from harness.store.runs import RunSummary, list_runs
from rosetta_tui.screens.notes import NotesScreen, as_meant
from rosetta_tui.text import plain
from tests.tui.scenes import HOSTILE, sealed
from tests.tui.screens import App, settle, text
from tests.tui.test_text import acting

KEPT = "first\tcell\x1b[31m\n\u202eturned\u202c"


@pytest.fixture
def app(tmp_path: Path) -> App:
    made = sealed(tmp_path / "s.sqlite", 4)
    set_note(made.store, made.number, KEPT)
    made.close()
    return App(made)


def listed(app: App) -> RunSummary:
    with closing(open_store(app.store_path)) as store:
        return list_runs(store)[0]


def dialog(app: App) -> NotesScreen:
    assert isinstance(app.screen, NotesScreen)
    return app.screen


async def test_what_is_refused_is_said_and_stays_in_the_dialog(app: App) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("t", *"x" * 41)
        dialog(app).query_one(TextArea).text = "an hour of thoughts"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "A tag is one word" in text(app)
        assert dialog(app).query_one(TextArea).text == "an hour of thoughts"
        dialog(app).query_one(Input).value = "fine"
        dialog(app).query_one(TextArea).text = "x" * (MOST_NOTE + 1)
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "The note has 10,001 characters" in text(app)
        dialog(app).query_one(TextArea).text = "an hour of thoughts"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert not isinstance(app.screen, NotesScreen)
        assert (listed(app).tags, listed(app).note) == (("fine",), "an hour of thoughts")


async def test_tags_of_others_stay_and_a_note_that_was_not_touched_too(app: App) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("t", *"mine")
        with closing(open_store(app.store_path)) as store:
            change_tags(store, listed(app).number, ["cli"])
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert (listed(app).tags, listed(app).note) == (("cli", "mine"), KEPT)


async def test_what_cannot_be_written_stays_in_the_dialog(app: App) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("t", *"mine")
        with closing(open_store(app.store_path)) as store:
            put_away(store, listed(app).number)
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "was deleted meanwhile" in text(app)
        assert dialog(app).query_one(Input).value == "mine"


async def test_letters_that_act_are_shown_harmless_and_kept_as_they_are(app: App) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("t")
        await settle(pilot)
        assert acting(text(app).replace("\n", "")) == []
        area = dialog(app).query_one(TextArea)
        area.text = f"{area.text} end\nmore"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert listed(app).note == f"{KEPT} end\nmore"


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_what_was_only_shown_goes_back_as_it_was(number: int) -> None:
    before = HOSTILE[number]
    shown = "\n".join(map(plain, before.split("\n")))
    assert as_meant(f"{shown}\nmore", before) == f"{before}\nmore"
