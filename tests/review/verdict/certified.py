"""Certificates of made-up reviews, and a store and an office on a disk that hold one."""

import io
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing, redirect_stdout
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from corpora.model.entry import Entry, Segment
from harness.card.checking.verify_card import seal
from harness.core.canonical import canonical_bytes
from harness.method.options import MethodOptions
from harness.release.ledger import own_ledger
from harness.release.ledger_records import LEAST_CONFIRMED
from harness.release.releasing import release_run
from harness.sealed.keys import Identity, Signed
from harness.sealed.sealing import stretch
from harness.setup.plan import Plan
from harness.store.attachments import Attached
from harness.store.runs import find_run, read_card
from harness.store.sqlite.database import open_store
from review.files.manifests import BatchItem, RatingsManifest
from review.log.event import Event
from review.log.payloads import Scope, Withdraw
from review.log.table import insert_event, read_events
from review.office.store.store import Office, Review
from review.verdict.certificate.certificate import Certificate, Issuer
from review.verdict.certificate.certify import certify
from review.verdict.certificate.evidence import Evidence, EvidenceFile, pack_evidence
from review.verdict.gate.agreement import Agreement, agreement
from review.verdict.gate.key import AnswerKey
from review.verdict.gate.panel import Panel
from review.verdict.gate.policy import proposed
from review.verdict.stand_alone import rosetta_verify
from tests.harness.evaluation import LANGUAGES, corpus_of, run_corpus
from tests.review.verdict import histories
from tests.review.verdict.histories import Shape
from tests.review.verdict.signing import LAPTOP, ORGANISER, hand_overs, with_batches

ISSUED = "2026-05-05T10:00:00Z"
SIGNER = ORGANISER
GO = Shape(quality=0.97, mischief=0.0, careless=0.0)
NO_GO = Shape(quality=0.1, mischief=0.0, careless=0.0)


_measured: dict[str, Agreement] = {}
_fewer: dict[str, Any] = {}
_stretched = lru_cache(4096)(stretch)
_quantiles = {
    # the second program's own, which it works out anew for each file
    name: lru_cache(4096)(getattr(rosetta_verify, name))
    for name in ("_beta_quantile", "_student")
}
_canonical = rosetta_verify._canonical
_written: dict[str, bytes] = {}


def _written_once(value: Any) -> bytes:
    """Write JSON as the second program does; the events of one review are in nearly every file."""
    asked = repr(value)
    if asked not in _written:
        if len(_written) > 8192:
            _written.clear()
        _written[asked] = _canonical(value)
    return _written[asked]


@pytest.fixture(autouse=True)
def worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work out once what costs nearly all of a certificate, and of a code: the agreement of a panel, and scrypt, with little work for a passphrase."""

    def measured(panel: Panel, reviewers: Iterable[str], **wishes: Any) -> Agreement:
        asked = sha256(repr((panel, sorted(reviewers), wishes, _fewer)).encode()).hexdigest()
        if asked not in _measured:
            _measured[asked] = agreement(panel, list(reviewers), **wishes, **_fewer)
        return _measured[asked]

    monkeypatch.setattr("review.verdict.certificate.certify.agreement", measured)
    for module in ("review.files.identities", "harness.sealed.phrase", "harness.sealed.sealing"):
        monkeypatch.setattr(f"{module}.stretch", _stretched)
    for name, known in _quantiles.items():
        monkeypatch.setattr(rosetta_verify, name, known)
    monkeypatch.setattr(rosetta_verify, "_canonical", _written_once)
    monkeypatch.setattr("harness.sealed.sealing.WORK", 8)


@pytest.fixture(autouse=True)
def fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw seldom for an interval of agreement: for tests that compare no certificate of another time."""
    monkeypatch.setitem(_fewer, "draws", 50)


def issuer(identity: Identity = SIGNER, name: str = "Kultura Centro") -> Issuer:
    return Issuer(name=name, signing_key=identity.public.signing_key)


def issue(
    evidence: Evidence, *, identity: Identity = SIGNER, issued: str = ISSUED,
    supersedes: str | None = None,
) -> EvidenceFile:  # fmt: skip
    run = evidence.key.runs[0].run_id
    certificate = certify(evidence, run, issuer(identity), issued, supersedes)
    data = certificate.as_bytes()
    return EvidenceFile(data, identity.sign(data), evidence)


@cache
def certified() -> EvidenceFile:
    """Return a certificate that says go, with its evidence; most tests change a copy of it."""
    return issue(review_of(1))


def packed(file: EvidenceFile, path: Path) -> Path:
    path.write_bytes(pack_evidence(file.certificate, file.signature, file.evidence))
    return path


def attached(file: EvidenceFile, identity: Identity = SIGNER) -> Attached:
    return Attached(file.certificate, file.signature, identity.public.signing_key)


def changed(file: EvidenceFile, change: Any, identity: Identity | None = None) -> EvidenceFile:
    raw = json.loads(file.certificate)
    change(raw)
    data = canonical_bytes(raw)
    return EvidenceFile(data, identity.sign(data) if identity else file.signature, file.evidence)


def review_of(seed: int, shape: Shape = GO, run: Any = None, segments: str | None = None) -> Evidence:
    """Make the evidence of a review, about a run of a store where one is given."""
    if run is None:
        return _review_of(seed, shape)
    rng = Random(seed)
    facts = {"run_id": run["run_id"], "run_card_hash": run["run_card_hash"]}
    key = about(histories.make_key(rng, shape), segments=segments, **facts)
    return histories.evidence_of(key, histories.make_events(rng, shape, key))


