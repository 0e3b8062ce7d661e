"""``rosetta review import|enrol|status|withdraw|second``: files that come back, which laptops speak for whom, and a second look."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from harness.card.checking.signed import UNKNOWN
from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError
from harness.store.sqlite.database import default_path, opened
from review.files.batch import Batch
from review.files.identities import printed, read_laptop_card, write_laptop_card
from review.files.manifests import OthersWords
from review.files.ratings import open_ratings
from review.log.payloads import Comment, HarmFlag, Reasons, Scope, Suggest
from review.office.making.second_look import second_looks
from review.office.results.progress import progress
from review.office.store.arrivals import deliveries
from review.office.store.review import KnownLaptop
from review.office.store.store import Office
from review.rating import Rating, Reason
from review.verdict.gate.adjudication import SecondLook, queue
from review.verifying.kinds import VerifiedAgainst
from review.verifying.verifying import known_keys
from rosetta_tui.commands.review import review
from rosetta_tui.review.organiser.service import OrganiserService, read_review
from tests.harness.sealed.refusals import refuses
from tests.review.office import made
from tests.review.office.laptops import rating
from tests.review.office.made import Person
from tests.tui.review.gated import CREATE, batch_at, create, home, invoke, refused, rosetta, sent, status

__all__ = ["home"]


People = list[Person]


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


def test_review_comes_back_and_is_withdrawn(home: Path, people: People, tmp_path: Path) -> None:
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


def test_import_recovery_key_alone_opens_it(home: Path, people: People, tmp_path: Path) -> None:
    """The computer is lost; its data folder comes back from a copy, its keys do not."""
    file = tmp_path / "x.rosetta-ratings"
    handed(people[0], file)
    (home / "organisation.key").unlink()
    asked = ("import", file, "--enrol", "--yes")
    assert "NOT TAKEN" in rosetta(*asked, code=1).output
    found = rosetta(*asked, "--identity", home / "review-recovery-key.txt").output
    assert "added 1" in found


def test_import_of_no_ratings_is_harmless(home: Path, people: People, tmp_path: Path) -> None:
    shown = rosetta("import", tmp_path / "out" / "spring.rosetta-batch", code=1).output
    assert "the batch that you sent out" in shown
    bad = tmp_path / "x\x1b[2J\u202e.rosetta-ratings"
    bad.write_bytes(b"nothing")
    rosetta("import", bad, code=1)


def test_status_without_a_review_tells_the_way_to_one(home: Path) -> None:
    assert "rosetta review create" in rosetta("status").output
    assert "no review" in refused("status", "spring")
    assert "waiting: none" in refused("enrol", *["babab"] * 6)


def test_enrol_card_of_laptop(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_enrol_by_words_keeps_key_to_seal_for(home: Path, people: People, tmp_path: Path) -> None:
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
    home: Path, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, person in enumerate(people):
        handed(person, tmp_path / f"{number}.rosetta-ratings", 3)
    command = ["import", str(tmp_path), "--enrol"]
    assert "--enrol asks about each unknown laptop on a terminal" in refused(*command)
    assert "--yes goes with --enrol" in refused("import", tmp_path, "--yes")
    assert laptops(home) == []
    monkeypatch.setattr("rosetta_tui.commands.review.ratings.answering", lambda: True)
    asked = rosetta(*command, text="y\nn\nq\n").output
    assert all(person.identity.public.phrase in asked for person in people)
    [laptop] = laptops(home)
    key = people[0].identity.public
    assert (laptop.signing_key, laptop.recipient) == (key.signing_key, key.recipient)
    told = CliRunner().invoke(review, [*command, "--json"], input="q\n")
    assert [each["outcome"] for each in json.loads(told.stdout)] == ["taken", *["set aside"] * 2]


@pytest.fixture
def stick(home: Path, people: People, tmp_path: Path) -> Path:
    """Return ratings of three people; the laptop of the third speaks for the first too."""
    for number, person in enumerate(people):
        person.rate(made.random_ratings(5, number))
        if number == 2:
            person.laptop.append(rating(people[0]))
        handed(person, tmp_path / "stick" / f"{number}.rosetta-ratings")
        rosetta("enrol", person.identity.public.signing_key, "--name", f"box {number}")
    return tmp_path / "stick"


def test_two_laptops_for_one_person_are_told_and_taken_out(stick: Path, people: People) -> None:
    card, code = people[0].card, printed(people[0].card)
    heard = f"{code} is heard from box 0 and box 2."
    told = rosetta("import", stick).output
    assert f"LOOK: {heard} None of these ratings" in told
    assert "LOOK: its laptop speaks for 2 people" in told
    shown = rosetta("status", "spring").output
    for words in (f"LOOK: {heard}", f'rosetta review enrol "box 0" --speaks-for {code}'):
        assert words in shown
    [found] = json.loads(rosetta("status", "spring", "--json").output)["reviews"]
    assert [(each["code"], each["counted"]) for each in found["several"]] == [(card, [])]
    assert [each["rated"] for each in found["reviewers"] if each["reviewer"] == card] == [0]
    said = rosetta("enrol", "box", "0", "--speaks-for", code).output
    assert said.startswith(f"Noted in spring: box 0 speaks for {code}. What other laptops say")
    assert rosetta("status", "spring").output.count(" 5 of 100") == 3
    both = rosetta("enrol", "box 2", "--with", "box 0", "--speaks-for", code, "--json").output
    assert json.loads(both)["laptops"] == ["box 2", "box 0"]
    out = rosetta("enrol", "--remove", "box 2", "--reason", "nobody's").output
    assert out.startswith("Taken out: box 2. Nothing that it says counts; its files are refused.")
    refusal = rosetta("import", stick, code=1).output
    assert "NOT TAKEN  2.rosetta-ratings: its laptop, box 2, was taken out on" in refusal
    shown = rosetta("status", "spring").output
    assert "NOTE: box 2 is taken out (nobody's)" in shown
    assert shown.count(" 5 of 100") == 2
    again = rosetta("enrol", "--remove", "--undo", "box 2").output
    assert again == "Heard again: box 2. Noted in spring.\n"
    assert rosetta("status", "spring").output.count(" 5 of 100") == 3


def test_enrol_options_that_clash_are_refused(stick: Path, people: People) -> None:
    code = people[0].card
    for asked, said in (
        (("box 0", "--remove", "--name", "blue"), "each alone"),
        (("box 0", "--with", "box 1"), "--speaks-for CODE"),
        (("box 0", "--undo"), "belong to --remove"),
        (("box 0", "--remove", "--undo", "--reason", "x"), "Name one"),
        (("box 0", "--remove", "--reason", "x" * 201), "at most 200"),
        (("box 9", "--remove", "--reason", "x"), "no laptop 'box 9'"),
        (("box 0", "--speaks-for", code), "handed nothing in"),
        (("box 0", "--speaks-for", "YBKC-TGFM"), "no review has the code"),
        (("box 2", "--remove", "--reason", " "), "Say why with --reason"),
    ):
        assert said in refused("enrol", *asked), asked
    rosetta("import", stick)
    said = refused("enrol", "box 1", "--speaks-for", code)
    assert f"box 1 has no answer of {printed(code)}; box 0 and box 2 have" in said


def test_enrol_witness_signs_and_the_organisation_keeps_it(
    home: Path, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
            refuses(UsageError, why, invoke, "enrol", laptop, "--witness", organisation)
    assert person.public.phrase in said
    assert witness in said
    for name, why in (("blue", "not enrolled here"), (key[:8], "another organisation")):
        refuses(UsageError, why, invoke, "enrol", f"{name}.rosetta-witness")
    refuses(FileError, "not the statement of a witness", invoke, "enrol", "bad.rosetta-witness")
    invoke("enrol", "blue.rosetta-laptop")
    told = json.loads(invoke("enrol", "blue.rosetta-witness", "--json").stdout)
    assert (told["name"], told["witness"]) == ("blue", witness)
    with Office.open(home) as office:
        assert office.statements({key}) == [Path("blue.rosetta-witness").read_bytes()]
        assert office.statements({"0" * 64}) == []


WORDS = {"comment": "mark-0 too formal", "wording": "mark-0 Mi vidis lian hundon."}
EVERY = ("create", "--second", "spring", "-o")


@dataclass
class Ground:
    """Three people who rated at random, the first of whom wrote about every sentence."""

    home: Path
    stick: Path
    people: list[made.Person] = field(default_factory=list)

    def take(self, people: list[made.Person]) -> None:
        for number, person in enumerate(people):
            file = self.stick / f"{person.code}{number}.rosetta-ratings"
            file.write_bytes(person.handed_over())
        rosetta("import", self.stick, "--enrol", "--yes")

    def batch(self, name: str) -> Batch:
        return batch_at(self.stick / f"{name}.rosetta-batch")

    def second(self, *more: str) -> Batch:
        rosetta(*EVERY, self.stick, "--name", "again", *more)
        return self.batch("again")


def ground(home: Path, stick: Path, *more: str) -> Ground:
    create(stick, "--name", "spring", "--reviewers", "3", "--items", "16", "--anyway", *more)
    assert "Nothing in review 'spring' split the panel" in refused(*EVERY, stick)
    scene = Ground(home, stick)
    for place, (who, code) in enumerate(made.codes_of(home, "spring").items()):
        person = made.Person(stick.parent / f"laptop {place}", scene.batch("spring"), who, code)
        person.rate(Random(place).choices([Rating.REJECT, Rating.EXCELLENT], k=len(person.order)))
        scene.people.append(person)
    first = scene.people[0]
    for item in first.order:
        about = {**first.place, "item": item}
        first.laptop.append(Reasons(**about, reasons=(Reason.REGISTER,)))
        first.laptop.append(Comment(**about, text=WORDS["comment"]))
        first.laptop.append(Suggest(**about, text=WORDS["wording"]))
    scene.take(scene.people)
    return scene


@pytest.fixture
def told(home: Path, tmp_path: Path) -> Ground:
    return ground(home, tmp_path / "stick", "--second-look")


def everything(batch: Batch) -> str:
    archive = zipfile.ZipFile(io.BytesIO(batch.archive))
    return "\n".join(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())


def test_words_go_along_without_names_and_answers_where_told(told: Ground) -> None:
    first = told.batch("spring").manifest
    assert first.shows_words
    assert "may be shown to the others" in first.consent
    assert "être montré aux autres" in first.translations["fr"].consent
    batch = told.second()
    assert batch.manifest.second_of == first.batch
    assert not batch.manifest.shows_words, "there is no third"
    assert not batch.training
    with Office.open(told.home) as office:
        review, again = office.review("spring"), office.review("again")
        split = [each for each in queue(office.state(review), review.key) if each.is_split]
        assert sorted(about.partner or "" for about in again.key.items.values()) == sorted(case.item for case in split)
        assert {about.run_id for about in again.key.items.values()} == {None}
        assert set(again.codes.values()) == set(review.codes.values()), "their cards stay theirs"
        kept = office.connection.execute("SELECT * FROM item").fetchall()
    for item in batch.items:
        [said] = set(item.others)  # of both showings, where it was shown twice
        assert said == OthersWords(reasons=(Reason.REGISTER,), comment=WORDS["comment"], suggestion=WORDS["wording"])
    whole = everything(batch)
    assert not any(person.code in whole for person in told.people)
    assert not any(name in whole for name in ('"reject"', '"excellent"', '"counts"'))
    assert "mark-0" not in str(kept), "what is taken back is erased here: it is not kept twice"
    for command, why in (
        ((*EVERY, told.stick), "had its second look: 'again'"),
        (("create", "--second", "again", "-o", told.stick), "There is no third"),
        (("gate", "again"), "is advice for who decides"),
        (("adjudicate", "again"), "Decide in the first one"),
    ):
        assert why in refused(*command)


def test_people_who_were_not_told_are_not_quoted(home: Path, tmp_path: Path) -> None:
    scene = ground(home, tmp_path / "stick")
    plan = rosetta(*EVERY, scene.stick, "--dry-run").output
    assert "nothing of what people wrote" in plan
    batch = scene.second()
    assert batch.items
    assert not any(item.others for item in batch.items)
    assert "mark-0" not in everything(batch)


def test_what_somebody_took_back_is_not_shown_to_others(told: Ground) -> None:
    told.people[0].withdraw(Scope.COMMENTS)
    told.people[2].withdraw()
    told.take([told.people[0], told.people[2]])
    batch = told.second()
    assert "mark-0" not in everything(batch)
    assert len(batch.manifest.orders) == 2, "who took everything back is not asked again"


def test_the_answers_are_advice_and_no_verdict_counts_them(told: Ground) -> None:
    batch = told.second()
    before = json.loads(rosetta("gate", "spring", "--json").stdout)
    people = [
        made.Person(told.stick.parent / f"again {code}", batch, who, code)
        for who, code in made.codes_of(told.home, "again").items()
    ]
    for person in people:
        person.rate([Rating.ACCEPTABLE] * len(person.order))
    flagged = people[1].order[0]
    people[1].laptop.append(HarmFlag(**people[1].place, item=flagged, harmful=True))
    told.take(people)
    gate = rosetta("gate", "spring", "--json")
    assert json.loads(gate.stdout) == before
    assert "1 of the sentences were called harmful in the second look" in gate.stderr
    assert "No certificate is issued before that" in refused("gate", "spring", "--issue")
    with Office.open(told.home) as office:
        review, again = office.review("spring"), office.review("again")
        found = second_looks(office, review, office.state(review))
        item = again.key.items[flagged].partner or ""
        assert found[item] == SecondLook((0, 0, 3, 0), 0, 3, 3, 1, ())
        assert {each.counts for each in found.values()} == {(0, 0, 3, 0)}
        assert [each.done for each in progress(office, again).reviewers] == [len(batch.items)] * 3
    queued = json.loads(rosetta("adjudicate", "spring", "--json").stdout)
    assert [each["second_look"] for each in queued] == [[0, 0, 3, 0]] * len(batch.items)
    shown = rosetta("adjudicate", "spring", text="q\n").output
    for words in (WORDS["comment"], "Second look: 0 reject, 0 gist, 3 acceptable"):
        assert words in shown
    desk = OrganiserService(told.home, told.home / "rosetta.sqlite")
    [case] = [each for each in read_review(desk, "spring").cases if each.item == item]
    assert case.is_open, "a flag of the second look waits for a decision"
    assert case.may_be_decided
    assert read_review(desk, "again").cases == [], "nothing is decided in the second look"
    rosetta("adjudicate", "spring", text="c\nused so\nAnn\nq\n")
    assert "second look" not in rosetta("gate", "spring", "--json").stderr
