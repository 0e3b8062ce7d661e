"""Every page of a reviewer's sitting, by keys alone and by the mouse; words that a person types, kept at each pause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input, Static

from harness.core.storage import StorageProblem
from review.files.batch import write_batch
from review.files.manifests import BatchItem
from review.files.ratings import open_ratings
from review.log.payloads import MOST_TEXT, Face, Kind, Scope
from review.rating import CannotJudge, Rating, Reason
from review.session import view
from review.session.record import harmless
from review.session.view import Phase, TextField
from review.session.words.troubles import SAVING
from rosetta_tui.review.rating.pages import item_page
from rosetta_tui.review.rating.pages.item_page import Box, Texts
from rosetta_tui.review.rating.pages.page import told
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.textual_inside import TerminalApp
from tests.desktop.trouble.causes import full, mounted, pulled
from tests.review.log.material import kept_draft
from tests.review.session.scenes import CODE, CUSTODIANS, OTHER_CODE, batch_of, item_id, items_of, write_file
from tests.tui.review.reviewing import Reviewing, begun, fill, press, see, settle, started, text, until, write
from tests.tui.scenes import HOSTILE

CHOOSING = "Which sentences do you want to look at?"


@pytest.fixture
def app(tmp_path: Path) -> Reviewing:
    return Reviewing(tmp_path, batch_of(items_of(6)))


def kinds(app: Reviewing) -> list[Kind]:
    return [event.kind for event in app.laptop.events()]


def judgements(app: Reviewing) -> list[Rating | CannotJudge]:
    said = [event.payload for event in app.laptop.events()]
    return [
        getattr(each, "rating", None) or each.why
        for each in said
        if each and each.kind in {Kind.RATE, Kind.CANNOT_JUDGE}
    ]


# Before the first item


async def test_way_to_the_consent_of_somebody_new(tmp_path: Path) -> None:
    batch, app = batch_of(), Reviewing(tmp_path, known=False)
    app.stick.mkdir()
    async with started(app) as pilot:
        see(app, "There is nothing to look at yet.", "Put the stick that you were given into")
        assert "No sentences were found." not in text(app)
        await press(pilot, "enter")
        see(app, "No sentences were found.")  # it looked again
        path = app.stick / "Spring sentences.rosetta-batch"
        path.write_bytes(write_batch(batch)[:-9])
        await press(pilot, "enter", "enter")
        see(app, "A part of this file is missing", "For the person who helps:", CHOOSING)
        write_file(batch, app.stick)
        await press(pilot, "enter")
        see(app, "Language Council", batch.organisation_phrase)
        await press(pilot, "escape")
        see(app, CHOOSING)
        await press(pilot, "enter", "enter", "escape", "enter")
        see(app, "Which code is on your card?")  # whose it is was asked once
        for typed, said in (
            (CODE[:5], "A code has 8 letters and digits."),
            (CODE[1] + CODE[0] + CODE[2:], "two are swapped"),
        ):
            fill(app, typed)
            await press(pilot, "enter")
            see(app, said)
        fill(app, "")
        await write(pilot, f"{CODE[:4].lower()}-{CODE[4:].lower()}")
        await press(pilot, "enter")
        see(app, "Before you begin", "4 translations to judge.")
        see(app, "Nothing is sent over the internet", "You may stop at any time.")
        await press(pilot, "w")
        assert "Nothing was begun." not in text(app)
        await press(pilot, "escape")
        see(app, "Nothing was begun.", CHOOSING)
        assert kinds(app) == []
        assert app.laptop.setting("reviewer") in {None, ""}
        await press(pilot, "q")
        assert app.return_code == 0


async def test_enter_agrees_only_after_the_end_was_shown(tmp_path: Path) -> None:
    batch = batch_of(consent="You may stop at any time.\n---\n" + "And more of it.\n" * 60)
    app = Reviewing(tmp_path, batch)
    app.doors.reviewer(batch, CODE)
    async with started(app) as pilot:
        await press(pilot, "enter", "1", "enter")
        see(app, "You may stop", "I agree")
        assert "And more" not in text(app)
        await press(pilot, "m")
        see(app, "And more", "read on")
        assert "I agree" not in text(app)
        read = 0
        while "↓ The text continues below" in text(app):
            await press(pilot, "enter")
            read += 1
            assert "Did you take part" not in text(app)
        assert read >= 3
        see(app, "I agree")
        await press(pilot, "home", "enter")
        see(app, "Did you take part in making the translation program?")
        await press(pilot, "enter")  # it is asked and not presumed
        assert kinds(app) == [Kind.CONSENT]


async def test_locked_file_asks_for_words_and_a_known_code_for_one_key(tmp_path: Path) -> None:
    batch, app = batch_of(secret=True), Reviewing(tmp_path)
    app.stick.mkdir()
    (app.stick / "s.rosetta-batch").write_bytes(write_batch(batch, passphrase="red stone river"))
    app.doors.accept(batch)
    app.doors.reviewer(batch, OTHER_CODE)
    async with started(app) as pilot:
        await press(pilot, "enter")
        for typed, said in (
            ("", "Which secret words are on your card?"),
            ("red stone", "This file does not open."),
            ("red stone river", f"If your code begins with {OTHER_CODE[:2]}, type 1."),
        ):
            fill(app, typed)
            await press(pilot, *["enter"] * bool(typed))
            see(app, said)
        assert app.screen.query_one(Input).value == ""
        assert OTHER_CODE[:3] not in text(app).replace("-", "")
        await press(pilot, "1", "enter", "enter", "3", "1")
        said_by = [e.payload for e in app.laptop.events() if e.kind in {Kind.CONSENT, Kind.RATE}]
        assert [each.reviewer for each in said_by] == [OTHER_CODE] * 2
        assert said_by[0].share_corrections is False


async def test_code_of_the_command_line(tmp_path: Path) -> None:
    async with started(Reviewing(tmp_path, batch_of(), code=CODE[1:])) as pilot:
        await press(pilot, "enter")
        see(pilot.app, CODE[1:], "A code has 8 letters and digits.")


# The item


async def test_keys_rate_say_why_and_take_back(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "comma")
        see(app, "First give an answer, then say why.")
        await press(pilot, "2", "comma")
        see(app, "Candidate 1.", "You answered: Gist. What is wrong with it?")
        assert "wrong, or not our language" not in text(app)
        await press(pilot, "5", "comma", "1")
        see(app, "Sentence 2 of 6")
        said = [e.payload.reasons for e in app.laptop.events() if e.kind is Kind.REASONS]
        assert said == [(Reason.WORD_FORM,), (Reason.WRONG_MEANING, Reason.WORD_FORM)]
        await press(pilot, "comma", "escape", "0", "0")
        see(app, "Why can you not judge it?")  # a double press decides nothing
        await press(pilot, "escape", "0", "1")
        see(app, "Saved: you cannot judge this one.")
        await press(pilot, "1", "f", "G")
        see(app, "Sentence 6 of 6", "Saved: Acceptable.")
        await press(pilot, "4", "u")
        see(app, "Your answer was: Excellent.")
        rated = [Rating.GIST, CannotJudge.OTHER_DIALECT, *Rating]
        assert judgements(app) == rated
        events = [e.payload for e in app.laptop.events() if e.kind is Kind.RATE]
        assert {(each.face, each.override) for each in events} == {(Face.TERMINAL, False)}


async def test_harm_help_and_the_mouse(app: Reviewing) -> None:
    async with begun(app, (100, 40)) as (_, pilot):
        await press(pilot, "u")
        see(app, "There is nothing to take back.")
        await press(pilot, "exclamation_mark", "exclamation_mark", "1", "escape")
        assert kinds(app) == [Kind.CONSENT, Kind.SESSION, Kind.RELATION]
        await press(pilot, "exclamation_mark", "enter")
        see(app, "You marked this as harmful.", "Sentence 1 of 6")
        await press(pilot, "exclamation_mark")
        see(app, "Take the mark “harmful” away again?")
        await press(pilot, "enter", "plus")
        see(app, "hold Ctrl and press +")
        said = [e.payload.harmful for e in app.laptop.events() if e.kind is Kind.HARM]
        assert said == [True, False]
        await press(pilot, "question_mark", "1")
        see(app, "Help", "Reject – wrong, or not our language", "Leave it for later")
        see(app, "Read it aloud first.")
        starts = {
            line.find(words)
            for line in text(app).split("\n")
            for words in ("Leave it", "Take back the")
            if words in line
        }
        assert len(starts) == 1, "what keys do begins in one column"
        await press(pilot, "escape")
        see(app, "Sentence 1 of 6")
        for word, notice in (("Acceptable", "Saved: Acceptable."), ("undo", "Taken back.")):
            rows = text(app).split("\n")
            row = next(n for n, line in enumerate(rows) if word in line)
            await pilot.click(offset=(rows[row].index(word), row))
            await settle(pilot)
            see(app, notice)
        await press(pilot, "c")
        assert app.screen.query_one(Box).has_focus


# Room


def long_items(source: str, candidate: str, count: int = 1) -> list[BatchItem]:
    long = {"source": source, "candidate": candidate}
    return [each.model_copy(update=long) for each in items_of(count)]


async def test_answers_stay_in_sight_whatever_the_length_and_window(tmp_path: Path) -> None:
    long = long_items("a long source " * 200, "longa traduko " * 300)
    async with begun(Reviewing(tmp_path, batch_of(long))) as (app, pilot):
        for size in ((40, 12), (200, 60), (80, 24)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            see(app, "Reject", "Gist", "Acceptable", "Excellent")
            assert app.screen.query_one(Texts).size.height >= 1
        see(app, "as a good speaker", "The translation is below: read it, then answer")
        assert "longa" not in text(app)
        while "below" in text(app):
            await press(pilot, "pagedown")
        see(app, "longa", "Excellent")
        await press(pilot, "4")
        assert app.session.view.phase is Phase.END


async def test_nothing_is_rated_before_its_whole_translation_was_shown(tmp_path: Path) -> None:
    last = "lastword"
    batch = batch_of(long_items("a source " * 20, f"{'longa ' * 40}{last}", 2))
    async with begun(Reviewing(tmp_path, batch), (50, 16)) as (app, pilot):
        see(app, "read it, then answer")
        presses = 0
        while last not in text(app):
            await press(pilot, "3")
            presses += 1
            see(app, "First read the translation.")
            assert judgements(app) == []
        assert 1 <= presses <= 30
        assert "read it, then answer" not in text(app)
        await press(pilot, "comma", "escape", "pageup", "pageup", "3")
        assert judgements(app) == [Rating.ACCEPTABLE]
        await press(pilot, "4")
        assert judgements(app) == [Rating.ACCEPTABLE], "the next one was not read yet"


async def test_terminal_without_room_for_a_line_takes_no_answer(app: Reviewing) -> None:
    async with begun(app, (40, 12)) as (_, pilot):
        see(app, "Make this window larger to read.")
        await press(pilot, "3", "4")
        assert judgements(app) == []
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        await press(pilot, "3")
        assert judgements(app) == [Rating.ACCEPTABLE]
        assert "Make this window larger" not in text(app)


async def test_no_line_begins_with_the_sign_that_ends_a_french_sentence() -> None:
    class Narrow(TerminalApp):
        def compose(self) -> ComposeResult:
            yield Static(told("Voulez-vous regarder\u202f? Oui\u00a0: Entrée\u202f! Il faut 97.5 %, 95.0 % et 5 %."))

    app = Narrow()
    async with app.run_test(size=(40, 12)) as pilot:
        for width in range(12, 40):
            await pilot.resize_terminal(width, 12)
            await pilot.pause()
            rows = [line.strip() for line in text(app).splitlines()]
            assert not [row for row in rows if row[:1] in {"?", ":", "!", "%"}], (width, rows)


# Rests, the end, handing in and taking back


async def test_rest_then_what_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "PART", 3)
    async with begun(Reviewing(tmp_path, batch_of(items_of(5)))) as (app, pilot):
        await press(pilot, "1", "2", "3")
        see(app, "3 done, 2 to go.", "3 of 5", "Saved: Acceptable.")
        assert "Candidate" not in text(app)
        await press(pilot, "4")
        see(app, "3 done, 2 to go.")
        await press(pilot, "enter")
        see(app, "Sentence 4 of 5")
        await press(pilot, "s", "4")
        see(app, "You left 1 sentence for later.")
        await press(pilot, "enter")
        see(app, "Once more: 1 of 1")
        await press(pilot, "2")
        see(app, "That was the last one. Thank you!", "You answered 5 of 5.")
        await press(pilot, "u")
        see(app, "You took back your answer “Gist”.")
        assert "Gist ✓" not in text(app)  # taken back: it does not count
        await press(pilot, "ctrl+c")
    assert app.return_code == 130


async def test_handing_over_writes_a_sealed_file_and_says_its_words(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with begun(Reviewing(tmp_path, batch_of(items_of(2))), (120, 30)) as (app, pilot):
        await press(pilot, "4", "x", "f")
        fill(app, str(other))
        await press(pilot, "enter")
        see(app, "in a folder on this computer")
        assert len(list(other.iterdir())) == 1
        await press(pilot, "enter", "4", "x")
        assert str(app.stick) in "".join(text(app).split())
        await press(pilot, "enter")
        (path,) = app.stick.glob("*.rosetta-ratings")
        ratings = open_ratings(path.read_bytes(), [CUSTODIANS[0]])
        see(app, "Saved and checked. You may pull the stick out.", ratings.phrase(earlier=True))
        await press(pilot, "enter")
        see(app, "That was the last one.", "Handed in at 20", "press x")
        assert "Put the stick into this computer" not in text(app)
        await press(pilot, "u", "3")
        assert "Handed in at" not in text(app)


async def test_taking_back_needs_a_choice_and_one_more_key(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of())) as (app, pilot):
        await press(pilot, "c", "x", "enter", "4", "w", "w", "enter")
        see(app, "What do you want to take back?")
        await press(pilot, "3")
        see(app, "This cannot be undone.")
        await press(pilot, "escape")
        for key, scope in (("1", Scope.COMMENTS), ("2", Scope.BATCH)):
            see(app, "Sentence 2 of 4")
            await press(pilot, "w", key, "w")
            last = list(app.laptop.events())[-1].payload
            assert last is not None
            assert last.scope is scope
        assert app.session.view.phase is Phase.WITHDRAWN
        see(app, "is erased on this computer.")
        await press(pilot, "x", "enter")
        see(app, "You may pull the stick out.")


def draft(app: Reviewing, field: TextField = TextField.COMMENT) -> str | None:
    return kept_draft(app.laptop, "ba" * 8, CODE, item_id(1), field)


def said(app: Reviewing, kind: Kind = Kind.COMMENT) -> list[str]:
    return [event.payload.text for event in app.laptop.events() if event.kind is kind]


async def paste(app: Reviewing, pilot: Pilot[Any], words: str) -> Box:
    box = app.screen.query_one(Box)
    box.post_message(events.Paste(words))
    await settle(pilot)
    return box


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
        await paste(app, pilot, "a\u0302 ne\u0301  ")
        await press(pilot, "enter", "e")
        assert said(app) == ["1 u! ?", "", "\u00e2 n\u00e9"]
        assert app.screen.query_one(Box).text == ""
        await press(pilot, "up", "backspace", "exclamation_mark", "enter")
        assert said(app, Kind.SUGGEST) == ["Candidate 1!"]  # it may begin with what is shown


async def test_draft_is_kept_at_pause_and_escape(app: Reviewing, monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_pasted_text_cannot_act_or_be_too_long(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "c")
        box = await paste(app, pilot, "".join(HOSTILE))
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
