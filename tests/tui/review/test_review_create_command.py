"""The organiser's commands on real stores: create, plan, import, enrol, status, withdraw."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.card.checking.signed import UNKNOWN
from harness.sealed.keys import Identity, Role
from harness.store.file.database import default_path, opened
from review.files.batch import open_batch
from review.files.ratings import open_ratings
from review.files.reviewer_codes import printed
from review.files.statements import read_laptop_card, write_laptop_card
from review.office.store.arrivals import deliveries
from review.office.store.store import Office
from review.verifying.kinds import VerifiedAgainst
from review.verifying.verifying import known_keys
from rosetta_tui.commands.review import review
from tests.review.office import made
from tests.review.office.secret_entries import secret_entries
from tests.tui.review.creating import CREATE, create, home, refused, rosetta, sent

__all__ = ["home"]


HOSTILE = "\x1b[2J\x9b31m[bold]x[/]\u202e"


def test_a_review_goes_out_and_comes_back(home: Path, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    shown = rosetta(
        *CREATE, "-o", str(stick), "--seed", "3", "--name", "spring", "--reviewers", "3"
    ).output
    for words in ("80 of 96", "8 wrong on purpose", "8 asked twice, 4 references", "3 people × 80"):
        assert words in shown
    assert [path.name for path in stick.iterdir()] == ["spring.rosetta-batch"]
    if os.name == "posix":  # on the laptop, its reader is another user than here
        assert (stick / "spring.rosetta-batch").stat().st_mode & 0o444 == 0o444
        assert stick.stat().st_mode & 0o555 == 0o555
    recovery = home / "review-recovery-key.txt"
    assert recovery.stat().st_mode & 0o777 == 0o600
    batch = open_batch((stick / "spring.rosetta-batch").read_bytes())
    people_of = made.codes_of(home)
    codes = list(people_of.values())
    place = home / "review-cards" / "spring-cards.txt"
    assert place.stat().st_mode & 0o777 == 0o600
    assert str(place) in shown.replace("\n", "")
    cards = place.read_text("utf-8")
    assert all(printed(code) in cards for code in codes)
    assert cards.count("spring.rosetta-batch") == 3
    for card in cards.split("-" * 72):
        begin = card.index("How to begin")
        assert begin < card.index("START-HERE.html") < card.index("Rosetta Review")
        assert card.index("rosetta review open") > card.index("Hand over your answers")
        assert "press w" not in card
    assert "program for reviewers" in shown
    assert "make reviewer-bundle" in shown
    assert "start rosetta-review there" in shown
    assert cards.count("The council") == 6
    people = [made.Person(tmp_path / code, batch, who) for who, code in people_of.items()]
    for number, person in enumerate(people):
        person.rate(made.random_ratings(20, number))
        (stick / f"{number}.rosetta-ratings").write_bytes(person.handed_over())
    waiting = rosetta("import", str(stick), code=1).output
    assert waiting.count("SET ASIDE") == 3
    words = people[0].identity.public.phrase
    assert words in waiting
    assert "WAITING: 1 file of an unknown laptop" in rosetta("status").output
    taken = rosetta("enrol", *words.split(), "--name", "blue").output
    assert "Enrolled: blue" in taken
    with opened(default_path()) as store:
        against = VerifiedAgainst(store, home, UNKNOWN)
        [whose] = [known_keys(against)[people[0].identity.public.signing_key]]
    assert whose == "blue, a laptop that was enrolled here"
    assert "added 21, already here 0, set aside 0, damaged 0" in taken
    rosetta("import", str(stick), "--enrol", "--yes")
    again = rosetta("import", str(stick)).output
    assert again.count("added 0, already here 21") == 3
    status = rosetta("status", "spring").output
    assert status.count("20 of 100") == 3
    assert "60 of 300 decisions are here" in status
    listed = json.loads(rosetta("status", "--json").output)
    assert [each["done"] for each in listed["reviews"]] == [60]
    assert not listed["waiting"]
    assert "excellent" not in status + json.dumps(listed)
    assert "--yes" in refused("withdraw", "spring", codes[0], "--scope", "batch")
    gone = rosetta(
        "withdraw", "spring", printed(codes[0]).lower(), "--scope", "batch", "--yes"
    ).output
    assert "Erased: 21 events" in gone
    assert "withdrawn" in rosetta("status", "last").output
    back = rosetta("import", str(stick), "--identity", str(recovery)).output
    assert back.count("added 0") == 3


def test_the_recovery_key_alone_opens_the_ratings(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The computer is lost; its data folder comes back from a copy, its keys do not."""
    create(tmp_path / "stick")
    [path] = (tmp_path / "stick").glob("*.rosetta-batch")
    batch = open_batch(path.read_bytes())
    person = made.Person(tmp_path / "laptop", batch, next(iter(made.codes_of(home))))
    file = tmp_path / "x.rosetta-ratings"
    file.write_bytes(person.handed_over())
    (home / "organisation.key").unlink()
    lost = rosetta("import", str(file), "--enrol", "--yes", code=1).output
    assert "NOT TAKEN" in lost
    found = rosetta(
        "import", str(file), "--enrol", "--yes", "--identity", str(home / "review-recovery-key.txt")
    )
    assert "added 1" in found.output


