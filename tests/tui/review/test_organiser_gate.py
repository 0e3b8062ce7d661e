"""The list of reviews; gate and agreement, of which nothing is shown before a look is agreed to."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from harness.store.file.database import open_store
from review.log.payloads import Scope
from review.office.intake.quarantine import withdraw
from review.office.results.certifying import issue, review_evidence
from review.office.store import store
from review.office.store.database import FILE
from review.verdict.gate.policy import read_policy
from rosetta_tui.commands.review.gate import wrapped
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.review.organiser.desk import OrganiserDesk
from rosetta_tui.review.organiser.pages.review import ReviewScreen
from rosetta_tui.review.organiser.pages.reviews import ReviewsScreen
from rosetta_tui.review.organiser.words.gate import verdict_lines
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen
from scoring.core.wording import percent
from tests.review.verdict.histories import Shape
from tests.tui.review.gated import second_laptop
from tests.tui.review.organising import (
    FEW,
    GO,
    LARGE,
    MIXED,
    OPEN,
    SMALL,
    bring,
    open_review,
    open_reviews,
    organising,
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
    async with organising(made, size) as (app, pilot):
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
    async with organising(made) as (_, pilot):
        shown = await open_reviews(pilot, made)
        assert "cannot be used" in shown


async def test_help_lists_the_keys(tmp_path: Path) -> None:
    made = scene(tmp_path)
    async with organising(made) as (app, pilot):
        await open_reviews(pilot, made)
        shown = words(await press(pilot, "question_mark"))
        assert "Reviews: keys" in shown
        assert "i Import" in shown
        await press(pilot, "escape")
        await pilot.click("#reviews", offset=(3, 1), times=2)
        await settle(pilot)
        assert isinstance(app.screen, ReviewScreen)
        assert text(app)


GOLDENS = Path(__file__).parent.parent / "goldens"


def numbers(screen: str) -> bool:
    return "lower bound" in screen or "AC2" in screen or "●" in screen


@pytest.mark.parametrize("section", ["Gate", "Agreement"])
async def test_numbers_are_hidden_until_the_look_is_agreed_to(section: str, tmp_path: Path) -> None:
    made = scene(tmp_path, OPEN)
    async with organising(made) as (app, pilot):
        shown = words(await open_review(pilot, made, section))
        assert "hidden until you look" in shown
        assert "95.0 % sure, every later one 97.5 %" in shown
        assert "Nobody has looked yet." in shown
        assert not numbers(shown)
        shown = await press(pilot, "l")
        assert isinstance(app.screen, ConfirmScreen)
        assert "This is look 1." in shown
        await press(pilot, "escape")
        assert made.kinds() == []
        assert numbers(await press(pilot, "l", "y"))
        assert made.kinds() == ["look"]


async def test_who_is_not_counted_stands_before_the_look_and_beside_the_verdict(
    tmp_path: Path,
) -> None:
    made = scene(tmp_path, MIXED)
    with made.office() as office:
        second_laptop(office, office.review("spring"))
    told = "1 of 5 people is not counted: several laptops speak for this person."
    async with organising(made) as (app, pilot):
        assert told in words(await open_review(pilot, made, "Gate"))
        assert told in words(await press(pilot, "l"))
        assert isinstance(app.screen, ConfirmScreen)
        assert told in words(await press(pilot, "y"))
        assert not isinstance(app.screen, ConfirmScreen)


@pytest.mark.thorough
async def test_the_same_ratings_are_asked_about_once_and_new_ones_again(tmp_path: Path) -> None:
    made = scene(tmp_path, OPEN, back=0.95)
    async with organising(made, section="Gate") as (_, pilot):
        await press(pilot, "l", "y")
        shown = await press(pilot, "q")
        shown = await open_review(pilot, made, "Gate")
        assert numbers(shown)
        assert "look 1" in shown
        bring(made, 1.0)
        shown = words(await press(pilot, "r"))
        assert not numbers(shown)
        assert "Looks so far: 1. Ratings have changed since the last one." in shown
        assert "This one asks for 97.5 %" in shown
        shown = await press(pilot, "l", "y")
        assert "look 2" in shown
        assert made.kinds() == ["look", "look"]


async def test_with_too_little_there_are_no_numbers_and_no_look(tmp_path: Path) -> None:
    made = scene(tmp_path, FEW)
    async with organising(made) as (_, pilot):
        shown = words(await open_review(pilot, made, "Gate"))
        assert "INSUFFICIENT" in shown
        assert "20 translations are rated; 50 are needed." in shown
        assert not numbers(shown)
        assert "l Look" not in shown
        shown = words(await press(pilot, "3"))
        assert "Too little is rated for numbers." in shown
        await press(pilot, "l")
    assert made.kinds() == []


@pytest.mark.parametrize("shape", [GO, OPEN, MIXED], ids=["go", "open", "mixed"])
async def test_the_screen_says_what_the_command_says(shape: Shape, tmp_path: Path) -> None:
    made = scene(tmp_path, shape)
    reading = made.desk.look("spring", made.run_id)
    async with organising(made) as (_, pilot):
        shown = words(await open_review(pilot, made, "Gate"))
        with made.office() as office:
            told = list(verdict_lines(office.review("spring"), reading))
        for about, said in told:
            parts = said.split(" (to decide")[0] if about == "Split" else said
            parts = parts.split("found: ")[-1] if about == "Verdict" else parts
            assert words(parts) in shown, about
        assert f"≥ {percent(float(read_policy(_policy(made), 'p').level.share), 1)}" in shown


def _policy(made: object) -> bytes:
    with made.office() as office:  # type: ignore[attr-defined]
        return office.review("spring").policy  # type: ignore[no-any-return]


@pytest.mark.thorough
async def test_each_run_has_its_own_verdict_and_its_own_look(tmp_path: Path) -> None:
    made = scene(tmp_path, replace(OPEN, runs=2))
    async with organising(made) as (_, pilot):
        shown = await open_review(pilot, made, "Gate")
        assert "run 1 of 2" in shown
        await press(pilot, "l", "y")
        shown = await press(pilot, "n")
        assert "run 2 of 2" in shown
        assert not numbers(shown)
        assert numbers(await press(pilot, "n"))
        assert "n Next run" not in await press(pilot, "1")


async def test_agreement_says_four_measures_and_leniency_without_a_ranking(tmp_path: Path) -> None:
    made = scene(tmp_path, MIXED)
    reading = made.desk.look("spring", made.run_id)
    async with organising(made, section="Agreement") as (_, pilot):
        shown = await press(pilot, "r")
        for name in ("alpha", "AC2", "same", "within one step"):
            assert name in shown
        codes = [f"{who[:4]}-{who[4:]}" for who in sorted(reading.agreement.leniency)]
        places = [shown.index(code) for code in codes]
        assert places == sorted(places)  # by pseudonym, never by what they said


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_what_the_gate_looks_like(
    size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "utc_now", lambda: "2026-05-05T10:00:00Z")
    made = scene(tmp_path, OPEN, seed=1, flag=True)
    made.desk.look("spring", made.run_id)
    async with organising(made, size, "Gate") as (app, _):
        path = GOLDENS / f"gate-{size[0]}x{size[1]}.txt"
        drawn = "\n".join(line.rstrip() for line in lines(app)) + "\n"
        if os.environ.get("ROSETTA_WRITE_GOLDENS"):
            path.write_text(drawn, encoding="utf-8")
        assert drawn == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("columns", "widest"), [(60, 43), (300, 83), (10, 20)])
def test_sentences_are_broken_for_a_terminal_and_only_there(
    monkeypatch: pytest.MonkeyPatch, columns: int, widest: int
) -> None:
    words = "Most reviewers found 8 of 8 spoilt translations acceptable. " * 3
    assert wrapped(words) == [words]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = wrapped(words)
    assert max(map(len, lines)) <= widest < len(words)
    assert " ".join(lines) == words.strip()
    assert wrapped("") == [""]
