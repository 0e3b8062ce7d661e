"""What the organiser decides: about flagged and split items, blind and by one key; whose files are taken in, and who speaks for whom."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from review.log.fold import Adjudication
from review.log.payloads import Comment, Reasons, Suggest
from review.rating import Rating, Reason
from review.verdict.gate.adjudication import Case, queue
from rosetta_tui.review.organiser.pages import batches
from rosetta_tui.review.organiser.pages.batches import ImportScreen
from rosetta_tui.review.organiser.pages.review import ReviewScreen
from rosetta_tui.review.organiser.service import OrganiserService
from rosetta_tui.toolkit.dialogs.choose import ChooseScreen
from tests.review.office import made as office_made
from tests.review.office.made import Person
from tests.review.verdict import histories
from tests.tui.golden import compare
from tests.tui.review.gated import say_later
from tests.tui.review.organising import (
    GO,
    LARGE,
    MIXED,
    SMALL,
    Alone,
    Scene,
    keep_keys,
    open_review,
    organising,
    press,
    scene,
    show_screen,
    words,
)
from tests.tui.screens import App, lines, text

HOSTILE = (
    "[@click=app.quit]x[/] ᓂᐚ", "[/foo]", "\x1b]0;owned\x07\x1b[2J", "\u202edlrow olleh\u202c",
    "a\nb\tc",
)  # fmt: skip


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
async def at_splits(made: Scene, size: tuple[int, int] = SMALL) -> AsyncIterator[tuple[App, Pilot[Any]]]:
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


async def test_flag_is_upheld_cleared_and_taken_back_by_one_key(made: Scene) -> None:
    made.desk.look("spring", made.run_id)
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
        told = words(await press(pilot, "enter"))
        for _ in range(8):
            seen += _harmless(app)
            told += words(await press(pilot, "right"))
        assert "[@click=app.quit]x[/]" in seen
        assert "[/foo]" in seen
        assert "Read them elsewhere" in told, "letters that a terminal may draw wrongly"


async def test_what_people_wrote_stands_beside_the_item(tmp_path: Path) -> None:
    made = scene(tmp_path, MIXED, texts=["I saw his dog."])
    item = next(case.item for case in cases(made) if case.is_split)
    with made.office() as office:
        review = office.review("spring")
        key = review.key
        about = {"wall": histories.WALL, "reviewer": next(iter(key.orders)), "batch": key.batches[0], "item": item}
        comment, wording = "too formal\x1b[2J", "Mi vidis lian hundon."
        reasons = Reasons(**about, reasons=(Reason.REGISTER,))
        said = (reasons, Comment(**about, text=comment), Suggest(**about, text=wording))
        say_later(office, review, 4, *said)
    async with at_splits(made) as (app, pilot):
        places = [case.item for case in cases(made)].index(item)
        await press(pilot, "enter", *["right"] * places)
        compare("organiser-deciding", SMALL, app)
        _harmless(app)


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


class Stick:
    """An organisation's review, its laptops, and a stick on which their files come back."""

    def __init__(self, folder: Path) -> None:
        made = office_made.desk(folder / "home", reviewers=2, items=12)
        made.office.close()
        keep_keys(folder / "home", made.identity)
        self.desk = OrganiserService(folder / "home", folder / "home" / "rosetta.sqlite")
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
    monkeypatch.setattr(batches, "mounted_sticks", lambda: [made.path])
    return made


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
            "1 of 1 imported.", "SET ASIDE: nobody has vouched for its laptop yet.",
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


async def test_folder_or_file_is_named_a_wrong_key_is_said(stick: Stick, tmp_path: Path) -> None:
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