@cache
def _review_of(seed: int, shape: Shape) -> Evidence:
    rng = Random(seed)
    key = histories.make_key(rng, shape)
    return histories.evidence_of(key, histories.make_events(rng, shape, key))


def about(key: AnswerKey, *, segments: str | None = None, **facts: str) -> AnswerKey:
    old = key.runs[0].run_id
    items = {
        item: each.model_copy(update={"run_id": facts["run_id"]}) if each.run_id == old else each
        for item, each in key.items.items()
    }
    more = {} if segments is None else {"segments": {segments: 60}}
    return histories.with_run(key, **facts, **more).model_copy(update={"items": items})


SENTENCES = (
    "La knabino legas longan leteron apud la fenestro.", "Hieraŭ ni marŝis ĝis la malnova ponto.",
    "Ŝia frato vendas freŝan panon en la urbo.", "Morgaŭ la infanoj kantos por siaj gepatroj.",
    "La vento portas la odoron de la maro.", "Mi neniam vidis tiel klaran ĉielon.",
    "Ili konstruis domon el ruĝaj brikoj.", "Vi forgesis vian ombrelon en la trajno.",
)  # fmt: skip


def fluent_run(path: Path, folder: Path, *, segment: Segment = Segment.DEVELOPMENT) -> dict[str, Any]:
    """Seal a run in a store whose outputs are the references; gives its card without results.

    Its scores over a secret segment are told, as the first ones about these entries.
    """
    texts = SENTENCES * (-(-LEAST_CONFIRMED // len(SENTENCES)) if segment.secret else 1)
    entries = [
        Entry(id=n, source=f"Sentence {n} of the book.", reference=text, segment=segment)
        for n, text in enumerate(texts)
    ]
    outputs = folder / "outputs.txt"
    outputs.write_text("\n".join(texts) + "\n", "utf-8")
    plan = Plan(method="replay", options=MethodOptions(outputs=outputs, **LANGUAGES))
    run_corpus(path, corpus_of(entries), plan)
    with closing(open_store(path)) as connection:
        number = find_run(connection, "last").id
        if read_card(connection, number) is None:
            seal(connection, number)
        if segment.secret:
            release_run(connection, number, "Ann", own_ledger(path.parent))
        return read_card(connection, number) or {}


def fill_office(office: Office, evidence: Evidence, identity: Identity, **batch: object) -> Review:
    """Put a review into an office as if its batches had come back; ``batch`` is what they say besides."""
    key, manifests = with_batches(evidence.key, proposed()[1], identity, **batch)  # type: ignore[arg-type]
    texts = [BatchItem(id=item, source=f"source of {item}", candidate=f"candidate of {item}") for item in key.items]
    review = office.create_review(key, proposed()[1], manifests, texts)
    deliver(office.connection, key, evidence.events)
    return review


def deliver(connection: sqlite3.Connection, key: AnswerKey, events: tuple[Event, ...]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for event in events:
        insert_event(connection, event)
    last: dict[str, int] = {}
    for event in events:
        last[event.device] = max(event.seq, last.get(event.device, 0))
    for device, seq in last.items():
        row = (device, key.batches[0], LAPTOP.public.signing_key, seq)
        columns = "device, batch, signing_key, last_seq"
        connection.execute(f"INSERT OR REPLACE INTO delivery ({columns}) VALUES (?, ?, ?, ?)", row)
    keep_hand_overs(connection, last)
    connection.execute("COMMIT")


def keep_hand_overs(connection: sqlite3.Connection, devices: Iterable[str]) -> None:
    """Keep what the laptop signs of these devices' logs as they are now."""
    rows = connection.execute("SELECT batch, manifest, signature FROM batch")
    batches = {batch: Signed(manifest, signature) for batch, manifest, signature in rows}
    events = [event for event in read_events(connection) if event.device in set(devices)]
    for each in hand_overs(events, batches):
        wrote = RatingsManifest.model_validate_json(each.content).device
        row = (each.sha256, each.content, each.signature, wrote)
        columns = "sha256, manifest, signature, devices"
        connection.execute(f"INSERT OR IGNORE INTO signed ({columns}) VALUES (?, ?, ?, ?)", row)


def withdrawn(evidence: Evidence, scope: Scope = Scope.EVERYTHING) -> list[Event]:
    """Let the first reviewer take back what they gave, on a laptop of the review."""
    who, batch = next(iter(evidence.key.orders)), evidence.key.batches[0]
    device = next(e.device for e in evidence.events if e.device != histories.ORGANISATION)
    chain = histories.Chain(Random(1), device)
    chain.events = [e for e in evidence.events if e.device == device]
    chain.lamport = 10**6
    chain.write(Withdraw(wall=histories.WALL, reviewer=who, batch=batch, scope=scope))
    return [*(e for e in evidence.events if e.device != device), *chain.events]


def certificate_of(file: EvidenceFile) -> Certificate:
    return Certificate.model_validate_json(file.certificate)


def asked_alone(path: Path | str, *signers: str) -> tuple[int, str]:
    """Return its exit code for a file and what it says, with the keys that may sign where some are given."""
    said = io.StringIO()
    with redirect_stdout(said):
        code = rosetta_verify._main([str(path), *signers])  # what its command line begins with
    return code, said.getvalue()
