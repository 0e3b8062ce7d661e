"""Tags and a note: nothing that was typed is lost, and nothing that others wrote."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from harness.store.deletion import trash
from harness.store.file.database import open_store
from harness.store.notes import MOST_NOTE, change_tags, set_note
from harness.store.runs import RunSummary, list_runs
from rosetta_tui.runs.notes import NotesScreen
from rosetta_tui.show.text import plain
from tests.tui.hostile import acting
from tests.tui.scenes import sealed
from tests.tui.screens import App, settle, text

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
            trash(store, listed(app).number)
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "was deleted meanwhile" in text(app)
        assert dialog(app).query_one(Input).value == "mine"


async def test_signs_that_act_are_shown_as_others_and_kept_so_where_the_note_is_changed(
    app: App,
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("t")
        await settle(pilot)
        assert acting(text(app).replace("\n", "")) == []
        assert "If you change the note, it is" in text(app)
        assert "Save (^s)" in text(app)
        area = dialog(app).query_one(TextArea)
        area.text = f"{area.text} end\nmore"
        await pilot.press("ctrl+s")
        await settle(pilot)
        shown = "\n".join(map(plain, KEPT.split("\n")))
        assert listed(app).note == f"{shown} end\nmore"


async def test_a_note_without_signs_that_act_is_shown_without_a_word(app: App) -> None:
    with closing(open_store(app.store_path)) as store:
        set_note(store, listed(app).number, "fine\nâ 👩‍👩‍👧")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("t")
        await settle(pilot)
        assert "signs that act" not in text(app)
