"""The list of an installation's reviews."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.store.file.database import open_store
from review.log.payloads import Scope
from review.office.intake.quarantine import withdraw
from review.office.results.certifying import issue, review_evidence
from review.office.store.database import FILE
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.review.organiser.desk import OrganiserDesk
from rosetta_tui.review.organiser.pages.review import ReviewScreen
from rosetta_tui.review.organiser.pages.reviews import ReviewsScreen
from tests.tui.review.organising import (
    GO,
    LARGE,
    SMALL,
    app_of,
    open_reviews,
    press,
    scene,
    show_screen,
    words,
)
from tests.tui.screens import App, lines, settle, text


async def test_without_a_review_it_says_how_to_make_one_and_makes_no_office(tmp_path: Path) -> None:
    path = tmp_path / "rosetta.sqlite"
    open_store(path).close()
    app = App(None, path)
    async with app.run_test(size=SMALL) as pilot:
        shown = await show_screen(pilot, ReviewsScreen(OrganiserDesk(tmp_path, path)))
        assert "No reviews yet." in shown
        assert "rosetta review create last" in shown
        await press(pilot, "enter", "r")
        assert isinstance(app.screen, ReviewsScreen)
    assert not (tmp_path / FILE).exists()  # a look must not make an organisation of this machine


async def test_home_leads_there_and_back(tmp_path: Path) -> None:
    made = scene(tmp_path)
    app = App(None, made.folder / "rosetta.sqlite")
    app.store_path = made.folder / "rosetta.sqlite"
    async with app.run_test(size=SMALL) as pilot:
        shown = await press(pilot, "o")
        assert isinstance(app.screen, ReviewsScreen)
        assert "spring" in shown
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)
        await press(pilot, "q", "escape")
        assert isinstance(app.screen, HomeScreen)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_a_row_says_people_what_is_back_and_the_verdict(
    size: tuple[int, int], tmp_path: Path
) -> None:
    made = scene(tmp_path, GO, fluent=True)
    app = app_of(made)
    async with app.run_test(size=size) as pilot:
        shown = await open_reviews(pilot, made)
        assert "none yet" in shown
        assert "189 of 189" in shown
        with made.office() as office:
            review, own_key = office.review("spring"), made.identity.public.signing_key
            evidence = review_evidence(office, review, own_key)
            issue(office, review, made.run_id, evidence, made.identity)
        assert "✓ GO" in await press(pilot, "r")
        with made.office() as office:
            review = office.review("spring")
            withdraw(office, review, next(iter(review.key.orders)), Scope.BATCH, [])
        shown = await press(pilot, "r")
        assert "(issue anew)" in shown
        assert "126 of 189" in shown
        assert all(len(line) <= size[0] for line in lines(app))


async def test_a_broken_office_is_said_in_words(tmp_path: Path) -> None:
    made = scene(tmp_path)
    (tmp_path / FILE).write_bytes(b"no database at all, but long enough to be looked at" * 20)
    app = app_of(made)
    async with app.run_test(size=LARGE) as pilot:
        shown = await open_reviews(pilot, made)
        assert "cannot be used" in shown


async def test_help_lists_the_keys(tmp_path: Path) -> None:
    made = scene(tmp_path)
    app = app_of(made)
    async with app.run_test(size=LARGE) as pilot:
        await open_reviews(pilot, made)
        shown = words(await press(pilot, "question_mark"))
        assert "Reviews: keys" in shown
        assert "i Import" in shown
        await press(pilot, "escape")
        await pilot.click("#reviews", offset=(3, 1), times=2)
        await settle(pilot)
        assert isinstance(app.screen, ReviewScreen)
        assert text(app)
