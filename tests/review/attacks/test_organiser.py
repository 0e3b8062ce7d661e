"""The organiser as attacker: whoever has the office, its key and all ratings, and wants another verdict."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError
from harness.sealed.archive import pack, unpack
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity, Role
from harness.sealed.phrase import phrase
from review.files.manifests import RatingsManifest
from review.files.statements import Statement, write_statement
from review.log.event import make_event
from review.log.payloads import Scope, Withdraw
from review.office.results import certifying
from review.office.results.certifying import review_evidence
from review.office.results.progress import progress
from review.verdict.certificate.certificate import Became, read_certificate
from review.verdict.certificate.certificate_text import certificate_text
from review.verdict.certificate.certify import certified_again
from review.verdict.certificate.evidence import (
    Evidence,
    EvidenceFile,
    pack_evidence,
    unpack_evidence,
)
from review.verdict.certificate.verifying import verify
from rosetta_tui.commands.review.status import review_lines
from tests.review.attacks.first_version import as_of_the_first_version
from tests.review.attacks.forgeries import (
    DETECTED,
    MEMBERS,
    Attack,
    batch_signed_anew,
    better,
    ratings_rewritten,
)
from tests.review.attacks.ground import (
    GATE,
    ISSUED,
    Ground,
    forged,
    ground,
    last_of,
    rewritten,
    second_says,
    stripped,
    verified,
    without_laptops,
)
from tests.review.verdict import histories
from tests.review.verdict.certified import certificate_of, changed, issue, review_of
from tests.review.verdict.histories import RUN
from tests.review.verdict.signing import hand_overs


@pytest.mark.thorough
def test_the_honest_certificate_holds_to_both(tmp_path: Path) -> None:
    done = verified(ground().file)
    assert (done.ok, done.unshown) == (True, ()), done.checks
    assert done.words.startswith("Everything holds")
    code, said = second_says(ground().file, tmp_path)
    assert (code, said.startswith("Holds: ")) == (0, True)


@pytest.mark.parametrize(("attack", "where"), DETECTED, ids=[a.__name__ for a, _ in DETECTED])
def test_both_programs_detect(attack: Attack, where: str, tmp_path: Path) -> None:
    """The organiser certifies and signs what the changed evidence says, so that all the rest fits."""
    played = ground()
    try:
        file = forged(attack(played.evidence, played), played)
    except HarnessError as error:
        pytest.fail(f"the attack came to nothing, so nothing is shown: {error}")
    done = verified(file)
    assert done.broken, done.checks
    wrong = {check.name for check in done.checks if check.ok is False}
    assert where in wrong, done.checks
    assert wrong <= {"batches", "laptops", "contents"}, done.checks  # all else fits
    code, said = second_says(file, tmp_path)
    assert (code, said.startswith("Does not hold: ")) == (1, True), said


IN_THE_TABLES = {
    "policy": ("UPDATE review SET policy = CAST(replace(CAST(policy AS TEXT), 'share = 0.70', 'share = 0.20') AS BLOB)", "the policy is not"),
    "answer key": ("UPDATE review SET answer_key = CAST(replace(CAST(answer_key AS TEXT), '\"seed\":7', '\"seed\":8') AS BLOB)", "the answer key is not"),
    "people": ("UPDATE review SET answer_key = CAST(replace(CAST(answer_key AS TEXT), 'Everyone who came', 'Drawn by lot') AS BLOB)", "the answer key is not"),
    "batch": ("UPDATE batch SET manifest = CAST(replace(CAST(manifest AS TEXT), 'Sentences', 'Other') AS BLOB)", "is not the one that the answer key names"),
    "signature": ("UPDATE batch SET signature = zeroblob(64)", "is not signed by the organisation"),
}  # fmt: skip


@pytest.mark.parametrize("what", IN_THE_TABLES)
def test_the_office_refuses_tables_that_were_changed(what: str, tmp_path: Path) -> None:
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


def test_a_second_verifier_that_says_what_it_should_is_not_ours() -> None:
    played = ground()
    packed = pack_evidence(played.file.certificate, played.file.signature, played.evidence)
    members = unpack(packed, MEMBERS)
    honest = unpack_evidence(packed)
    assert verify(honest.certificate, honest.signature, honest.evidence, honest.program).ok
    for program in (b'print("Holds: go")\n', members["rosetta_verify.py"] + b" "):
        file = unpack_evidence(pack({**members, "rosetta_verify.py": program}))
        done = verify(file.certificate, file.signature, file.evidence, file.program)
        assert [check.name for check in done.checks if check.ok is False] == ["second verifier"]
        assert "do not run it" in next(c.words for c in done.checks if c.ok is False)


def test_strict_laptops_left_out_are_missed_by_those_who_wrote_the_words_down() -> None:
    """Without them all fits, but for the words of these people, and the count of those who handed nothing in."""
    played = ground()
    file = forged(without_laptops(played.evidence, played.strict), played)
    done = verified(file)
    assert done.ok
    assert done.certificate.panel.asked[Became("nothing")] == 2
    assert "2 handed nothing in" in certificate_text(done.certificate)
    assert found(file, played.words[4:]) == [True] * 6
    assert found(file, played.words[:4]) == [False] * 4
    assert found(played.file, played.words) == [True] * 10
    earlier = [phrase(each.sha256, earlier=True) for each in played.file.evidence.handed_over]
    assert found(played.file, earlier) == [True] * len(earlier)
    assert found(file, earlier).count(False) == 4


def test_an_old_hand_over_that_cuts_later_ratings_is_missed_by_its_words() -> None:
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
    """Say of each hand-over whether ``verify --words`` finds it."""
    done = verify(file.certificate, file.signature, file.evidence, phrases=phrases)
    return [check.ok for check in done.kept if check.name.startswith("hand-over")]


def test_a_review_played_again_with_invented_laptops_is_missed_by_the_kept_batch() -> None:
    """Everything made anew, batch and laptops: only who holds the batch that really went out can see it."""
    played = ground()
    again = batch_signed_anew(played.evidence, played)
    invented = Identity.make(Role.LAPTOP)
    own = again.organisation_device
    events = rewritten(again.events, better)
    soft = replace(
        again,
        events=events,
        devices=dict.fromkeys(again.devices, invented.public.signing_key)
        | {own: again.devices[own]},
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
        with pytest.raises(
            HarnessError, match=r"it would not hold: laptops: .*import their newest"
        ):
            certifying.issue(office, review, review.key.runs[0].run_id, evidence, played.organiser)
        assert len(office.certificates(review)) == 1  # the honest one


def test_a_certificate_that_is_edited_is_signed_by_nobody() -> None:
    done = verified(changed(ground().file, lambda c: c["verdict"].update(outcome="go")))
    assert "signature" in {check.name for check in done.checks if check.ok is False}


def test_a_verdict_that_is_edited_and_signed_is_computed_again() -> None:
    played = ground()
    done = verified(
        changed(played.file, lambda c: c["verdict"].update(outcome="go"), played.organiser)
    )
    assert [check.name for check in done.checks if check.ok is False] == ["verdict"]


def test_files_that_are_given_out_as_old_ones_are_said_to_show_less(tmp_path: Path) -> None:
    """The way back to files that commit to nothing is open, but never called whole."""
    played = ground()
    soft = ratings_rewritten(played.evidence, played)
    bare = replace(soft, batches={}, handed_over=())
    old = changed(forged(bare, played), as_of_the_first_version, played.organiser)
    again = certified_again(bare, read_certificate(old.certificate, "x")).as_bytes()
    old = EvidenceFile(again, played.organiser.sign(again), bare)
    done = verified(old)
    assert {check.name for check in done.unshown} == {"batches", "laptops"}
    assert "Everything holds" not in done.words
    assert "the organisation's word" in done.words
    code, said = second_says(old, tmp_path)
    assert code == 0
    assert said.count("It cannot show") == 2


POSSIBLE = {
    "invented laptops": "invent laptops: enrol laptops of its own and rate on them in anybody's name",
    "another batch": "play the whole review again with another batch and invented laptops",
    "laptops left out": "leave out a laptop, or what it handed over last, with all that it signed",
    "withdrawn at the desk": "take ratings back in somebody's name, hear a laptop no more, name others",
    "looks": "read ratings with another program before it looks, or leave the end of its own log out",
    "earlier version": "give out files of an earlier version, which bind it to less",
    "choice": "choose whom it asks, and which sentences are drawn, by trying many seeds",
}


def test_of_an_earlier_version_nobody_can_tell_whose_answers_are_missing(tmp_path: Path) -> None:
    played = ground()
    gone = stripped(played.evidence, {"rate": True}, played.strict)
    bare = replace(gone, batches={}, handed_over=())
    old = changed(forged(bare, played), as_of_the_first_version, played.organiser)
    again = certified_again(bare, read_certificate(old.certificate, "x")).as_bytes()
    file = EvidenceFile(again, played.organiser.sign(again), bare)
    done = verified(file)
    assert {check.name for check in done.unshown} == {"batches", "laptops", "contents"}
    assert "cannot be told" in done.words
    assert second_says(file, tmp_path)[1].count("It cannot show") == 3


@pytest.mark.parametrize("attack", POSSIBLE)
def test_what_cannot_be_excluded_is_said(attack: str) -> None:
    assert f"| {POSSIBLE[attack]}" in GATE


def test_looks_at_the_run_before_the_review_are_committed_to(tmp_path: Path) -> None:
    """A review made anew until one is lucky: the batch says how often the run was looked at before."""
    before = review_of(1)
    once = before.state.looks[RUN]
    key = histories.with_run(before.key, looks=2)
    evidence = histories.evidence_of(key, list(before.events))
    file = issue(evidence)
    assert certificate_of(file).verdict["look"] == 2 + once
    assert "2 before this review" in certificate_text(certificate_of(file))
    assert verified(file).ok
    assert second_says(file, tmp_path)[0] == 0
    soft = issue(replace(evidence, key=histories.with_run(evidence.key, looks=0)))
    assert certificate_of(soft).verdict["look"] == once
    [wrong] = [check for check in verified(soft).checks if check.ok is False]
    assert (wrong.name, "the number of looks before" in wrong.words) == ("batches", True)
    code, said = second_says(soft, tmp_path)
    assert (code, "the number of looks before" in said) == (1, True)


def with_witness(played: Ground, *contents: bytes) -> EvidenceFile:
    return forged(replace(played.evidence, witnesses=contents), played)


def test_witnessed_laptops_are_counted_and_others_ask_the_witness(tmp_path: Path) -> None:
    played, elder = ground(), Identity.make(Role.LAPTOP)
    own = played.organiser.public.signing_key
    seen = [person.identity.public.signing_key for person in played.people[:2]]
    file = with_witness(played, *(write_statement(elder, each, own) for each in seen))
    done = verified(file)
    stated = done.certificate.witnesses
    assert stated is not None
    assert (done.ok, stated.laptops, stated.witnessed, stated.witnesses) == (True, 5, 2, 1)
    assert "2 of the 5 laptops, by 1 person" in certificate_text(done.certificate)
    assert elder.public.phrase in next(c.words for c in done.checks if c.name == "witnesses")
    assert second_says(file, tmp_path)[0] == 0
    more = write_statement(Identity.make(Role.LAPTOP), seen[0], own)  # came after the issue
    later = replace(file.evidence, witnesses=(*file.evidence.witnesses, more))
    assert verify(file.certificate, file.signature, later).ok
    assert second_says(replace(file, evidence=later), tmp_path)[0] == 0


def test_no_statement_counts_that_no_second_person_signed_for_this_laptop(tmp_path: Path) -> None:
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
    stated = verified(file).certificate.witnesses
    assert stated is not None
    assert (stated.witnessed, stated.statements) == (0, ())
    assert second_says(file, tmp_path)[0] == 0
    claimed = changed(
        with_witness(played, write_statement(elder, seen, own)),
        lambda c: c["witnesses"].update(witnessed=5),
        played.organiser,
    )
    assert [c.name for c in verified(claimed).checks if c.ok is False] == ["verdict"]
    code, said = second_says(claimed, tmp_path)
    assert (code, "$.witnesses.witnessed is 5" in said) == (1, True)


def _by_itself(identity: Identity, organisation: str) -> bytes:
    """Sign of one's own laptop what the program refuses to write."""
    key = identity.public.signing_key
    fields = Statement(laptop=key, organisation=organisation, witness=key).model_dump()
    return canonical_bytes(fields | {"signature": identity.sign(canonical_bytes(fields)).hex()})


