"""A speaker, or whoever finds a stick, as attacker: an enrolled laptop, a photo of a card, a file, no office."""

from __future__ import annotations

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
from review.log.event import make_event
from review.log.laptop import Laptop
from review.log.merge import export_events
from review.log.payloads import (
    Adjudicate,
    AnyPayload,
    Consent,
    HarmFlag,
    LaptopWord,
    OrganiserLook,
    Scope,
    Speaks,
    Undo,
    Withdraw,
)
from review.office.intake.file_report import FORGED, OTHER_LAPTOPS, FileOutcome, FileReport
from review.office.intake.speaking import speaking, take_out
from review.office.results.certifying import review_evidence
from review.rating import Rating
from review.verdict.certificate.evidence import pack_evidence
from rosetta_tui.review.organiser.words.imported import report_lines
from tests.review.attacks.ground import GATE
from tests.review.attacks.stage import Stage
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


def reads_codes_in_the_batch(stage: Stage) -> None:
    assert not [each for each in names(stage) if each in plain(stage.desk.batch.archive)]


def reads_codes_in_a_passphrase_file(stage: Stage) -> None:
    ready = made(draft(reviewed(stage.desk.folder), reviewers=3, items=30), stage.desk.identity, "x", one_each=True)  # fmt: skip
    words = "kizun gorot sapos"
    opened = open_batch(write_batch(ready.batches[0], passphrase=words), passphrase=words)
    every = [each.encode() for pair in ready.codes.items() for each in pair]
    assert not [each for each in every if each in plain(opened.archive)]
    assert len(opened.manifest.orders) == 1


def reads_names_in_ratings_on_the_stick(stage: Stage) -> None:
    sealed = stage.sealed(stage.ann)
    assert not [each for each in names(stage) if each in sealed]
    with pytest.raises(FileError):
        open_ratings(sealed, [stage.mallory.identity.age])


def reads_the_salt_in_the_evidence(stage: Stage) -> None:
    stage.take(stage.ann)
    desk = stage.desk
    own = desk.identity.public.signing_key
    packed = pack_evidence(b"", b"", review_evidence(desk.office, desk.review, own))
    salt = desk.batch.salt
    assert not [each for each in (salt, salt.hex().encode()) if each in packed]
    card = desk.card(stage.ann).encode()
    assert (stage.ann.code.encode() in packed, card in packed) == (True, False)


def rates_as_a_tag_that_she_made_up(stage: Stage) -> None:
    tag = tag_of("YBKCTGFM", stage.desk.batch.salt)
    aside(stage.take(stage.mallory, stage.forged(stage.rate(tag))), UNKNOWN)


def rates_as_a_code_in_the_open(stage: Stage) -> None:
    code = stage.desk.review.code(stage.absent)
    aside(stage.take(stage.mallory, stage.forged(stage.rate(code))), UNKNOWN)


def rates_as_the_place_that_the_batch_lists(stage: Stage) -> None:
    place = stage.desk.batch.manifest.place(stage.absent)
    with pytest.raises(ValueError, match="reviewer"):
        stage.rate(place)
    said = stage.rate(stage.absent).model_construct(
        **{**stage.rate(stage.absent).model_dump(), "reviewer": place}
    )
    report = stage.take(stage.mallory, stage.forged(said))
    assert report.outcome is FileOutcome.REFUSED or [each.said for each in report.damaged] == [
        "has content of another form"
    ]
    assert stage.ratings(stage.absent) == []


def rates_with_a_photo_of_a_card(stage: Stage) -> None:
    """Where its person never comes, the ratings count; that the laptop speaks for two is told each time."""
    stage.mallory.laptop.append(stage.rate(stage.absent))
    for _ in range(2):
        assert len(stage.take(stage.mallory).speaks_for) == 2
    [told] = speaking(stage.desk.office, stage.desk.review).shared
    assert stage.desk.review.code(stage.absent) in told.people


def beats_the_honest_log_with_a_later_one(stage: Stage) -> None:
    stage.take(stage.ann)
    before = stage.ratings(stage.ann.code)
    report = stage.take(stage.mallory, stage.forged(stage.rate(stage.ann.code)))
    assert [each.waits for each in report.several] == [True]
    assert (len(before), stage.ratings(stage.ann.code)) == (3, [])


def comes_before_the_honest_log(stage: Stage) -> None:
    stage.take(stage.mallory, stage.forged(stage.rate(stage.ann.code)))
    report = stage.take(stage.ann)
    assert [each.waits for each in report.several] == [True]
    assert stage.ratings(stage.ann.code) == []


def rates_only_what_the_person_left_out(stage: Stage) -> None:
    stage.take(stage.ann)
    stage.take(stage.mallory, stage.forged(stage.rate(stage.ann.code, 20)))
    assert stage.ratings(stage.ann.code) == []
    assert speaking(stage.desk.office, stage.desk.review).several


def undoes_what_the_person_rated(stage: Stage) -> None:
    stage.take(stage.ann)
    target = export_events(stage.ann.laptop, stage.ann.batch.manifest.batch)[-1].id
    undo = Undo(**stage.about(), reviewer=stage.ann.code, target=target)
    report = stage.take(stage.mallory, stage.forged(undo))
    assert [each.waits for each in report.several] == [True]


