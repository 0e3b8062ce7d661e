"""Deciding about flagged and split items: blind, by one key, and always to be taken back."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from textual.pilot import Pilot

from review.log.fold import Adjudication
from review.log.payloads import Adjudicate, Comment, Rate, Reasons, Suggest
from review.office.store import database
from review.rating import Rating, Reason
from review.verdict.gate.adjudication import Case, queue
from rosetta_tui.review.organiser.pages.deciding import DecidingScreen
from rosetta_tui.review.organiser.pages.review import ReviewScreen
from tests.review.verdict import histories
from tests.review.verdict.certified import deliver
from tests.tui.golden import compare
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


def rate_once_more(made: Scene) -> None:
    """Let one person rate one item anew."""
    with made.office() as office:
        key = office.review("spring").key
        who, order = next(iter(key.orders.items()))
        laptop = histories.Chain(Random(3))
        laptop.lamport = 10**6
        laptop.write(
            Rate(
                wall=histories.WALL, reviewer=who, batch=key.batches[0], item=order[0],
                position=0, active_ms=5, face="lines", version="0", rating=Rating.GIST,
            )
        )  # fmt: skip
        deliver(office.connection, key, tuple(laptop.events))


def decision(made: Scene, item: str) -> Adjudication | None:
    with made.office() as office:
        return office.state(office.review("spring")).adjudications.get(item)


def decided(made: Scene, item: str) -> bool | None:
    said = decision(made, item)
    return None if said is None else said.harmful


WHY = ("s", "o", "enter", "A", "l", "enter")
"""What is typed when it asks why and who decides."""


@asynccontextmanager
async def at_splits(
    made: Scene, size: tuple[int, int] = SMALL, *, notifications: bool = False
) -> AsyncIterator[tuple[App, Pilot[Any]]]:
    """Run the app with the section of split items open, its ratings looked at."""
    async with organising(made, size, "Split", notifications=notifications) as (app, pilot):
        if "hidden until you look" in text(app):
            await press(pilot, "l", "y")
        yield app, pilot


@pytest.fixture
def made(tmp_path: Path) -> Scene:
    return scene(tmp_path, MIXED, flag=True)


@pytest.mark.thorough
async def test_a_flag_is_upheld_cleared_and_taken_back_by_one_key(made: Scene) -> None:
    first = cases(made)[0]
    assert first.flags
    async with at_splits(made) as (app, pilot):
        shown = text(app)
        assert "called harmful and not decided" in shown
        assert "5 Split 1" in shown
        shown = await press(pilot, "enter")
        assert isinstance(app.screen, DecidingScreen)
        assert "Not decided" in shown
        for key, harmful, said in (
            ("u", True, "Upheld"),
            ("c", False, "Cleared"),
            ("c", None, "Not decided"),
            ("u", True, "Upheld"),
        ):
            shown = await press(pilot, key, *(WHY if harmful is not None else ()))
            assert said in shown
            assert "saved ✓" in shown
            assert decided(made, first.item) is harmful
            assert ("so (decided by Al)" in words(shown)) == (harmful is not None)
        shown = await press(pilot, "q")
        assert isinstance(app.screen, ReviewScreen)
        assert "upheld" in shown
        assert "5 Split 1" not in shown
    assert made.kinds() == ["look"] + ["adjudicate"] * 4


async def test_ratings_are_hidden_until_somebody_looks_and_hidden_again_when_more_came(
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
        shown = await press(pilot, "l", "y")
        assert "accept." in shown
        assert made.kinds() == ["look"]
        rate_once_more(made)
        shown = words(await press(pilot, "r"))
        assert "accept." not in shown
        assert "Looks so far: 1. Ratings have changed since the last one." in shown


@pytest.mark.thorough
async def test_a_decision_asks_why_and_who_and_takes_no_word_of_the_sentence(
    tmp_path: Path,
) -> None:
    made = scene(tmp_path, MIXED, flag=True, texts=["la hundo dormas"])
    first = cases(made)[0]
    async with at_splits(made, notifications=True) as (app, pilot):
        shown = words(await press(pilot, "enter", "c"))
        assert "Why is it not harmful?" in shown
        assert "for everybody to read. Write no word of the sentence." in shown
        shown = words(await press(pilot, "enter", "enter"))
        assert "A decision needs a reason" in shown
        shown = words(await press(pilot, *"la hundo dormas", "enter", "A", "enter"))
        assert "it is published" in shown
        await press(pilot, "escape")
        assert decision(made, first.item) is None
        await press(pilot, "c", *WHY)
        assert decision(made, first.item) == Adjudication(False, "", "so", "Al")
        await press(pilot, "u", *"bad", "enter")
        assert "Al" in text(app)  # who decided last is offered
        await press(pilot, "enter")
        assert decision(made, first.item) == Adjudication(True, "", "bad", "Al")


@pytest.mark.thorough
async def test_what_a_flag_does_to_the_gate_is_seen_there(made: Scene) -> None:
    async with organising(made, section="Gate") as (_, pilot):
        shown = words(await press(pilot, "l", "y"))
        assert "called harmful or culturally wrong. Look into it first" in shown
        await press(pilot, "5", "enter", "c", *WHY, "q")
        shown = words(await press(pilot, "4"))
        assert "Look into them first" not in shown
        assert made.kinds() == ["look", "adjudicate"]  # a decision is no new rating


async def test_what_nobody_flagged_is_talked_about_and_not_decided(made: Scene) -> None:
    second = cases(made)[1]
    assert second.is_split
    assert not second.flags
    async with at_splits(made, notifications=True) as (_, pilot):
        shown = words(await press(pilot, "enter", "right"))
        assert "there is nothing to decide" in shown
        assert "nothing to uphold or clear" in words(await press(pilot, "u"))
        await press(pilot, "n", "o", "k", "enter")
        assert "nothing to uphold or clear" in words(await press(pilot, "c"))
    assert decision(made, second.item) == Adjudication(None, "ok")


@pytest.mark.thorough
async def test_a_note_stays_and_the_decision_too(made: Scene) -> None:
    first = cases(made)[0]
    async with at_splits(made) as (_, pilot):
        await press(pilot, "enter", "u", *WHY, "n")
        await press(pilot, "u", "c", "q", "escape")  # digits and letters typed there are text
        assert decided(made, first.item) is True
        await press(pilot, "n", "o", "k", "enter")
    with made.office() as office:
        said = [e.payload for e in office.events(office.review("spring"))]
    assert "ok" in [each.note for each in said if isinstance(each, Adjudicate)]
    assert decided(made, first.item) is True


@pytest.mark.thorough
async def test_a_burst_of_keys_decides_about_the_item_that_was_shown(made: Scene) -> None:
    first, second = cases(made)[:2]
    async with at_splits(made) as (app, pilot):
        await press(pilot, "enter")
        await press(pilot, "u", *WHY)
        for _ in range(19):
            await pilot.press("u")
        await calm(pilot)
        while not isinstance(app.screen, DecidingScreen):  # it asks why for the next one
            await press(pilot, "escape")
        said = made.kinds().count("adjudicate")
        assert decided(made, first.item) is (True if said % 2 else None)
        assert decision(made, second.item) is None
        await press(pilot, "right")
        assert "2 of" in text(app)
        await press(pilot, "left", "left")
        assert "1 of" in text(app)


async def test_after_the_last_item_the_list_comes_back(made: Scene) -> None:
    async with at_splits(made) as (app, pilot):
        await press(pilot, "end", "enter")
        assert f"{len(cases(made))} of {len(cases(made))}" in text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)


async def test_no_system_no_run_and_no_person_is_shown(made: Scene) -> None:
    async with at_splits(made, LARGE) as (app, pilot):
        for shown in (text(app), await press(pilot, "enter")):
            for code in made.evidence.key.orders:
                assert code not in shown
                assert f"{code[:4]}-{code[4:]}" not in shown
            assert made.run_id[:8] not in shown


async def test_with_nothing_to_decide_it_says_so(tmp_path: Path) -> None:
    made = scene(tmp_path, GO, back=0.0)
    async with at_splits(made) as (app, pilot):
        shown = text(app)
        assert "Nothing waits" in shown
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)


@pytest.mark.thorough
async def test_a_secret_text_is_shown_while_deciding_and_nowhere_else(tmp_path: Path) -> None:
    made = scene(tmp_path, MIXED, flag=True, segment="gold_standard", texts=["KASHITA"])
    async with organising(made) as (app, pilot):
        shown = await open_review(pilot, made)
        assert "secret" in shown
        for key in "123456":
            assert "KASHITA" not in await press(pilot, key)
        shown = await press(pilot, "5", "l", "y", "enter")
        assert "KASHITA" in shown
        assert "shown here and nowhere else" in shown
        assert not app.screen.allow_select
        assert "KASHITA" not in await press(pilot, "q", "x")
        assert "what people wrote" not in text(app)  # comments may quote the texts


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


def _harmless(app: App) -> str:
    drawn = "".join(lines(app))
    assert drawn.isprintable()
    assert not set(drawn) & set("\u202e\u202c\x1b\x07")
    return drawn


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_what_people_wrote_stands_beside_the_item(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    made = scene(tmp_path, MIXED, texts=["I saw his dog."])
    item = next(case.item for case in cases(made) if case.is_split)
    write_about(made, item, "too formal\x1b[2J", "Mi vidis lian hundon.")
    async with at_splits(made, size) as (app, pilot):
        await press(pilot, "enter")
        for _ in range([case.item for case in cases(made)].index(item)):
            await press(pilot, "right")
        compare("organiser-deciding", size, app)
        _harmless(app)


def write_about(made: Scene, item: str, comment: str, wording: str) -> None:
    """Let the first person give a reason, a comment and a better wording."""
    with made.office() as office:
        key = office.review("spring").key
        who = next(iter(key.orders))
        laptop = histories.Chain(Random(4))
        laptop.lamport = 10**6
        about = {"wall": histories.WALL, "reviewer": who, "batch": key.batches[0], "item": item}
        for said in (
            Reasons(**about, reasons=(Reason.REGISTER,)),
            Comment(**about, text=comment),
            Suggest(**about, text=wording),
        ):
            laptop.write(said)
        deliver(office.connection, key, tuple(laptop.events))


async def test_letters_that_a_terminal_may_draw_wrongly_are_warned_of(tmp_path: Path) -> None:
    made = scene(tmp_path, MIXED, flag=True, texts=["ᓂᐚᐸᒫᐤ"])
    async with at_splits(made) as (_, pilot):
        assert "Read them elsewhere" in words(await press(pilot, "enter"))


@pytest.mark.thorough
async def test_a_decision_that_could_not_be_kept_is_said_and_can_be_said_again(
    made: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = cases(made)[0]
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 1)
    async with at_splits(made, notifications=True) as (_, pilot):
        await press(pilot, "enter")
        with closing(sqlite3.connect(made.folder / database.FILE)) as other:
            other.execute("BEGIN EXCLUSIVE")
            assert "Not saved" in await press(pilot, "u", *WHY)
        assert decision(made, first.item) is None
        assert "saved ✓" in await press(pilot, "u", *WHY)
        assert decided(made, first.item) is True


async def test_sentences_out_of_a_vault_are_shown_on_no_screen(tmp_path: Path) -> None:
    made = scene(tmp_path, MIXED, flag=True, segment="gold_standard")
    with made.office() as office:
        number = office.review("spring").number
        office.connection.execute(
            "INSERT INTO vault_texts (review, runs, content) VALUES (?, 'gone', x'00')", (number,)
        )
    async with at_splits(made, notifications=True) as (app, pilot):
        shown = words(await press(pilot, "enter"))
        assert "adjudicate spring" in shown
        assert "--vault FOLDER --purpose WORDS" in shown
        assert isinstance(app.screen, ReviewScreen)
