"""What lifts a run's tiers, what a notice of consent says of a certificate, and what leaves of a review of secret entries."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from corpora.model.entry import Segment
from harness.card.model import card_hash
from harness.core.failures import HarnessError, UsageError
from harness.release.budget import NotReleased
from harness.release.ledger import own_ledger
from harness.release.ledger_records import Rule
from harness.sealed.keys import Identity, Role
from harness.store.sqlite.database import open_store
from review.records.exchanged import check_evidence
from review.verdict.certificate.certificate import ReviewStatus, read_certificate
from review.verdict.certificate.certify import certified_again
from review.verdict.certificate.coarse import read_coarse, refuse_exact
from review.verdict.certificate.evidence import EvidenceFile, read_evidence_file
from rosetta_tui.commands import rosetta
from rosetta_tui.html.review_page import review_page
from rosetta_tui.show.card_fields import claimable, stated_words, tier_words, validated_by
from tests.harness.sealed.refusals import refuses
from tests.review.attacks.ground import as_of_the_first_version
from tests.review.verdict import histories
from tests.review.verdict.certified import NO_GO, SIGNER, asked_alone, certificate_of, changed, issue
from tests.tui.review.gated import Spring, invoke, issued, listed, put, rate_of, reviewed, say_later, shown, spring

Card = dict[str, Any]
TRUST = ("--trust", SIGNER.public.signing_key)
PENDING = "functional (automatic 0.98 on 50 % of its weight; review pending)"


def refused(path: Path, words: str) -> None:
    refuses(HarnessError, words, invoke, "attach", path, *TRUST)
    assert (listed()["claimable_tier"], listed()["review"]) == ("functional", None)


def sealed_card(home: Path) -> str:
    with closing(open_store(home / "rosetta.sqlite")) as store:
        return str(store.execute("SELECT run_card FROM runs").fetchone()[0])


def test_attach_lifts_the_tier_and_remove_takes_it_back(home: Path, tmp_path: Path) -> None:
    spring(home, segment="gold_standard", run=Segment.GOLD_STANDARD)
    before, certificate = sealed_card(home), issued(tmp_path)
    assert listed()["verification_tier"] == "community-validated", "a go is attached when it is issued"
    invoke("attach", "--remove", "last")
    assert PENDING in shown("list")
    assert "It is community-validated." in invoke("attach", certificate).stdout
    run = listed()
    assert (run["verification_tier"], run["review"]) == ("community-validated", "go")
    page = shown("show")
    for words in (
        "fluent (automatic 0.98 on 50 % of its weight; reviewed)",
        "community-validated",
        "panel of 5",
        "Kultura Centro",
    ):
        assert words in page
    assert sealed_card(home) == before, "a sealed card never changes"
    invoke("attach", "--remove", "last")
    assert PENDING in shown("list")


def test_attach_strangers_certificate_needs_a_named_key(go: Spring, tmp_path: Path) -> None:
    path = put(issue(reviewed(go.card)), tmp_path)
    unknown = "nobody here has called trustworthy"
    assert Identity.load(go.home, Role.ORGANISATION).public != SIGNER.public
    for key, said in (("", unknown), ("0" * 64, unknown), ("me", "64 hexadecimal digits")):
        refuses(UsageError, said, invoke, "attach", path, *(("--trust", key) if key else ()))
    assert listed()["claimable_tier"] == "functional"
    said = invoke("attach", path, *TRUST).stdout
    assert "Not community-validated: reviewed entries are of the segment development" in said
    run = listed()
    assert (run["claimable_tier"], run["verification_tier"]) == ("fluent", "self-benchmarked")


def test_attach_of_another_run_or_evidence_is_refused(card: Card, tmp_path: Path) -> None:
    good = issue(reviewed(card))
    other = histories.evidence_of(
        good.evidence.key, list(good.evidence.events), good.evidence.policy.replace(b"share = 0.70", b"share = 0.10")
    )
    victim = next(e for e in good.evidence.events if e.kind == "rate")
    events = [e.erased() if e is victim else e for e in good.evidence.events]
    fewer = histories.evidence_of(good.evidence.key, events)
    for file, words in (
        (issue(reviewed({**card, "run_id": "0" * 36})), "not in the list of runs"),
        (issue(reviewed({**card, "run_card_hash": "0" * 64})), "another card of this run"),
        (issue(reviewed(card, NO_GO)), "nothing that it could lift"),
        (replace(good, evidence=other), "policy: not the one"),
        (replace(good, evidence=fewer), "nobody has taken any back"),
    ):
        refused(put(file, tmp_path), words)


def test_attach_earlier_form_is_taken_on_demand_only(card: Card, tmp_path: Path) -> None:
    """It binds its organisation to less."""
    good = issue(reviewed(card))
    bare = replace(good.evidence, batches={}, handed_over=())
    old = changed(replace(good, evidence=bare), as_of_the_first_version, SIGNER)
    again = certified_again(bare, read_certificate(old.certificate, "x")).as_bytes()
    path = put(EvidenceFile(again, SIGNER.sign(again), bare), tmp_path)
    refused(path, "of an earlier version.*--earlier")
    invoke("attach", path, *TRUST, "--earlier")
    assert listed()["claimable_tier"] == "fluent"


def test_attach_to_card_with_broken_seal_is_refused(home: Path, card: Card, tmp_path: Path) -> None:
    path = put(issue(reviewed(card)), tmp_path)
    head = json.loads(sealed_card(home))
    head["scores"]["composite"] = 0.99
    with closing(open_store(home / "rosetta.sqlite")) as store:
        store.execute("UPDATE runs SET run_card = ?", (json.dumps(head),))
    refused(path, "seal of the run's card is broken")


def test_card_from_elsewhere_that_states_a_tier_stays_capped(card: Card, tmp_path: Path) -> None:
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


def test_no_tier_that_a_card_states_is_taken_nor_a_floor_left(card: Card) -> None:
    review = ReviewStatus(certificate_of(issue(reviewed(card, segments="gold_standard"))))
    low = {**card, "scores": {**card["scores"], "at_floor": True}}
    assert (claimable(card, review), claimable(low, review)) == ("fluent", "baseline")
    assert "not above the floor" in tier_words(low, review)
    assert claimable({**card, "claimable_tier": "emerging"}, review) == "emerging"
    assert (validated_by(None), validated_by(review)) == ("self-benchmarked", "community-validated")
    assert stated_words({"verification_tier": "community-validated"}, review) == ""
    assert "gds-verified" in stated_words({"verification_tier": "gds-verified"}, review)
    for stated, told in (
        ("gds-verified", "gds-verified"),
        ("self-benchmarked", ""),
        ("Community Validated", "Community Validated"),
        ("x" * 999, "x" * 40),
        (None, ""),
        (["community-validated"], ""),
    ):
        words = f"states {told}; nothing here shows it" if told else ""
        assert stated_words({"verification_tier": stated}, None) == words


def test_newer_no_go_takes_the_lift_away(card: Card, tmp_path: Path) -> None:
    """The card is exported with its certificate beside it, and stays as it is."""
    first = issue(reviewed(card))
    shown("export", "last", "-o", tmp_path / "before.json")
    invoke("attach", put(first, tmp_path), *TRUST)
    shown("export", "last", "-o", tmp_path / "after.json")
    assert (tmp_path / "after.json").read_bytes() == (tmp_path / "before.json").read_bytes()
    assert (tmp_path / "after.certificate.json").read_bytes() == first.certificate
    assert (tmp_path / "after.certificate.sig").read_bytes() == first.signature
    assert not (tmp_path / "before.certificate.json").exists()
    later = issue(reviewed(card, NO_GO), issued="2026-09-01T00:00:00Z")
    said = invoke("attach", put(later, tmp_path), *TRUST).stdout
    assert "nothing is lifted any more" in said
    assert listed()["tier_in_words"] == "functional (automatic 0.98 on 50 % of its weight; review: no-go)"
    invoke("attach", put(first, tmp_path), *TRUST)  # the old one again
    assert listed()["claimable_tier"] == "functional"


def consent(*arguments: object) -> None:
    done = CliRunner().invoke(rosetta, ["community", *map(str, arguments)])
    if done.exception is not None:
        raise done.exception


REASON = ("--reason", "as asked", "--by", "Council")


def test_verify_says_what_is_gone(go: Spring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [file] = issued(tmp_path).parent.glob("*.rosetta-evidence")
    evidence = Path(shutil.copy(file, tmp_path / f"alone{file.suffix}"))
    code = go.review.code(go.first)
    invoke("withdraw", "spring", code, "--scope", "batch", "--yes")
    consent("withdraw", "--signing-key", "own", *REASON)
    consent("notices", "-o", tmp_path / "notices")
    own = Identity.load(go.home, Role.ORGANISATION).public
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    done = invoke("verify", evidence)
    assert (done.exit_code, "consent" in done.stdout) == (0, False)
    notices = (tmp_path / "notices").iterdir()
    person, key = sorted(notices, key=lambda each: b'"key"' in each.read_bytes())
    assert not [each for each in (code, go.first) if each.encode() in person.read_bytes()]
    consent("take", person, "--words", own.phrase)
    done = invoke("verify", evidence)
    assert done.exit_code == 1
    assert "✗ consent: withdrawn for what a person gave in the review spring" in done.stdout
    assert "✓ verdict: computed again, byte for byte" in done.stdout
    consent("take", key)  # it says it of itself
    assert "what this key signed may be of anyone who has it now" in invoke("verify", evidence).stdout
    name = json.loads(read_evidence_file(evidence).certificate)["run"]["dataset_id"]
    same = tmp_path / "same.tsv"
    same.write_text(f"# id: {name}\nid\tsource\treference\n1\tone\tunu\n")
    languages = ("--source-language", "en", "--target-language", "eo")
    consent("withdraw", "--corpus", same, *languages, *REASON)
    assert "✗ consent: withdrawn for the corpus" in invoke("verify", evidence).stdout


@pytest.fixture
def secret(home: Path) -> Spring:
    gold = Segment.GOLD_STANDARD
    made = spring(home, segment="gold_standard", run=gold, secret=True)
    with own_ledger(home).changing() as change:
        change.write(Rule(pause_hours=0))
    return made


def rate_again(secret: Spring, items: int, seed: int) -> None:
    """Let the first person give another rating to so many items of each difficulty."""
    key = secret.review.key
    real = [item for item in key.core if key.items[item].control is None]
    of = {item: key.items[item].stratum for item in real}
    strata = groupby(sorted(real, key=of.__getitem__), of.__getitem__)
    again = [each for _, part in strata for each in list(part)[:items]]
    said = [rate_of(secret.review, item) for item in again]
    say_later(secret.office, secret.review, seed, *said)


def test_issued_certificate_is_coarse_and_has_no_evidence(secret: Spring, tmp_path: Path) -> None:
    certificate = issued(tmp_path)
    names = {path.name.partition(".")[2] for path in certificate.parent.iterdir()}
    assert names == {f"certificate.{end}" for end in ("json", "sig", "txt", "html")}
    told = read_coarse(certificate.read_bytes(), "x")
    assert (told.outcome, told.answer, told.of, told.verdict.items) == ("go", 1, 10, 60)
    key = secret.review.key
    written = b"".join(path.read_bytes() for path in certificate.parent.iterdir())
    assert not [each for each in (*key.items, *key.orders) if each.encode() in written]
    refuses(UsageError, "its numbers leave in steps only", review_page, secret.office, secret.review)
    shutil.rmtree(secret.home / "releases")
    assert invoke("verify", certificate).exit_code == 0, "the ledger was lost"


def test_verify_computes_it_inside_and_reads_its_form_outside(
    secret: Spring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = issued(tmp_path)
    inside = invoke("verify", certificate)
    assert inside.exit_code == 0
    assert "coarse numbers: what left in its place follows from it" in inside.stdout
    assert "It is exact" not in inside.stdout
    assert "every single rating" in inside.stdout  # of the exact one
    assert asked_alone(certificate)[0] == 0
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    outside = invoke("verify", certificate)
    assert outside.exit_code == 0
    assert "only who keeps the evidence can compute" in outside.stdout
    found = json.loads(invoke("verify", certificate, "--json").stdout)
    assert (found["ok"], found["outcome"], found["evidence"]) == (True, "go", {})
    assert invoke("verify", certificate, "--trust", "0" * 64).exit_code == 1
    refuses(UsageError, "is coarse, for its entries are secret", invoke, "attach", certificate)
    certificate.with_name(certificate.name.replace(".json", ".sig")).write_bytes(b"0" * 64)
    assert invoke("verify", certificate).exit_code == 1


def test_evidence_is_written_by_its_own_command_only(secret: Spring, tmp_path: Path) -> None:
    certificate = issued(tmp_path)
    done = invoke("export", "--inside", tmp_path / "inside")
    assert "DANGER: this has every single rating of secret entries" in done.stderr
    [path] = (tmp_path / "inside").iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert asked_alone(path)[0] == 0
    for arguments in ((path,), (certificate, "--evidence", path)):
        assert invoke("verify", *arguments).exit_code == 0
    for check, data in ((check_evidence, path.read_bytes()), (refuse_exact, read_evidence_file(path).certificate)):
        refuses(UsageError, "is exact, and its entries are secret", check, data)
    refuse_exact(certificate.read_bytes())


@pytest.mark.costly("four verdicts, two of which are of new ratings")
def test_few_new_ratings_are_not_told(secret: Spring, tmp_path: Path) -> None:
    first = issued(tmp_path).read_bytes()
    again = issued(tmp_path, "again")
    assert again.read_bytes() == first, "the same numbers are told once"
    rate_again(secret, 1, 7)
    refuses(NotReleased, "fewer than 5", invoke, "gate", "--issue", "-o", tmp_path / "few")
    assert list((tmp_path / "few").iterdir()) == []
    rate_again(secret, 9, 8)
    told = read_coarse(issued(tmp_path, "more").read_bytes(), "x")
    assert (told.answer, told.supersedes) == (2, read_coarse(first, "x").sha256)


def test_numbers_leave_in_steps_only(secret: Spring, tmp_path: Path) -> None:
    [said] = json.loads(invoke("gate", "--json").stdout)
    assert said.keys() == {"version", "run_id", "outcome", "findings", "harm_decisions", "withheld"}
    assert (said["findings"], said["harm_decisions"]) == ([], [])
    page = tmp_path / "page.html"
    refuses(UsageError, "has no certificate of run", invoke, "page", "-o", page)
    issued(tmp_path)
    invoke("page", "-o", page)
    assert "About 100 of 100 of the translations are good" in page.read_text("utf-8")
    assert "people gave answers" not in page.read_text("utf-8")
