"""The organiser as attacker: whoever has the office, its key and all ratings, and wants another verdict."""

import json
import zipfile
from collections.abc import Callable, Sequence
from contextlib import chdir, closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError
from harness.sealed.archive import pack, unpack
from harness.sealed.keys import Identity, Role, Signed
from harness.sealed.phrase import phrase
from harness.sealed.strict_records import FileError
from review.files.identities import Statement, write_statement
from review.files.manifests import RatingsManifest
from review.log.payloads import AssignLaptop, LaptopWord, OrganiserLook, Rate, Related, Scope, Withdraw
from review.office.results import certifying
from review.office.results.certifying import review_evidence
from review.office.results.progress import progress
from review.rating import Relation
from review.verdict.certificate.certificate import CertifiedLooks, ReviewerStatus
from review.verdict.certificate.certificate_text import certificate_page
from review.verdict.certificate.certify import certified_again
from review.verdict.certificate.evidence import Evidence, EvidenceFile, pack_evidence, unpack_evidence
from review.verdict.certificate.signed import LESS_THAN_BOUND
from review.verdict.certificate.verifying import verify
from rosetta_tui.commands.review.ratings import review_lines
from tests.review.attacks.forgeries import DETECTED, MEMBERS, batch_signed_anew, better, ratings_rewritten
from tests.review.attacks.ground import (
    GATE,
    ISSUED,
    Ground,
    accepted,
    added,
    as_first_form,
    forged,
    ground,
    last_of,
    of_the_first_version,
    refused,
    rewritten,
    second_says,
    stripped,
    verified,
    without_laptops,
    wrong,
)
from tests.review.verdict import histories
from tests.review.verdict.certified import GO, asked_alone, certificate_of, changed, issue, review_of
from tests.review.verdict.histories import RUN, WALL, Chain
from tests.review.verdict.signing import hand_overs

pytestmark = pytest.mark.usefixtures("honest_part")


def test_honest_certificate_holds_to_both(tmp_path: Path) -> None:
    accepted(ground().file, tmp_path)
    done = verified(ground().file)
    assert done.unshown == ()
    assert done.words.startswith("Everything holds")


@pytest.mark.parametrize("attack", DETECTED)
def test_both_programs_detect(attack: str, tmp_path: Path) -> None:
    """The organiser certifies and signs what the changed evidence says, so that all the rest fits."""
    played, (change, where) = ground(), DETECTED[attack]
    found = refused(forged(change(played.evidence, played), played), tmp_path)
    assert where in found
    assert found <= {"batches", "laptops", "contents"}  # all else fits


IN_THE_TABLES = {
    "policy": ("UPDATE review SET policy = CAST(replace(CAST(policy AS TEXT), 'share = 0.70', 'share = 0.20') AS BLOB)", "the policy is not"),
    "answer key": ("UPDATE review SET answer_key = CAST(replace(CAST(answer_key AS TEXT), '\"seed\":7', '\"seed\":8') AS BLOB)", "the answer key is not"),
    "people": ("UPDATE review SET answer_key = CAST(replace(CAST(answer_key AS TEXT), 'Everyone who came', 'Drawn by lot') AS BLOB)", "the answer key is not"),
    "batch": ("UPDATE batch SET manifest = CAST(replace(CAST(manifest AS TEXT), 'Sentences', 'Other') AS BLOB)", "is not the one that the answer key names"),
    "signature": ("UPDATE batch SET signature = zeroblob(64)", "is not signed by the organisation"),
}  # fmt: skip


@pytest.mark.parametrize("what", IN_THE_TABLES)
def test_office_refuses_tables_that_were_changed(what: str, tmp_path: Path) -> None:
    played = ground()
    statement, words = IN_THE_TABLES[what]
    with closing(played.office(tmp_path)) as office:
        assert office.connection.execute(statement).rowcount == 1
        review = office.review("demo")
        own = played.organiser.public.signing_key
        for read in (lambda: office.state(review), lambda: review_evidence(office, review, own)):
            with pytest.raises(HarnessError, match=words):
                read()
        counted = progress(office, review)  # how much came back can still be counted
        assert counted.done
        assert any(words in each for each in counted.differs)
        assert any(words in line for line in map(str, review_lines(counted)) if "CHANGED" in line)


