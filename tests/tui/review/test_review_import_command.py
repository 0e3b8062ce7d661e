"""``rosetta review import|enrol|status|withdraw``: files that come back, and which laptops speak for whom."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.card.checking.signed import UNKNOWN
from harness.core.failures import UsageError
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity, Role
from harness.store.file.database import default_path, opened
from review.files.ratings import open_ratings
from review.files.reviewer_codes import printed
from review.files.statements import read_laptop_card, write_laptop_card
from review.log.payloads import Rate
from review.office.store.arrivals import deliveries
from review.office.store.review import KnownLaptop
from review.office.store.store import Office
from review.rating import Rating
from review.verifying.kinds import VerifiedAgainst
from review.verifying.verifying import known_keys
from rosetta_tui.commands.review import review
from tests.review.office import made
from tests.review.office.made import Person
from tests.tui.review.creating import CREATE, home, refused, rosetta, sent, status
from tests.tui.review.gated import invoke

__all__ = ["home"]


@pytest.fixture
def people(home: Path, tmp_path: Path) -> list[Person]:
    """Three people of a review that was sent out."""
    return sent(home, tmp_path / "out", "--reviewers", "3")


def handed(person: Person, path: Path, count: int = 0) -> bytes:
    """Rate some items and write the file of ratings."""
    person.rate(made.random_ratings(count, count))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data := person.handed_over())
    return data


def laptops(home: Path) -> list[KnownLaptop]:
    with Office.open(home) as office:
        return office.laptops()


def test_review_comes_back_counts_and_is_withdrawn(
    home: Path, people: list[Person], tmp_path: Path
) -> None:
    stick = tmp_path / "stick"
    for number, person in enumerate(people):
        handed(person, stick / f"{number}.rosetta-ratings", 20)
    waiting = rosetta("import", stick, code=1).output
    words = people[0].identity.public.phrase
    assert waiting.count("SET ASIDE") == 3
    assert words in waiting
    assert "WAITING: 1 file of an unknown laptop" in rosetta("status").output
    taken = rosetta("enrol", *words.split(), "--name", "blue").output
    assert "Enrolled: blue" in taken
    with opened(default_path()) as store:
        known = known_keys(VerifiedAgainst(store, home, UNKNOWN))
    key = people[0].identity.public.signing_key
    assert known[key] == "blue, a laptop that was enrolled here"
    assert "added 21, already here 0, set aside 0, damaged 0" in taken
    rosetta("import", stick, "--enrol", "--yes")
    assert rosetta("import", stick).output.count("added 0, already here 21") == 3
    shown = rosetta("status", "spring").output
    assert shown.count("20 of 100") == 3
    assert "60 of 300 decisions are here, from 3 files." in shown
    told = status()
    assert [each["done"] for each in told["reviews"]] == [60]  # type: ignore[attr-defined]
    assert not told["waiting"]
    assert "excellent" not in shown + json.dumps(told)
    with Office.open(home) as office:
        found = deliveries(office, office.review("spring"))
        assert [each.different_files for each in found] == [1, 1, 1], "it came twice"
    code = people[0].card
    assert "--yes" in refused("withdraw", "spring", code, "--scope", "batch")
    asked = ("withdraw", "spring", printed(code).lower(), "--scope", "batch", "--yes")
    assert "Erased: 21 events" in rosetta(*asked).output
    assert "withdrawn" in rosetta("status", "last").output
    back = rosetta("import", stick, "--identity", home / "review-recovery-key.txt").output
    assert back.count("added 0") == 3


def test_import_recovery_key_alone_opens_the_ratings(
    home: Path, people: list[Person], tmp_path: Path
) -> None:
    """The computer is lost; its data folder comes back from a copy, its keys do not."""
    file = tmp_path / "x.rosetta-ratings"
    handed(people[0], file)
    (home / "organisation.key").unlink()
    asked = ("import", file, "--enrol", "--yes")
    assert "NOT TAKEN" in rosetta(*asked, code=1).output
    found = rosetta(*asked, "--identity", home / "review-recovery-key.txt").output
    assert "added 1" in found


def test_import_what_is_no_ratings_is_named_harmlessly(
    home: Path, people: list[Person], tmp_path: Path
) -> None:
    shown = rosetta("import", tmp_path / "out" / "spring.rosetta-batch", code=1).output
    assert "the batch that you sent out" in shown
    bad = tmp_path / "x\x1b[2J\u202e.rosetta-ratings"
    bad.write_bytes(b"nothing")
    rosetta("import", bad, code=1)


def test_status_without_a_review_tells_the_way_to_one(home: Path) -> None:
    assert "rosetta review create" in rosetta("status").output
    assert "no review" in refused("status", "spring")
    assert "waiting: none" in refused("enrol", *["babab"] * 6)


def test_enrol_card_of_a_laptop(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = tmp_path / "blue.rosetta-laptop"
    with monkeypatch.context() as there:
        there.setenv("ROSETTA_HOME", str(tmp_path / "laptop"))
        there.chdir(tmp_path)
        words = rosetta("enrol", "--card", card).output
        phrase = Identity.load(tmp_path / "laptop", Role.LAPTOP).public.phrase
        for said in (words, *(rosetta("enrol", "--card").output for _ in range(2))):
            assert phrase in said  # to read the words out once more
    assert read_laptop_card((tmp_path / "laptop.rosetta-laptop").read_bytes()).name == "laptop"
    assert f"Enrolled: blue ({phrase})" in rosetta("enrol", card).output
    assert "new one" in refused("enrol", "--card", card)
    assert "Name one laptop" in refused("enrol")
    shown = rosetta(*CREATE, "-o", tmp_path / "out", "--for", card).output
    assert "The batch is sealed" in shown


def test_enrol_by_words_of_a_file_keeps_the_key_to_seal_for(
    home: Path, people: list[Person], tmp_path: Path
) -> None:
    person, other, third = people
    data = handed(person, tmp_path / "first.rosetta-ratings", 5)
    handed(other, tmp_path / "other.rosetta-ratings")
    words = open_ratings(data, [Identity.load(home, Role.ORGANISATION).age]).phrase()
    told = f"rosetta review enrol {words}"
    assert told in rosetta("import", tmp_path, code=1).output
    assert f"{told}\n" in rosetta("status").output
    assert words in json.dumps(status())
    assert "added 6" in rosetta("enrol", *words.upper().split(), "--name", "blue").output
    assert "waiting" in refused("enrol", *words.split())
    key = third.identity.public
    assert key.phrase in rosetta("enrol", key.signing_key, "--name", "red").output
    handed(third, tmp_path / "x.rosetta-ratings")
    rosetta("import", tmp_path / "x.rosetta-ratings")
    known = {each.name: (each.signing_key, each.recipient) for each in laptops(home)}
    blue, red = person.identity.public, third.identity.public
    assert known["blue"] == (blue.signing_key, blue.recipient)
    assert known["red"] == (red.signing_key, red.recipient)


def test_import_asks_about_each_unknown_laptop(
    home: Path, people: list[Person], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, person in enumerate(people):
        handed(person, tmp_path / f"{number}.rosetta-ratings", 3)
    command = ["import", str(tmp_path), "--enrol"]
    assert "--enrol asks about each unknown laptop on a terminal" in refused(*command)
    assert "--yes goes with --enrol" in refused("import", tmp_path, "--yes")
    assert laptops(home) == []
    monkeypatch.setattr("rosetta_tui.commands.review.import_.answering", lambda: True)
    asked = rosetta(*command, text="y\nn\nq\n").output
    assert all(person.identity.public.phrase in asked for person in people)
    [laptop] = laptops(home)
    key = people[0].identity.public
    assert (laptop.signing_key, laptop.recipient) == (key.signing_key, key.recipient)
    told = CliRunner().invoke(review, [*command, "--json"], input="q\n")
    assert [each["outcome"] for each in json.loads(told.stdout)] == ["taken", *["set aside"] * 2]
    rosetta("import", tmp_path / "2.rosetta-ratings", code=1)


@pytest.fixture
def stick(home: Path, people: list[Person], tmp_path: Path) -> Path:
    """Return ratings of three people; the laptop of the third speaks for the first too."""
    for number, person in enumerate(people):
        person.rate(made.random_ratings(5, number))
        if number == 2:
            of = people[0]
            person.laptop.append(
                Rate(
                    **of.place, item=of.order[0], position=0, active_ms=1, face="lines",
                    version="0", rating=Rating.EXCELLENT,
                )
            )  # fmt: skip
        handed(person, tmp_path / "stick" / f"{number}.rosetta-ratings")
        rosetta("enrol", person.identity.public.signing_key, "--name", f"box {number}")
    return tmp_path / "stick"


def test_two_laptops_for_one_person_are_told_decided_and_taken_out(
    stick: Path, people: list[Person]
) -> None:
    card, code = people[0].card, printed(people[0].card)
    heard = f"{code} is heard from box 0 and box 2."
    for _ in range(2):
        told = rosetta("import", stick).output
        assert f"LOOK: {heard} None of these ratings" in told
        assert "LOOK: its laptop speaks for 2 people" in told
        assert "keep this laptop out" not in told
    shown = rosetta("status", "spring").output
    for words in (
        f"LOOK: {heard}", f'rosetta review enrol "box 0" --speaks-for {code}',
        "LOOK: box 2 speaks for 2 people", "That is fine where they share this computer.",
    ):  # fmt: skip
        assert words in shown
    [found] = json.loads(rosetta("status", "spring", "--json").output)["reviews"]
    assert [(each["code"], each["counted"]) for each in found["several"]] == [(card, [])]
    assert [len(each["people"]) for each in found["laptops"]] == [1, 1, 2]
    assert [each["rated"] for each in found["reviewers"] if each["reviewer"] == card] == [0]
    said = rosetta("enrol", "box", "0", "--speaks-for", code).output
    assert said.startswith(f"Noted in spring: box 0 speaks for {code}. What other laptops say")
    shown = rosetta("status", "spring").output
    assert f"NOTE: {heard} You said who speaks for this person: box 0." in shown
    assert shown.count(" 5 of 100") == 3
    both = rosetta("enrol", "box 2", "--with", "box 0", "--speaks-for", code, "--json").output
    assert json.loads(both)["laptops"] == ["box 2", "box 0"]
    out = rosetta("enrol", "--remove", "box 2", "--reason", "nobody's").output
    assert out.startswith("Taken out: box 2. Nothing that it says counts; its files are refused.")
    refusal = rosetta("import", stick, code=1).output
    assert "NOT TAKEN  2.rosetta-ratings: its laptop, box 2, was taken out on" in refusal
    assert "(nobody's)" in refusal
    shown = rosetta("status", "spring").output
    assert "NOTE: box 2 is taken out (nobody's)" in shown
    assert shown.count(" 5 of 100") == 2
    again = rosetta("enrol", "--remove", "--undo", "box 2").output
    assert again == "Heard again: box 2. Noted in spring.\n"
    assert rosetta("status", "spring").output.count(" 5 of 100") == 3


def test_enrol_options_that_say_nothing_together_are_refused(
    stick: Path, people: list[Person]
) -> None:
    code = people[0].card
    for asked, said in (
        (("box 0", "--speaks-for", code, "--remove"), "each alone"),
        (("box 0", "--remove", "--name", "blue"), "each alone"),
        (("box 0", "--with", "box 1"), "--speaks-for CODE"),
        (("box 0", "--undo"), "belong to --remove"),
        (("box 0", "--remove", "--undo", "--reason", "x"), "Name one"),
        (("box 0", "--remove", "--reason", "x" * 201), "at most 200"),
        (("box 9", "--remove", "--reason", "x"), "no laptop 'box 9'"),
        (("box 0", "--speaks-for", code), "handed nothing over"),
        (("box 0", "--speaks-for", "YBKC-TGFM"), "no review has the code"),
        (("--remove", "--reason", "x"), "Name one laptop"),
        (("box 2", "--remove"), "Say why with --reason"),
        (("box 2", "--remove", "--reason", " "), "Say why with --reason"),
    ):
        assert said in refused("enrol", *asked), asked
    rosetta("import", stick)
    said = refused("enrol", "box 1", "--speaks-for", code)
    assert f"box 1 has no answer of {printed(code)}; box 0 and box 2 have" in said
    assert "taken out" not in rosetta("status", "spring").output.replace("is taken out with", "")


def test_enrol_witness_signs_and_the_organisation_keeps_it(
    home: Path, people: list[Person], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the witness's own laptop to the organisation's desk."""
    monkeypatch.chdir(tmp_path)
    person, elder = people[0].identity, tmp_path / "elder"
    key, kept = person.public.signing_key, "out/spring.rosetta-batch"
    Path("blue.rosetta-laptop").write_bytes(write_laptop_card(person, "blue"))
    Path("bad.rosetta-witness").write_bytes(b"{}")
    with monkeypatch.context() as there:
        there.setenv("ROSETTA_HOME", str(elder))
        said = invoke("enrol", "blue.rosetta-laptop", "--witness", kept).stdout
        witness = Identity.load(elder, Role.LAPTOP).public.phrase
        invoke("enrol", key, "--witness", "0" * 64)
        for laptop, organisation, why in (
            ("nothing", "0" * 64, "neither a laptop's file nor its key"),
            (key, "nothing", "by a batch file of it"),
        ):
            with pytest.raises(UsageError, match=why):
                invoke("enrol", laptop, "--witness", organisation)
    assert person.public.phrase in said
    assert witness in said
    for name, why in (("blue", "not enrolled here"), (key[:8], "another organisation")):
        with pytest.raises(UsageError, match=why):
            invoke("enrol", f"{name}.rosetta-witness")
    with pytest.raises(FileError, match="not the statement of a witness"):
        invoke("enrol", "bad.rosetta-witness")
    invoke("enrol", "blue.rosetta-laptop")
    told = json.loads(invoke("enrol", "blue.rosetta-witness", "--json").stdout)
    assert (told["name"], told["witness"]) == ("blue", witness)
    with Office.open(home) as office:
        assert office.statements({key}) == [Path("blue.rosetta-witness").read_bytes()]
        assert office.statements({"0" * 64}) == []
