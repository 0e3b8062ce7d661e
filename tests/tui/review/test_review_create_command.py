"""``rosetta review create|plan``: what goes out, what is refused and leaves nothing, languages and letters."""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from corpora.formats.load import load
from harness.core.failures import UsageError
from harness.core.storage import StorageProblem
from harness.sealed import stick
from harness.sealed.keys import Identity, Role
from harness.sealed.phrase import phrase
from review.browser.page import is_review_page
from review.files.batch import open_batch
from review.files.identities import printed, write_laptop_card
from review.log.laptop import Laptop
from review.office.making import publishing
from review.office.making.publishing import keep_recipient, recovery_key
from review.office.store.store import Office
from review.session.words.troubles import InWindowError
from review.verdict.gate.policy import proposed
from rosetta_tui.commands.corpus import corpus
from rosetta_tui.review.organiser.pages.review import ReviewScreen, ReviewsScreen
from rosetta_tui.review.organiser.service import OrganiserService
from rosetta_tui.review.rating.sitting import TerminalOpening
from tests.harness.sealed.refusals import refuses
from tests.review.files.made_font import CHEROKEE, OFL, drawn_font
from tests.review.office import made
from tests.review.office.school import Translator, Written
from tests.review.office.secret_entries import secret_entries
from tests.tui.review.gated import CREATE, batch_at, create, home, refused, rosetta
from tests.tui.screens import App, press, settle, text

__all__ = ["home"]

HOSTILE = "\x1b[2J\x9b31m[bold]x[/]\u202e"


def laptop_card(path: Path, name: str = "blue") -> Identity:
    laptop = Identity.make(Role.LAPTOP)
    path.write_bytes(write_laptop_card(laptop, name))
    return laptop


def test_create_writes_batch_cards_and_recovery_key(home: Path, tmp_path: Path) -> None:
    out, place = tmp_path / "stick", home / "review-cards" / "spring-cards.html"
    asked = ("-o", out, "--seed", "3", "--name", "spring", "--reviewers", "3")
    shown = rosetta(*CREATE, *asked).output
    for words in (
        "80 of 96", "8 wrong on purpose", "8 asked twice, 4 references", "3 people × 80",
        "print it, cut it", "no program for Windows, Mac, Linux", "rosetta review bundle FILE -o",
    ):  # fmt: skip
        assert words in shown
    assert str(place) in shown.replace("\n", "")
    assert sorted(path.name for path in out.iterdir()) == ["START-HERE.html", "spring.rosetta-batch"]
    if os.name == "posix":  # on the laptop, its reader is another user than here
        assert (out / "spring.rosetta-batch").stat().st_mode & 0o444 == 0o444
        assert out.stat().st_mode & 0o555 == 0o555
    for path in (home / "review-recovery-key.txt", place):
        assert path.stat().st_mode & 0o777 == 0o600
    cards = place.read_text("utf-8")
    for path in out.iterdir():
        assert not any(printed(code).encode() in path.read_bytes() for code in made.codes_of(home).values())
    _, *each = cards.split("<article")
    assert [sum(printed(code) in card for card in each) for code in made.codes_of(home).values()] == [1, 1, 1]
    order = ("The council", "Your code", "spring.rosetta-batch", "START-HERE.html", "Rosetta Review", "Hand in your answers", "Remettre")  # fmt: skip
    for card in each:
        places = [card.index(words) for words in order]
        assert places == sorted(places)