def test_a_dry_run_writes_nothing(home: Path, tmp_path: Path) -> None:
    rosetta(*CREATE, "-o", str(tmp_path / "out"), "--dry-run")
    assert not (tmp_path / "out").exists()
    assert not (home / "reviews.sqlite").exists()


@pytest.fixture
def secret_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "secret"
    monkeypatch.setenv("ROSETTA_HOME", str(folder))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    entries = secret_entries()
    made.store_runs(folder, entries, [[made.demo_outputs()[entry.id] for entry in entries]])
    return folder


@pytest.mark.thorough
def test_secret_sentences_go_out_sealed_or_not_at_all(secret_home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = refused(*CREATE, "-o", str(out))
    assert "--for" in words
    assert "--passphrases" in words
    assert not list(out.glob("*"))
    laptop = Identity.make(Role.LAPTOP)
    card = tmp_path / "blue.rosetta-laptop"
    card.write_bytes(write_laptop_card(laptop, f"blue{HOSTILE}"))
    shown = rosetta(*CREATE, "-o", str(out), "--for", str(card)).output
    assert laptop.public.phrase in shown
    assert "The batch is sealed" in shown
    with Office.open(secret_home) as office:
        office.enrol("ab" * 32, "red")
    [path] = out.glob("*.rosetta-batch")
    assert open_batch(path.read_bytes(), [laptop.age]).manifest.secret
    secrets = [entry.source.encode() for entry in secret_entries() if entry.secret]
    assert not any(secret in path.read_bytes() for secret in secrets for path in out.iterdir())
    assert not any(secret.decode() in shown for secret in secrets if len(secret) > 12)
    later = rosetta(*CREATE, "-o", str(out)).output  # to the laptop that is known by now
    assert "The batch is sealed" in later
    assert laptop.public.phrase in later
    assert "NOT sealed for the laptop red" in later
    each = create(out, "--passphrases", "--reviewers", "2", "--anyway")
    assert len(list(each["files"])) == 2  # type: ignore[call-overload]


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
    ],
    ids=[
        "name", "reviewers", "core", "share", "recipient", "language", "segment", "title",
        "nobody", "long",
    ],
)  # fmt: skip
def test_wrong_wishes_are_refused_in_words(
    home: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    assert words in refused(*CREATE, "-o", str(tmp_path / "out"), *options)
    assert not list(tmp_path.glob("out/*"))


@pytest.mark.parametrize(
    ("items", "least", "words"),
    [
        (92, 1, "fewer than 8; development entries not asked about: "),
        (96, 1, "no development entry is left. Lower --items"),
        (80, 8, ""),
    ],
    ids=["few", "none", "enough"],
)
def test_why_there_is_little_training_is_told(
    home: Path, items: int, least: int, words: str
) -> None:
    plan = [*CREATE, "--dry-run", "--seed", "3", "--anchors", "0", "--repeats", "0"]
    shown = rosetta(*plan, "--items", str(items)).output
    training = int(shown.split("training     ")[1].split()[0])
    assert training >= least
    assert words in shown
    assert ("Lower --items" in shown) == bool(words)


@pytest.mark.thorough
def test_the_words_of_the_cards_do_not_travel_with_the_files(home: Path, tmp_path: Path) -> None:
    shown = rosetta(*CREATE, "-o", str(tmp_path / "out"), "--passphrases", "--name", "s").output
    assert "must not be on a stick with them" in shown
    assert "the file that their card names" in shown
    cards = (home / "review-cards" / "s-cards.txt").read_text("utf-8").split("-" * 72)
    files = sorted((tmp_path / "out").glob("*.rosetta-batch"))
    assert all(sum(name in card for card in cards) == 1 for name in (file.name for file in files))
    codes = [card.split("Your code:")[1].split()[0] for card in cards]
    assert not any(
        code.replace("-", "") in file.name.replace("-", "") for code in codes for file in files
    )


def test_files_of_the_organiser_are_used(home: Path, tmp_path: Path) -> None:
    (tmp_path / "consent.txt").write_text("{organisation} asks. Copies stay.\n", "utf-8")
    (tmp_path / "guide.txt").write_text("Judge the meaning first.", "utf-8")
    (tmp_path / "own.tsv").write_text(
        "source\tcandidate\trating\texplanation\nHello\tSaluton\texcellent\tGood.\n", "utf-8"
    )
    options = ["--consent", "consent.txt", "--guide", "guide.txt", "--training", "own.tsv"]
    paths = [str(tmp_path / each) if "." in each else each for each in options]
    told = create(
        tmp_path / "out", *paths, "--organisation", "The council", "--label", "TK Verified"
    )
    [file] = list(told["files"])  # type: ignore[call-overload]
    batch = open_batch(Path(file).read_bytes())
    assert batch.manifest.consent == "The council asks. Copies stay."
    assert batch.manifest.guide == "Judge the meaning first."
    assert batch.manifest.labels == ("TK Verified",)
    assert [item.source for item in batch.training] == ["Hello"]


def test_a_hostile_name_of_a_file_is_shown_harmlessly(home: Path, tmp_path: Path) -> None:
    bad = tmp_path / "x\x1b[2J\u202e.rosetta-ratings"
    bad.write_bytes(b"nothing")
    rosetta("import", str(bad), code=1)


def test_a_plan_says_what_people_and_sentences_are_worth(home: Path) -> None:
    lines = rosetta("plan", "--reviewers", "5", "--items", "80").output.splitlines()
    assert lines[1].split()[:2] == ["5", "80"]
    assert 0.8 < int(lines[1].split()[2].rstrip("%")) / 100 < 0.95
    told = json.loads(rosetta("plan", "--json", "--reviewers", "5", "--items", "80").output)
    assert told[0]["chances"]["level"] > 0.8


def test_enrolling_unknown_words_names_those_that_wait(home: Path) -> None:
    words = refused("enrol", *["babab"] * 6)
    assert "waiting: none" in words
    key = Identity.make(Role.LAPTOP).public
    assert key.phrase in rosetta("enrol", key.signing_key, "--name", "red").output


def test_without_a_review_the_way_to_one_is_told(home: Path) -> None:
    assert "rosetta review create" in rosetta("status").output
    assert "no review" in refused("status", "spring")


def test_a_laptop_writes_its_own_card(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = tmp_path / "blue.rosetta-laptop"
    with monkeypatch.context() as there:
        there.setenv("ROSETTA_HOME", str(tmp_path / "laptop"))
        words = rosetta("enrol", "--card", str(card)).output
        phrase = Identity.load(tmp_path / "laptop", Role.LAPTOP).public.phrase
    assert phrase in words
    assert f"Enrolled: blue ({phrase})" in rosetta("enrol", str(card)).output
    assert "new one" in refused("enrol", "--card", str(card))
    assert "Name one laptop" in refused("enrol")
    with monkeypatch.context() as there:
        there.setenv("ROSETTA_HOME", str(tmp_path / "laptop"))
        there.chdir(tmp_path)
        assert phrase in rosetta("enrol", "--card").output
        assert phrase in rosetta("enrol", "--card").output  # to read the words out once more
    assert read_laptop_card((tmp_path / "laptop.rosetta-laptop").read_bytes()).name == "laptop"
    shown = rosetta(*CREATE, "-o", str(tmp_path / "out"), "--for", str(card)).output
    assert "The batch is sealed" in shown


def test_the_words_of_a_file_enrol_its_laptop_and_its_key_to_seal_for(
    home: Path, tmp_path: Path
) -> None:
    person, other = sent(home, tmp_path / "out")[:2]
    person.rate(made.random_ratings(5, 1))
    data = person.handed_over()
    (tmp_path / "first.rosetta-ratings").write_bytes(data)
    (tmp_path / "other.rosetta-ratings").write_bytes(other.handed_over())
    own = Identity.load(home, Role.ORGANISATION).age
    words = open_ratings(data, [own]).phrase()
    shown = rosetta("import", str(tmp_path), code=1).output
    assert f"rosetta review enrol {words}" in shown
    assert f"rosetta review enrol {words}\n" in rosetta("status").output
    assert words in rosetta("status", "--json").output
    assert "added 6" in rosetta("enrol", *words.upper().split(), "--name", "blue").output
    with Office.open(home) as office:
        [laptop] = office.laptops()
    assert laptop.signing_key == person.identity.public.signing_key
    assert laptop.recipient == person.identity.public.recipient
    assert "waiting" in refused("enrol", *words.split())


def test_each_unknown_laptop_is_asked_about_with_its_words(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = sent(home, tmp_path / "out")[:3]
    for number, person in enumerate(people):
        person.rate(made.random_ratings(3, number))
        (tmp_path / f"{number}.rosetta-ratings").write_bytes(person.handed_over())
    command = ["import", str(tmp_path), "--enrol"]
    assert "--enrol asks about each unknown laptop on a terminal" in refused(*command)
    assert "--yes goes with --enrol" in refused("import", str(tmp_path), "--yes")
    with Office.open(home) as office:
        assert (office.laptops(), office.quarantine()) == ([], [])
    monkeypatch.setattr("rosetta_tui.commands.review.import_.answering", lambda: True)
    asked = CliRunner().invoke(review, command, input="y\nn\nq\n")
    assert asked.exit_code == 0, asked.output
    assert all(person.identity.public.phrase in asked.output for person in people)
    with Office.open(home) as office:
        [laptop] = office.laptops()
        assert laptop.signing_key == people[0].identity.public.signing_key
        assert laptop.recipient == people[0].identity.public.recipient
        assert len(office.quarantine()) == 2
    told = CliRunner().invoke(review, [*command, "--json"], input="q\n")
    assert [each["outcome"] for each in json.loads(told.stdout)] == ["taken", *["set aside"] * 2]
    assert (
        CliRunner().invoke(review, [*command[:1], str(tmp_path / "2.rosetta-ratings")]).exit_code
        == 1
    )


def test_a_laptop_known_by_its_key_alone_is_sealed_for_once_its_ratings_came(
    home: Path, tmp_path: Path
) -> None:
    [person, *_] = sent(home, tmp_path / "out")
    rosetta("enrol", person.identity.public.signing_key, "--name", "blue")
    (tmp_path / "x.rosetta-ratings").write_bytes(person.handed_over())
    rosetta("import", str(tmp_path / "x.rosetta-ratings"))
    with Office.open(home) as office:
        [laptop] = office.laptops()
    assert (laptop.name, laptop.recipient) == ("blue", person.identity.public.recipient)


def test_a_file_that_comes_twice_counts_once(home: Path, tmp_path: Path) -> None:
    people = sent(home, tmp_path / "out")[:2]
    for number, person in enumerate(people):
        (tmp_path / f"{number}.rosetta-ratings").write_bytes(person.handed_over())
    for _ in range(2):
        rosetta("import", str(tmp_path), "--enrol", "--yes")
    assert "from 2 files." in rosetta("status", "spring").output
    with Office.open(home) as office:
        review = office.review("spring")
        assert [each.different_files for each in deliveries(office, review)] == [1, 1]


def test_a_batch_that_is_imported_is_named_as_what_it_is(home: Path, tmp_path: Path) -> None:
    sent(home, tmp_path / "out")
    shown = rosetta("import", str(tmp_path / "out" / "spring.rosetta-batch"), code=1).output
    assert "the batch that you sent out" in shown


@pytest.mark.parametrize(
    ("size", "reason"),
    [(["--items", "20"], "50 sentences"), (["--reviewers", "2"], "3 reviewers")],
    ids=["items", "reviewers"],
)
def test_a_review_without_a_verdict_is_made_only_if_wished(
    home: Path, tmp_path: Path, size: list[str], reason: str
) -> None:
    words = refused(*CREATE, "-o", str(tmp_path / "out"), *size)
    assert reason in words
    assert "--anyway" in words
    assert not (tmp_path / "out").exists()
    assert reason in rosetta(*CREATE, *size, "--dry-run").output
    rosetta(*CREATE, "-o", str(tmp_path / "out"), *size, "--anyway")


def test_who_asks_is_asked_for_once(home: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert "--organisation" in refused("create", "last", "-o", out)
    rosetta(*CREATE, "-o", out)
    told = json.loads(rosetta("create", "last", "-o", out, "--json").stdout)
    assert (
        open_batch(Path(told["files"][0]).read_bytes()).manifest.organisation.name == "The council"
    )