def test_looks_left_out_are_not_seen(tmp_path: Path) -> None:
    """Nobody but the organisation signs its own log; docs/gate.md says so."""
    played = ground()
    events = tuple(e for e in played.evidence.events if e.device not in played.evidence.own_devices)
    file = forged(replace(played.evidence, events=events), played)
    assert verified(file).ok
    assert second_says(file, tmp_path)[0] == 0


def taken_back_at_the_desk(evidence: Evidence, code: str) -> Evidence:
    own = [e for e in evidence.events if e.device in evidence.own_devices]
    last = max(own, key=lambda e: e.seq)
    said = Withdraw(wall=ISSUED, reviewer=code, batch=None, scope=Scope.EVERYTHING)
    late = max(e.lamport for e in evidence.events) + 1
    taken = make_event(
        said, device=last.device, seq=last.seq + 1, lamport=late, prev=last.id, salt=bytes(16)
    )
    return replace(evidence, events=(*evidence.events, taken))


def test_a_later_withdrawal_excuses_nothing_that_was_missing_at_the_issue(tmp_path: Path) -> None:
    played = ground()
    strict = played.strict[0]
    file = forged(stripped(played.evidence, {"rate": True}, [strict]), played)
    later = replace(file, evidence=taken_back_at_the_desk(file.evidence, strict))
    assert "contents" in {check.name for check in verified(later).checks if check.ok is False}
    assert second_says(later, tmp_path)[0] == 1


def test_what_is_taken_back_at_the_desk_is_counted() -> None:
    played = ground()
    file = forged(taken_back_at_the_desk(played.evidence, played.strict[0]), played)
    done = verified(file)
    assert done.ok
    assert done.certificate.panel.asked[Became("withdrew_at_the_desk")] == 1
    assert "1 taken back by the organisation in their name" in certificate_text(done.certificate)
