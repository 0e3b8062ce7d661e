"""``rosetta review attach``: what lifts a run's tiers, and what does not."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.card.seal import card_hash
from harness.core.failures import HarnessError, UsageError
from harness.sealed.keys import Identity, Role
from harness.store.file.database import open_store
from harness.store.notes import attach_certificate
from harness.store.runs import find_run
from review.office.store.store import Office
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.certify import certified_again
from review.verdict.certificate.evidence import EvidenceFile
from tests.review.attacks.first_version import as_of_the_first_version
from tests.review.verdict import histories
from tests.review.verdict.certified import (
    GO,
    NO_GO,
    SIGNER,
    attached,
    changed,
    issue,
)
from tests.tui.review.gated import (
    filled,
    find_bytes,
    invoke,
    issued,
    listed,
    put,
    replace_evidence,
    reviewed,
    shown,
)


def refused(path: Path, words: str) -> None:
    with pytest.raises(HarnessError, match=words):
        invoke("attach", path, "--trust", SIGNER.public.signing_key)
    assert listed()["claimable_tier"] == "functional"
    assert listed()["review"] is None


def test_a_certificate_lifts_the_tier_and_its_removal_takes_it_back(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    filled(office, home, reviewed(card, segments="gold_standard"))
    assert "functional (automatic 0.98; review pending)" in shown("list")
    certificate = issued(tmp_path)
    assert "functional (automatic 0.98; review pending)" in shown("list"), "issuing lifts nothing"
    before = find_bytes(home)
    said = invoke("attach", certificate).stdout
    assert "It is community-validated." in said
    run = listed()
    assert (run["claimable_tier"], run["verification_tier"]) == ("fluent", "community-validated")
    assert (run["quality_tier"], run["review"]) == ("fluent", "go")
    assert run["tier_in_words"] == "fluent (automatic 0.98; reviewed)"
    page = shown("show")
    for words in (
        "fluent (automatic 0.98; reviewed)",
        "community-validated",
        "panel of 5",
        "Kultura Centro",
    ):
        assert words in page
    assert find_bytes(home) == before, "a sealed card never changes"
    invoke("attach", "--remove", "last")
    assert "functional (automatic 0.98; review pending)" in shown("list")


def test_reviewed_on_other_segments_or_by_few_it_is_not_the_communitys(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    filled(office, home, reviewed(card, segments="development"))
    said = invoke("attach", issued(tmp_path)).stdout
    assert "Not community-validated: reviewed entries are of the segment development" in said
    run = listed()
    assert (run["claimable_tier"], run["verification_tier"]) == ("fluent", "self-benchmarked")


def test_a_panel_of_four_is_not_the_communitys(card: dict[str, Any], tmp_path: Path) -> None:
    file = issue(reviewed(card, histories.replace(GO, reviewers=4), segments="gold_standard"))
    said = invoke("attach", put(file, tmp_path), "--trust", SIGNER.public.signing_key).stdout
    assert "it was a panel of 4" in said
    assert listed()["verification_tier"] == "self-benchmarked"


def test_a_strangers_certificate_needs_a_key_that_is_named(
    card: dict[str, Any], tmp_path: Path
) -> None:
    path = put(issue(reviewed(card)), tmp_path)
    with pytest.raises(UsageError, match="--trust KEY"):
        invoke("attach", path)
    with pytest.raises(UsageError, match="nobody here has called trustworthy"):
        invoke("attach", path, "--trust", "0" * 64)
    with pytest.raises(UsageError, match="64 hexadecimal digits"):
        invoke("attach", path, "--trust", "me")
    assert listed()["claimable_tier"] == "functional"
    invoke("attach", path, "--trust", SIGNER.public.signing_key)
    assert listed()["claimable_tier"] == "fluent"


def test_an_organisation_does_not_trust_another_unasked(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="nobody here has called trustworthy"):
        invoke("attach", put(issue(reviewed(card)), tmp_path))


@pytest.mark.thorough
def test_what_is_not_attached(card: dict[str, Any], tmp_path: Path) -> None:
    good = issue(reviewed(card))
    another_run = issue(reviewed({**card, "run_id": "0" * 36}))
    refused(put(another_run, tmp_path), "not in the list of runs")
    beginning = issue(reviewed({**card, "run_id": card["run_id"][:8]}))
    refused(put(beginning, tmp_path), "not in the list of runs")
    another_card = issue(reviewed({**card, "run_card_hash": "0" * 64}))
    refused(put(another_card, tmp_path), "another card of this run")
    refused(put(issue(reviewed(card, NO_GO)), tmp_path), "nothing that it could lift")
    softer = good.evidence.policy.replace(b"share = 0.70", b"share = 0.10")
    other = histories.evidence_of(good.evidence.key, list(good.evidence.events), softer)
    refused(put(replace_evidence(good, other), tmp_path), "policy: not the one")
    victim = next(e for e in good.evidence.events if e.kind == "rate")
    events = [e.erased() if e is victim else e for e in good.evidence.events]
    fewer = histories.evidence_of(good.evidence.key, events)
    refused(put(replace_evidence(good, fewer), tmp_path), "nobody has taken any back")


def test_a_go_that_binds_its_organisation_to_less_is_taken_on_demand_only(
    card: dict[str, Any], tmp_path: Path
) -> None:
    good = issue(reviewed(card))
    bare = replace(good.evidence, batches={}, handed_over=())
    old = changed(replace(good, evidence=bare), as_of_the_first_version, SIGNER)
    again = certified_again(bare, read_certificate(old.certificate, "x")).as_bytes()
    path = put(EvidenceFile(again, SIGNER.sign(again), bare), tmp_path)
    refused(path, "of an earlier version.*--earlier")
    invoke("attach", path, "--trust", SIGNER.public.signing_key, "--earlier")
    assert listed()["claimable_tier"] == "fluent"


def test_a_card_whose_seal_is_broken_is_not_lifted(
    home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    path = put(issue(reviewed(card)), tmp_path)
    with closing(open_store(home / "rosetta.sqlite")) as store:
        head = json.loads(store.execute("SELECT run_card FROM runs").fetchone()[0])
        head["scores"]["composite"] = 0.99
        store.execute("UPDATE runs SET run_card = ?", (json.dumps(head),))
    refused(path, "seal of the run's card is broken")


def test_rows_forged_in_the_store_lift_nothing(home: Path, card: dict[str, Any]) -> None:
    no = issue(reviewed(card, NO_GO))
    stranger = Identity.make(Role.ORGANISATION)
    other = issue(reviewed({**card, "run_card_hash": "0" * 64}))
    good = issue(reviewed(card))
    forged = no.certificate.replace(b'"outcome":"no_go"', b'"outcome":"go"')
    rows = (
        attached(type(no)(forged, no.signature, no.evidence)),
        attached(other),
        attached(good, stranger),
        attached(type(good)(good.certificate, bytes(64), good.evidence)),
        attached(type(good)(b"go", good.signature, good.evidence)),
    )
    with closing(open_store(home / "rosetta.sqlite")) as store:
        for row in rows:
            attach_certificate(store, find_run(store, "last").id, row)
    assert listed()["claimable_tier"] == "functional"
    assert "review pending" in shown("show")


def test_a_card_from_elsewhere_that_calls_itself_deployable_stays_capped(
    home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    raw = json.loads(shown("show", "--json"))
    raw |= {"claimable_tier": "fluent", "verification_tier": "Community Validated"}
    raw["run_id"] = "0" * 8 + raw["run_id"][8:]
    raw["run_card_hash"] = card_hash(raw)
    file = tmp_path / "foreign.json"
    file.write_text(json.dumps(raw), "utf-8")
    shown("import", "--unverified", file)
    found = {run["run_id"]: run for run in json.loads(shown("list", "--json"))}[raw["run_id"]]
    assert (found["imported"], found["claimable_tier"]) == (True, "functional")
    assert found["verification_tier"] == "self-benchmarked"
    said = "states Community Validated; nothing here shows it"
    assert found["verification_tier_stated"] == said
    assert f"self-benchmarked · {said}" in shown("show", raw["run_id"])
    beside = json.loads(shown("show", raw["run_id"], "--json"))["beside"]
    assert beside["verification_tier_stated"] == said


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ("gds-verified", "states gds-verified; nothing here shows it"),
        ("self-benchmarked", ""),
        ("community-validated", "states community-validated; nothing here shows it"),
        ("Community Validated", "states Community Validated; nothing here shows it"),
        ("x" * 999, f"states {'x' * 40}; nothing here shows it"),
        ("", ""),
        (None, ""),
        (["community-validated"], ""),
    ],
    ids=str,
)
def test_no_tier_that_a_card_states_is_taken(stated: object, words: str) -> None:
    from rosetta_tui.show.card_fields import stated_words, validated_by

    assert validated_by(None) == "self-benchmarked"
    assert stated_words({"verification_tier": stated}, None) == words


def test_a_tier_that_the_certificate_shows_is_no_claim_without_evidence(
    card: dict[str, Any],
) -> None:
    from review.verdict.certificate.certificate import Standing
    from rosetta_tui.show.card_fields import stated_words, validated_by
    from tests.review.verdict.certified import certificate_of

    review = Standing(certificate_of(issue(reviewed(card, segments="gold_standard"))))
    assert validated_by(review) == "community-validated"
    assert stated_words({"verification_tier": "community-validated"}, review) == ""
    assert "gds-verified" in stated_words({"verification_tier": "gds-verified"}, review)


def test_floors_bind_after_a_review_too(card: dict[str, Any]) -> None:
    from review.verdict.certificate.certificate import Standing
    from rosetta_tui.show.card_fields import claimable, tier_words
    from tests.review.verdict.certified import certificate_of

    review = Standing(certificate_of(issue(reviewed(card))))
    low = {**card, "scores": {**card["scores"], "at_floor": True}}
    assert claimable(card, review) == "fluent"
    assert claimable(low, review) == "baseline"
    assert "not above the floor" in tier_words(low, review)
    assert claimable({**card, "claimable_tier": "emerging"}, review) == "emerging"


def test_a_newer_certificate_that_is_no_go_takes_the_lift_away(
    card: dict[str, Any], tmp_path: Path
) -> None:
    trust = ("--trust", SIGNER.public.signing_key)
    first = issue(reviewed(card))
    invoke("attach", put(first, tmp_path), *trust)
    later = issue(reviewed(card, NO_GO), issued="2026-09-01T00:00:00Z")
    said = invoke("attach", put(later, tmp_path), *trust).stdout
    assert "nothing is lifted any more" in said
    assert listed()["tier_in_words"] == "functional (automatic 0.98; review: no-go)"
    invoke("attach", put(first, tmp_path), *trust)  # the old one again
    assert listed()["claimable_tier"] == "functional"


def test_a_card_is_exported_with_its_certificate_beside_it(
    card: dict[str, Any], tmp_path: Path
) -> None:
    file = issue(reviewed(card))
    shown("export", "last", "-o", tmp_path / "before.json")
    invoke("attach", put(file, tmp_path), "--trust", SIGNER.public.signing_key)
    shown("export", "last", "-o", tmp_path / "after.json")
    assert (tmp_path / "after.json").read_bytes() == (tmp_path / "before.json").read_bytes()
    assert (tmp_path / "after.certificate.json").read_bytes() == file.certificate
    assert (tmp_path / "after.certificate.sig").read_bytes() == file.signature
    assert not (tmp_path / "before.certificate.json").exists()
