"""A speaker, or whoever finds a stick, as attacker: an enrolled laptop, a photo of a card, a file, no office."""

import io
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.sealed.sealing import seal
from harness.sealed.strict_records import FileError, FileProblem
from review.files.batch import open_batch, write_batch
from review.files.identities import printed, tag_of
from review.files.ratings import open_ratings, sign_ratings
from review.log import payloads as say
from review.log.event import Event, make_event
from review.log.fold import ReviewerState
from review.log.laptop import Laptop
from review.log.merge import export_events
from review.office.intake.importing import import_bytes
from review.office.intake.speaking import FileOutcome, FileReport, speaking
from review.office.results.certifying import review_evidence
from review.office.store.store import Office
from review.rating import Rating, Reason, Relation
from review.verdict.certificate.evidence import pack_evidence
from rosetta_tui.review.organiser.words.imported import report_lines
from tests.harness.sealed.refusals import refuses
from tests.review.attacks.ground import GATE
from tests.review.office.made import WALL, Desk, Person, desk, draft, made, reviewed


@dataclass
class Stage:
    """An office and two enrolled laptops: of Ann, who is honest, and of Mallory, who is not."""

    folder: Path
    desk: Desk
    ann: Person
    mallory: Person
    absent: str
    """A person who has not come yet, as the log names them."""

    def take(self, person: Person, events: Sequence[Event] | None = None) -> FileReport:
        return self.bring(self.sealed(person, events))

    def sealed(self, person: Person, events: Sequence[Event] | None = None) -> bytes:
        batch = person.batch
        every = export_events(person.laptop, batch.manifest.batch) if events is None else events
        archive = sign_ratings(every, batch, person.identity)
        return seal(archive, batch.manifest.organisation.recipients)

    def bring(self, data: bytes, name: str = "stick") -> FileReport:
        return import_bytes(self.desk.office, [self.desk.identity.age], data, name)

    def forged(self, *said: say.AnyPayload, lamport: int | None = None) -> list[Event]:
        """Return Mallory's log with more at its end, written by another program."""
        events = export_events(self.mallory.laptop, self.mallory.batch.manifest.batch)
        for payload in said:
            last = events[-1]
            events.append(
                make_event(
                    payload, device=last.device, seq=last.seq + 1,
                    lamport=lamport or last.lamport + 1, prev=last.id, salt=bytes(16),
                )
            )  # fmt: skip
        return events

    def rate(self, who: str, place: int = 0, rating: Rating = Rating.EXCELLENT) -> say.Rate:
        item = self.desk.batch.manifest.order(self.ann.code)[place]
        return say.Rate(
            wall=WALL, reviewer=who, batch=self.desk.batch.manifest.batch, item=item, position=place,
            active_ms=1, face="lines", version="0", rating=rating,
        )  # fmt: skip

    def about(self) -> dict[str, str]:
        return {"wall": WALL, "batch": self.desk.batch.manifest.batch}

    def state(self, who: str) -> ReviewerState:
        state = self.desk.office.state(self.desk.review).reviewers
        return state.get((self.desk.batch.manifest.batch, who), ReviewerState())

    def ratings(self, who: str) -> list[Rating | None]:
        return [each.rating for each in self.state(who).judgements.values()]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = desk(tmp_path_factory.mktemp("office"), reviewers=3, items=30)
    with made.office:
        yield made


@pytest.fixture
def stage(template: Desk, tmp_path: Path) -> Iterator[Stage]:
    home = tmp_path / "home"
    shutil.copytree(template.folder, home)
    with Office.open(home) as office:
        made = Desk(home, office, template.identity, office.review("demo"), template.batch)
        people = [Person(tmp_path / name, made.batch, made.codes[n]) for n, name in enumerate("am")]
        for person in people:
            person.rate([Rating.GIST, Rating.REJECT, Rating.GIST])
            key = person.identity.public
            office.enrol(key.signing_key, f"laptop {key.phrase[:5]}", key.recipient)
        yield Stage(tmp_path, made, people[0], people[1], made.codes[2])


UNKNOWN = "is of a reviewer whom this batch does not know"


def plain(archive: bytes) -> bytes:
    read = zipfile.ZipFile(io.BytesIO(archive))
    return b"".join(read.read(name) for name in read.namelist())


def names(stage: Stage) -> list[bytes]:
    """Return every code and every tag of the review but Mallory's own."""
    review, own = stage.desk.review, stage.mallory.code
    found = [each for who, code in review.codes.items() if who != own for each in (who, code)]
    assert len(found) == 4
    return [each.encode() for each in found]


