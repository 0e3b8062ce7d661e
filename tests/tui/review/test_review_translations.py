"""Translations that are asked for: the organiser's commands and screens, and what a terminal says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from corpora.formats.load import load
from harness.sealed.keys import Identity, Role
from review.files.reviewer_codes import printed
from review.log.laptop import Laptop
from review.office.store.store import Office
from review.session.words.troubles import InWindowError
from rosetta_tui.commands.corpus import corpus
from rosetta_tui.review.organiser.desk import OrganiserDesk
from rosetta_tui.review.organiser.pages.review import ReviewScreen
from rosetta_tui.review.organiser.pages.reviews import ReviewsScreen
from rosetta_tui.review.rating.sitting import TerminalOpening
from tests.review.office.translator import Desk as Written
from tests.review.office.translator import Translator
from tests.tui.review.creating import batch_at, home, refused, rosetta
from tests.tui.screens import App, press, settle, text

__all__ = ["home"]

LINES = "I saw his dog.\nWhere are you going?\n\nI saw his dog.\nGood.\n"
LANGUAGES = ("--source-language", "en", "--target-language", "crk")


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text(LINES)
    return path


def made(listed: Path) -> dict[str, object]:
    said = rosetta(
        "create", "--translate", listed, *LANGUAGES, "--organisation", "The council",
        "--reviewers", "2", "-o", listed.parent / "stick", "--json", "--name", "words",
    ).stdout  # fmt: skip
    told: dict[str, object] = json.loads(said)
    return told


def hand_over(home: Path, listed: Path, *texts: str, shares: bool = True) -> str:
    """Let the first person translate sentences and the office take them in; gives their code."""
    stick = listed.parent / "stick"
    with Office.open(home) as office:
        batch, identity = batch_at(stick), Identity.load(home, Role.ORGANISATION)
        desk = Written(office, identity, office.review("words"), batch)
        person = Translator(listed.parent, desk, 0, shares=shares)
        for number, text in enumerate(texts, 1):
            person.write(desk.item(number), text)
        (stick / "back.rosetta-ratings").write_bytes(person.handed_over())
        code = desk.review.code(person.code)
    rosetta("import", stick / "back.rosetta-ratings", "--enrol", "--yes")
    return code


def test_sentences_go_out_and_come_back_as_a_corpus(home: Path, listed: Path) -> None:
    told = made(listed)
    assert (told["task"], told["items"], told["runs"]) == ("translate", 3, [])
    cards = Path(str(told["cards"])).read_text()
    for words in ("Rosetta Review", "START-HERE.html", "may be used for the collection"):
        assert words in cards
    assert "review open" not in cards
    hand_over(home, listed, "niwâpamâw otêma", "\x1b[31mtânitê")
    status = rosetta("status", "words").output
    assert "collects translations" in status
    assert "NOT TO BE USED" not in status
    out = listed.parent / "words.jsonl"
    shown = rosetta("export", "words", "--corpus", out).output
    assert "2 sentences" in shown
    assert "Without a translation that may be used: 1 sentences" in shown
    checked = CliRunner().invoke(corpus, ["check", str(out)])
    assert (checked.exit_code, "no signed record" in checked.output) == (0, True)
    assert load(out).entries[0].reference == "niwâpamâw otêma"
    assert "is there already" in refused("export", "words", "--corpus", out)


def test_organiser_is_told_what_may_not_be_used(home: Path, listed: Path) -> None:
    made(listed)
    code = hand_over(home, listed, "mine alone", shares=False)
    status = rosetta("status", "words").output
    row = next(line for line in status.splitlines() if line.startswith(printed(code)))
    assert row.split()[1:3] == ["yes", "no"]
    said = refused("export", "words", "--corpus", listed.parent / "c.jsonl")
    for words in (status, said):
        assert "1 translation" in words
        assert "hand over once more" in words
    assert "alone" not in status + said


def test_the_plan_says_who_is_asked_what(home: Path, listed: Path) -> None:
    shown = rosetta(
        "create", "--translate", listed, *LANGUAGES, "--reviewers", "3",
        "--items-per-person", "2", "--dry-run",
    ).output  # fmt: skip
    for words in ("3 of 3, en → crk", "1 repeated", "2 sentences", "asked of 2 on average"):
        assert words in shown
    assert not (home / "reviews.sqlite").exists()


def test_what_does_not_fit_is_refused(home: Path, listed: Path) -> None:
    ask = ("create", "--translate", listed, *LANGUAGES)
    for arguments, said in (
        ((*ask, "--policy", "x.toml", "--bad", "3"), "--bad, --policy"),
        ((*ask, "last"), "not both"),
        (("create",), "Name a run"),
        (("create", "last", "--form", "csv"), "--form"),
        ((*ask, "--segment", "development"), "--segment"),
        (ask[:3], "--target-language"),
    ):
        assert said in refused(*arguments)
    made(listed)
    export = ("export", "words")
    for command, said in (
        (["gate", "words"], "collects translations"),
        (["page", "words"], "collects translations"),
        ([*export, "--csv", "x.csv"], "collects translations"),
        ([*export, "--mtme", "x"], "collects translations"),
        ([*export, "--corpus", "x.jsonl"], "may be used yet"),
        ([*export, "--corpus", "x.csv"], "NAME.jsonl"),
    ):
        assert said in refused(*command)
    sealed = listed.parent / "sealed"
    rosetta(*export, "-o", sealed)
    assert (sealed / "words.rosetta-export").stat().st_size > 0
    with Laptop.open(listed.parent / "laptop") as laptop:
        opening = TerminalOpening(laptop, places=[listed.parent / "stick"])
        [choice] = opening.choices()
        with pytest.raises(InWindowError, match="rosetta-review"):
            opening.open(choice)
        assert laptop.batches() == ()


async def test_screens_say_that_nothing_is_judged(home: Path, listed: Path) -> None:
    made(listed)
    desk = OrganiserDesk(home, home / "rosetta.sqlite")
    app = App(None, home / "rosetta.sqlite")
    async with app.run_test(size=(100, 30)) as pilot:
        await app.push_screen(ReviewsScreen(desk))
        await settle(pilot)
        assert "collects translations" in text(app)
        for section in ("Progress", "Gate"):
            await app.push_screen(ReviewScreen(desk, "words", section))
            await settle(pilot)
            said = "rosetta review export words --corpus" in " ".join(text(app).split())
            assert said == (section == "Gate")
            assert ("may be used" in text(app)) == (section == "Progress")
            await press(pilot, "n", "x", "l", "c", "t", "w")
            assert isinstance(app.screen, ReviewScreen)