def test_second_verifier_that_says_what_it_should_is_not_ours() -> None:
    played = ground()
    packed = pack_evidence(played.file.certificate, played.file.signature, played.evidence)
    members = unpack(packed, MEMBERS)
    honest = unpack_evidence(packed)
    assert verify(honest.certificate, honest.signature, honest.evidence, honest.program).ok
    named = changed(played.file, lambda c: c.update(verifier_sha256="0" * 64), played.organiser)
    done = [verified(named)]  # one that only the certificate names
    for program in (b'print("Holds: go")\n', members["rosetta_verify.py"] + b" "):
        file = unpack_evidence(pack({**members, "rosetta_verify.py": program}))
        done.append(verify(file.certificate, file.signature, file.evidence, file.program))
    for each in done:
        assert wrong(each) == {"second verifier"}
        assert "do not run it" in next(c.words for c in each.checks if c.ok is False)


def test_laptops_left_out_are_missed_by_their_words() -> None:
    """Without them all fits, but for the words of these people, and the count of those who handed nothing in."""
    played = ground()
    file = forged(without_laptops(played.evidence, played.strict), played)
    done = verified(file)
    assert done.ok
    assert done.certificate.panel.asked[ReviewerStatus("nothing")] == 2
    assert "2 handed nothing in" in certificate_page(done.certificate).text()
    assert found(file, played.words[4:]) == [True] * 6
    assert found(file, played.words[:4]) == [False] * 4
    assert found(played.file, played.words) == [True] * 10
    earlier = [phrase(each.sha256, earlier=True) for each in played.file.evidence.handed_over]
    assert found(played.file, earlier) == [True] * len(earlier)
    assert found(file, earlier).count(False) == 4


def test_hand_over_left_out_is_missed_by_its_words() -> None:
    played = ground()
    device = last_of(played.evidence, played.strict[0]).device
    events = {
        each: RatingsManifest.model_validate_json(each.content).events
        for each in played.evidence.handed_over
        if device.encode() in each.content
    }
    early, late = sorted(events, key=lambda each: events[each])
    kept = (e for e in played.evidence.events if e.device != device or e.seq < events[early])
    laptops = tuple(each for each in played.evidence.handed_over if each is not late)
    file = forged(replace(played.evidence, events=tuple(kept), handed_over=laptops), played)
    assert verified(file).ok
    assert found(file, played.words[:2]) == [True, False]
    grown = replace(file, evidence=played.evidence)  # it is shown afterwards, and was not counted
    assert verified(grown).ok
    assert found(grown, played.words[:2]) == [True, False]


def found(file: EvidenceFile, phrases: Sequence[str]) -> list[bool | None]:
    done = verify(file.certificate, file.signature, file.evidence, phrases=phrases)
    return [check.ok for check in done.kept if check.name.startswith("hand-over")]


def test_review_played_again_is_missed_by_the_kept_batch() -> None:
    """Everything made anew, batch and laptops: only who holds the batch that really went out can see it."""
    played = ground()
    again = batch_signed_anew(played.evidence, played)
    invented = Identity.make(Role.LAPTOP)
    own = again.organisation_device
    events = rewritten(again.events, better)
    soft = replace(
        again,
        events=events,
        devices=dict.fromkeys(again.devices, invented.public.signing_key) | {own: again.devices[own]},
        handed_over=tuple(hand_overs(events, again.batches, invented, without=[own])),
    )
    file = forged(soft, played)
    assert verified(file).ok
    kept, honest = played.desk.batch, played.file
    done = verify(file.certificate, file.signature, file.evidence, batches=[kept])
    assert [check.name for check in done.every if check.ok is False] == ["your batch"]
    assert verify(honest.certificate, honest.signature, honest.evidence, batches=[kept]).ok
    assert found(file, played.words) == [False] * 10