def aside(report: FileReport, why: str) -> None:
    assert report.outcome is FileOutcome.TAKEN
    assert {remark.said for remark in report.aside} == {why}


def test_speaker_reads_no_code_name_or_salt(stage: Stage) -> None:
    desk, mallory = stage.desk, stage.mallory.identity.age
    ready = made(draft(reviewed(desk.folder), reviewers=3, items=30), desk.identity, "x", one_each=True)
    words = "kizun gorot sapos"
    opened = open_batch(write_batch(ready.batches[0], passphrase=words), passphrase=words)
    assert len(opened.manifest.orders) == 1
    every = [each.encode() for pair in ready.codes.items() for each in pair]
    assert not [each for each in every if each in plain(opened.archive)]
    sealed, ratings = (
        write_batch(desk.batch, recipients=[stage.ann.identity.public.recipient]),
        stage.sealed(stage.ann),
    )
    for content in (plain(desk.batch.archive), plain(write_batch(desk.batch)), sealed, ratings):
        assert not [each for each in names(stage) if each in content]
    refuses(FileError, "", open_ratings, ratings, [mallory])
    error = refuses(FileError, "", open_batch, sealed, [mallory])
    assert error.problem is FileProblem.WRONG_KEY
    stage.take(stage.ann)
    own, salt = desk.identity.public.signing_key, desk.batch.salt
    packed = pack_evidence(b"", b"", review_evidence(desk.office, desk.review, own))
    assert not [each for each in (salt, salt.hex().encode()) if each in packed]
    card = desk.card(stage.ann).encode()
    assert (stage.ann.code.encode() in packed, card in packed) == (True, False)


def test_speaker_rates_and_takes_back_in_no_made_up_name(stage: Stage) -> None:
    stage.take(stage.ann)
    tag, code = tag_of("YBKCTGFM", stage.desk.batch.salt), stage.desk.card(stage.ann)
    for name in (tag, code, stage.desk.review.code(stage.absent)):
        aside(stage.take(stage.mallory, stage.forged(stage.rate(name))), UNKNOWN)
        said = say.Withdraw(**stage.about(), reviewer=name, scope=say.Scope.BATCH)
        aside(stage.take(stage.mallory, stage.forged(said)), UNKNOWN)
    assert len(stage.ratings(stage.ann.code)) == 3
    not_asked = stage.rate(stage.mallory.code).model_copy(update={"item": "0" * 16})
    report = stage.take(stage.mallory, stage.forged(not_asked))
    aside(report, "is about an item that this reviewer was not asked")
    place = stage.desk.batch.manifest.place(stage.absent)
    refuses(ValueError, "reviewer", stage.rate, place)
    listed = stage.rate(stage.absent)
    listed = listed.model_construct(**{**listed.model_dump(), "reviewer": place})
    report = stage.take(stage.mallory, stage.forged(listed))
    damaged = [each.said for each in report.damaged]
    assert report.outcome is FileOutcome.REFUSED or damaged == ["has content of another form"]
    assert stage.ratings(stage.absent) == []


def rates_with_a_photo_of_a_card(stage: Stage) -> None:
    """Where its person never comes, the ratings count; that the laptop speaks for two is told each time."""
    stage.mallory.laptop.append(stage.rate(stage.absent))
    for _ in range(2):
        assert len(stage.take(stage.mallory).speaks_for) == 2
    [told] = speaking(stage.desk.office, stage.desk.review).shared
    assert stage.desk.review.code(stage.absent) in told.people


@pytest.mark.parametrize("first", [True, False])
def test_speaker_beats_no_honest_log_by_order(stage: Stage, first: bool) -> None:
    rated = stage.forged(stage.rate(stage.ann.code))
    if first:
        stage.take(stage.mallory, rated)
        report = stage.take(stage.ann)
    else:
        stage.take(stage.ann)
        assert len(stage.ratings(stage.ann.code)) == 3
        report = stage.take(stage.mallory, rated)
    assert [each.waits for each in report.several] == [True]
    assert stage.ratings(stage.ann.code) == []


@pytest.mark.parametrize("undo", [True, False])
def test_speaker_undoes_and_fills_in_nothing(stage: Stage, undo: bool) -> None:
    stage.take(stage.ann)
    target = export_events(stage.ann.laptop, stage.ann.batch.manifest.batch)[-1].id
    taken = say.Undo(**stage.about(), reviewer=stage.ann.code, target=target)
    left_out = stage.rate(stage.ann.code, 20)  # only what the person left out
    report = stage.take(stage.mallory, stage.forged(taken if undo else left_out))
    assert [each.waits for each in report.several] == [True]
    assert stage.ratings(stage.ann.code) == []
    assert speaking(stage.desk.office, stage.desk.review).several


