"""Verifying: what holds, what was changed and where, and what a withdrawal leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
from tests.review.verdict.certified import GO, SIGNER, changed, issue, review_of
from tests.review.verdict.histories import (
    ORGANISATION,
    RUN,
    Chain,
    erase_withdrawn,
    evidence_of,
    later,
)
from tests.review.verdict.withdrawn import withdrawn


def verified(file: EvidenceFile, evidence: Evidence | None = None) -> Verification:
    return verify(file.certificate, file.signature, evidence or file.evidence)


def wrong(done: Verification) -> str:
    return next(check.name for check in done.checks if check.ok is False)


def test_random_reviews_hold() -> None:
    held = 0
    for seed in range(times(5, 300)):
        evidence = histories.history(Random(seed))
        try:
            file = issue(evidence)
        except HarnessError:
            continue  # too little was rated
        done = verified(file)
        assert (done.ok, done.differences) == (True, ()), done.checks
        assert "byte for byte" in done.words
        held += 1
    assert held


def test_whoever_verifies_reads_what_laptops_could_not_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shape = replace(GO, mischief=1.0)
    assert "not shown" not in "".join(verification_lines(verified(issue(review_of(1, shape)))))
    monkeypatch.setattr(histories, "UNSAID", CannotJudge.NOT_SHOWN)
    done = verified(issue(review_of(1, shape)))
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


@pytest.mark.parametrize("path", CHANGES, ids=list(CHANGES))
def test_a_changed_value_is_named_by_its_path(path: str) -> None:
    file = issue(review_of(1))
    assert wrong(verified(changed(file, CHANGES[path]))) == "signature"
    done = verified(changed(file, CHANGES[path], SIGNER))  # the organisation itself is wrong
    assert (done.ok, wrong(done)) == (False, "verdict")
    assert path in [
        difference.path.removesuffix(".development") for difference in done.differences
    ] or any(difference.path.startswith(path) for difference in done.differences)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("policy", {"sha256": "0" * 64}),
        ("log", {"sha256": "0" * 64}),
        ("chains", {"gaps": 1}),
        ("devices", {"devices_sha256": "0" * 64}),
    ],
    ids=["policy", "log", "chains", "devices"],
)
def test_evidence_that_was_not_certified_is_named(name: str, change: dict[str, Any]) -> None:
    block = "policy" if name == "policy" else "log"
    done = verified(changed(issue(review_of(1)), lambda c: c[block].update(change), SIGNER))
    assert (done.ok, wrong(done)) == (False, name)
    assert "not computed" in done.checks[-1].words


def test_evidence_of_which_something_was_changed_is_refused() -> None:
    file = issue(review_of(1))
    old = file.evidence
    softer = replace(old, policy=old.policy.replace(b"share = 0.70", b"share = 0.10"))
    assert wrong(verified(file, softer)) == "policy"
    key = old.key.model_copy(update={"seed": 8})
    assert wrong(verified(file, replace(old, key=key))) == "answer key"
    assert wrong(verified(file, replace(old, events=old.events[1:]))) in {
        "log",
        "chains",
        "devices",
    }
    assert wrong(verified(file, replace(old, devices={}))) == "devices"
    assert wrong(verified(file, replace(old, organisation_device="1" * 16))) == "devices"
    other = review_of(2)
    assert not verified(file, other).ok


def test_a_key_that_is_none_signed_nothing() -> None:
    file = issue(review_of(1))
    assert wrong(verify(file.certificate, b"", file.evidence) and verified(replace(file, signature=b""))) == "signature"  # fmt: skip
    stranger = Identity.make(SIGNER.role)
    assert wrong(verified(replace(file, signature=stranger.sign(file.certificate)))) == "signature"


def test_a_laptop_that_nobody_knows_is_named() -> None:
    evidence = review_of(1)
    device = next(e.device for e in evidence.events if e.device != ORGANISATION)
    known = {name: key for name, key in evidence.devices.items() if name != device}
    done = verified(issue(replace(evidence, devices=known)))
    assert (done.ok, wrong(done)) == (False, "chains")


def test_after_a_withdrawal_all_but_the_numbers_holds() -> None:
    evidence = review_of(1)
    file = issue(evidence)
    now = later(evidence, erase_withdrawn(withdrawn(evidence)))
    done = verified(file, now)
    gone = now.withheld - evidence.withheld
    assert gone > 60
    assert (done.ok, done.missing) == (False, gone)
    assert [(check.name, check.ok) for check in done.checks if not check.ok] == [("verdict", None)]
    assert done.without == read_verdict(now, RUN, 1).verdict.outcome
    assert f"{gone:,} contents are missing; 1 person took theirs back since" in done.words
    assert "rosetta review gate --issue" in done.words
    anew = issue(now, issued="2026-06-01T00:00:00Z")
    assert verified(anew).ok
    assert verified(anew).certificate.log.withdrawals == 1


def test_taking_back_words_only_changes_nothing() -> None:
    evidence = review_of(1)
    file = issue(evidence)
    events = erase_withdrawn(withdrawn(evidence, Scope.COMMENTS))
    assert verified(file, later(evidence, events)).ok


def test_contents_that_nobody_withdrew_must_be_there() -> None:
    evidence = review_of(1)
    file = issue(evidence)
    victim = next(e for e in evidence.events if e.kind == "rate")
    events = [e.erased() if e is victim else e for e in evidence.events]
    done = verified(file, evidence_of(evidence.key, events))
    assert (done.ok, wrong(done)) == (False, "contents")
    assert "nobody has taken any back" in done.checks[-1].words


def test_nothing_is_proven_where_more_is_missing_than_one_person_took_back() -> None:
    """Who wants to hide ratings may let somebody withdraw and strip those of others along with theirs."""
    evidence = review_of(1)
    file = issue(evidence)
    events = erase_withdrawn(withdrawn(evidence))
    stripped = [event.erased() if event.kind == "rate" else event for event in events]
    done = verified(file, later(evidence, stripped))
    assert (done.ok, done.broken) == (False, True)
    told = next(check.words for check in done.checks if check.name == "contents")
    assert "answers are missing whose people took nothing back" in told


def test_who_took_back_before_the_issue_explains_nothing_that_is_missing_since() -> None:
    evidence = review_of(1)
    now = later(evidence, erase_withdrawn(withdrawn(evidence)))
    file = issue(now)
    assert verified(file).ok
    victim = next(e for e in now.events if e.kind == "rate" and e.payload is not None)
    events = [e.erased() if e is victim else e for e in now.events]
    done = verified(file, later(evidence, events))
    assert (done.ok, wrong(done)) == (False, "contents")


def test_later_events_do_not_touch_an_earlier_certificate() -> None:
    evidence = review_of(1)
    file = issue(evidence)
    office = Chain(Random(2), ORGANISATION)
    office.events = [e for e in evidence.events if e.device == ORGANISATION]
    office.lamport = 10**6
    office.write(histories.look_at_results(evidence.key, RUN, "9" * 64))
    rest = [e for e in evidence.events if e.device != ORGANISATION]
    grown = later(evidence, [*rest, *office.events])
    assert read_verdict(grown, RUN).verdict.look == 2
    assert verified(file, grown).ok


@pytest.mark.parametrize("strata", [{}, {1: 5, 2: -5}, {9: 1}, {1: 2**53 - 1, 2: -1}], ids=str)
def test_an_answer_key_that_fits_no_review_is_refused_in_words(strata: dict[int, int]) -> None:
    """Even where its organisation signed it: an evidence file comes from anywhere."""
    evidence = review_of(1)
    file = issue(evidence)
    key = histories.with_run(evidence.key, strata=strata)
    odd = evidence_of(key, list(evidence.events))
    stated = {"key_sha256": odd.key_sha256, "batches": dict(odd.key.batch_sha256)}
    signed = changed(file, lambda c: c.update(stated), SIGNER)
    done = verified(signed, odd)
    assert (done.ok, wrong(done)) == (False, "verdict")
