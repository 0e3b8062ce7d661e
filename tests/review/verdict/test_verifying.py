"""Verifying: what holds, what was changed and where, and what a withdrawal leaves."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.core.failures import HarnessError
from harness.sealed.keys import Identity
from review.log.payloads import Scope
from review.rating import CannotJudge
from review.verdict.certificate.certify import read_verdict
from review.verdict.certificate.evidence import Evidence, EvidenceFile
from review.verdict.certificate.verifying import Verification, verify
from rosetta_tui.review.organiser.words.gate import verification_lines
from tests.review.thorough import times
from tests.review.verdict import histories
from tests.review.verdict.alone import asked_alone
from tests.review.verdict.certified import (
    GO,
    SIGNER,
    certified,
    changed,
    issue,
    packed,
    review_of,
    withdrawn,
)
from tests.review.verdict.histories import (
    ORGANISATION,
    RUN,
    Chain,
    erase_withdrawn,
    evidence_of,
    later,
)


def verified(file: EvidenceFile, evidence: Evidence | None = None) -> Verification:
    return verify(file.certificate, file.signature, evidence or file.evidence)


def wrong(file: EvidenceFile, evidence: Evidence | None = None) -> str:
    done = verified(file, evidence)
    assert not done.ok
    return next(check.name for check in done.checks if check.ok is False)


def test_random_reviews_hold_to_both_programs(tmp_path: Path) -> None:
    held = 0
    for seed in range(times(3, 300)):
        try:
            file = issue(histories.history(Random(seed)))
        except HarnessError:
            continue  # too little was rated
        done = verified(file)
        assert (done.ok, done.differences) == (True, ()), done.checks
        assert "byte for byte" in done.words
        assert asked_alone(packed(file, tmp_path / "x.rosetta-evidence"))[0] == 0
        held += 1
    assert held


def test_verifying_tells_what_laptops_could_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = replace(GO, mischief=1.0)
    assert "not shown" not in "".join(verification_lines(verified(issue(review_of(1, shape)))))
    monkeypatch.setattr(histories, "UNSAID", CannotJudge.NOT_SHOWN)
    done = verified(issue(review_of(1, replace(shape, looks=2))))
    assert done.ok
    unrated = list(done.not_shown.values()).count(False)
    (told,) = [line for line in verification_lines(done) if "not shown" in line]
    assert told.startswith(f"! not shown: {len(done.not_shown)} item")
    assert f"asked; {unrated} of them nobody rated" in told


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "$.verdict.outcome": lambda c: c["verdict"].update(outcome="no_go"),
    "$.verdict.numbers.lower": lambda c: c["verdict"]["numbers"].update(lower="0.999999"),
    "$.verdict.numbers.reviewers[0]": lambda c: c["verdict"]["numbers"]["reviewers"].__setitem__(0, "1.000000"),
    "$.verdict.note": lambda c: c["verdict"].update(note=None),
    "$.agreement.ac2.interval.lower": lambda c: c["agreement"]["ac2"]["interval"].update(lower="0.000000"),
    "$.panel.reviewers": lambda c: c["panel"].update(reviewers=50),
    "$.panel.chosen": lambda c: c["panel"].update(chosen="by lot"),
    "$.run.run_card_hash": lambda c: c["run"].update(run_card_hash="0" * 64),
    "$.run.segments": lambda c: c["run"].update(segments={"development": 60}),
    "$.review": lambda c: c.update(review="another"),
    "$.policy.community_reviewers": lambda c: c["policy"].update(community_reviewers=1),
    "$.log.withdrawals": lambda c: c["log"].update(withdrawals=2),
}  # fmt: skip


@pytest.mark.parametrize("path", CHANGES)
def test_changed_value_is_named_by_its_path(path: str) -> None:
    done = verified(changed(certified(), CHANGES[path], SIGNER))  # the organisation itself is wrong
    assert [check.name for check in done.checks if check.ok is False] == ["verdict"]
    assert any(each.path.startswith(path) for each in done.differences)


@pytest.mark.parametrize(
    ("name", "block", "change"),
    [
        ("policy", "policy", {"sha256": "0" * 64}),
        ("log", "log", {"sha256": "0" * 64}),
        ("chains", "log", {"gaps": 1}),
        ("devices", "log", {"devices_sha256": "0" * 64}),
    ],
)
def test_evidence_not_certified_is_named(name: str, block: str, change: dict[str, Any]) -> None:
    file = changed(certified(), lambda c: c[block].update(change), SIGNER)
    assert wrong(file) == name
    assert "not computed" in verified(file).checks[-1].words


def test_evidence_of_which_something_was_changed_is_refused() -> None:
    file = certified()
    old = file.evidence
    softer = replace(old, policy=old.policy.replace(b"share = 0.70", b"share = 0.10"))
    assert wrong(file, softer) == "policy"
    assert wrong(file, replace(old, key=old.key.model_copy(update={"seed": 8}))) == "answer key"
    assert wrong(file, replace(old, events=old.events[1:])) in {"log", "chains", "devices"}
    assert wrong(file, replace(old, devices={})) == "devices"
    assert wrong(file, replace(old, organisation_device="1" * 16)) == "devices"
    assert not verified(file, review_of(2)).ok
    strange = Identity.make(SIGNER.role).sign(file.certificate)
    assert wrong(changed(file, CHANGES["$.verdict.outcome"])) == "signature"
    for signature in (b"", strange):
        assert wrong(replace(file, signature=signature)) == "signature"
    device = next(e.device for e in old.events if e.device != ORGANISATION)
    known = {name: key for name, key in old.devices.items() if name != device}
    assert wrong(issue(replace(old, devices=known))) == "chains"  # a laptop that nobody knows


def test_after_a_withdrawal_all_but_the_numbers_holds() -> None:
    file = certified()
    evidence = file.evidence
    now = later(evidence, erase_withdrawn(withdrawn(evidence)))
    done = verified(file, now)
    gone = now.withheld - evidence.withheld
    assert gone > 60
    assert (done.ok, done.missing) == (False, gone)
    assert [(check.name, check.ok) for check in done.checks if not check.ok] == [("verdict", None)]
    assert done.without == read_verdict(now, RUN, 1).verdict.outcome
    assert f"{gone:,} contents are missing; 1 person took theirs back since" in done.words
    assert "rosetta review gate --issue" in done.words
    anew = verified(issue(now, issued="2026-06-01T00:00:00Z"))
    assert (anew.ok, anew.certificate.log.withdrawals) == (True, 1)
    only_words = erase_withdrawn(withdrawn(evidence, Scope.COMMENTS))
    assert verified(file, later(evidence, only_words)).ok


def test_contents_that_nobody_withdrew_must_be_there() -> None:
    file = certified()
    evidence = file.evidence
    victim = next(e for e in evidence.events if e.kind == "rate")
    missing = evidence_of(evidence.key, [e.erased() if e is victim else e for e in evidence.events])
    assert wrong(file, missing) == "contents"
    assert "nobody has taken any back" in verified(file, missing).checks[-1].words
    # who wants to hide ratings may let somebody withdraw and strip those of others along with theirs
    events = erase_withdrawn(withdrawn(evidence))
    stripped = [event.erased() if event.kind == "rate" else event for event in events]
    done = verified(file, later(evidence, stripped))
    assert (done.ok, done.broken) == (False, True)
    told = next(check.words for check in done.checks if check.name == "contents")
    assert "answers are missing whose people took nothing back" in told
    # who took back before the issue explains nothing that is missing since
    now = later(evidence, events)
    file = issue(now)
    assert verified(file).ok
    victim = next(e for e in now.events if e.kind == "rate" and e.payload is not None)
    fewer = [e.erased() if e is victim else e for e in now.events]
    assert wrong(file, later(evidence, fewer)) == "contents"


def test_later_events_do_not_touch_an_earlier_certificate() -> None:
    file = certified()
    evidence = file.evidence
    office = Chain(Random(2), ORGANISATION)
    office.events = [e for e in evidence.events if e.device == ORGANISATION]
    office.lamport = 10**6
    office.write(histories.look_at_results(evidence.key, RUN, "9" * 64))
    rest = [e for e in evidence.events if e.device != ORGANISATION]
    grown = later(evidence, [*rest, *office.events])
    assert read_verdict(grown, RUN).verdict.look == 2
    assert verified(file, grown).ok


@pytest.mark.parametrize("strata", [{}, {1: 5, 2: -5}, {9: 1}, {1: 2**53 - 1, 2: -1}], ids=str)
def test_answer_key_that_fits_no_review_is_refused(strata: dict[int, int]) -> None:
    """Even where its organisation signed it: an evidence file comes from anywhere."""
    file = certified()
    key = histories.with_run(file.evidence.key, strata=strata)
    odd = evidence_of(key, list(file.evidence.events))
    stated = {"key_sha256": odd.key_sha256, "batches": dict(odd.key.batch_sha256)}
    assert wrong(changed(file, lambda c: c.update(stated), SIGNER), odd) == "verdict"