def test_speaker_silences_a_call_of_harm(stage: Stage) -> None:
    item = stage.ann.order[0]
    flag = {**stage.about(), "reviewer": stage.ann.code, "item": item}
    stage.ann.laptop.append(say.HarmFlag(**flag, harmful=True))
    stage.take(stage.ann)
    stage.take(stage.mallory, stage.forged(say.HarmFlag(**flag, harmful=False)))
    state = stage.desk.office.state(stage.desk.review)
    assert item in state.reviewers[stage.desk.batch.manifest.batch, stage.ann.code].harmful


def test_speaker_writes_no_huge_time(stage: Stage) -> None:
    stage.take(stage.ann)
    beyond = stage.forged(stage.rate(stage.ann.code), lamport=2**32)
    assert stage.take(stage.mallory, beyond).outcome is FileOutcome.REFUSED
    assert len(stage.ratings(stage.ann.code)) == 3
    huge = stage.forged(stage.rate(stage.ann.code), lamport=2**32 - 2)
    assert stage.take(stage.mallory, huge).far_ahead
    assert stage.ratings(stage.ann.code) == []


def test_speaker_hands_over_a_shorter_or_a_cut_log(stage: Stage) -> None:
    events = stage.forged()
    assert stage.take(stage.mallory, [events[0], *events[2:]]).gaps
    stage.take(stage.mallory)
    report = stage.take(stage.mallory, events[:2])
    assert (report.added, report.already_here) == (0, 2)
    assert len(stage.ratings(stage.mallory.code)) == 3


def test_speaker_decides_in_the_name_of_the_organisation(stage: Stage) -> None:
    key = stage.ann.identity.public.signing_key
    about = stage.about()
    stage.take(stage.ann)
    words: tuple[say.AnyPayload, ...] = (
        say.Adjudicate(**about, item=stage.ann.order[0], harmful=False, note=""),
        say.OrganiserLook(**about, run_id="x", events_sha256="0" * 64),
        say.LaptopWord(**about, laptop=key, heard=False),
        say.AssignLaptop(**about, reviewer=stage.ann.code, laptops=("ab" * 32,)),
    )
    report = stage.take(stage.mallory, stage.forged(*words))
    aside(report, "decides what only the organisation decides")
    assert (len(report.aside), len(stage.ratings(stage.ann.code))) == (4, 3)


def test_speaker_goes_on_from_two_copies(stage: Stage) -> None:
    events = stage.forged()
    stage.take(stage.mallory, stage.forged(stage.rate(stage.mallory.code, 5)))
    other = make_event(
        stage.rate(stage.mallory.code, 6), device=events[-1].device, seq=events[-1].seq + 1,
        lamport=99, prev=events[-1].id, salt=bytes(16),
    )  # fmt: skip
    assert stage.take(stage.mallory, [*events, other]).copied


