"""Files that come back, and who speaks for whom, in the Batches section."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from review.files.reviewer_codes import printed
from review.log.payloads import Scope
from review.office.intake.speaking import let_speak
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


class Stick:
    """An organisation's review, its laptops, and a stick on which their files come back."""

    def __init__(self, folder: Path) -> None:
        made = office_made.desk(folder / "home", reviewers=2, items=12)
        made.office.close()
        keep_keys(folder / "home", made.identity)
        self.desk = OrganiserDesk(folder / "home", folder / "home" / "rosetta.sqlite")
        self.path = folder / "stick"
        self.path.mkdir()
        people = enumerate(made.codes)
        self.people = [Person(folder / f"laptop {n}", made.batch, code) for n, code in people]
        self.people[0].rate([Rating.EXCELLENT] * 3)
        self.people[1].rate([Rating.GIST] * 2)

    def hand_over(self, place: int) -> Path:
        path = self.path / f"ratings {place}.rosetta-ratings"
        path.write_bytes(self.people[place].handed_over())
        return path

    def enrol(self, *names: str) -> None:
        with self.desk.office() as office:
            for name, person in zip(names, self.people, strict=False):
                office.enrol(person.identity.public.signing_key, name)

    def app(self) -> App:
        return Alone(None, self.desk.runs)

    def review(self) -> ReviewScreen:
        return ReviewScreen(self.desk, "demo")


@pytest.fixture
def stick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stick:
    made = Stick(tmp_path)
    monkeypatch.setattr(importing, "mounted_sticks", lambda: [made.path])
    return made


async def test_two_laptops_for_one_person_stand_there_until_it_is_decided(stick: Stick) -> None:
    first, second = stick.people
    second.laptop.append(rating(first))
    stick.enrol("blue", "red")
    with stick.desk.office() as office:
        code = printed(office.review("demo").code(first.code))
    stick.desk.reports = [*stick.desk.import_files([stick.hand_over(0), stick.hand_over(1)])]
    stick.desk.reports = []
    heard = f"{code} is heard from blue and red."
    async with stick.app().run_test(size=LARGE) as pilot:
        shown = words(await show_screen(pilot, stick.review()))
        for said in (
            "speaks for", "To look into", "LOOK: red speaks for 2 people",
            f"LOOK: {heard} None of these ratings count until you say",
        ):  # fmt: skip
            assert said in shown
        with stick.desk.office() as office:
            blue = next(each for each in office.laptops() if each.name == "blue")
            let_speak(office, office.review("demo"), first.code, [blue])
        await pilot.press("r")
        shown = words(await show_screen(pilot, stick.review()))
        assert f"NOTE: {heard} You said who speaks for this person: blue." in shown


async def test_unknown_laptop_is_set_aside_and_enrolled_after_its_words(stick: Stick) -> None:
    phrase = stick.people[0].identity.public.phrase
    app = stick.app()
    async with app.run_test(size=LARGE) as pilot:
        await show_screen(pilot, stick.review())
        assert "Nothing came back yet." in text(app)
        shown = words(await press(pilot, "i"))
        assert "No file of ratings on the sticks that are plugged in." in shown
        await press(pilot, "i", "space")
        stick.hand_over(0)
        shown = await press(pilot, "r")
        assert "1 file of ratings." in shown
        assert "ratings 0.rosetta-ratings" in shown
        shown = await press(pilot, "i")
        for said in (
            "1 of 1 taken in.", "SET ASIDE: nobody has vouched for its laptop yet.",
            f"rosetta review enrol --card` shows there, are {phrase})",
        ):  # fmt: skip
            assert said in shown
        shown = await press(pilot, "q")
        for said in ("Set aside", phrase, "1 Batches 1"):
            assert said in shown
        shown = await press(pilot, "e")
        assert "write down these six words" in shown
        assert phrase in shown
        await press(pilot, "n")
        with stick.desk.office() as office:
            assert not office.laptops()
        assert "added 4, already here 0" in words(await press(pilot, "e", "y"))
        shown = await press(pilot, "escape")
        assert "1 Batches 1" not in shown
        assert "laptop 1" in shown
        assert "3 of " in await press(pilot, "2")


async def test_of_several_unknown_laptops_one_is_chosen(stick: Stick) -> None:
    stick.hand_over(0)
    stick.hand_over(1)
    app = stick.app()
    async with app.run_test(size=LARGE) as pilot:
        await show_screen(pilot, stick.review())
        await press(pilot, "i", "i", "q", "e")
        assert isinstance(app.screen, ChooseScreen)
        await press(pilot, "down", "enter", "y", "escape")
        with stick.desk.office() as office:
            assert (len(office.laptops()), len(office.quarantine())) == (1, 1)


async def test_damaged_files_the_same_again_and_a_withdrawal(stick: Stick) -> None:
    good = stick.hand_over(0)
    (stick.path / "broken.rosetta-ratings").write_bytes(good.read_bytes()[:-20])
    stick.enrol("school")
    async with stick.app().run_test(size=LARGE) as pilot:
        await show_screen(pilot, stick.review())
        shown = words(await press(pilot, "i", "i"))
        assert "NOT TAKEN broken.rosetta-ratings" in shown
        assert "added 4, already here 0, set aside 0, damaged 0" in shown
        assert "added 0, already here 4" in words(await press(pilot, "i"))
        shown = await press(pilot, "q")
        for said in ("The last import", "NOT TAKEN", "school"):
            assert said in shown
        stick.people[0].withdraw(Scope.BATCH)
        stick.hand_over(0)
        assert "WITHDRAWN:" in await press(pilot, "i", "i")
        assert "took it back" in await press(pilot, "q", "2")


async def test_folder_or_file_is_named_and_a_wrong_key_is_said(
    stick: Stick, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = stick.hand_over(0).rename(elsewhere / "ratings 0.rosetta-ratings")
    (tmp_path / "key.txt").write_text("no key")
    app, screen = stick.app(), ImportScreen(stick.desk)
    async with app.run_test(size=LARGE, notifications=True) as pilot:
        await show_screen(pilot, screen)
        for key, named, said in (
            ("f", elsewhere / "none", "is not there"),
            ("f", elsewhere, ""),
            ("f", path, ""),
            ("k", tmp_path / "key.txt", "recovery key:"),
        ):
            await press(pilot, key)
            app.screen.query_one(Input).value = str(named)
            assert said in await press(pilot, "enter")
        assert screen.files.option_count == 1  # the folder holds the file that was named as well
        assert "NOT TAKEN" in await press(pilot, "i")
        assert "No file is marked." in await press(pilot, "space", "i")


async def test_copied_laptop_and_a_wild_clock_are_named(tmp_path: Path) -> None:
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
    async with stick.app().run_test(size=LARGE) as pilot:
        await show_screen(pilot, ImportScreen(stick.desk))
        await pilot.press("i", "q")
        await calm(pilot)
    with stick.desk.office() as office:
        assert all(len(each.content) > 100 for each in office.quarantine())
