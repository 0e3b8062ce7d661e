"""Who speaks for whom, in the Batches section: each time it is opened, with what can be said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from review.files.reviewer_codes import printed
from review.log.payloads import Scope
from review.office.intake.speaking import let_speak
from review.office.results.certifying import issue, review_evidence
from review.rating import Rating
from rosetta_tui.review.organiser.desk import OrganiserDesk
from rosetta_tui.review.organiser.pages import importing
from rosetta_tui.review.organiser.pages.importing import ImportScreen
from rosetta_tui.review.organiser.pages.review import ReviewScreen
from rosetta_tui.toolkit.dialogs.choose import ChooseScreen
from tests.review.office import made as office_made
from tests.review.office.laptops import rating
from tests.review.office.made import Person
from tests.review.verdict import certified
from tests.tui.review.organising import (
    GO,
    LARGE,
    SMALL,
    Alone,
    calm,
    flagged,
    keep_keys,
    open_review,
    organising,
    press,
    scene,
    show_screen,
    words,
)
from tests.tui.screens import App, text


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_two_laptops_for_one_person_stand_in_batches_until_it_is_decided(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    stick = Stick(tmp_path)
    first, second = stick.people
    first.rate([Rating.EXCELLENT] * 3)
    second.rate([Rating.GIST] * 2)
    second.laptop.append(rating(first))
    with stick.desk.office() as office:
        for name, person in (("blue", first), ("red", second)):
            office.enrol(person.identity.public.signing_key, name)
        review = office.review("demo")
        code = printed(review.code(first.code))
    stick.desk.reports = [*stick.desk.import_files([stick.hand_over(0), stick.hand_over(1)])]
    stick.desk.reports = []
    app = stick.app()
    async with app.run_test(size=size) as pilot:
        shown = words(await show_screen(pilot, ReviewScreen(stick.desk, "demo")))
        if folder := os.environ.get("ROSETTA_LOOK"):
            app.save_screenshot(f"batches-{size[0]}.svg", folder)
        assert "speaks for" in shown
        assert "To look into" in shown
        if size == SMALL:
            return
        assert (
            f"LOOK: {code} is heard from blue and red. None of these ratings count until you say"
            in shown
        )
        assert "LOOK: red speaks for 2 people" in shown
        with stick.desk.office() as office:
            blue = next(each for each in office.laptops() if each.name == "blue")
            let_speak(office, office.review("demo"), first.code, [blue])
        await pilot.press("r")
        shown = words(await show_screen(pilot, ReviewScreen(stick.desk, "demo")))
        assert (
            f"NOTE: {code} is heard from blue and red. You said who speaks for this person: blue."
            in shown
        )


@pytest.fixture
def stick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stick:
    made = Stick(tmp_path)
    made.people[0].rate([Rating.EXCELLENT] * 3)
    made.people[1].rate([Rating.GIST] * 2)
    monkeypatch.setattr(importing, "mounted_sticks", lambda: [made.path])
    return made


async def test_without_files_it_says_what_to_do_and_finds_them_later(stick: Stick) -> None:
    app = stick.app()
    async with app.run_test(size=SMALL) as pilot:
        shown = words(await show_screen(pilot, stick.imports()))
        assert "No file of ratings on the sticks that are plugged in." in shown
        await press(pilot, "i", "space")
        stick.hand_over(0)
        shown = await press(pilot, "r")
        assert "1 file of ratings." in shown
        assert "ratings 0.rosetta-ratings" in shown


async def test_an_unknown_laptop_is_set_aside_and_enrolled_after_its_words(stick: Stick) -> None:
    stick.hand_over(0)
    phrase = stick.people[0].identity.public.phrase
    app = stick.app()
    async with app.run_test(size=LARGE) as pilot:
        await show_screen(pilot, ReviewScreen(stick.desk, "demo"))
        assert "Nothing came back yet." in text(app)
        await press(pilot, "i")
        shown = await press(pilot, "i")
        assert "1 of 1 taken in." in shown
        assert "SET ASIDE: nobody has vouched for its laptop yet." in shown
        assert f"rosetta review enrol --card` shows there, are {phrase})" in shown
        shown = await press(pilot, "q")
        assert "Set aside" in shown
        assert phrase in shown
        assert "1 Batches 1" in shown
        shown = await press(pilot, "e")
        assert "write down these six words" in shown
        assert phrase in shown
        await press(pilot, "n")
        with stick.desk.office() as office:
            assert not office.laptops()
        shown = words(await press(pilot, "e", "y"))
        assert "added 4, already here 0" in shown
        shown = await press(pilot, "escape")
        assert "1 Batches 1" not in shown
        assert "laptop 1" in shown
        shown = await press(pilot, "2")
        assert "3 of " in shown


async def test_of_several_unknown_laptops_one_is_chosen(stick: Stick) -> None:
    stick.hand_over(0)
    stick.hand_over(1)
    app = stick.app()
    async with app.run_test(size=LARGE) as pilot:
        await show_screen(pilot, ReviewScreen(stick.desk, "demo"))
        await press(pilot, "i")
        await press(pilot, "i", "q", "e")
        assert isinstance(app.screen, ChooseScreen)
        await press(pilot, "down", "enter", "y", "escape")
        with stick.desk.office() as office:
            assert len(office.laptops()) == 1
            assert len(office.quarantine()) == 1


async def test_damaged_and_marked_files_and_the_same_one_again(stick: Stick) -> None:
    good = stick.hand_over(0)
    bad = stick.path / "broken.rosetta-ratings"
    bad.write_bytes(good.read_bytes()[:-20])
    with stick.desk.office() as office:
        office.enrol(stick.people[0].identity.public.signing_key, "school")
    app = stick.app()
    async with app.run_test(size=LARGE) as pilot:
        await show_screen(pilot, ReviewScreen(stick.desk, "demo"))
        await press(pilot, "i")
        shown = words(await press(pilot, "i"))
        assert "NOT TAKEN broken.rosetta-ratings" in shown
        assert "added 4, already here 0, set aside 0, damaged 0" in shown
        shown = words(await press(pilot, "i"))
        assert "added 0, already here 4" in shown
        shown = await press(pilot, "q")
        assert "The last import" in shown
        assert "NOT TAKEN" in shown
        assert "school" in shown


async def test_a_folder_or_file_is_named_and_one_that_is_not_there_is_said(
    stick: Stick, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = stick.hand_over(0)
    path.rename(elsewhere / path.name)
    app = stick.app()
    async with app.run_test(size=LARGE, notifications=True) as pilot:
        screen = stick.imports()
        await show_screen(pilot, screen)
        for folder in (elsewhere / "none", elsewhere, elsewhere / path.name):
            await press(pilot, "f")
            app.screen.query_one("Input").value = str(folder)  # type: ignore[attr-defined]
            shown = await press(pilot, "enter")
            if folder.name == "none":
                assert "is not there" in shown
        assert screen.files.option_count == 1  # the folder holds the file that was named as well
        await press(pilot, "space", "i")
        assert "No file is marked." in text(app)


async def test_a_recovery_key_that_is_none_is_said_in_words(stick: Stick, tmp_path: Path) -> None:
    stick.hand_over(0)
    (tmp_path / "key.txt").write_text("no key")
    app = stick.app()
    async with app.run_test(size=LARGE) as pilot:
        await show_screen(pilot, stick.imports())
        await press(pilot, "k")
        app.screen.query_one("Input").value = str(tmp_path / "key.txt")  # type: ignore[attr-defined]
        shown = await press(pilot, "enter")
        assert "recovery key:" in shown
        assert "NOT TAKEN" in await press(pilot, "i")


async def test_a_withdrawal_is_told_and_the_person_is_shown_as_gone(stick: Stick) -> None:
    with stick.desk.office() as office:
        for person in stick.people:
            office.enrol(person.identity.public.signing_key, f"of {person.code}")
    stick.hand_over(0)
    app = stick.app()
    async with app.run_test(size=LARGE) as pilot:
        await show_screen(pilot, ReviewScreen(stick.desk, "demo"))
        await press(pilot, "i")
        await press(pilot, "i")
        stick.people[0].withdraw(Scope.BATCH)
        stick.hand_over(0)
        shown = await press(pilot, "r", "i")
        assert "WITHDRAWN:" in shown
        shown = await press(pilot, "q", "2")
        assert "took it back" in shown


async def test_a_copied_laptop_and_a_wild_clock_are_named(tmp_path: Path) -> None:
    made = scene(tmp_path, GO)
    twice = [flagged(made.evidence.key, made.events, salt * 16) for salt in (b"a", b"b")]
    with made.office() as office:
        certified.deliver(office.connection, made.evidence.key, tuple(twice))
        office.connection.execute(  # made later than the laptop's clock shows
            "UPDATE batch SET manifest ="
            " CAST(replace(CAST(manifest AS TEXT), '2026-05-05T', '2026-07-05T') AS BLOB)"
        )
    async with organising(made) as (_, pilot):
        shown = words(await open_review(pilot, made))
        assert "LOOK: the data of this laptop was copied" in shown
        assert "behind: it shows a time before the batch was made" in shown
        assert "Nothing depends on it." in shown


async def test_leaving_in_the_middle_keeps_whole_files(stick: Stick) -> None:
    stick.hand_over(0)
    stick.hand_over(1)
    app = stick.app()
    async with app.run_test(size=SMALL) as pilot:
        await show_screen(pilot, stick.imports())
        await pilot.press("i", "q")
        await calm(pilot)
    with stick.desk.office() as office:
        assert all(len(each.content) > 100 for each in office.quarantine())


async def test_a_certificate_that_rests_on_what_was_taken_back_is_marked(tmp_path: Path) -> None:
    made = scene(tmp_path, GO)
    with made.office() as office:
        review, own_key = office.review("spring"), made.identity.public.signing_key
        evidence = review_evidence(office, review, own_key)
        issue(office, review, made.run_id, evidence, made.identity)
    from review.office.intake.quarantine import withdraw

    async with organising(made) as (_, pilot):
        shown = await open_review(pilot, made, "Certificate")
        assert "computed again, byte for byte" in shown
        with made.office() as office:
            review = office.review("spring")
            withdraw(office, review, next(iter(review.key.orders)), Scope.BATCH, [])
        shown = words(await press(pilot, "r"))
        assert "6 Certificate 1" in shown
        assert "Issue anew" in shown
        assert "took theirs back since" in shown


class Stick:
    """An organisation's review, its laptops, and a stick on which their files come back."""

    def __init__(self, folder: Path) -> None:
        self.made = office_made.desk(folder / "home", reviewers=2, items=12)
        self.made.office.close()
        keep_keys(folder / "home", self.made.identity)
        self.desk = OrganiserDesk(folder / "home", folder / "home" / "rosetta.sqlite")
        self.path = folder / "stick"
        self.path.mkdir()
        self.people = [
            Person(folder / f"laptop {place}", self.made.batch, code)
            for place, code in enumerate(self.made.codes)
        ]

    def hand_over(self, place: int, name: str = "") -> Path:
        path = self.path / (name or f"ratings {place}.rosetta-ratings")
        path.write_bytes(self.people[place].handed_over())
        return path

    def app(self) -> App:
        return Alone(None, self.desk.runs)

    def imports(self) -> ImportScreen:
        return ImportScreen(self.desk)