def test_speaker_changes_signs_or_renames_a_file(stage: Stage) -> None:
    sealed = stage.sealed(stage.ann)
    data = bytearray(sealed)
    data[len(data) // 2] ^= 1
    assert stage.bring(bytes(data)).outcome is FileOutcome.REFUSED
    assert stage.bring(sealed, "../\x1b[2J.rosetta-ratings").added == 4
    events = export_events(stage.ann.laptop, stage.ann.batch.manifest.batch)
    assert stage.take(stage.mallory, events).added == 0
    assert len(stage.ratings(stage.ann.code)) == 3


def test_speaker_answers_as_finder_of_a_stick(stage: Stage) -> None:
    """Who has only the file knows no code; whoever also has a card waits for enrolment."""
    assert not [each for each in names(stage) if each in plain(write_batch(stage.desk.batch))]
    finder = Person(stage.folder / "finder", stage.desk.batch, stage.absent)
    finder.rate([Rating.EXCELLENT] * 3)
    assert stage.take(finder).outcome is FileOutcome.SET_ASIDE
    assert stage.ratings(stage.absent) == []


def takes_back_with_a_card(stage: Stage) -> None:
    stage.take(stage.ann)
    said = say.Withdraw(**stage.about(), reviewer=stage.ann.code, scope=say.Scope.BATCH)
    report = stage.take(stage.mallory, stage.forged(said))
    card = stage.desk.card(stage.ann)
    assert [*report.withdrawn, *report.elsewhere] == [card, card]
    told = " ".join(report_lines(report))
    assert f"LOOK: {printed(card)} was taken back on another laptop" in told
    assert stage.ratings(stage.ann.code) == []


def agrees_with_a_card(stage: Stage) -> None:
    agreed = say.Consent(
        **stage.about(), reviewer=stage.absent, consent_sha256="0" * 64, language="en",
        share_corrections=True,
    )  # fmt: skip
    report = stage.take(stage.mallory, stage.forged(agreed, stage.rate(stage.absent)))
    assert (len(report.speaks_for), len(stage.ratings(stage.absent))) == (2, 1)


def speaks_from_a_copy_of_the_laptop(stage: Stage) -> None:
    shutil.copytree(stage.ann.laptop.path.parent, stage.folder / "copy")
    with Laptop.open(stage.folder / "copy") as copy:
        copy.append(stage.rate(stage.ann.code, 9))
        events = export_events(copy, stage.ann.batch.manifest.batch)
    report = stage.take(stage.ann, events)
    assert (report.outcome, report.several, len(stage.ratings(stage.ann.code))) == (
        FileOutcome.TAKEN, (), 4,
    )  # fmt: skip


def reads_open_sentences(stage: Stage) -> None:
    assert open_batch(write_batch(stage.desk.batch)).items[0].source


def finds_answers_with_card_and_batch(stage: Stage) -> None:
    stage.take(stage.ann)
    tag = tag_of(stage.desk.card(stage.ann), stage.desk.batch.salt)
    desk = stage.desk
    evidence = review_evidence(desk.office, desk.review, desk.identity.public.signing_key)
    assert [e for e in evidence.events if getattr(e.payload, "reviewer", None) == tag]


def tries_codes(stage: Stage) -> None:
    tried = ["YBKCTGFM", stage.desk.card(stage.ann)]
    assert [stage.desk.batch.person(code) for code in tried] == [None, stage.ann.code]


POSSIBLE: dict[str, Callable[[Stage], None]] = {
    "answer, from an enrolled laptop, for a person whose card they have or saw": rates_with_a_photo_of_a_card,
    "speak from a laptop on which the person rated, or from a copy of its data": speaks_from_a_copy_of_the_laptop,
    "take back in the name of a person whose card they have": takes_back_with_a_card,
    "agree to the terms, or share wordings, in the name of a person": agrees_with_a_card,
    "read the sentences of a stick that is open": reads_open_sentences,
    "find a person's answers in the evidence, with that person's card and the batch": finds_answers_with_card_and_batch,
    "try all codes against a batch": tries_codes,
}  # fmt: skip
"""What the page says can be done → the attack that does it."""


@pytest.mark.parametrize("said", POSSIBLE)
def test_what_is_possible_is_said(said: str, stage: Stage) -> None:
    POSSIBLE[said](stage)
    assert f"| {said}" in GATE


def consent(stage: Stage, *, share: bool) -> say.Consent:
    place = stage.ann.place
    return say.Consent(**place, consent_sha256="0" * 64, language="en", share_corrections=share)


def test_speaker_puts_no_words_in_anothers_mouth(stage: Stage) -> None:
    place, item = stage.ann.place, stage.ann.order[0]
    about = {**place, "item": item}
    for mine in (
        consent(stage, share=False), say.Related(**place, relation=Relation.MADE),
        say.Suggest(**about, text="mine"), say.Comment(**about, text="mine"),
    ):  # fmt: skip
        stage.ann.laptop.append(mine)
    stage.take(stage.ann)
    before = stage.state(stage.ann.code)
    assert dict(before.comments) == {item: "mine"}
    assert (before.relation, before.share_corrections) == (Relation.MADE, False)
    for said in (
        consent(stage, share=True), say.Related(**place, relation=Relation.NEITHER),
        say.Suggest(**about, text="rude"), say.Comment(**about, text="rude"),
        say.Reasons(**about, reasons=(Reason.WRONG_MEANING,)),
    ):  # fmt: skip
        stage.mallory.laptop.append(said)
    report = stage.take(stage.mallory)
    assert report.elsewhere == (stage.desk.card(stage.ann),)  # told at the import
    state = stage.state(stage.ann.code)
    assert (dict(state.suggestions), dict(state.comments)) == ({item: "mine"}, {item: "mine"})
    assert (state.reasons, state.relation) == ({}, Relation.MADE)
    assert (state.share_corrections, state.consented, len(state.judgements)) == (False, True, 3)