def test_the_office_issues_nothing_that_nobody_could_verify(tmp_path: Path) -> None:
    played = ground()
    with closing(played.office(tmp_path)) as office:
        office.connection.execute("DELETE FROM signed")
        review = office.review("demo")
        evidence = review_evidence(office, review, played.organiser.public.signing_key)
        with pytest.raises(HarnessError, match=r"it would not hold: laptops: .*import their newest"):
            certifying.issue(office, review, review.key.runs[0].run_id, evidence, played.organiser)
        assert len(office.certificates(review)) == 1  # the honest one


@pytest.mark.parametrize("gone", [False, True])
def test_files_given_out_as_old_ones_are_said_to_show_less(gone: bool, tmp_path: Path) -> None:
    """The way back to files that commit to nothing is open, but never called whole."""
    played, evidence = ground(), ground().evidence
    doctored = stripped(evidence, "rate", played.strict) if gone else ratings_rewritten(evidence, played)
    old = of_the_first_version(doctored, played)
    done = verified(old)
    unshown = {"batches", "laptops", "looks"} | ({"contents"} if gone else set())
    assert {check.name for check in done.unshown} == unshown
    assert "Everything holds" not in done.words
    assert ("cannot be told" if gone else "the organisation's word") in done.words
    code, said = second_says(old, tmp_path)
    assert (code, said.count("It cannot show")) == (0, len(unshown))


POSSIBLE = {
    "invented laptops": "invent laptops: enrol its own laptops and rate on them in anybody's name",
    "another batch": "play the whole review again with another batch and invented laptops",
    "laptops left out": "leave out a laptop, or its last hand-over, with all that it signed",
    "withdrawn at the desk": "take ratings back in somebody's name, hear a laptop no more, name others",
    "looks": "read ratings with another program before it looks, or leave out the end of its log",
    "earlier version": "give out files of an earlier version, which bind it to less",
    "choice": "choose whom it asks, and which sentences are drawn, by trying many seeds",
}


def test_what_cannot_be_excluded_is_said() -> None:
    assert [attack for attack, said in POSSIBLE.items() if f"| {said}" not in GATE] == []


def test_looks_before_the_review_are_committed_to(tmp_path: Path) -> None:
    """A review made anew until one is lucky: the batch says how often the run was looked at before."""
    before = review_of(1)
    once = before.state.looks[RUN]
    key = histories.with_run(before.key, looks=2)
    evidence = histories.evidence_of(key, list(before.events))
    certificate = accepted(issue(evidence), tmp_path)
    assert certificate.verdict.look == 2 + once
    assert "2 before this review" in certificate_page(certificate).text()
    for elsewhere, look in ((1, 3), (3, 4)):  # whichever is more: what the batch states, or the log shows
        seen = review_of(1, replace(GO, other_looks=elsewhere)).events
        file = issue(histories.evidence_of(key, list(seen)))
        assert accepted(file, tmp_path).verdict.look == look
    soft = issue(replace(evidence, key=histories.with_run(evidence.key, looks=0)))
    assert certificate_of(soft).verdict.look == once
    assert refused(soft, tmp_path, "the number of looks before") == {"batches"}
    # looks that are left out are not seen: nobody but the organisation signs its own log
    played = ground()
    own = played.evidence.own_devices
    events = tuple(e for e in played.evidence.events if e.device not in own)
    accepted(forged(replace(played.evidence, events=events), played), tmp_path)


OTHER_BATCHES = ("ab" * 8, "cd" * 8)


def seen_elsewhere(played: Ground) -> EvidenceFile:
    """Certify a run of which two other batches are known; the ratings of one were looked at twice."""
    run = played.evidence.key.runs[0].run_id
    looks = [
        OrganiserLook(wall=WALL, batch=batch, run_id=about, events_sha256=f"{number:064x}")
        for number, (batch, about) in enumerate([(OTHER_BATCHES[0], run)] * 2 + [(OTHER_BATCHES[0], "another run")])
    ]
    evidence = added(played.evidence, *looks, looks[0])
    return forged(replace(evidence, other_batches={run: OTHER_BATCHES}), played)