def test_create_fills_a_stick_with_the_programs_that_were_added(home: Path, tmp_path: Path) -> None:
    out, archive = tmp_path / "stick", tmp_path / "download"
    small = (*CREATE, "-o", out, "--items", "20", "--anyway")
    assert rosetta("bundle").output == "None for Windows, Mac, Linux: `rosetta review bundle FILE`.\n"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("rosetta-review/rosetta-review.exe", b"program")
    words = sha256(archive.read_bytes()).hexdigest()
    for asked in ((archive,), ("add", archive), ()):
        shown = rosetta("bundle", *asked).output
        assert re.search(rf"Windows +0\.0 MB  SHA-256 {words}\n +{home}", shown)
    assert "neither a .zip" in refused("bundle", home / "rosetta.sqlite")
    for wrong in (("add",), (archive, archive), ("add", archive, archive)):
        assert "Name one archive" in refused("bundle", *wrong)
    out.mkdir()
    page = out / "START-HERE.html"
    page.write_text("mine")
    assert "not one that Rosetta wrote" in refused(*small)
    assert [path.name for path in out.iterdir()] == ["START-HERE.html"]
    page.unlink()
    os.mkfifo(page)
    assert "a pipe or a device, not a file" in refused(*small)
    page.unlink()
    shown = rosetta(*small, "--name", "a").output
    assert "The stick has no program for Mac, Linux" in shown
    assert (out / "Review-Windows.zip").read_bytes() == archive.read_bytes()
    text = page.read_text("utf-8")
    assert "Review-Windows.zip" in text
    assert "no program for Mac, Linux" in text
    page.write_text(text.replace("Windows", "W"))
    shown = rosetta("bundle", archive, "-o", out).output
    assert page.read_text("utf-8") == text
    assert str(page) in shown
    assert "Review-Windows.zip" not in shown.partition("SHA-256")[2].partition("\n")[2].partition("\n")[2], (
        "it is there already"
    )


