"""Words that a person types: kept at each pause, saved by Enter, never acting on the terminal."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from textual import events

from harness.core.storage_problems import StorageProblem
from review.log.payloads import MOST_TEXT, Kind
from review.log.table import NotSaved
from review.session.drafts import harmless
from review.session.view import TextField
from review.session.words.troubles import SAVING
from rosetta_tui.review.rating.pages import item_page
from rosetta_tui.review.rating.pages.item_page import Box
from rosetta_tui.show.text import plain
from tests.desktop.trouble.causes import full, mounted, pulled
from tests.review.log.material import kept_draft
from tests.review.session.scenes import CODE, batch_of, item_id, items_of
from tests.tui.review.reviewing import (
    Reviewing,
    begun,
    press,
    see,
    settle,
    started,
    text,
    until,
    write,
)
from tests.tui.scenes import HOSTILE


@pytest.fixture
def app(tmp_path: Path) -> Reviewing:
    return Reviewing(tmp_path, batch_of(items_of(3)))


def draft(app: Reviewing, field: TextField = TextField.COMMENT) -> str | None:
    return kept_draft(app.laptop, "ba" * 8, CODE, item_id(1), field)


def said(app: Reviewing, kind: Kind = Kind.COMMENT) -> list[str]:
    return [event.payload.text for event in app.laptop.events() if event.kind is kind]


async def paste(app: Reviewing, words: str) -> Box:
    box = app.screen.query_one(Box)
    box.post_message(events.Paste(words))
    return box


@contextmanager
def held(app: Reviewing) -> Iterator[None]:
    """Let another program hold the laptop's file."""
    with closing(sqlite3.connect(app.laptop.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def test_full_disk_is_told_once_and_loses_nothing(tmp_path: Path) -> None:
    """On a small disk of its own, filled to the last byte while a comment is open."""
    home = tmp_path / "home"
    home.mkdir()
    mounted(home, 1024)
    try:
        app = Reviewing(tmp_path, batch_of(items_of(3)))
        full_disk = SAVING[StorageProblem.DISK_FULL].partition(".")[0]
        async with begun(app) as (_, pilot):
            with full(home):
                await press(pilot, "c")
                await write(pilot, "my words")
                await press(pilot, "enter")
                assert text(app).count(full_disk) == 1
                see(app, "my words")
                await press(pilot, "escape")
                assert text(app).count(full_disk) == 1
                see(app, "Excellent")
                assert not app.screen.query_one(Box).has_focus
                assert said(app) == []
            await press(pilot, "4")
            assert said(app) == ["my words"]
            assert full_disk not in text(app)
    finally:
        pulled(home)


async def test_box_takes_keys_as_text_and_enter_saves(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "c")
        await write(pilot, "1 u! ?")
        see(app, "Excellent")
        await press(pilot, "enter")
        see(app, "Your comment is saved.", "Your comment: 1 u! ?")
        await press(pilot, "c", *["backspace"] * 6, "enter")
        assert "Your comment:" not in text(app)
        await press(pilot, "c")
        await paste(app, "a\u0302 ne\u0301  ")
        await settle(pilot)
        await press(pilot, "enter", "e")
        assert said(app) == ["1 u! ?", "", "\u00e2 n\u00e9"]
        assert app.screen.query_one(Box).text == ""
        await press(pilot, "up", "backspace", "exclamation_mark", "enter")
        assert said(app, Kind.SUGGEST) == ["Candidate 1!"]  # it may begin with what is shown


async def test_draft_is_kept_at_a_pause_and_after_escape(
    app: Reviewing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_page, "PAUSE_SECONDS", 0.001)
    async with begun(app) as (_, pilot):
        await press(pilot, "c")
        await write(pilot, "half")
        await until(pilot, lambda: draft(app) == "half")
        monkeypatch.setattr(item_page, "PAUSE_SECONDS", 1000.0)
        await write(pilot, " a")
        assert draft(app) == "half"
        await press(pilot, "escape")
        assert (draft(app), said(app)) == ("half a", [])
        see(app, "Your comment, not saved yet: half a")
        await press(pilot, "c")
        assert app.screen.query_one(Box).text == "half a"
        await press(pilot, "enter")
        assert draft(app) is None
        await press(pilot, "e")
        await write(pilot, "bona")
        await pilot.press("ctrl+q")  # to stop while writing keeps the last letter
        await settle(pilot)
        assert draft(app, TextField.SUGGESTION) == "bona"


async def test_last_pages_name_words_not_saved_and_lead_there(app: Reviewing) -> None:
    named = "What you wrote about 1 sentence is not saved"
    async with begun(app) as (_, pilot):
        await press(pilot, "c", "h", "escape", "s", "2", "3")
        see(app, named)
        await press(pilot, "x")
        see(app, named, "You answered 2 of 3. 1 sentence is left for later.")
        await press(pilot, "t")
        see(app, "Sentence 1 of 3", "Your comment, not saved yet: h")
        await press(pilot, "4")
        see(app, "That was the last one.")
        assert named not in text(app)
        assert said(app) == ["h"]


async def test_pasted_text_cannot_act_or_be_too_long(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "c")
        box = await paste(app, "".join(HOSTILE))
        await settle(pilot)
        assert len(box.text) == MOST_TEXT
        assert all(plain(line) == line for line in box.text.split("\n"))
        await press(pilot, "x")
        assert len(box.text) == MOST_TEXT
        await press(pilot, "enter")
        see(app, "Your comment is saved.")


def test_what_is_left_of_a_text_only_shows() -> None:
    for words in HOSTILE:
        left = harmless(words)
        assert all(plain(line) == line for line in left.split("\n"))
        assert harmless(left) == left
    for kept in ("niwâpamâw ᓂᐚᐸᒫᐤ", "م\u200cن", "line\nline", "ﬁ ꞌ ʔ x\u030c"):
        assert harmless(kept) == kept
    assert harmless("a\u00a0b\tc\r\nd") == "a b c\nd"


@pytest.mark.thorough
async def test_file_held_by_another_program_keeps_item_and_words(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        with held(app):
            await press(pilot, "2")
            see(app, "the program is open in another window", "For whoever helps:", "SQLITE_BUSY")
            see(app, "Sentence 1 of 3", "Excellent")
        await press(pilot, "2")
        see(app, "Sentence 2 of 3")
        assert "another window" not in text(app)
        await press(pilot, "c", "k")
        with held(app):
            await press(pilot, "enter")
            see(app, "another window")
            await press(pilot, "exclamation_mark", "escape")
            assert text(app).count("This was not saved") == 1
            await press(pilot, "2")
            see(app, "Your comment, not saved yet: k!", "Sentence 2 of 3")
        await press(pilot, "2")
        assert said(app) == ["k!"]
        see(app, "Sentence 3 of 3")


async def test_every_trouble_is_told_in_words(
    app: Reviewing, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with begun(app) as (_, pilot):
        for problem, words in SAVING.items():

            def fail(*_: object, problem: StorageProblem = problem) -> None:
                raise NotSaved(problem, Path("x"), "SQLITE_SOMETHING")

            monkeypatch.setattr(app.laptop, "record", fail)
            await press(pilot, "2")
            shown = " ".join(text(app).replace("█", " ").split())
            assert words in shown
            assert "For whoever helps: SQLITE_SOMETHING" in shown
            see(app, "Sentence 1 of 3", "Excellent")


async def test_colours_and_language_hold_where_they_cannot_be_remembered(app: Reviewing) -> None:
    async with started(app) as pilot:
        with held(app):
            await press(pilot, "f2", "l", "down", "up", "down", "enter")
            assert app.theme == "rosetta-light"
            assert app.is_running
