"""``rosetta review create|plan``: what goes out, what is refused and leaves nothing, languages and letters."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.core.storage_problems import StorageProblem
from harness.sealed import stick
from harness.sealed.keys import Identity, Role
from review.files.batch import open_batch
from review.files.reviewer_codes import printed
from review.files.statements import write_laptop_card
from review.office.making import publishing
from review.office.making.publishing import keep_recipient, recovery_key
from review.office.store.store import Office
from tests.review.files.made_font import CHEROKEE, OFL, drawn_font
from tests.review.office import made
from tests.review.office.secret_entries import secret_entries
from tests.tui.review.creating import CREATE, batch_at, create, home, refused, rosetta

__all__ = ["home"]

HOSTILE = "\x1b[2J\x9b31m[bold]x[/]\u202e"


def laptop_card(path: Path, name: str = "blue") -> Identity:
    laptop = Identity.make(Role.LAPTOP)
    path.write_bytes(write_laptop_card(laptop, name))
    return laptop


def test_create_writes_batch_cards_and_recovery_key(home: Path, tmp_path: Path) -> None:
    out, place = tmp_path / "stick", home / "review-cards" / "spring-cards.txt"
    asked = ("-o", out, "--seed", "3", "--name", "spring", "--reviewers", "3")
    shown = rosetta(*CREATE, *asked).output
    for words in (
        "80 of 96", "8 wrong on purpose", "8 asked twice, 4 references", "3 people × 80",
        "program for reviewers", "make reviewer-bundle", "start rosetta-review there",
    ):  # fmt: skip
        assert words in shown
    assert str(place) in shown.replace("\n", "")
    assert [path.name for path in out.iterdir()] == ["spring.rosetta-batch"]
    if os.name == "posix":  # on the laptop, its reader is another user than here
        assert (out / "spring.rosetta-batch").stat().st_mode & 0o444 == 0o444
        assert out.stat().st_mode & 0o555 == 0o555
    for path in (home / "review-recovery-key.txt", place):
        assert path.stat().st_mode & 0o777 == 0o600
    cards = place.read_text("utf-8")
    assert all(printed(code) in cards for code in made.codes_of(home).values())
    assert cards.count("spring.rosetta-batch") == 3
    assert cards.count("The council") == 6
    for card in cards.split("-" * 72):
        order = ("How to begin", "START-HERE.html", "Rosetta Review", "Hand over your answers")
        places = [card.index(words) for words in (*order, "rosetta review open")]
        assert places == sorted(places)
        assert "press w" not in card


def test_create_dry_run_writes_nothing(home: Path, tmp_path: Path) -> None:
    rosetta(*CREATE, "-o", tmp_path / "out", "--dry-run")
    assert not (tmp_path / "out").exists()
    assert not (home / "reviews.sqlite").exists()


def test_create_asks_once_who_asks(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "add --organisation" in refused("create", "last", "-o", out)
    rosetta(*CREATE, "-o", out)
    told = json.loads(rosetta("create", "last", "-o", out, "--json").stdout)
    batch = open_batch(Path(told["files"][0]).read_bytes())
    assert batch.manifest.organisation.name == "The council"


@pytest.fixture
def secret_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "secret"))
    entries = secret_entries()
    outputs = [(made.demo_outputs()[entry.id] or "x") + " ▁" for entry in entries]
    made.store_runs(tmp_path / "secret", entries, [outputs])
    return tmp_path / "secret"


def test_create_secret_goes_out_sealed_or_not_at_all(secret_home: Path, tmp_path: Path) -> None:
    out, card = tmp_path / "out", tmp_path / "blue.rosetta-laptop"
    asked = (*CREATE, "-o", out, "--anyway")
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--name", "../up"], "--name"),
        (["--reviewers", "0"], "--reviewers 0"),
        (["--core", "500"], "--core 500"),
        (["--items-per-person", "5"], "--core N"),
        (["--recipient", "age1nothing"], "no age recipient"),
        (["--language", "tlh"], "en, fr"),
        (["--segment", "held_out"], "no entry of these segments"),
        (["--title", "Is example/model good?"], "names a system"),
        (["--core", "40", "--items-per-person", "2"], "asked of nobody"),
        (["--title", "x" * 201], "field 'title'"),
        (["--items", "20"], "50 sentences.*--anyway"),
        (["--reviewers", "2"], "3 reviewers.*--anyway"),
        (["--cards", "taken/spring-cards.txt"], "taken"),
        (["-o", "file/below"], "file"),
        (["--for", "broken.rosetta-laptop"], "broken"),
    ],
)
def test_create_refused_leaves_no_laptop_no_key_and_no_file(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    laptop_card(Path("blue.rosetta-laptop"))
    Path("broken.rosetta-laptop").write_bytes(b"{}")
    Path("file").touch()
    Path("taken").mkdir()
    Path("taken/spring-cards.txt").touch()
    asked = ("-o", "out", "--name", "spring", "--for", "blue.rosetta-laptop")
    assert re.search(words, refused(*CREATE, *asked, *options), re.DOTALL)
    assert_nothing_stays(home, tmp_path)


def assert_nothing_stays(home: Path, place: Path) -> None:
    with Office.open(home) as office:
        assert not office.laptops()
        assert not office.reviews()
        assert not office.connection.execute("SELECT * FROM recovery").fetchall()
    assert not (home / "review-recovery-key.txt").exists()
    assert not list(place.glob("*/*.rosetta-batch"))


def test_create_anyway_makes_a_review_without_a_verdict(home: Path, tmp_path: Path) -> None:
    small = ("--items", "20")
    assert "50 sentences" in rosetta(*CREATE, *small, "--dry-run").output
    rosetta(*CREATE, "-o", tmp_path / "out", *small, "--anyway")


@pytest.mark.parametrize("fails", [1, 2, 3], ids=["batch", "cards", "recovery key"])
def test_create_on_a_stick_that_breaks_leaves_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    """A full stick lets files be written only up to some place."""
    card, out = tmp_path / "blue.rosetta-laptop", tmp_path / "out"
    laptop_card(card)
    written: list[Path] = []

    def broken(path: Path, data: bytes, mode: int) -> None:
        written.append(path)
        if len(written) == fails:
            raise stick.StickError(path, StorageProblem.DISK_FULL)
        stick.write_file(path, data, mode)

    monkeypatch.setattr(publishing, "write_file", broken)
    assert "not enough room" in refused(*CREATE, "-o", out, "--for", card)
    assert_nothing_stays(home, tmp_path)
    assert not list(out.iterdir())
    rosetta(*CREATE, "-o", out, "--for", card)
    with Office.open(home) as office:
        assert [laptop.name for laptop in office.laptops()] == ["blue"]


def test_of_two_windows_one_makes_the_recovery_key(home: Path) -> None:
    with Office.open(home) as office:
        first, second = (recovery_key(office, home / "key.txt") for _ in range(2))
        keep_recipient(office, first)
        with pytest.raises(UsageError, match="once more"):
            keep_recipient(office, second)
        known = recovery_key(office, home / "key.txt")
        assert (known.recipient, known.new, known.text) == (first.recipient, None, "")


def test_create_tells_why_there_is_little_training(home: Path) -> None:
    plan = (*CREATE, "--dry-run", "--seed", "3", "--anchors", "0", "--repeats", "0")
    for items, least, words in (
        (92, 1, "fewer than 8; development entries not asked about: "),
        (96, 1, "no development entry is left. Lower --items"),
        (80, 8, ""),
    ):
        shown = rosetta(*plan, "--items", items).output
        assert int(shown.split("training     ")[1].split()[0]) >= least
        assert words in shown
        assert ("Lower --items" in shown) == bool(words)


def test_create_passphrases_are_on_the_cards_alone(home: Path, tmp_path: Path) -> None:
    shown = rosetta(*CREATE, "-o", tmp_path, "--passphrases", "--name", "s").output
    assert "must not be on a stick with them" in shown
    assert "the file that their card names" in shown
    cards = (home / "review-cards" / "s-cards.txt").read_text("utf-8").split("-" * 72)
    names = [file.name for file in tmp_path.glob("*.rosetta-batch")]
    assert all(sum(name in card for card in cards) == 1 for name in names)
    codes = [card.split("Your code:")[1].split()[0].replace("-", "") for card in cards]
    assert not any(code in name.replace("-", "") for code in codes for name in names)


COLUMNS = "source\tcandidate\trating\texplanation\n"


def test_create_takes_texts_in_several_languages(home: Path, tmp_path: Path) -> None:
    ours = create(tmp_path / "ours", "--name", "ours")
    assert list(ours.manifest.translations) == ["fr"]
    assert ours.manifest.translations["fr"].consent.startswith("The council vous demande")
    assert all(set(item.explanations) == {"fr"} for item in ours.training)
    for name, content in {
        "en.txt": "{organisation} asks.\n", "es.txt": "{organisation} le pide.",
        "guide.txt": "Judge the meaning first.",
        "en.tsv": f"{COLUMNS}Hello\tSaluton\texcellent\tGood.\n",
        "es.tsv": f"{COLUMNS}Hello\tSaluton\texcellent\tBueno.\n",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(content, "utf-8")
    en, es, en_tsv, es_tsv = (tmp_path / n for n in ("en.txt", "es.txt", "en.tsv", "es.tsv"))
    plain = create(tmp_path / "plain", "--guide", tmp_path / "guide.txt")
    assert plain.manifest.guide == "Judge the meaning first."
    texts = ("--consent", en, "--consent", f"es={es}")
    lessons = ("--training", en_tsv, "--training", f"es={es_tsv}", "--label", "TK Verified")
    own = create(tmp_path / "own", *texts, *lessons)
    assert own.manifest.consent == "The council asks."
    assert own.manifest.labels == ("TK Verified",)
    assert own.manifest.translations["es"].consent == "The council le pide."
    assert own.manifest.translations["fr"].consent == "", "ours would say something else"
    assert own.manifest.translations["fr"].guide, "the guide is ours in each language"
    assert [(item.source, item.explanations) for item in own.training] == [
        ("Hello", {"es": "Bueno."})
    ]
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


@pytest.fixture
def font(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "Letters.ttf").write_bytes(drawn_font())
    (tmp_path / "Latin.ttf").write_bytes(drawn_font("abc"))
    (tmp_path / "OFL.txt").write_bytes(OFL)
    return "--font", str(tmp_path / "Letters.ttf"), "--font-licence", str(tmp_path / "OFL.txt")


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


def test_create_font_goes_along_signed_and_cut(
    foreign: Path, font: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    letters, licence = ("--font", "Letters.ttf"), ("--font-licence", "OFL.txt")
    for more, why in (
        (letters, "belong together"),
        (licence, "belong together"),
        ((*letters, "--font-licence", "none.txt"), "none.txt cannot be read"),
        (("--font", "OFL.txt", *licence), "OFL.txt: This font is not used"),
        ((*letters, "--font-licence", "Letters.ttf"), "the text of its licence"),
        (("--font", "Latin.ttf", *licence), "none of the letters"),
    ):
        assert why in refused(*asked_all(foreign, *more))
    assert not (foreign / "out").exists()
    said = rosetta(*asked_all(foreign, *font)).output
    assert "LEFT OUT" not in said
    assert "the batch 1 font (" in said
    [carried] = batch_at(foreign / "out").fonts
    assert set(map(ord, CHEROKEE)) <= carried.read().characters
    assert carried.licence == OFL
    monkeypatch.setitem(__import__("sys").modules, "fontTools", None)
    assert 'pip install ".[fonts]"' in refused(*asked_all(foreign, *font))


def test_create_translate_looks_at_letters_too(
    home: Path, tmp_path: Path, font: tuple[str, ...]
) -> None:
    file = tmp_path / "sentences.txt"
    file.write_text(f"The dog sleeps 😀.\nA house\n{CHEROKEE}", "utf-8")
    asked = (
        "create", "--translate", file, "--source-language", "en", "--target-language", "chr",
        "--organisation", "The council", "-o", home / "out",
    )  # fmt: skip
    assert "1 item cannot be read (9 Cherokee letters" in refused(*asked)
    assert "LEFT OUT" in rosetta(*asked, "--anyway").output
    assert "SHOWN BY NAME" in rosetta(*asked, *font).output


def test_what_no_laptop_could_show_is_told_with_the_verdict(foreign: Path, tmp_path: Path) -> None:
    rosetta(*asked_all(foreign, "--anyway"))
    batch = batch_at(foreign / "out")
    person = made.Person(tmp_path / "laptop", batch, next(iter(made.codes_of(foreign))))
    lacking = next(each.id for each in batch.items if each.candidate == CHEROKEE)
    person.leave_out(person.order.index(lacking))
    (foreign / "out" / "back.rosetta-ratings").write_bytes(person.handed_over())
    rosetta("import", foreign / "out", "--enrol", "--yes")
    for command in ("status", "gate"):
        said = rosetta(command, "last").output
        assert "NOT SHOWN: 1 sentence could not be shown on a laptop" in said
