"""A speaker, or whoever finds a stick, as attacker: an enrolled laptop, a photo of a card, a file, no office."""

import io
import shutil
import zipfile
from collections.abc import Callable

import pytest

from harness.sealed.forms import FileError, FileProblem
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity, seal
from review.files.batch import open_batch, write_batch
from review.files.ratings import open_ratings, sign_ratings
from review.files.reviewer_codes import printed, tag_of
from review.files.statements import read_laptop_card, write_laptop_card
from review.log import payloads as say
from review.log.event import make_event
from review.log.laptop import Laptop
from review.log.merge import export_events
from review.office.intake.file_report import FORGED, OTHER_LAPTOPS, FileOutcome, FileReport
from review.office.intake.speaking import speaking, take_out
from review.office.results.certifying import review_evidence
from review.rating import Rating
from review.verdict.certificate.evidence import pack_evidence
from rosetta_tui.review.organiser.words.imported import report_lines
from tests.review.attacks.conftest import Stage
from tests.review.attacks.ground import GATE
from tests.review.office.made import Person, draft, made, reviewed, take_vouched

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
    ready = made(draft(reviewed(desk.folder), reviewers=3, items=30), desk.identity, "x", one_each=True)  # fmt: skip
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
    with pytest.raises(FileError):
        open_ratings(ratings, [mallory])
    with pytest.raises(FileError) as error:
        open_batch(sealed, [mallory])
    assert error.value.problem is FileProblem.WRONG_KEY
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
    with pytest.raises(ValueError, match="reviewer"):
        stage.rate(place)
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


def test_speaker_rates_from_a_laptop_of_her_own(stage: Stage) -> None:
    stage.mallory.identity = Identity.make(Role.LAPTOP)
    assert stage.take(stage.mallory).outcome is FileOutcome.SET_ASIDE
    assert stage.ratings(stage.mallory.code) == []


def test_speaker_goes_on_with_anothers_log(stage: Stage) -> None:
    stage.take(stage.ann)
    last = export_events(stage.ann.laptop, stage.ann.batch.manifest.batch)[-1]
    more = make_event(
        stage.rate(stage.ann.code), device=last.device, seq=last.seq + 1, lamport=last.lamport + 1,
        prev=last.id, salt=bytes(16),
    )  # fmt: skip
    aside(stage.take(stage.mallory, [*stage.forged(), more]), OTHER_LAPTOPS)
    assert len(stage.ratings(stage.ann.code)) == 3


def test_speaker_hands_over_a_shorter_or_a_cut_log(stage: Stage) -> None:
    events = stage.forged()
    assert stage.take(stage.mallory, [events[0], *events[2:]]).gaps
    stage.take(stage.mallory)
    report = stage.take(stage.mallory, events[:2])
    assert (report.added, report.already_here) == (0, 2)
    assert len(stage.ratings(stage.mallory.code)) == 3


def test_speaker_plays_an_old_file_again(stage: Stage) -> None:
    old = stage.sealed(stage.ann)
    stage.ann.withdraw()
    stage.take(stage.ann)
    assert stage.bring(old).added == 0
    assert stage.ratings(stage.ann.code) == []


def test_speaker_decides_in_the_name_of_the_organisation(stage: Stage) -> None:
    key = stage.ann.identity.public.signing_key
    about = stage.about()
    stage.take(stage.ann)
    words: tuple[say.AnyPayload, ...] = (
        say.Adjudicate(**about, item=stage.ann.order[0], harmful=False, note=""),
        say.OrganiserLook(**about, run_id="x", events_sha256="0" * 64),
        say.LaptopWord(**about, laptop=key, heard=False),
        say.Speaks(**about, reviewer=stage.ann.code, laptops=("ab" * 32,)),
    )
    report = stage.take(stage.mallory, stage.forged(*words))
    aside(report, "decides what only the organisation decides")
    assert len(report.aside) == 4
    assert len(stage.ratings(stage.ann.code)) == 3


def test_speaker_writes_on_the_organisations_own_log(stage: Stage) -> None:
    forged = make_event(
        stage.rate(stage.mallory.code), device=stage.desk.office.device, seq=0, lamport=1, prev="",
        salt=bytes(16),
    )  # fmt: skip
    aside(stage.take(stage.mallory, [*stage.forged(), forged]), FORGED)


def test_speaker_goes_on_after_she_was_taken_out(stage: Stage) -> None:
    stage.take(stage.mallory)
    [laptop] = [
        each for each in stage.desk.office.laptops()
        if each.signing_key == stage.mallory.identity.public.signing_key
    ]  # fmt: skip
    take_out(stage.desk.office, laptop, "")
    report = take_vouched(stage.desk.office, stage.desk.identity, stage.sealed(stage.mallory))
    assert (report.outcome, "taken out" in report.why) == (FileOutcome.REFUSED, True)
    assert stage.ratings(stage.mallory.code) == []


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


def test_speaker_seals_ratings_of_others_again(stage: Stage) -> None:
    batch = stage.ann.batch
    others = tuple(AgeIdentity.make().recipient for _ in range(2))
    head = batch.manifest.model_copy(
        update={
            "organisation": batch.manifest.organisation.model_copy(update={"recipients": others})
        }
    )
    foreign = type(batch)(head, batch.manifest_bytes, batch.items, batch.training, b"")
    events = export_events(stage.ann.laptop, head.batch)
    archive = sign_ratings(events, foreign, stage.ann.identity)
    report = stage.bring(seal(archive, batch.manifest.organisation.recipients))
    assert (report.outcome, "another organisation" in report.why) == (FileOutcome.REFUSED, True)


def test_speaker_forges_a_laptops_card(stage: Stage) -> None:
    own, other = (each.identity.public.recipient.encode() for each in (stage.ann, stage.mallory))
    content = write_laptop_card(stage.ann.identity, "blue").replace(own, other)
    with pytest.raises(FileError):
        read_laptop_card(content)


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
    assert len(report.speaks_for) == 2
    assert len(stage.ratings(stage.absent)) == 1


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
    "read the sentences of a stick that lies open": reads_open_sentences,
    "find a person's answers in the evidence, with that person's card and the batch": finds_answers_with_card_and_batch,
    "try all codes against a batch": tries_codes,
}  # fmt: skip
"""What the page says can be done → the attack that does it."""


@pytest.mark.parametrize("said", POSSIBLE)
def test_what_is_possible_is_said(said: str, stage: Stage) -> None:
    POSSIBLE[said](stage)
    assert f"| {said}" in GATE
