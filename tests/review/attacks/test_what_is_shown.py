"""Attacks by what is shown of a review: parts of hand-overs, an older form, words about laptops, doctored files."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from harness.core.canonical import canonical_bytes
from harness.sealed.archive import pack, unpack
from harness.sealed.keys import Identity, Role
from harness.sealed.signature import Signed
from review.files.manifests import RatingsManifest
from review.log.event import make_event
from review.log.payloads import AnyPayload, LaptopWord, Rate, Related, Scope, Speaks, Withdraw
from review.rating import Relation
from review.verdict.certificate.certificate import Became, read_certificate
from review.verdict.certificate.certificate_text import certificate_text
from review.verdict.certificate.certify import certified_again
from review.verdict.certificate.evidence import Evidence, EvidenceFile, pack_evidence
from review.verdict.certificate.signed import LESS_THAN_BOUND
from review.verdict.certificate.verifying import verify
from tests.review.attacks.first_version import as_of_the_first_version
from tests.review.attacks.forgeries import MEMBERS
from tests.review.attacks.ground import (
    ISSUED,
    Ground,
    forged,
    ground,
    last_of,
    second_says,
    verified,
)
from tests.review.verdict import histories
from tests.review.verdict.alone import asked_alone
from tests.review.verdict.certified import GO, changed, issue
from tests.review.verdict.histories import Chain


def refused(file: EvidenceFile, folder: Path) -> tuple[set[str], str]:
    """Return the checks of the first program that fail, and what the second one says; both refuse."""
    done = verified(file)
    code, said = second_says(file, folder)
    assert (done.broken, code, said.startswith("Does not hold: ")) == (True, 1, True), said
    return {check.name for check in done.checks if check.ok is False}, said


def accepted(file: EvidenceFile, folder: Path) -> None:
    assert verified(file).ok, verified(file).checks
    assert second_says(file, folder)[0] == 0


def as_first_form(file: EvidenceFile, by: Identity) -> EvidenceFile:
    old = changed(file, as_of_the_first_version, by)
    again = certified_again(file.evidence, read_certificate(old.certificate, "x")).as_bytes()
    return EvidenceFile(again, by.sign(again), file.evidence)


def test_a_later_review_has_no_certificate_of_the_form_that_took_any_laptops_last_word(
    tmp_path: Path,
) -> None:
    played = ground()
    old = as_first_form(played.file, played.organiser)
    wrong, said = refused(old, tmp_path)
    assert (wrong, LESS_THAN_BOUND in said) == ({"batches"}, True)
    bare = replace(old, evidence=replace(old.evidence, batches={}, handed_over=()))
    assert verified(bare).ok  # of which it says that its files show less
    kept = verify(bare.certificate, bare.signature, bare.evidence, batches=[played.desk.batch])
    assert [check.words for check in kept.checks if check.ok is False] == [LESS_THAN_BOUND]


def test_a_certificate_does_not_end_in_the_midst_of_a_hand_over(tmp_path: Path) -> None:
    """All is in the evidence, and each event signed; but the certificate leaves out the last strict ratings."""
    played = ground()
    ends = {end.device: end.seq for end in (last_of(played.evidence, w) for w in played.strict)}
    events = played.evidence.events
    short = tuple(e for e in events if e.seq <= ends.get(e.device, e.seq + 14) - 14)
    file = forged(replace(played.evidence, events=short), played)
    wrong, said = refused(replace(file, evidence=played.evidence), tmp_path)
    assert (wrong, "in no hand-over that was certified whole" in said) == ({"laptops"}, True)


def test_strict_ratings_are_not_taken_out_one_by_one_under_a_hand_over_of_another_review(
    tmp_path: Path,
) -> None:
    """A later hand-over of another batch signs for the heads, so that the one that tells whose they are is left out."""
    played = ground()
    end = last_of(played.evidence, played.strict[0])
    first, whole = sorted(
        (e for e in played.evidence.handed_over if end.device.encode() in e.content),
        key=lambda each: RatingsManifest.model_validate_json(each.content).events,
    )
    said = RatingsManifest.model_validate_json(whole.content)
    other = said.model_copy(update={"batch": "e" * 16, "contents": {}})
    content = canonical_bytes(other.model_dump(mode="json"))
    person = played.people[0]
    of_another = Signed(content, person.identity.sign(content))
    signed_until = RatingsManifest.model_validate_json(first.content).events
    gists = {
        e.id
        for e in played.evidence.events
        if e.device == end.device
        and e.seq >= signed_until
        and isinstance(e.payload, Rate)
        and e.payload.rating.rank < 2
    }
    assert gists
    picked = tuple(e.erased() if e.id in gists else e for e in played.evidence.events)
    laptops = (*(e for e in played.evidence.handed_over if e is not whole), of_another)
    file = forged(replace(played.evidence, events=picked, handed_over=laptops), played)
    assert refused(file, tmp_path)[0] == {"laptops"}


def added(evidence: Evidence, *said: AnyPayload) -> Evidence:
    """Let the organisation say something more."""
    chain = [e for e in evidence.events if e.device in evidence.own_devices]
    last, late = max(chain, key=lambda e: e.seq), max(e.lamport for e in evidence.events)
    events = list(evidence.events)
    for later, each in enumerate(said, late + 1):
        place = {"seq": last.seq + 1, "prev": last.id, "lamport": later}
        last = make_event(each, device=last.device, salt=bytes(16), **place)  # type: ignore[arg-type]
        events.append(last)
    return replace(evidence, events=tuple(events))


def test_a_laptop_named_where_no_clash_was_is_told(tmp_path: Path) -> None:
    """Who names a laptop that said nothing silences the one that spoke."""
    played = ground()
    nobody = Identity.make(Role.LAPTOP).public.signing_key
    batch = played.evidence.key.batches[0]
    words = [
        Speaks(wall=ISSUED, batch=batch, reviewer=who, laptops=(nobody,)) for who in played.strict
    ]
    file = forged(added(played.evidence, *words), played)
    accepted(file, tmp_path)
    certificate = verified(file).certificate
    assert certificate.laptops is not None
    assert (certificate.laptops.decided, certificate.panel.asked[Became("not_heard")]) == (2, 2)
    assert "for 2 people the organisation named the laptops that count" in certificate_text(
        certificate
    )


def test_two_laptops_called_one_are_told(tmp_path: Path) -> None:
    """So what both say of a person waits for nobody: a laptop that came instead of another is that other one."""
    played = ground()
    one, other = (
        played.evidence.devices[last_of(played.evidence, who).device] for who in played.strict
    )
    batch = played.evidence.key.batches[0]
    word = LaptopWord(wall=ISSUED, batch=batch, laptop=one, heard=True, instead_of=other)
    file = forged(added(played.evidence, word), played)
    accepted(file, tmp_path)
    certificate = verified(file).certificate
    assert certificate.laptops is not None
    assert certificate.laptops.replaced == 1
    assert "1 laptop came instead of another one" in certificate_text(certificate)


def test_a_word_from_another_log_takes_no_nearness_away_in_either_program(tmp_path: Path) -> None:
    key = histories.make_key(Random(4), replace(GO, reviewers=3))
    events = histories.make_events(Random(4), replace(GO, reviewers=3), key)
    for lamport, relation in ((10**6, Relation.MADE), (10**7, Relation.NEITHER)):
        for batch in key.batches:
            chain = Chain(Random(lamport))
            chain.lamport = lamport
            for who in key.orders:
                chain.write(Related(wall=ISSUED, reviewer=who, batch=batch, relation=relation))
            events += chain.events
    file = issue(histories.evidence_of(key, events))
    accepted(file, tmp_path)
    relations = verified(file).certificate.relations
    assert relations is not None
    assert relations.model_dump() == {
        "made": 3,
        "knows": 0,
        "neither": 0,
        "not_asked": 0,
    }


def test_a_second_verifier_that_only_the_certificate_names_is_not_ours() -> None:
    played = ground()
    file = changed(played.file, lambda c: c.update(verifier_sha256="0" * 64), played.organiser)
    wrong = [check for check in verified(file).checks if check.ok is False]
    assert [check.name for check in wrong] == ["second verifier"]
    assert "do not run it" in wrong[0].words


def test_what_was_taken_back_in_every_batch_is_so_to_both(tmp_path: Path) -> None:
    """A withdrawal that names no batch reaches all, whatever scope it states."""
    played = ground()
    said = Withdraw(wall=ISSUED, reviewer=played.strict[0], batch=None, scope=Scope.BATCH)
    file = forged(added(played.evidence, said), played)
    accepted(file, tmp_path)
    assert verified(file).certificate.panel.asked[Became("withdrew_at_the_desk")] == 1


Doctor = Callable[[dict[str, bytes], Ground], dict[str, bytes]]


def _certificate(members: dict[str, bytes], played: Ground, data: bytes) -> dict[str, bytes]:
    return members | {"certificate.json": data, "certificate.sig": played.organiser.sign(data)}


def said_more(members: dict[str, bytes], played: Ground) -> dict[str, bytes]:
    data = canonical_bytes(json.loads(members["certificate.json"]) | {"blessing": "of the elders"})
    return _certificate(members, played, data)


def said_twice(members: dict[str, bytes], played: Ground) -> dict[str, bytes]:
    data = members["certificate.json"]
    twice = data.replace(b'"verdict":{', b'"verdict":{"outcome":"go"},"verdict":{')
    return _certificate(members, played, twice)


def spaced(members: dict[str, bytes], played: Ground) -> dict[str, bytes]:
    return _certificate(members, played, members["certificate.json"] + b" ")


def no_number(members: dict[str, bytes], played: Ground) -> dict[str, bytes]:
    data = members["certificate.json"].replace(b'"gaps":0', b'"gaps":NaN')
    return _certificate(members, played, data)


def key_twice(members: dict[str, bytes], _: Ground) -> dict[str, bytes]:
    return members | {
        "key.json": members["key.json"].replace(b'"core":[', b'"core":[],"core":[', 1)
    }


def event_with_a_space(members: dict[str, bytes], _: Ground) -> dict[str, bytes]:
    return members | {"events.jsonl": members["events.jsonl"].replace(b"}\n", b"} \n", 1)}


def event_at_no_place(members: dict[str, bytes], _: Ground) -> dict[str, bytes]:
    return members | {
        "events.jsonl": members["events.jsonl"].replace(b'"seq":1,', b'"seq":true,', 1)
    }


DOCTORED: list[tuple[Doctor, str]] = [
    (said_more, "$.blessing"),
    (said_twice, "twice"),
    (spaced, "canonical"),
    (no_number, "NaN"),
    (key_twice, "twice"),
    (event_with_a_space, "no event of this form"),
    (event_at_no_place, "no event of this form"),
]


@pytest.mark.parametrize(("doctor", "words"), DOCTORED, ids=[d.__name__ for d, _ in DOCTORED])
def test_the_second_program_reads_as_strictly(doctor: Doctor, words: str, tmp_path: Path) -> None:
    played = ground()
    whole = pack_evidence(played.file.certificate, played.file.signature, played.evidence)
    path = tmp_path / "x.rosetta-evidence"
    path.write_bytes(pack(doctor(unpack(whole, MEMBERS), played)))
    code, said = asked_alone(path)
    assert (code, words in said) == (1, True)


def test_a_file_with_two_certificates_is_none(tmp_path: Path) -> None:
    played = ground()
    path = tmp_path / "x.rosetta-evidence"
    whole = pack_evidence(played.file.certificate, played.file.signature, played.evidence)
    members = unpack(whole, MEMBERS)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (members | {"certificate.json": b'{"verdict":{"outcome":"go"}}'}).items():
            archive.writestr(name, data)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("certificate.json", members["certificate.json"])
    code, said = asked_alone(path)
    assert (code, "one name" in said) == (1, True)


def test_a_files_name_does_not_speak_for_it(tmp_path: Path) -> None:
    name = "Holds: go, run 1.rosetta-evidence"
    (tmp_path / name).write_bytes(b"nothing")
    with chdir(tmp_path):
        code, said = asked_alone(name)
    assert (code, said[:10]) == (1, "Not read: ")