def silences_a_call_of_harm(stage: Stage) -> None:
    item = stage.ann.order[0]
    flag = {**stage.about(), "reviewer": stage.ann.code, "item": item}
    stage.ann.laptop.append(HarmFlag(**flag, harmful=True))
    stage.take(stage.ann)
    stage.take(stage.mallory, stage.forged(HarmFlag(**flag, harmful=False)))
    state = stage.desk.office.state(stage.desk.review)
    assert item in state.reviewers[stage.desk.batch.manifest.batch, stage.ann.code].harmful


def writes_a_huge_time(stage: Stage) -> None:
    stage.take(stage.ann)
    events = stage.forged(stage.rate(stage.ann.code), lamport=2**32 - 2)
    report = stage.take(stage.mallory, events)
    assert report.far_ahead
    assert stage.ratings(stage.ann.code) == []


def writes_a_time_beyond_all_bounds(stage: Stage) -> None:
    report = stage.take(stage.mallory, stage.forged(stage.rate(stage.ann.code), lamport=2**32))
    assert report.outcome is FileOutcome.REFUSED
    assert stage.ratings(stage.ann.code) == []


def rates_from_a_laptop_of_her_own(stage: Stage) -> None:
    stage.mallory.identity = Identity.make(Role.LAPTOP)
    assert stage.take(stage.mallory).outcome is FileOutcome.SET_ASIDE
    assert stage.ratings(stage.mallory.code) == []


def goes_on_with_anothers_log(stage: Stage) -> None:
    stage.take(stage.ann)
    last = export_events(stage.ann.laptop, stage.ann.batch.manifest.batch)[-1]
    more = make_event(
        stage.rate(stage.ann.code), device=last.device, seq=last.seq + 1, lamport=last.lamport + 1,
        prev=last.id, salt=bytes(16),
    )  # fmt: skip
    aside(stage.take(stage.mallory, [*stage.forged(), more]), OTHER_LAPTOPS)
    assert len(stage.ratings(stage.ann.code)) == 3


def hands_over_a_shorter_log(stage: Stage) -> None:
    stage.take(stage.mallory)
    report = stage.take(stage.mallory, stage.forged()[:2])
    assert (report.added, report.already_here) == (0, 2)
    assert len(stage.ratings(stage.mallory.code)) == 3


def leaves_out_the_middle_of_her_log(stage: Stage) -> None:
    events = stage.forged()
    report = stage.take(stage.mallory, [events[0], *events[2:]])
    assert report.gaps


def plays_an_old_file_again_after_a_withdrawal(stage: Stage) -> None:
    old = stage.sealed(stage.ann)
    stage.ann.withdraw()
    stage.take(stage.ann)
    assert stage.bring(old).added == 0
    assert stage.ratings(stage.ann.code) == []


def decides_in_the_name_of_the_organisation(stage: Stage) -> None:
    key = stage.ann.identity.public.signing_key
    about = stage.about()
    stage.take(stage.ann)
    words: tuple[AnyPayload, ...] = (
        Adjudicate(**about, item=stage.ann.order[0], harmful=False, note=""),
        OrganiserLook(**about, run_id="x", events_sha256="0" * 64),
        LaptopWord(**about, laptop=key, heard=False),
        Speaks(**about, reviewer=stage.ann.code, laptops=("ab" * 32,)),
    )
    report = stage.take(stage.mallory, stage.forged(*words))
    aside(report, "decides what only the organisation decides")
    assert len(report.aside) == 4
    assert len(stage.ratings(stage.ann.code)) == 3


def writes_on_the_organisations_own_log(stage: Stage) -> None:
    forged = make_event(
        stage.rate(stage.mallory.code), device=stage.desk.office.device, seq=0, lamport=1, prev="",
        salt=bytes(16),
    )  # fmt: skip
    aside(stage.take(stage.mallory, [*stage.forged(), forged]), FORGED)


def rates_what_she_was_not_asked(stage: Stage) -> None:
    said = stage.rate(stage.mallory.code).model_copy(update={"item": "0" * 16})
    report = stage.take(stage.mallory, stage.forged(said))
    aside(report, "is about an item that this reviewer was not asked")


def takes_back_without_the_card(stage: Stage) -> None:
    stage.take(stage.ann)
    code = stage.desk.card(stage.ann)
    for name in (code, tag_of("YBKCTGFM", stage.desk.batch.salt)):
        said = Withdraw(**stage.about(), reviewer=name, scope=Scope.BATCH)
        aside(stage.take(stage.mallory, stage.forged(said)), UNKNOWN)
    assert len(stage.ratings(stage.ann.code)) == 3


def goes_on_after_she_was_taken_out(stage: Stage) -> None:
    stage.take(stage.mallory)
    [laptop] = [
        each for each in stage.desk.office.laptops()
        if each.signing_key == stage.mallory.identity.public.signing_key
    ]  # fmt: skip
    take_out(stage.desk.office, laptop, "")
    report = take_vouched(stage.desk.office, stage.desk.identity, stage.sealed(stage.mallory))
    assert (report.outcome, "taken out" in report.why) == (FileOutcome.REFUSED, True)
    assert stage.ratings(stage.mallory.code) == []