def test_looks_in_other_batches_count_to_both(tmp_path: Path) -> None:
    played = ground()
    certificate = accepted(seen_elsewhere(played), tmp_path)
    assert certificate.looks == CertifiedLooks(here=1, early=0, others={OTHER_BATCHES[0]: 2, OTHER_BATCHES[1]: 0})
    assert (certificate.verdict.look, certificate.verdict.confidence) == (3, "0.975000")
    words = " ".join(certificate_page(certificate).text().split())
    assert f"2 at batch {OTHER_BATCHES[0]}, 0 at batch {OTHER_BATCHES[1]}. Reviews made on" in words
    run, batch = certificate.run.run_id, played.evidence.key.batches[0]

    def looked(evidence: Evidence, ratings: str) -> CertifiedLooks | None:
        look = OrganiserLook(wall=WALL, batch=batch, run_id=run, events_sha256=ratings)
        return accepted(forged(added(evidence, look), played), tmp_path).looks

    early = {"here": 2, "others": {}}
    assert looked(played.evidence, "f" * 64) == CertifiedLooks(early=1, **early)
    fewer = without_laptops(played.evidence, played.desk.codes[:1])  # somebody has not rated
    assert looked(fewer, fewer.ratings_sha256) == CertifiedLooks(early=2, **early)


LOOKS_HIDDEN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "look 1": lambda c: c["verdict"].update(look=1),
    "no look elsewhere": lambda c: c["looks"].update(others={}),
    "one look elsewhere": lambda c: c["looks"]["others"].update({OTHER_BATCHES[0]: 1}),
    "a look at a batch that had none": lambda c: c["looks"]["others"].update({OTHER_BATCHES[1]: 1}),
    "no look here": lambda c: c["looks"].update(here=0),
    "an early look": lambda c: c["looks"].update(early=1),
    "nothing of looks": lambda c: c.update(looks=None),
}


@pytest.mark.parametrize("hidden", LOOKS_HIDDEN)
def test_certificate_that_hides_looks_is_refused_by_both(hidden: str, tmp_path: Path) -> None:
    played = ground()
    refused(changed(seen_elsewhere(played), LOOKS_HIDDEN[hidden], played.organiser), tmp_path)


def test_looks_without_content_or_of_old_form_are_told(tmp_path: Path) -> None:
    """Whoever takes the content out of a look could say that it was at another run."""
    played = ground()
    file = seen_elsewhere(played)
    events = tuple(e.erased() if getattr(e.payload, "batch", "") in OTHER_BATCHES else e for e in file.evidence.events)
    bare = forged(replace(file.evidence, events=events, other_batches={}), played)
    assert certificate_of(bare).verdict.look == 1
    assert refused(bare, tmp_path, "do not show at which run they are") == {"looks"}
    second = changed(file, lambda c: c.update(format="rosetta-certificate/2", looks=None), played.organiser)
    stated = certificate_of(second)
    again = certified_again(file.evidence, stated).as_bytes()
    second = EvidenceFile(again, played.organiser.sign(again), file.evidence)
    assert accepted(second, tmp_path).verdict.look == 1
    assert [each.name for each in verified(second).unshown] == ["looks"]
    assert "in other reviews are not counted" in second_says(second, tmp_path)[1]


def with_witness(played: Ground, *contents: bytes) -> EvidenceFile:
    return forged(replace(played.evidence, witnesses=contents), played)


def test_witnessed_laptops_are_counted(tmp_path: Path) -> None:
    played, elder = ground(), Identity.make(Role.LAPTOP)
    own = played.organiser.public.signing_key
    seen = [person.identity.public.signing_key for person in played.people[:2]]
    file = with_witness(played, *(write_statement(elder, each, own) for each in seen))
    certificate = accepted(file, tmp_path)
    stated = certificate.witnesses
    assert stated is not None
    assert (stated.laptops, stated.witnessed, stated.witnesses) == (5, 2, 1)
    assert "2 of the 5 laptops, by 1 person" in certificate_page(certificate).text()
    told = next(c.words for c in verified(file).checks if c.name == "witnesses")
    assert elder.public.phrase in told
    more = write_statement(Identity.make(Role.LAPTOP), seen[0], own)  # came after the issue
    later = replace(file.evidence, witnesses=(*file.evidence.witnesses, more))
    accepted(replace(file, evidence=later), tmp_path)