@pytest.mark.costly("it cuts fonts, and seals a page for each person")
def test_create_page_for_any_browser(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "stick"
    small = (*CREATE, "-o", out, "--items", "20", "--anyway", "--page", "--reviewers", "2")
    shown = rosetta(*small, "--name", "a").output
    words = phrase(sha256((out / "a.html").read_bytes()).hexdigest())
    assert f"a.html (a page for any browser; its six words: {words})" in " ".join(shown.split())
    cards = (home / "review-cards" / "a-cards.html").read_text("utf-8")
    assert "<span>a.rosetta-batch</span> · <span>a.html</span>" in cards
    assert cards.count("come to the hall") == 2, "one for each card"
    rosetta(*small, "--name", "b", "--passphrases")
    start = (out / "START-HERE.html").read_text("utf-8")
    for name in ("a.html", "b-1.html", "b-2.html"):
        assert start.count(f'<a href="{name}" title="{name}">') == 2, "in both languages"
        assert is_review_page(out / name)


def test_create_page_refuses_what_a_browser_may_not_show(
    secret_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card, policy = tmp_path / "blue.rosetta-laptop", tmp_path / "policy.toml"
    laptop_card(card)
    asked = (*CREATE, "-o", tmp_path / "out", "--items", "20", "--anyway", "--page", "--passphrases")
    assert "secret_pages = true" in refused(*asked)
    assert "sealed for laptops" in refused(*asked, "--for", card)
    policy.write_text("secret_pages = true\n" + proposed()[1].decode())
    assert "a page for any browser" in rosetta(*asked, "--policy", policy, "--reviewers", "2").output
    monkeypatch.setitem(sys.modules, "fontTools", None)
    assert "(--page) needs fontTools" in refused(*asked, "--policy", policy)


def test_create_says_where_the_review_of_the_specification_begins(
    home: Path, secret_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = (
        f"NOTE: below the Deployable threshold: run {made.RUNS[0][:8]} (0.693); the specification's review begins at a "
        "composite of 0.70 (§7.3)."
    )
    secret = ("--passphrases", "-o", tmp_path / "secret-out", "--json")
    assert json.loads(rosetta(*CREATE, *secret).stdout)["below_deployable"] == []
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    assert sentence in " ".join(rosetta(*CREATE, "--dry-run").output.split())
    told = json.loads(rosetta(*CREATE, "-o", tmp_path / "out", "--json").stdout)
    assert told["below_deployable"] == list(made.RUNS[:1])
    found = made.reviewed(home)
    for composite, below in ((0.6999, 1), (0.7, 0), (None, 0)):
        runs = [replace(run, composite=composite) for run in found.runs]
        assert len(replace(found, runs=runs).below_deployable) == below


@pytest.fixture
def secret_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "secret"))
    entries = secret_entries()
    outputs = [(made.demo_outputs()[entry.id] or "x") + " ▁" for entry in entries]
    made.store_runs(tmp_path / "secret", entries, [outputs])
    return tmp_path / "secret"


def test_create_secret_goes_out_sealed_or_not_at_all(secret_home: Path, tmp_path: Path) -> None:
    out, card = tmp_path / "out", tmp_path / "blue.rosetta-laptop"
    asked = (*CREATE, "-o", out, "--items", "20", "--anyway")
    words = refused(*asked)
    assert "--for" in words
    assert "--passphrases" in words
    assert not list(out.glob("*"))
    laptop = laptop_card(card, f"blue{HOSTILE}")
    shown = rosetta(*asked, "--for", card).output
    assert laptop.public.phrase in shown
    assert "The batch is sealed" in shown
    assert "EIGHTH BLOCK" not in shown, "no letter of a secret sentence is named"
    with Office.open(secret_home) as office:
        office.enrol("ab" * 32, "red")
    [path] = out.glob("*.rosetta-batch")
    assert open_batch(path.read_bytes(), [laptop.age]).manifest.secret
    secrets = [entry.source.encode() for entry in secret_entries() if entry.secret]
    assert not any(secret in path.read_bytes() for secret in secrets for path in out.iterdir())
    assert not any(secret.decode() in shown for secret in secrets if len(secret) > 12)
    later = rosetta(*asked).output  # to the laptop that is known by now
    for words in ("The batch is sealed", laptop.public.phrase, "NOT sealed for the laptop red"):
        assert words in later


def test_create_refused_leaves_no_laptop_no_key_and_no_file(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    laptop_card(Path("blue.rosetta-laptop"))
    Path("broken.rosetta-laptop").write_bytes(b"{}")
    Path("file").touch()
    Path("taken").mkdir()
    Path("taken/spring-cards.html").touch()
    asked = (*CREATE, "-o", "out", "--name", "spring", "--for", "blue.rosetta-laptop")
    small = ("--items", "20", "--anyway")
    for *options, words in (
        ("--reviewers", "0", "--reviewers 0"),
        ("--items-per-person", "5", "--core N"),
        ("--items", "8", "9 sentences.*--anyway"),
        ("--reviewers", "1", "2 reviewers.*--anyway"),
        (*small, "--recipient", "age1nothing", "no age recipient"),
        (*small, "--segment", "held_out", "no entry of these segments"),
        (*small, "--title", "x" * 201, "field 'title'"),
        (*small, "--cards", "taken/spring-cards.html", "taken"),
        (*small, "--cards", "out/cards.html", "everybody's code"),
        (*small, "--name", "con", "Windows"),
        (*small, "-o", "file/below", "file"),
        (*small, "--for", "broken.rosetta-laptop", "broken"),
    ):
        assert re.search(words, refused(*asked, *options), re.DOTALL), options
        assert_nothing_stays(home, tmp_path)


def assert_nothing_stays(home: Path, place: Path) -> None:
    with Office.open(home) as office:
        assert not office.laptops()
        assert not office.reviews()
        assert not office.connection.execute("SELECT * FROM recovery").fetchall()
    assert not (home / "review-recovery-key.txt").exists()
    assert not list(place.glob("*/*.rosetta-batch"))


def test_create_says_what_a_small_panel_can_show_and_asks_who_asks(home: Path, tmp_path: Path) -> None:
    small = ("-o", tmp_path / "out", "--items", "20")
    planned = rosetta(*CREATE, *small, "--dry-run").output
    assert "derived: 3 people and 20 sentences are enough" in planned
    assert "it speaks for a community from 5 people on" in planned
    assert "rarer than 15 %" in planned
    assert "derived" not in rosetta(*CREATE, "--dry-run").output
    too_few = ("--items", "8", "--dry-run")
    assert "9 sentences rated, and these are 8" in rosetta(*CREATE, "-o", tmp_path / "out", *too_few).output
    assert not (tmp_path / "out").exists()
    assert not (home / "reviews.sqlite").exists()
    assert "add --organisation" in refused("create", "last", *small)
    rosetta(*CREATE, *small, "--anyway")
    told = json.loads(rosetta("create", "last", *small, "--anyway", "--json").stdout)
    assert batch_at(Path(told["files"][0])).manifest.organisation.name == "The council"


def test_create_on_a_stick_that_breaks_leaves_nothing(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """A full stick lets files be written only up to the batch, the cards, or the recovery key."""
    card, out = tmp_path / "blue.rosetta-laptop", tmp_path / "out"
    laptop_card(card)
    asked = (*CREATE, "-o", out, "--for", card, "--items", "20", "--anyway")
    left = 0

    def broken(path: Path, data: bytes, mode: int) -> None:
        nonlocal left
        if not left:
            raise stick.StickError(path, StorageProblem.DISK_FULL)
        left -= 1
        stick.write_file(path, data, mode)

    monkeypatch.setattr(publishing, "write_file", broken)
    for written in range(3):
        left = written
        assert "too little room" in refused(*asked)
        assert_nothing_stays(home, tmp_path)
        assert [path.name for path in out.iterdir()] == ["START-HERE.html"]
    left = 3
    rosetta(*asked)
    with Office.open(home) as office:
        assert [laptop.name for laptop in office.laptops()] == ["blue"]


def test_of_two_windows_one_makes_the_recovery_key(home: Path) -> None:
    with Office.open(home) as office:
        first, second = (recovery_key(office, home / "key.txt") for _ in range(2))
        keep_recipient(office, first)
        refuses(UsageError, "once more", keep_recipient, office, second)
        known = recovery_key(office, home / "key.txt")
        assert (known.recipient, known.new, known.text) == (first.recipient, None, "")


def test_create_passphrases_are_on_the_cards_alone(home: Path, tmp_path: Path) -> None:
    shown = rosetta(*CREATE, "-o", tmp_path, "--passphrases", "--name", "s").output
    assert "Then delete it: its words open the files." in shown
    _, *cards = (home / "review-cards" / "s-cards.html").read_text("utf-8").split("<article")
    names = [file.name for file in tmp_path.glob("*.rosetta-batch")]
    assert all(sum(name in card for card in cards) == 1 for name in names)
    codes = list(made.codes_of(home).values())
    assert [sum(printed(code) in card for card in cards) for code in codes] == [1] * 5
    assert not any(code in name.replace("-", "") for code in codes for name in names)


COLUMNS = "source\tcandidate\trating\texplanation\n"


def test_create_takes_texts_in_several_languages(home: Path, tmp_path: Path) -> None:
    (tmp_path / "guide.txt").write_text("Judge the meaning first.")
    ours = create(tmp_path / "ours", "--guide", tmp_path / "guide.txt")
    assert ours.manifest.guide == "Judge the meaning first."
    assert list(ours.manifest.translations) == ["fr"]
    assert ours.manifest.translations["fr"].consent.startswith("The council vous demande")
    assert all(set(item.explanations) == {"fr"} for item in ours.training)
    for name, content in {
        "en.txt": "{organisation} asks.\n", "es.txt": "{organisation} le pide.",
        "en.tsv": f"{COLUMNS}Hello\tSaluton\texcellent\tGood.\n",
        "es.tsv": f"{COLUMNS}Hello\tSaluton\texcellent\tBueno.\n",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(content, "utf-8")
    en, es, en_tsv, es_tsv = (tmp_path / n for n in ("en.txt", "es.txt", "en.tsv", "es.tsv"))
    texts = ("--consent", en, "--consent", f"es={es}")
    lessons = ("--training", en_tsv, "--training", f"es={es_tsv}", "--label", "TK Verified")
    own = create(tmp_path / "own", *texts, *lessons)
    assert own.manifest.consent == "The council asks."
    assert own.manifest.labels == ("TK Verified",)
    assert own.manifest.translations["es"].consent == "The council le pide."
    assert own.manifest.translations["fr"].consent == "", "ours would say something else"
    assert own.manifest.translations["fr"].guide, "the guide is ours in each language"
    [lesson] = own.training
    assert (lesson.source, lesson.explanations) == ("Hello", {"es": "Bueno."})
    twice = refused(*CREATE, "--consent", en, "--consent", f"en={es}")
    assert "two files for the language en" in twice
    assert "no items in the review's own language" in refused(*CREATE, "--training", f"es={es_tsv}")
    es_tsv.write_text(f"{COLUMNS}Bye\tSaluton\texcellent\tBueno.\n", "utf-8")
    other = refused(*CREATE, "--training", en_tsv, "--training", f"es={es_tsv}")
    assert "es.tsv: item 1 is another than in the first file" in other


def test_plan_says_what_people_and_sentences_are_worth(home: Path) -> None:
    asked = ("--reviewers", "5", "--items", "80")
    lines = rosetta("plan", *asked).output.splitlines()
    assert lines[1].split()[:2] == ["5", "80"]
    assert 0.8 < int(lines[1].split()[2].rstrip("%")) / 100 < 0.95
    assert json.loads(rosetta("plan", "--json", *asked).output)[0]["chances"]["level"] > 0.8


@pytest.fixture
def foreign(home: Path) -> Path:
    """Seal a run with outputs as bad ones are: a stray sign in one, another script in two."""
    entries = made.demo_entries()
    outputs = [made.demo_outputs()[entry.id] or "x" for entry in entries]
    outputs[0] += " ▁中"
    outputs[1] = outputs[2] = CHEROKEE
    made.store_runs(home, entries, [outputs])
    return home


def asked_all(home: Path, *more: object) -> tuple[object, ...]:
    """Ask for all sentences, so that these are among them; nothing is repeated or spoilt."""
    controls = ("--bad", "0", "--repeats", "0", "--anchors", "0")
    return (*CREATE, "--items", "96", *controls, "-o", home / "out", *more)


def test_create_letters_that_cannot_be_read_are_refused(foreign: Path) -> None:
    plan = rosetta(*asked_all(foreign, "--dry-run")).output
    first, *others = (str(entry.id) for entry in made.demo_entries()[:3])
    for said in (
        "letters      not all can be shown: the reviewer's window brings Latin", "1 sign",
        "1 Han letter", "LOWER ONE EIGHTH BLOCK", "CJK UNIFIED IDEOGRAPH-4E2D",
        f"in 1 item, entry {first}",
        "LEFT OUT where the computer has no font for them: 2 items with 9 Cherokee letters",
    ):  # fmt: skip
        assert said in plan
    said = refused(*asked_all(foreign))
    assert said.startswith("2 items cannot be read (9 Cherokee letters")
    assert "--font FILE.ttf --font-licence OFL.txt" in said
    assert "--anyway" in said
    assert not (foreign / "out").exists()
    with Office.open(foreign) as office:
        assert not office.reviews()
    told = json.loads(rosetta(*asked_all(foreign, "--anyway", "--json")).stdout)["letters"]
    assert sorted(map(str, told["left_out"])) == sorted(others)
    assert [str(each) for each in told["shown_by_name"]] == [first]


def test_create_font_goes_along_signed_and_cut(foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Letters.ttf").write_bytes(drawn_font())
    Path("Latin.ttf").write_bytes(drawn_font("abc"))
    Path("OFL.txt").write_bytes(OFL)
    letters, licence = ("--font", "Letters.ttf"), ("--font-licence", "OFL.txt")
    for more, why in (
        (letters, "belong together"),
        ((*letters, "--font-licence", "none.txt"), "none.txt cannot be read"),
        (("--font", "OFL.txt", *licence), "OFL.txt: This font is not used"),
        (("--font", "Latin.ttf", *licence), "none of the letters"),
    ):
        assert why in refused(*asked_all(foreign, *more))
    assert not (foreign / "out").exists()
    font = (*letters, *licence)
    said = rosetta(*asked_all(foreign, *font)).output
    assert "LEFT OUT" not in said
    assert "the batch 1 font (" in said
    [carried] = batch_at(foreign / "out").fonts
    assert set(map(ord, CHEROKEE)) <= carried.read().characters
    assert carried.licence == OFL
    monkeypatch.setitem(__import__("sys").modules, "fontTools", None)
    assert 'pip install ".[fonts]"' in refused(*asked_all(foreign, *font))


# Translations that are asked for

LANGUAGES = ("--source-language", "en", "--target-language", "crk")


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("I saw his dog.\nWhere are you going?\n\nI saw his dog.\nGood.\n")
    return path


@pytest.fixture
def told(home: Path, listed: Path) -> dict[str, Any]:
    """A review that asks two people for translations; what was told when it was made."""
    ask = ("create", "--translate", listed, *LANGUAGES, "--organisation", "The council")
    more = ("--reviewers", "2", "-o", listed.parent / "stick", "--json", "--name", "words")
    return dict(json.loads(rosetta(*ask, *more).stdout))


def test_sentences_come_back_as_a_corpus(home: Path, listed: Path, told: dict[str, Any]) -> None:
    assert (told["task"], told["items"], told["runs"]) == ("translate", 3, [])
    cards = Path(str(told["cards"])).read_text()
    for words in ("Rosetta Review", "START-HERE.html", "may be used for the collection"):
        assert words in cards
    stick = listed.parent / "stick"
    with Office.open(home) as office:
        identity = Identity.load(home, Role.ORGANISATION)
        desk = Written(office, identity, office.review("words"), batch_at(stick))
        person = Translator(listed.parent, desk, 0, shares=True)
        person.write(desk.item(1), "niwâpamâw otêma")
        person.write(desk.item(2), "\x1b[31mtânitê")
        (stick / "back.rosetta-ratings").write_bytes(person.handed_over())
    rosetta("import", stick / "back.rosetta-ratings", "--enrol", "--yes")
    status = rosetta("status", "words").output
    assert "collects translations" in status
    assert "NOT TO BE USED" not in status
    out = listed.parent / "words.jsonl"
    shown = rosetta("export", "words", "--corpus", out).output
    assert "2 sentences" in shown
    assert "Without a translation that may be used: 1 sentences" in shown
    checked = CliRunner().invoke(corpus, ["check", str(out)])
    assert (checked.exit_code, "no signed record" in checked.output) == (0, True)
    assert load(out).reveal_here()[0].reference == "niwâpamâw otêma"
    assert "is there already" in refused("export", "words", "--corpus", out)


@pytest.mark.usefixtures("told")
def test_what_does_not_fit_is_refused(listed: Path) -> None:
    ask = ("create", "--translate", listed, *LANGUAGES)
    for arguments, said in (
        ((*ask, "--policy", "x.toml", "--bad", "3"), "--bad, --policy"),
        ((*ask, "last"), "or of one before"),
        (("create", "last", "--form", "csv"), "--form"),
        ((*ask, "--segment", "development"), "--segment"),
        (ask[:3], "--target-language"),
    ):
        assert said in refused(*arguments)
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
        refuses(InWindowError, "rosetta-review", opening.open, choice)
        assert laptop.batches() == ()


@pytest.mark.usefixtures("told")
async def test_screens_say_that_nothing_is_judged(home: Path) -> None:
    desk = OrganiserService(home, home / "rosetta.sqlite")
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
