"""``rosetta review gate|verify|attach|adjudicate`` on real stores, and what they do to a run's tiers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result

from corpora.entry import Segment
from harness.card.canonical import card_hash
from harness.failures import HarnessError, UsageError
from harness.store.certificates import attach_certificate
from harness.store.database import open_store
from harness.store.runs import find_run
from review.files.keys import Identity, Role
from review.log.payloads import Rate, Scope, Withdraw
from review.office.store import Office, Review, utc_now
from review.rating import Rating
from review.verdict.evidence import Evidence
from rosetta_tui.commands.review import review as review_commands
from rosetta_tui.commands.runs import runs
from tests.review.verdict import histories
from tests.review.verdict.certified import (
    GO,
    NO_GO,
    SIGNER,
    about,
    attached,
    deliver,
    fill_office,
    fluent_run,
    issue,
)
from tests.review.verdict.histories import Shape


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    return tmp_path / "home"


@pytest.fixture
def card(home: Path, tmp_path: Path) -> dict[str, Any]:
    """Seal a run in the store whose automatic tier is fluent."""
    return fluent_run(home / "rosetta.sqlite", tmp_path)


def invoke(*arguments: object, text: str | None = None) -> Result:
    done = CliRunner().invoke(review_commands, [str(a) for a in arguments], input=text)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def shown(*arguments: object) -> str:
    done = CliRunner().invoke(runs, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def listed() -> dict[str, Any]:
    [run] = json.loads(shown("list", "--json"))
    return dict(run)


def reviewed(
    card: dict[str, Any], shape: Shape = GO, *, seed: int = 1, segments: str = "gold_standard"
) -> Evidence:
    rng = Random(seed)
    key = histories.make_key(rng, shape)
    facts = {"run_id": card["run_id"], "run_card_hash": card["run_card_hash"]}
    key = about(key, segments=segments, **facts)
    events = [
        e for e in histories.make_events(rng, shape, key) if e.device != histories.ORGANISATION
    ]
    return histories.evidence_of(key, events)


@pytest.fixture
def office(home: Path) -> Iterator[Office]:
    with Office.open(home) as opened:
        yield opened


def filled(office: Office, home: Path, evidence: Evidence) -> Review:
    identity = Identity.load(home, Role.ORGANISATION)
    return fill_office(office, evidence, identity.public.signing_key)


def issued(tmp_path: Path, name: str = "out") -> Path:
    """Issue the certificate of the newest review."""
    done = invoke("gate", "--issue", "-o", tmp_path / name)
    assert done.exit_code == 0, done.output
    [certificate] = (tmp_path / name).glob("*.certificate.json")
    return certificate


def test_the_gate_says_its_verdict_in_words(
    office: Office, home: Path, card: dict[str, Any]
) -> None:
    filled(office, home, reviewed(card))
    said = invoke("gate").stdout
    assert "GO" in said
    assert "needed: lower bound ≥ 70.0%" in said
    for word in ("alpha", "AC2", "within one step", "Strata", "●●●●●", "5 reviewers", "proposed"):
        assert word in said
    [found] = json.loads(invoke("gate", "spring", "--json").stdout)
    assert (found["outcome"], found["look"]) == ("go", 1)
    people = office.review("spring").key.orders
    assert not [who for who in people if who in invoke("gate", "--json").stdout]


def test_only_a_look_at_new_ratings_is_a_new_look(
    office: Office, home: Path, card: dict[str, Any]
) -> None:
    evidence = reviewed(card)
    review = filled(office, home, evidence)
    for _ in range(3):
        [found] = json.loads(invoke("gate", "--json").stdout)
        assert (found["look"], found["confidence"]) == (1, "0.950000")
    laptop = histories.Chain(Random(3))
    laptop.lamport = 10**6
    who, item = next(iter(review.key.orders)), next(iter(review.key.items))
    laptop.write(
        Rate(
            wall=histories.WALL, reviewer=who, batch=review.key.batches[0], item=item, position=0,
            active_ms=5, face="lines", version="0", rating=Rating.GIST,
        )
    )  # fmt: skip
    deliver(office.connection, review.key, tuple(laptop.events))
    for _ in range(2):
        [found] = json.loads(invoke("gate", "--json").stdout)
        assert (found["look"], found["confidence"]) == (2, "0.975000")


def test_too_few_ratings_show_no_numbers_and_are_no_look(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    review = filled(office, home, reviewed(card, Shape(reviewers=2, mischief=0.0, careless=0.0)))
    [found] = json.loads(invoke("gate", "--json").stdout)
    assert set(found) == {"run_id", "outcome", "findings"}
    said = invoke("gate").stdout
    assert "INSUFFICIENT" in said
    assert "3 are needed" in said
    assert "lower bound" not in said
    assert office.state(review).looks == {}
    with pytest.raises(HarnessError, match="No certificate was made"):
        invoke("gate", "--issue", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_certificate_lifts_the_tier_and_its_removal_takes_it_back(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    filled(office, home, reviewed(card))
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


def find_bytes(home: Path) -> str:
    with closing(open_store(home / "rosetta.sqlite")) as store:
        return str(store.execute("SELECT run_card FROM runs").fetchone()[0])


def test_reviewed_on_other_segments_or_by_few_it_is_not_the_communitys(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    filled(office, home, reviewed(card, segments="development"))
    said = invoke("attach", issued(tmp_path)).stdout
    assert "Not community-validated: reviewed entries are of the segment development" in said
    run = listed()
    assert (run["claimable_tier"], run["verification_tier"]) == ("fluent", "self-benchmarked")


def test_a_panel_of_four_is_not_the_communitys(card: dict[str, Any], tmp_path: Path) -> None:
    file = issue(reviewed(card, histories.replace(GO, reviewers=4)))
    said = invoke("attach", put(file, tmp_path), "--trust", SIGNER.public.signing_key).stdout
    assert "it was a panel of 4" in said
    assert listed()["verification_tier"] == "self-benchmarked"


def put(file: Any, folder: Path, name: str = "c") -> Path:
    """Write an evidence file."""
    from review.verdict.evidence_file import pack_evidence

    path = folder / f"{name}.rosetta-evidence"
    path.write_bytes(pack_evidence(file.certificate, file.signature, file.evidence))
    return path


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


def refused(path: Path, words: str) -> None:
    with pytest.raises(HarnessError, match=words):
        invoke("attach", path, "--trust", SIGNER.public.signing_key)
    assert listed()["claimable_tier"] == "functional"
    assert listed()["review"] is None


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
    changed = histories.evidence_of(good.evidence.key, list(good.evidence.events), softer)
    refused(put(replace_evidence(good, changed), tmp_path), "policy: not the one")
    victim = next(e for e in good.evidence.events if e.kind == "rate")
    events = [e.erased() if e is victim else e for e in good.evidence.events]
    fewer = histories.evidence_of(good.evidence.key, events)
    refused(put(replace_evidence(good, fewer), tmp_path), "nobody has withdrawn them")


def replace_evidence(file: Any, evidence: Evidence) -> Any:
    return type(file)(file.certificate, file.signature, evidence)


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
    raw |= {"claimable_tier": "fluent", "verification_tier": "community-validated"}
    raw["run_id"] = "0" * 8 + raw["run_id"][8:]
    raw["run_card_hash"] = card_hash(raw)
    file = tmp_path / "foreign.json"
    file.write_text(json.dumps(raw), "utf-8")
    shown("import", "--unverified", file)
    found = {run["run_id"]: run for run in json.loads(shown("list", "--json"))}[raw["run_id"]]
    assert (found["imported"], found["claimable_tier"]) == (True, "functional")
    assert found["verification_tier"] == "self-benchmarked"
    assert "self-benchmarked" in shown("show", raw["run_id"])


def test_floors_bind_after_a_review_too(card: dict[str, Any]) -> None:
    from review.verdict.attachment import Standing
    from rosetta_tui.card_fields import claimable, tier_words
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


def test_verify_says_what_holds_and_what_does_not(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    review = filled(office, home, reviewed(card))
    certificate = issued(tmp_path)
    [evidence] = certificate.parent.glob("*.rosetta-evidence")
    for arguments in ((certificate,), (evidence,), (certificate, "--evidence", evidence)):
        done = invoke("verify", *arguments)
        assert (done.exit_code, "byte for byte" in done.stdout) == (0, True)
    alone = tmp_path / "alone"
    alone.mkdir()
    for suffix in (".certificate.json", ".certificate.sig", ".rosetta-evidence"):
        [file] = certificate.parent.glob(f"*{suffix}")
        shutil.copy(file, alone / f"c{suffix}")
    who = next(iter(review.key.orders))
    office.append(
        review, Withdraw(wall=utc_now(), reviewer=who, batch=None, scope=Scope.EVERYTHING)
    )
    done = invoke("verify", certificate)
    assert (done.exit_code, "withdrawn since" in done.stdout) == (0, True)
    assert json.loads(invoke("verify", certificate, "--json").stdout)["recomputed"] is False
    with pytest.raises(HarnessError, match="withdrawn since"):
        invoke("attach", certificate)
    home.joinpath("reviews.sqlite").rename(tmp_path / "elsewhere.sqlite")
    assert "byte for byte" in invoke("verify", alone / "c.certificate.json").stdout
    changed = (
        (alone / "c.certificate.json").read_bytes().replace(b'"outcome":"go"', b'"outcome":"no_go"')
    )
    (alone / "c.certificate.json").write_bytes(changed)
    done = invoke("verify", alone / "c.certificate.json")
    assert done.exit_code == 1
    assert "✗ signature" in done.stdout
    (alone / "c.rosetta-evidence").unlink()
    with pytest.raises(UsageError, match="--evidence"):
        invoke("verify", alone / "c.certificate.json")


def test_files_that_are_there_are_not_overwritten_unasked(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    review = filled(office, home, reviewed(card))
    issued(tmp_path)
    with pytest.raises(UsageError, match="is there already"):
        invoke("gate", "--issue", "-o", tmp_path / "out")
    assert len(office.certificates(review)) == 1
    done = invoke("gate", "--issue", "-o", tmp_path / "out", "--overwrite")
    assert done.exit_code == 0
    second = json.loads(office.certificates(review)[1].certificate)
    first = json.loads(issued(tmp_path, "more").read_bytes())
    assert second["supersedes"] is not None
    assert first["supersedes"] != second["supersedes"]


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


def flagged(card: dict[str, Any]) -> Evidence:
    """A review in which one person flags an item of the run."""
    evidence = reviewed(card)
    key = evidence.key
    item = next(
        i for i, each in key.items.items() if each.run_id == card["run_id"] and not each.control
    )
    laptop = histories.Chain(Random(3))
    laptop.lamport = 10**6
    who, batch = next(e for e in evidence.events if e.kind == "consent").payload.reviewer, None
    batch = next(e for e in evidence.events if e.kind == "consent").payload.batch
    laptop.write(
        histories.HarmFlag(wall=histories.WALL, reviewer=who, batch=batch, item=item, harmful=True)
    )
    return histories.evidence_of(key, [*evidence.events, *laptop.events])


def test_a_flag_stops_the_gate_until_people_have_decided(
    office: Office, home: Path, card: dict[str, Any]
) -> None:
    review = filled(office, home, flagged(card))
    assert json.loads(invoke("gate", "--json").stdout)[0]["outcome"] == "discuss"
    [waits, *_] = json.loads(invoke("adjudicate", "--json").stdout)
    assert (waits["flags"], waits["harmful"]) == (1, None)
    done = invoke("adjudicate", text="n\nasked the elders\nc\nq\n")
    assert f"source of {waits['item']}" in done.stdout
    assert f"candidate of {waits['item']}" in done.stdout
    people = [*review.key.orders, card["run_id"]]
    assert not [word for word in people if word in done.stdout]
    [found] = json.loads(invoke("gate", "--json").stdout)
    assert (found["outcome"], found["harm"]["cleared"], found["look"]) == ("go", 1, 1)
    [again] = [c for c in json.loads(invoke("adjudicate", "--all", "--json").stdout) if c["flags"]]
    assert again["harmful"] is False
    invoke("adjudicate", "--all", text="u\nq\n")  # the last word counts
    assert json.loads(invoke("gate", "--json").stdout)[0]["harm"]["upheld"] == 1
    invoke("adjudicate", "--all", text="n\nstill unsure\nq\n")  # a note changes no decision
    assert json.loads(invoke("gate", "--json").stdout)[0]["harm"]["upheld"] == 1


def test_notes_stay_on_this_machine(
    office: Office, home: Path, card: dict[str, Any], tmp_path: Path
) -> None:
    filled(office, home, flagged(card))
    invoke("adjudicate", text="n\nasked the elders\nc\nq\n")
    issued(tmp_path)
    written = b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
    assert b"asked the elders" not in written
    assert b"source of" not in written


def test_a_run_of_another_review_is_named(office: Office, home: Path, card: dict[str, Any]) -> None:
    filled(office, home, reviewed(card))
    with pytest.raises(UsageError, match="Name one of the runs"):
        invoke("gate", "--run", "zzz")
    assert "GO" in invoke("gate", "--run", card["run_id"][:6]).stdout


def test_a_secret_run_is_certified_without_its_texts(
    home: Path, tmp_path: Path, office: Office
) -> None:
    card = fluent_run(home / "rosetta.sqlite", tmp_path, segment=Segment.GOLD_STANDARD)
    filled(office, home, reviewed(card))
    certificate = issued(tmp_path)
    invoke("attach", certificate)
    assert listed()["verification_tier"] == "community-validated"
    written = b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
    assert b"fenestro" not in written
