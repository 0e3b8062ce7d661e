"""Rests, what was left for later, the end, handing over, and taking back."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from review.files.ratings import open_ratings
from review.log.payloads import Kind, Scope
from review.session import course
from review.session.view import Phase
from tests.review.session.scenes import CUSTODIANS, batch_of, items_of
from tests.tui.review.reviewing import Reviewing, begun, press, started, text, write


async def test_a_rest_is_suggested_and_one_key_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course, "REST_ITEMS", 3)
    async with begun(Reviewing(tmp_path, batch_of(items_of(5)))) as (app, pilot):
        await press(pilot, "1", "2", "3")
        assert "Time for a rest?" in text(app)
        assert "3 of 5" in text(app)
        assert "Saved: Acceptable." in text(app)
        assert "Candidate" not in text(app)
        await press(pilot, "4")
        assert "Time for a rest?" in text(app)
        await press(pilot, "enter")
        assert "Sentence 4 of 5" in text(app)
        await press(pilot, "4", "4")
        assert "That was the last one. Thank you!" in text(app)


async def test_undo_works_from_the_rest_and_from_the_end(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of(items_of(1)))) as (app, pilot):
        await press(pilot, "1", "u")
        assert "Reject ✓" not in text(app)  # taken back: it does not count
        assert "You took back your answer “Reject”." in text(app)
        await press(pilot, "4", "enter")
        assert "You answered 1 of 1." in text(app)


async def test_what_was_left_for_later_is_asked_once_more(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of(items_of(3)))) as (app, pilot):
        await press(pilot, "s", "4", "s")
        assert "You left 2 sentences for later." in text(app)
        await press(pilot, "enter")
        assert "Once more: 1 of 2" in text(app)
        await press(pilot, "3", "s")
        assert "1 sentence is left for later. Enter shows it again." in text(app)
        await press(pilot, "enter", "2")
        assert "You answered 3 of 3." in text(app)


async def test_stopping_and_coming_back_lands_on_the_same_item(tmp_path: Path) -> None:
    batch = batch_of(items_of(4))
    async with begun(Reviewing(tmp_path, batch)) as (app, pilot):
        await press(pilot, "1", "2", "q")
        assert app.return_code == 0
    again = Reviewing(tmp_path)
    async with started(again) as pilot:
        assert "Language Council" in text(again)
        await press(pilot, "enter", "enter")
        assert "Sentence 3 of 4" in text(again)


async def test_ctrl_c_leaves_with_the_code_of_an_interrupt(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of())) as (app, pilot):
        await press(pilot, "1", "ctrl+c")
    assert app.return_code == 130


async def test_handing_over_writes_a_sealed_file_and_says_its_six_words(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of(items_of(1)))) as (app, pilot):
        await press(pilot, "4", "x")
        assert str(app.stick) in "".join(text(app).split())
        await press(pilot, "enter")
        assert "Saved and checked. You may pull the stick out." in text(app)
        (path,) = app.stick.glob("*.rosetta-ratings")
        ratings = open_ratings(path.read_bytes(), [CUSTODIANS[0]])
        assert ratings.phrase(earlier=True) in text(app)
        await press(pilot, "enter")
        assert "That was the last one." in text(app)
        assert "Handed over at 20" in text(app)
        assert "press x" in text(app)
        assert "Put the stick into this computer" not in text(app)
        await press(pilot, "u", "3")
        assert "Handed over at" not in text(app)


async def test_part_of_the_answers_can_be_handed_over_to_a_folder_that_is_typed(
    tmp_path: Path,
) -> None:
    app = Reviewing(tmp_path, batch_of())
    other = tmp_path / "other"
    other.mkdir()
    async with begun(app, (120, 30)) as (_, pilot):
        await press(pilot, "4", "x", "f")
        app.screen.query_one(Input).value = str(other)
        await press(pilot, "enter")
        assert "in a folder on this computer" in text(app)
        await press(pilot, "enter")
        assert "Sentence 2 of 4" in text(app)
    assert len(list(other.iterdir())) == 1


async def test_without_a_stick_the_page_says_so_and_looks_again(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of())) as (app, pilot):
        for file in app.stick.iterdir():
            file.unlink()
        app.stick.rmdir()
        await press(pilot, "x")
        assert "No stick was found." in text(app)
        app.stick.mkdir()
        await press(pilot, "enter")
        assert "Where is your stick?" in text(app)
        await press(pilot, "escape")
        assert "Sentence 1 of 4" in text(app)


async def test_a_stick_that_is_gone_is_told_in_words_and_nothing_is_lost(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of()), (120, 30)) as (app, pilot):
        await press(pilot, "4", "x", "f")
        keys = text(app).splitlines()[-1]
        assert "Enter save here" in keys
        assert not {"look again", "another folder", "what is not saved"} & {*keys.split("   ")}
        app.screen.query_one(Input).value = str(tmp_path / "none")
        await press(pilot, "enter")
        assert "Put the stick in and try again." in text(app)
        assert "Nothing was written. Type another folder, then press Enter." in text(app)
        assert "No stick was found" not in text(app)
        assert "For whoever helps:" in text(app)
        await write(pilot, "x")
        assert app.screen.query_one(Input).value == str(tmp_path / "nonex")
        await press(pilot, "escape", "escape")
        assert [event.kind for event in app.laptop.events()][-1] is Kind.RATE


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("key", "scope"),
    [("1", Scope.COMMENTS), ("2", Scope.BATCH), ("3", Scope.EVERYTHING)],
    ids=["comments", "batch", "everything"],
)
async def test_taking_back_needs_a_choice_and_one_more_key(
    tmp_path: Path, key: str, scope: Scope
) -> None:
    async with begun(Reviewing(tmp_path, batch_of())) as (app, pilot):
        await press(pilot, "c", "x", "enter", "4", "w", "w", "enter")
        assert "What do you want to take back?" in text(app)
        await press(pilot, key)
        assert "This cannot be undone." in text(app)
        await press(pilot, "escape")
        assert "Sentence 2 of 4" in text(app)
        await press(pilot, "w", key, "w")
        last = list(app.laptop.events())[-1].payload
        assert last is not None
        assert last.scope is scope
        if scope is Scope.COMMENTS:
            assert "Sentence 2 of 4" in text(app)
        else:
            assert app.session.view.phase is Phase.WITHDRAWN
            assert "is erased on this computer." in text(app)
            await press(pilot, "x", "enter")
            assert "You may pull the stick out." in text(app)
