"""Attacks by what is shown of a review: parts of hand-overs, an older form, words about laptops, doctored files."""

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
from review.log.payloads import LaptopWord, Rate, Related, Speaks
from review.rating import Relation
from review.verdict.certificate.certificate import Became
from review.verdict.certificate.certificate_text import certificate_text
from review.verdict.certificate.evidence import pack_evidence
from review.verdict.certificate.signed import LESS_THAN_BOUND
from review.verdict.certificate.verifying import verify
from tests.review.attacks.forgeries import MEMBERS
from tests.review.attacks.ground import (
    ISSUED,
    Ground,
    accepted,
    added,
    as_first_form,
    forged,
    ground,
    last_of,
    refused,
    verified,
)
from tests.review.verdict import histories
from tests.review.verdict.alone import asked_alone
from tests.review.verdict.certified import GO, issue
from tests.review.verdict.histories import Chain

pytestmark = pytest.mark.usefixtures("honest_part")


def test_later_review_has_no_certificate_of_the_first_form(tmp_path: Path) -> None:
    """In that form any laptop's last word counted."""
    played = ground()
    old = as_first_form(played.file, played.organiser)
    assert refused(old, tmp_path, LESS_THAN_BOUND) == {"batches"}
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
    whole = replace(file, evidence=played.evidence)
    assert refused(whole, tmp_path, "in no hand-over that was certified whole") == {"laptops"}


def test_ratings_are_not_taken_out_under_another_hand_over(tmp_path: Path) -> None:
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
    assert refused(file, tmp_path) == {"laptops"}


def test_a_laptop_named_where_no_clash_was_is_told(tmp_path: Path) -> None:
    """Who names a laptop that said nothing silences the one that spoke."""
    played = ground()
    nobody = Identity.make(Role.LAPTOP).public.signing_key
    batch = played.evidence.key.batches[0]
    words = [
        Speaks(wall=ISSUED, batch=batch, reviewer=who, laptops=(nobody,)) for who in played.strict
    ]
    file = forged(added(played.evidence, *words), played)
    certificate = accepted(file, tmp_path)
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
    certificate = accepted(file, tmp_path)
    assert certificate.laptops is not None
    assert certificate.laptops.replaced == 1
    assert "1 laptop came instead of another one" in certificate_text(certificate)


def test_word_from_another_log_takes_no_nearness_away(tmp_path: Path) -> None:
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
    relations = accepted(file, tmp_path).relations
    assert relations is not None
    assert relations.model_dump() == {"made": 3, "knows": 0, "neither": 0, "not_asked": 0}


Doctor = Callable[[dict[str, bytes], Ground], dict[str, bytes]]


def _certificate(members: dict[str, bytes], played: Ground, data: bytes) -> dict[str, bytes]:
    return members | {"certificate.json": data, "certificate.sig": played.organiser.sign(data)}


def _with(name: str, old: bytes, new: bytes) -> Doctor:
    return lambda members, _: members | {name: members[name].replace(old, new, 1)}


def _signed(change: Callable[[bytes], bytes]) -> Doctor:
    return lambda members, played: _certificate(
        members, played, change(members["certificate.json"])
    )


DOCTORED: dict[str, tuple[Doctor, str]] = {
    "said more": (_signed(lambda data: canonical_bytes(json.loads(data) | {"blessing": "of the elders"})), "$.blessing"),
    "said twice": (_signed(lambda data: data.replace(b'"verdict":{', b'"verdict":{"outcome":"go"},"verdict":{')), "twice"),
    "spaced": (_signed(lambda data: data + b" "), "canonical"),
    "no number": (_signed(lambda data: data.replace(b'"gaps":0', b'"gaps":NaN')), "NaN"),
    "key twice": (_with("key.json", b'"core":[', b'"core":[],"core":['), "twice"),
    "event with a space": (_with("events.jsonl", b"}\n", b"} \n"), "no event of this form"),
    "event at no place": (_with("events.jsonl", b'"seq":1,', b'"seq":true,'), "no event of this form"),
}  # fmt: skip


@pytest.mark.parametrize("name", DOCTORED)
def test_second_program_reads_as_strictly(name: str, tmp_path: Path) -> None:
    played, (doctor, words) = ground(), DOCTORED[name]
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
