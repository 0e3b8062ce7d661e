"""Words that a person types: kept at each pause, saved by Enter, never acting on the terminal."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from textual import events

from harness.core.storage_problems import StorageProblem
from review.log.payloads import MOST_TEXT, Kind
from review.session.drafts import harmless
from review.session.view import TextField
from review.session.words.troubles import SAVING
from rosetta_tui.review.rating.pages import item_page
from rosetta_tui.review.rating.pages.item_page import Box
from rosetta_tui.show.text import plain
from tests.desktop.trouble.causes import full, mounted, pulled
from tests.review.log.material import kept_draft
from tests.review.session.scenes import CODE, batch_of, item_id, items_of
from tests.tui.review.reviewing import Reviewing, begun, press, settle, text, until, write
from tests.tui.scenes import HOSTILE


@pytest.fixture
def app(tmp_path: Path) -> Reviewing:
    return Reviewing(tmp_path, batch_of(items_of(3)))


def draft(app: Reviewing, field: TextField = TextField.COMMENT) -> str | None:
    return kept_draft(app.laptop, "ba" * 8, CODE, item_id(1), field)


def said(app: Reviewing, kind: Kind) -> list[str]:
    return [event.payload.text for event in app.laptop.events() if event.kind is kind]


async def test_a_full_disk_is_told_once_lets_the_box_be_left_and_loses_nothing(
    tmp_path: Path,
) -> None:
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
                assert "my words" in text(app)
                await press(pilot, "escape")
                assert text(app).count(full_disk) == 1
                assert "Excellent" in text(app)
                assert not app.screen.query_one(Box).has_focus
                assert said(app, Kind.COMMENT) == []
            await press(pilot, "4")
            assert said(app, Kind.COMMENT) == ["my words"]
            assert full_disk not in text(app)
    finally:
        pulled(home)


async def test_digits_and_keys_are_text_while_writing(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "c")
        await write(pilot, "1 4 u! ?")
        assert "Excellent" in text(app)
        await press(pilot, "enter")
        assert "Your comment is saved." in text(app)
        assert "Your comment: 1 4 u! ?" in text(app)
        assert said(app, Kind.COMMENT) == ["1 4 u! ?"]
        await press(pilot, "4")
        assert "Sentence 2 of 3" in text(app)


async def test_the_draft_is_kept_at_a_pause_and_after_escape(
    app: Reviewing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_page, "PAUSE_SECONDS", 0.001)
    async with begun(app) as (_, pilot):
        await press(pilot, "c")
        await write(pilot, "half a tho")
        await until(pilot, lambda: draft(app) == "half a tho")
        monkeypatch.setattr(item_page, "PAUSE_SECONDS", 1000.0)
        await write(pilot, "ught")
        assert draft(app) == "half a tho"
        await press(pilot, "escape")
        assert draft(app) == "half a thought"
        assert said(app, Kind.COMMENT) == []
        assert "Your comment, not saved yet: half a thought" in text(app)
        await press(pilot, "c")
        assert app.screen.query_one(Box).text == "half a thought"
        await press(pilot, "enter")
        assert draft(app) is None


async def test_stopping_while_writing_keeps_the_last_letter(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "e")
        await write(pilot, "pli bona")
        await pilot.press("ctrl+q")
        await settle(pilot)
        assert draft(app, TextField.SUGGESTION) == "pli bona"


async def test_a_better_translation_may_begin_with_the_one_that_is_shown(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "e")
        assert app.screen.query_one(Box).text == ""
        await press(pilot, "up", "backspace")
        await write(pilot, "!")
        await press(pilot, "enter")
        assert said(app, Kind.SUGGEST) == ["Candidate 1!"]


async def test_an_emptied_comment_is_taken_back(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "c", "x", "enter", "c", "backspace", "enter")
        assert said(app, Kind.COMMENT) == ["x", ""]
        assert "Your comment:" not in text(app)


async def test_letters_are_kept_composed(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "c")
        app.screen.query_one(Box).post_message(events.Paste("a\u0302 ne\u0301  "))
        await settle(pilot)
        await press(pilot, "enter")
        assert said(app, Kind.COMMENT) == ["\u00e2 n\u00e9"]


async def test_pasted_text_cannot_act_or_be_too_long(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "c")
        box = app.screen.query_one(Box)
        box.post_message(events.Paste("".join(HOSTILE)))
        await settle(pilot)
        assert len(box.text) == MOST_TEXT
        assert all(plain(line) == line for line in box.text.split("\n"))
        await press(pilot, "x")
        assert len(box.text) == MOST_TEXT
        await press(pilot, "enter")
        assert "Your comment is saved." in text(app)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_what_is_left_of_a_text_only_shows(number: int) -> None:
    left = harmless(HOSTILE[number])
    assert all(plain(line) == line for line in left.split("\n"))
    assert harmless(left) == left


def test_scripts_keep_their_letters() -> None:
    for kept in ("niwâpamâw ᓂᐚᐸᒫᐤ", "م\u200cن", "line\nline", "ﬁ ꞌ ʔ x\u030c"):
        assert harmless(kept) == kept
    assert harmless("a\u00a0b\tc\r\nd") == "a b c\nd"


async def test_words_left_with_escape_are_saved_by_the_answer(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "c")
        await write(pilot, "too formal")
        await press(pilot, "escape", "2")
        assert said(app, Kind.COMMENT) == ["too formal"]
        assert "Saved: Gist. Your comment is saved." in text(app)
        await press(pilot, "u")
        assert said(app, Kind.COMMENT) == ["too formal", ""]
        assert "Your comment, not saved yet: too formal" in text(app)


async def test_the_last_pages_name_words_that_are_not_saved_and_lead_there(app: Reviewing) -> None:
    named = "What you wrote about 1 sentence is not saved"
    async with begun(app) as (_, pilot):
        await press(pilot, "c")
        await write(pilot, "half")
        await press(pilot, "escape", "s", "2", "3")
        assert named in text(app)
        await press(pilot, "x")
        assert named in text(app)
        assert "You answered 2 of 3. 1 sentence is left for later." in text(app)
        await press(pilot, "t")
        assert "Sentence 1 of 3" in text(app)
        assert "Your comment, not saved yet: half" in text(app)
        await press(pilot, "4")
        assert "That was the last one." in text(app)
        assert named not in text(app)
        assert said(app, Kind.COMMENT) == ["half"]
        app.session.go_to(item_id(2))
        app.session.keep_draft(item_id(2), TextField.COMMENT, "later")
        app.session.go_to(None)
        await press(pilot, "t", "c", "enter", "enter")
        assert "That was the last one." in text(app)
        assert said(app, Kind.COMMENT) == ["half", "later"]


async def test_words_that_the_disk_refuses_are_told_once_and_not_lost(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "c")
        with closing(sqlite3.connect(app.laptop.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await write(pilot, "half")
            await press(pilot, "escape")
            assert text(app).count("This was not saved") == 1
            assert "Your comment, not saved yet: half" in text(app)
            await press(pilot, "2")
            assert "Your comment, not saved yet: half" in text(app)
            assert "Sentence 1 of 3" in text(app)
        await press(pilot, "2")
        assert said(app, Kind.COMMENT) == ["half"]
        assert "Sentence 2 of 3" in text(app)