def test_statement_counts_from_a_second_person_for_this_laptop(tmp_path: Path) -> None:
    played, elder = ground(), Identity.make(Role.LAPTOP)
    own, laptop = played.organiser.public.signing_key, played.people[0].identity
    seen = laptop.public.signing_key
    other = write_statement(elder, Identity.make(Role.LAPTOP).public.signing_key, own)
    elsewhere = write_statement(elder, seen, "0" * 64)
    changed_ = write_statement(elder, seen, own).replace(seen.encode(), b"1" * 64)
    for identity in (laptop, played.organiser):  # its own laptop, the organisation itself
        with pytest.raises(FileError, match="A witness is a second person"):
            write_statement(identity, seen, own)
    file = with_witness(played, other, elsewhere, changed_, b"{}", _by_itself(laptop, own))
    stated = accepted(file, tmp_path).witnesses
    assert stated is not None
    assert (stated.witnessed, stated.statements) == (0, ())
    one = with_witness(played, write_statement(elder, seen, own))
    claimed = changed(one, lambda c: c["witnesses"].update(witnessed=5), played.organiser)
    assert refused(claimed, tmp_path, "$.witnesses.witnessed is 5") == {"verdict"}


def _by_itself(identity: Identity, organisation: str) -> bytes:
    """Sign of one's own laptop what the program refuses to write."""
    key = identity.public.signing_key
    fields = Statement(laptop=key, organisation=organisation, witness=key).model_dump()
    return canonical_bytes(fields | {"signature": identity.sign(canonical_bytes(fields)).hex()})


def test_withdrawal_at_the_desk_is_counted_and_excuses_nothing(tmp_path: Path) -> None:
    played = ground()
    strict = played.strict[0]
    said = Withdraw(wall=ISSUED, reviewer=strict, batch=None, scope=Scope.EVERYTHING)
    file = forged(stripped(played.evidence, "rate", [strict]), played)
    later = replace(file, evidence=added(file.evidence, said))  # what was missing at the issue
    assert "contents" in refused(later, tmp_path)
    for scope in (Scope.EVERYTHING, Scope.BATCH):  # that names no batch reaches all, whatever its scope
        taken = added(played.evidence, said.model_copy(update={"scope": scope}))
        certificate = accepted(forged(taken, played), tmp_path)
        assert certificate.panel.asked[ReviewerStatus("withdrew_at_the_desk")] == 1
        told = certificate_page(certificate).text()
        assert "1 taken back by the organisation in their name" in told


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


def test_laptops_named_or_called_one_are_told(tmp_path: Path) -> None:
    """Who names a laptop that said nothing silences the one that spoke."""
    played = ground()
    nobody = Identity.make(Role.LAPTOP).public.signing_key
    batch = played.evidence.key.batches[0]
    words = [AssignLaptop(wall=ISSUED, batch=batch, reviewer=who, laptops=(nobody,)) for who in played.strict]
    file = forged(added(played.evidence, *words), played)
    certificate = accepted(file, tmp_path)
    assert certificate.laptops is not None
    assert (certificate.laptops.decided, certificate.panel.asked[ReviewerStatus("not_heard")]) == (2, 2)
    assert "for 2 people the organisation named the laptops that count" in certificate_page(certificate).text()
    # So what both say of a person waits for nobody: a laptop that came instead of another is that other one.
    played = ground()
    one, other = (played.evidence.devices[last_of(played.evidence, who).device] for who in played.strict)
    batch = played.evidence.key.batches[0]
    word = LaptopWord(wall=ISSUED, batch=batch, laptop=one, heard=True, instead_of=other)
    file = forged(added(played.evidence, word), played)
    certificate = accepted(file, tmp_path)
    assert certificate.laptops is not None
    assert certificate.laptops.replaced == 1
    assert "1 laptop came instead of another one" in certificate_page(certificate).text()


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
    return lambda members, played: _certificate(members, played, change(members["certificate.json"]))


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


def test_file_of_two_certificates_or_a_holding_name_is_none(tmp_path: Path) -> None:
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
    name = "Holds: go, run 1.rosetta-evidence"
    (tmp_path / name).write_bytes(b"nothing")
    with chdir(tmp_path):
        code, said = asked_alone(name)
    assert (code, said[:10]) == (1, "Not read: ")
