"""Deciding about flagged and split items: blind, by one key, and always to be taken back."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from review.log.fold import Adjudication
from review.log.payloads import Comment, Reasons, Suggest
from review.office.store import database
from review.rating import Reason
from review.verdict.gate.adjudication import Case, queue
from rosetta_tui.review.organiser.pages.deciding import DecidingScreen
from rosetta_tui.review.organiser.pages.review import ReviewScreen
from tests.review.verdict import histories
from tests.tui.golden import compare
from tests.tui.review.gated import another_rating, say_later
from tests.tui.review.organising import (
    GO,
    LARGE,
    MIXED,
    SMALL,
    Scene,
    calm,
    open_review,
    organising,
    press,
    scene,
    words,
)
from tests.tui.screens import App, lines, text

HOSTILE = (
    "[@click=app.quit]x[/]",
    "[/foo]",
    "\x1b]0;owned\x07\x1b[2J",
    "\u202edlrow olleh\u202c",
    "a\nb\tc",
)


def cases(made: Scene) -> list[Case]:
    with made.office() as office:
        review = office.review("spring")
        return queue(office.state(review), review.key)


def decision(made: Scene, item: str) -> Adjudication | None:
    with made.office() as office:
        return office.state(office.review("spring")).adjudications.get(item)


WHY = ("s", "enter", "A", "enter")
"""What is typed when it asks why and who decides."""


@asynccontextmanager
async def at_splits(
    made: Scene, size: tuple[int, int] = SMALL
) -> AsyncIterator[tuple[App, Pilot[Any]]]:
    """Run the app with the section of split items open, its ratings looked at."""
    async with organising(made, size, "Split", notifications=True) as (app, pilot):
        if "hidden until you look" in text(app):
            await press(pilot, "l", "y")
        yield app, pilot


@pytest.fixture
def made(tmp_path: Path) -> Scene:
    return scene(tmp_path, MIXED, flag=True, texts=["la hundo dormas"])


async def test_decision_needs_a_reason_without_words_of_the_sentence(made: Scene) -> None:
    first = cases(made)[0]
    assert first.flags
    async with at_splits(made) as (app, pilot):
        assert "called harmful and not decided" in text(app)
        assert "5 Split 1" in text(app)
        assert "Not decided" in await press(pilot, "enter")
        shown = words(await press(pilot, "c"))
        assert "Why is it not harmful?" in shown
        assert "for everybody to read. Write no word of the sentence." in shown
        assert "A decision needs a reason" in words(await press(pilot, "enter", "enter"))
        app.screen.query_one(Input).value = "la hundo dormas"
        assert "it is published" in words(await press(pilot, "enter", "A", "enter"))
    assert decision(made, first.item) is None


@pytest.fixture
def looked(made: Scene) -> Scene:
    made.desk.look("spring", made.run_id)
    return made


async def test_flag_is_upheld_cleared_and_taken_back_by_one_key(looked: Scene) -> None:
    made = looked
    first = cases(made)[0]
    async with at_splits(made) as (_, pilot):
        await press(pilot, "enter")
        for keys, harmful, said in (
            (("c", *WHY), False, "Cleared"),
            (("c",), None, "Not decided"),
            (("u", "b", "enter", "enter"), True, "Upheld"),  # who decided last is offered
        ):
            shown = await press(pilot, *keys)
            assert said in shown
            assert "saved ✓" in shown
            found = decision(made, first.item)
            assert (found and found.harmful) is harmful
        assert decision(made, first.item) == Adjudication(True, "", "b", "A")
        shown = await press(pilot, "q")
        assert "upheld" in shown
        assert "5 Split 1" not in shown
    assert made.kinds() == ["look"] + ["adjudicate"] * 3


async def test_ratings_are_hidden_until_a_look_and_hidden_again_when_more_came(
    made: Scene,
) -> None:
    async with organising(made, SMALL) as (_, pilot):
        shown = words(await open_review(pilot, made, "Split"))
        assert "1 called harmful and not decided" in shown
        assert "how it was rated, are hidden until you look" in shown
        assert "accept." not in shown
        assert "This is look 1" in words(await press(pilot, "l"))
        assert "accept." not in words(await press(pilot, "n"))
        assert made.kinds() == []
        assert "accept." in await press(pilot, "l", "y")
        assert made.kinds() == ["look"]
        with made.office() as office:
            another_rating(office, office.review("spring"), 3)
        shown = words(await press(pilot, "r"))
        assert "accept." not in shown
        assert "Looks so far: 1. Ratings have changed since the last one." in shown


async def test_what_nobody_flagged_is_talked_about_and_not_decided(made: Scene) -> None:
    second = cases(made)[1]
    assert (second.is_split, second.flags) == (True, 0)
    async with at_splits(made) as (_, pilot):
        shown = words(await press(pilot, "enter", "right"))
        assert "there is nothing to decide" in shown
        assert "nothing to uphold or clear" in words(await press(pilot, "u"))
        await press(pilot, "n", "o", "k", "enter")
        assert "nothing to uphold or clear" in words(await press(pilot, "c"))
    assert decision(made, second.item) == Adjudication(None, "ok")


@pytest.mark.thorough
async def test_burst_of_keys_decides_about_the_item_that_was_shown(made: Scene) -> None:
    first, second = cases(made)[:2]
    async with at_splits(made) as (app, pilot):
        await press(pilot, "enter", "u", *WHY)
        for _ in range(19):
            await pilot.press("u")
        await calm(pilot)
        while not isinstance(app.screen, DecidingScreen):  # it asks why for the next one
            await press(pilot, "escape")
        said, found = made.kinds().count("adjudicate"), decision(made, first.item)
        assert (found and found.harmful) is (True if said % 2 else None)
        assert decision(made, second.item) is None
        assert "2 of" in await press(pilot, "right")
        assert "1 of" in await press(pilot, "left", "left")


async def test_no_system_no_run_and_no_person_is_shown(made: Scene) -> None:
    async with at_splits(made, LARGE) as (app, pilot):
        for shown in (text(app), await press(pilot, "enter")):
            for code in made.evidence.key.orders:
                assert code not in shown
                assert f"{code[:4]}-{code[4:]}" not in shown
            assert made.run_id[:8] not in shown
        count = len(cases(made))
        assert f"{count} of {count}" in await press(pilot, "q", "end", "enter")
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)  # after the last item the list comes back


async def test_with_nothing_to_decide_it_says_so(tmp_path: Path) -> None:
    async with at_splits(scene(tmp_path, GO, back=0.0)) as (app, pilot):
        assert "Nothing waits" in text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)


async def test_secret_text_is_shown_while_deciding_and_nowhere_else(tmp_path: Path) -> None:
    made = scene(tmp_path, MIXED, flag=True, segment="gold_standard", texts=["KASHITA"])
    async with organising(made) as (app, pilot):
        assert "secret" in await open_review(pilot, made)
        for key in "123456":
            assert "KASHITA" not in await press(pilot, key)
        shown = await press(pilot, "5", "l", "y", "enter")
        assert "KASHITA" in shown
        assert "shown here and nowhere else" in shown
        assert not app.screen.allow_select
        assert "KASHITA" not in await press(pilot, "q", "x")
        assert "what people wrote" not in text(app)  # comments may quote the texts


def _harmless(app: App) -> str:
    drawn = "".join(lines(app))
    assert drawn.isprintable()
    assert not set(drawn) & set("\u202e\u202c\x1b\x07")
    return drawn


async def test_hostile_texts_only_show(tmp_path: Path) -> None:
    made = scene(tmp_path, MIXED, flag=True, texts=HOSTILE)
    async with at_splits(made) as (app, pilot):
        seen = _harmless(app)
        await press(pilot, "enter")
        for _ in range(8):
            seen += _harmless(app)
            await press(pilot, "right")
        assert "[@click=app.quit]x[/]" in seen
        assert "[/foo]" in seen


async def test_letters_that_a_terminal_may_draw_wrongly_are_warned_of(tmp_path: Path) -> None:
    made = scene(tmp_path, MIXED, flag=True, texts=["ᓂᐚᐸᒫᐤ"])
    async with at_splits(made) as (_, pilot):
        assert "Read them elsewhere" in words(await press(pilot, "enter"))


async def test_what_people_wrote_stands_beside_the_item(tmp_path: Path) -> None:
    made = scene(tmp_path, MIXED, texts=["I saw his dog."])
    item = next(case.item for case in cases(made) if case.is_split)
    with made.office() as office:
        review = office.review("spring")
        key = review.key
        about = {"wall": histories.WALL, "reviewer": next(iter(key.orders)), "batch": key.batches[0], "item": item}  # fmt: skip
        comment, wording = "too formal\x1b[2J", "Mi vidis lian hundon."
        reasons = Reasons(**about, reasons=(Reason.REGISTER,))
        said = (reasons, Comment(**about, text=comment), Suggest(**about, text=wording))
        say_later(office, review, 4, *said)
    async with at_splits(made) as (app, pilot):
        places = [case.item for case in cases(made)].index(item)
        await press(pilot, "enter", *["right"] * places)
        compare("organiser-deciding", SMALL, app)
        _harmless(app)


@pytest.mark.thorough
async def test_decision_that_could_not_be_kept_is_said(
    made: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = cases(made)[0].item
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 1)
    async with at_splits(made) as (_, pilot):
        await press(pilot, "enter")
        with closing(sqlite3.connect(made.folder / database.FILE)) as other:
            other.execute("BEGIN EXCLUSIVE")
            assert "Not saved" in await press(pilot, "u", *WHY)
        assert decision(made, item) is None
        assert "saved ✓" in await press(pilot, "u", *WHY)
        assert decision(made, item) == Adjudication(True, "", "s", "A")


async def test_sentences_out_of_a_vault_are_shown_on_no_screen(tmp_path: Path) -> None:
    made = scene(tmp_path, MIXED, flag=True, segment="gold_standard")
    with made.office() as office:
        number = office.review("spring").number
        office.connection.execute(
            "INSERT INTO vault_texts (review, runs, content) VALUES (?, 'gone', x'00')", (number,)
        )
    async with at_splits(made) as (app, pilot):
        shown = words(await press(pilot, "enter"))
        assert "adjudicate spring" in shown
        assert "--vault FOLDER --purpose WORDS" in shown
        assert isinstance(app.screen, ReviewScreen)