def goes_on_from_two_copies(stage: Stage) -> None:
    events = stage.forged()
    stage.take(stage.mallory, stage.forged(stage.rate(stage.mallory.code, 5)))
    other = make_event(
        stage.rate(stage.mallory.code, 6), device=events[-1].device, seq=events[-1].seq + 1,
        lamport=99, prev=events[-1].id, salt=bytes(16),
    )  # fmt: skip
    assert stage.take(stage.mallory, [*events, other]).copied


def changes_a_file_on_the_stick(stage: Stage) -> None:
    data = bytearray(stage.sealed(stage.ann))
    data[len(data) // 2] ^= 1
    assert stage.bring(bytes(data)).outcome is FileOutcome.REFUSED


def signs_anothers_ratings_anew(stage: Stage) -> None:
    events = export_events(stage.ann.laptop, stage.ann.batch.manifest.batch)
    stage.take(stage.ann)
    report = stage.take(stage.mallory, events)
    assert (report.added, len(stage.ratings(stage.ann.code))) == (0, 3)


def renames_a_file(stage: Stage) -> None:
    assert stage.bring(stage.sealed(stage.ann), "../\x1b[2J.rosetta-ratings").added == 4
    assert len(stage.ratings(stage.ann.code)) == 3


def seals_ratings_of_another_organisation_again(stage: Stage) -> None:
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


def forges_a_laptops_card(stage: Stage) -> None:
    own, other = (each.identity.public.recipient.encode() for each in (stage.ann, stage.mallory))
    content = write_laptop_card(stage.ann.identity, "blue").replace(own, other)
    with pytest.raises(FileError):
        read_laptop_card(content)


def opens_a_sealed_batch_that_she_found(stage: Stage) -> None:
    sealed = write_batch(stage.desk.batch, recipients=[stage.ann.identity.public.recipient])
    with pytest.raises(FileError) as error:
        open_batch(sealed, [stage.mallory.identity.age])
    assert error.value.problem is FileProblem.WRONG_KEY
    assert not [each for each in names(stage) if each in sealed]


def answers_as_the_finder_of_an_open_stick(stage: Stage) -> None:
    """Who has only the file knows no code; whoever also has a card waits for enrolment."""
    assert not [each for each in names(stage) if each in plain(write_batch(stage.desk.batch))]
    finder = Person(stage.folder / "finder", stage.desk.batch, stage.absent)
    finder.rate([Rating.EXCELLENT] * 3)
    assert stage.take(finder).outcome is FileOutcome.SET_ASIDE
    assert stage.ratings(stage.absent) == []


DETECTED: tuple[Callable[[Stage], None], ...] = (
    reads_codes_in_the_batch,
    reads_codes_in_a_passphrase_file,
    reads_names_in_ratings_on_the_stick,
    reads_the_salt_in_the_evidence,
    rates_as_a_tag_that_she_made_up,
    rates_as_a_code_in_the_open,
    rates_as_the_place_that_the_batch_lists,
    rates_with_a_photo_of_a_card,
    beats_the_honest_log_with_a_later_one,
    comes_before_the_honest_log,
    rates_only_what_the_person_left_out,
    undoes_what_the_person_rated,
    silences_a_call_of_harm,
    writes_a_huge_time,
    writes_a_time_beyond_all_bounds,
    rates_from_a_laptop_of_her_own,
    goes_on_with_anothers_log,
    hands_over_a_shorter_log,
    leaves_out_the_middle_of_her_log,
    plays_an_old_file_again_after_a_withdrawal,
    decides_in_the_name_of_the_organisation,
    writes_on_the_organisations_own_log,
    rates_what_she_was_not_asked,
    takes_back_without_the_card,
    goes_on_after_she_was_taken_out,
    goes_on_from_two_copies,
    changes_a_file_on_the_stick,
    signs_anothers_ratings_anew,
    renames_a_file,
    seals_ratings_of_another_organisation_again,
    forges_a_laptops_card,
    opens_a_sealed_batch_that_she_found,
    answers_as_the_finder_of_an_open_stick,
)


@pytest.mark.parametrize("attack", DETECTED, ids=lambda each: each.__name__.replace("_", " "))
def test_it_is_stopped_or_told(attack: Callable[[Stage], None], stage: Stage) -> None:
    attack(stage)


def takes_back_with_a_card(stage: Stage) -> None:
    stage.take(stage.ann)
    said = Withdraw(**stage.about(), reviewer=stage.ann.code, scope=Scope.BATCH)
    report = stage.take(stage.mallory, stage.forged(said))
    card = stage.desk.card(stage.ann)
    assert [*report.withdrawn, *report.elsewhere] == [card, card]
    told = " ".join(report_lines(report))
    assert f"LOOK: {printed(card)} was taken back on another laptop" in told
    assert stage.ratings(stage.ann.code) == []


def agrees_with_a_card(stage: Stage) -> None:
    agreed = Consent(
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
