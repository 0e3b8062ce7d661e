"""Translations that are asked for: the organiser's commands and screens, and what a terminal says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from corpora.formats.load import load
from harness.sealed.keys import Identity, Role
from review.files.batch import open_batch
from review.files.reviewer_codes import printed
from review.log.laptop import Laptop
from review.office.store.store import Office
from review.session.words.troubles import InWindowError
from rosetta_tui.commands.corpus import corpus
from rosetta_tui.review.organiser.desk import OrganiserDesk
from rosetta_tui.review.organiser.pages.review import SECTIONS, ReviewScreen
from rosetta_tui.review.organiser.pages.reviews import ReviewsScreen
from rosetta_tui.review.rating.sitting import TerminalOpening
from tests.review.office.translator import Desk as Written
from tests.review.office.translator import Translator
from tests.tui.review.creating import home, refused, rosetta
from tests.tui.screens import App, press, settle, text

__all__ = ["home"]

LINES = "I saw his dog.\nWhere are you going?\n\nI saw his dog.\nGood.\n"
LANGUAGES = ("--source-language", "en", "--target-language", "crk")


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text(LINES)
    return path


def made(listed: Path, *more: str) -> dict[str, object]:
    said = rosetta(
        "create", "--translate", str(listed), *LANGUAGES, "--organisation", "The council",
        "--reviewers", "2", "-o", str(listed.parent / "stick"), "--json", *more,
    ).stdout  # fmt: skip
    told: dict[str, object] = json.loads(said)
    return told


def test_sentences_go_out_and_come_back_as_a_corpus(home: Path, listed: Path) -> None:
    told = made(listed, "--name", "words")
    assert (told["task"], told["items"], told["runs"]) == ("translate", 3, [])
    with Office.open(home) as office:
        review = office.review("words")
        batch = open_batch((listed.parent / "stick" / "words.rosetta-batch").read_bytes())
        identity = Identity.load(home, Role.ORGANISATION)
        desk = Written(office, identity, review, batch)
        person = Translator(listed.parent, desk, 0)
        person.write(desk.item(1), "niwâpamâw otêma")
        person.write(desk.item(2), "\x1b[31mtânitê")
        stick = listed.parent / "stick" / "back.rosetta-ratings"
        stick.write_bytes(person.handed_over())
    rosetta("import", str(stick), "--enrol", "--yes")
    status = rosetta("status", "words").output
    assert "collects translations" in status
    assert "NOT TO BE USED" not in status
    out = listed.parent / "words.jsonl"
    shown = rosetta("export", "words", "--corpus", str(out)).output
    assert "2 sentences" in shown
    assert "Without a translation that may be used: 1 sentences" in shown
    checked = CliRunner().invoke(corpus, ["check", str(out)])
    assert checked.exit_code == 0, checked.output
    assert "no signed record" in checked.output
    assert load(out).entries[0].reference == "niwâpamâw otêma"
    assert "is there already" in refused("export", "words", "--corpus", str(out))


def test_the_organiser_is_told_what_may_not_be_used(home: Path, listed: Path) -> None:
    made(listed, "--name", "words")
    stick = listed.parent / "stick"
    with Office.open(home) as office:
        batch = open_batch((stick / "words.rosetta-batch").read_bytes())
        identity = Identity.load(home, Role.ORGANISATION)
        desk = Written(office, identity, office.review("words"), batch)
        person = Translator(listed.parent, desk, 0, shares=False)
        person.write(desk.item(1), "mine alone")
        code = desk.review.code(person.code)
        (stick / "back.rosetta-ratings").write_bytes(person.handed_over())
    rosetta("import", str(stick), "--enrol", "--yes")
    status = rosetta("status", "words").output
    row = next(line for line in status.splitlines() if line.startswith(printed(code)))
    assert row.split()[1:3] == ["yes", "no"]
    said = refused("export", "words", "--corpus", str(listed.parent / "c.jsonl"))
    for words in (status, said):
        assert "1 translation" in words
        assert "hand over once more" in words
    assert "alone" not in status + said


def test_the_plan_says_who_is_asked_what(home: Path, listed: Path) -> None:
    shown = rosetta(
        "create", "--translate", str(listed), *LANGUAGES, "--reviewers", "3",
        "--items-per-person", "2", "--dry-run",
    ).output  # fmt: skip
    for words in ("3 of 3, en → crk", "1 repeated", "2 sentences", "asked of 2 on average"):
        assert words in shown
    assert not (home / "reviews.sqlite").exists()


def test_cards_lead_to_the_window(home: Path, listed: Path) -> None:
    told = made(listed)
    cards = Path(str(told["cards"])).read_text()
    assert "Rosetta Review" in cards
    assert "START-HERE.html" in cards
    assert "review open" not in cards
    assert "may be used for the collection" in cards


def test_what_does_not_fit_is_refused(home: Path, listed: Path) -> None:
    ask = ("create", "--translate", str(listed), *LANGUAGES)
    assert "--bad, --policy" in refused(*ask, "--policy", "x.toml", "--bad", "3")
    assert "not both" in refused(*ask, "last")
    assert "Name a run" in refused("create")
    assert "--form" in refused("create", "last", "--form", "csv")
    assert "--segment" in refused(*ask, "--segment", "development")
    assert "--target-language" in refused("create", "--translate", str(listed))


def test_other_results_are_refused_in_words(home: Path, listed: Path) -> None:
    made(listed, "--name", "words")
    for command in (
        ("gate", "words"),
        ("page", "words"),
        ("export", "words", "--csv", "x.csv"),
        ("export", "words", "--mtme", "x"),
    ):
        assert "collects translations" in refused(*command), command
    assert "may be used yet" in refused("export", "words", "--corpus", "x.jsonl")
    assert "NAME.jsonl" in refused("export", "words", "--corpus", "x.csv")
    sealed = listed.parent / "sealed"
    rosetta("export", "words", "-o", str(sealed))
    assert (sealed / "words.rosetta-export").stat().st_size > 0


def test_a_terminal_leads_to_the_window(home: Path, listed: Path, tmp_path: Path) -> None:
    made(listed, "--name", "words")
    with Laptop.open(tmp_path / "laptop") as laptop:
        opening = TerminalOpening(laptop, places=[listed.parent / "stick"])
        [choice] = opening.choices()
        with pytest.raises(InWindowError, match="rosetta-review"):
            opening.open(choice)
        assert laptop.batches() == ()


async def test_the_organiser_s_screens_say_that_nothing_is_judged(home: Path, listed: Path) -> None:
    made(listed, "--name", "words")
    desk = OrganiserDesk(home, home / "rosetta.sqlite")
    app = App(None, home / "rosetta.sqlite")
    async with app.run_test(size=(100, 30)) as pilot:
        await app.push_screen(ReviewsScreen(desk))
        await settle(pilot)
        assert "collects translations" in text(app)
        for section in SECTIONS:
            await app.push_screen(ReviewScreen(desk, "words", section))
            await settle(pilot)
            said = "rosetta review export words --corpus" in " ".join(text(app).split())
            assert said == (section in {"Agreement", "Gate", "Certificate"}), section
            assert ("may be used" in text(app)) == (section == "Progress"), section
            await press(pilot, "n", "x", "l", "c", "t", "w")
            assert isinstance(app.screen, ReviewScreen)
            await app.pop_screen()
