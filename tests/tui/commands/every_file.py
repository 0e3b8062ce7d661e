"""One file of each kind that ``rosetta verify`` knows, as the program itself writes them."""

from __future__ import annotations

import base64
import json
import shutil
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from harness.card.checking.signed import KnownSigners
from harness.sealed.keys import Identity, Role, public_pem
from harness.store.attachments import RecordKind, signed_files
from harness.store.sqlite.database import home, open_store, opened
from harness.vault.keepers import write_card
from harness.vault.shares import try_share
from review.files.identities import write_laptop_card, write_statement
from review.verifying.kinds import VerifiedAgainst
from review.verifying.verifying import FileVerdict, verify_any
from tests.harness.setup.calibrating import proposal, signed_file, written
from tests.harness.submission.made import sample_bundle
from tests.harness.vault.grants.made import ASKED_AT, SCHOOL, allowed, asked, at, founded
from tests.tui.commands.certified_gold import TwoSides, two_sides
from tests.tui.commands.command_line import ok

GOLDEN = Path(__file__).parents[2] / "review/golden_1"
ORGANISER, WITNESS = Identity.make(Role.ORGANISATION), Identity.make(Role.LAPTOP)


def looked(path: Path, *others: Path, words: str = "") -> FileVerdict:
    """Verify a file as the command does."""
    with opened() as store:
        return verify_any(path, VerifiedAgainst(store, home(), KnownSigners(words=words), others))


@dataclass(frozen=True)
class EveryFile:
    """Both computers, one file of each kind by its name, and some more of the same kinds."""

    sides: TwoSides
    paths: dict[str, Path]
    more: dict[str, Path]


def every_file(top: Path, patch: pytest.MonkeyPatch) -> EveryFile:
    sides, folder = two_sides(top, patch), top / "files"
    folder.mkdir()
    paths = {
        **_of_runs(sides, folder),
        **_of_reviews(sides, folder),
        **_of_custody(sides, folder),
        **_of_records(sides, folder),
        **_of_a_node(folder),
        **_apart(sides, folder),
    }
    return EveryFile(sides, paths, _more(sides, top))


def _more(sides: TwoSides, top: Path) -> dict[str, Path]:
    ok(f"run {top}/files/corpus.json --method constant --text x --plain", sides.developer)
    ok(f"runs export last -o {top}/other.json", sides.developer)
    witness, laptop = Identity.make(Role.COMPUTER), Identity.make(Role.LAPTOP)
    (top / "seen.rosetta-laptop").write_bytes(write_laptop_card(laptop, "red"))
    saw = write_statement(witness, laptop.public.signing_key, "ab" * 32)
    (top / "saw.rosetta-witness").write_bytes(saw)
    return {"other-card": top / "other.json", "saw": top / "saw.rosetta-witness", "seen": top / "seen.rosetta-laptop"}


def _of_runs(sides: TwoSides, folder: Path) -> dict[str, Path]:
    pair = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
    rows = [{"id": n, "source": f"Dog {n}", "reference": f"Hundo {n}"} for n in (1, 2, 3)]
    corpus = folder / "corpus.json"
    corpus.write_text(json.dumps({"dataset": {"id": "three", **pair}, "entries": rows}), "utf-8")
    ok(f"run {corpus} --method copy-source --plain", sides.developer)
    ok(f"runs export last -o {folder}/card.json", sides.developer)
    ok(f"runs export last --row 1 -o {folder}/proof.json", sides.developer)
    reproduced = folder / "again.reproduction.json"
    again = f"runs reproduce {folder}/card.json --corpus {corpus} --sign -o {reproduced} --plain"
    ok(again, folder / "maintainer")
    ok(f"runs export {sides.run_id} -o {folder}/released.json --submitter Ann", sides.organisation)
    return {
        "card": folder / "card.json",
        "card-seal": folder / "card.seal.json",
        "row-proof": folder / "proof.json",
        "reproduction": reproduced,
        "released-card": folder / "released.json",
    }


def _of_reviews(sides: TwoSides, folder: Path) -> dict[str, Path]:
    for each in GOLDEN.glob("golden.*"):
        shutil.copy(each, folder)
    (folder / "l.rosetta-laptop").write_bytes(write_laptop_card(WITNESS, "blue"))
    said = write_statement(WITNESS, "ab" * 32, ORGANISER.public.signing_key)
    (folder / "w.rosetta-witness").write_bytes(said)
    return {
        "certificate": folder / "golden.certificate.json",
        "certificate-signature": folder / "golden.certificate.sig",
        "coarse-certificate": sides.certificate,
        "evidence": folder / "golden.rosetta-evidence",
        "batch": folder / "golden.rosetta-batch",
        "laptop": folder / "l.rosetta-laptop",
        "witness": folder / "w.rosetta-witness",
        "submission": _bundle(folder),
    }


def _bundle(folder: Path) -> Path:
    path = folder / "m.rosetta-submission"
    path.write_bytes(sample_bundle(folder / "sample"))
    return path


def _of_custody(sides: TwoSides, folder: Path) -> dict[str, Path]:
    founded(folder / "vault")
    request, answer = folder / "r.rosetta-request", folder / "a.rosetta-answer"
    grants = at(folder / "vault")
    data, _ = asked(grants)
    request.write_bytes(data)
    answer.write_bytes(allowed(grants, data, SCHOOL)[0])
    (folder / "k.rosetta-keeper").write_bytes(write_card(ORGANISER, "Anna"))
    key = "cd" * 32
    notice = folder / "n.rosetta-notice"
    ok(f"community withdraw --signing-key {key} --by Us --reason a -o {notice}", sides.organisation)
    ok(f"community out {folder}/exchange {folder}/card.json --as Office", sides.organisation)
    files = (each for each in (folder / "exchange").rglob("*") if each.is_file())
    [listed] = [each for each in files if b'"format":"rosetta-exchange/1"' in each.read_bytes()]
    (folder / "key.pem").write_text(public_pem(sides.key()))
    return {
        "vault-log": folder / "vault/vault/log.jsonl",
        "vault-head": folder / "vault/vault/vault.json",
        "request": request,
        "answer": answer,
        "keeper": folder / "k.rosetta-keeper",
        "release-ledger": sides.organisation / "releases/ledger.jsonl",
        "register": sides.organisation / "consent.jsonl",
        "notice": notice,
        "exchange-list": listed,
        "public-key": folder / "key.pem",
    }


def _of_records(sides: TwoSides, folder: Path) -> dict[str, Path]:
    owned = sides.signed()
    profile, stated = folder / "p.rosetta-profile", folder / "s.json"
    ok("community profile terms a-page --by Anna", sides.organisation)
    ok(f"community profile --name Us -o {profile}", sides.organisation)
    with closing(open_store(sides.organisation / "rosetta.sqlite")) as store:
        [(_, data)] = signed_files(store, RecordKind.STATEMENT)
    stated.write_bytes(data)
    return {"ownership": owned, "profile": profile, "statement": stated}


def _apart(sides: TwoSides, folder: Path) -> dict[str, Path]:
    made = folder / "made"
    try_share(at(folder / "vault").vault.read(), SCHOOL, folder.with_name("memory"), ASKED_AT)
    [tried] = (folder / "vault" / "vault").glob("tried-*.json")
    ok(f"community export {folder}/taken-out --corpus {folder}/corpus.json", sides.developer)
    new = f"corpus new {made} --source-language en --target-language eo --title Words --license CC-BY-4.0"
    ok(f"{new} --organisation Us", sides.developer)
    [mark] = (folder / "exchange").rglob("exchange.json")
    [kept] = (each for each in sides.organisation.rglob("*.json") if b"exchange-record" in each.read_bytes())
    return {
        "share-tried": tried,
        "scoring": signed_file(folder, ORGANISER),
        "scoring-proposal": written(folder, proposal()),
        "community-export": folder / "taken-out/about.json",
        "exchange-folder": mark,
        "exchange-record": kept,
        "corpus-project": made / "project.json",
        "corpus": folder / "corpus.json",
    }


def _of_a_node(folder: Path) -> dict[str, Path]:
    """Sign a score manifest as the reference implementation does, by its own description of the form."""
    manifest = folder / "score-manifest.json"
    said = {
        "champollionScoreManifest": "2", "nodeId": "node", "sealedSetId": "set", "corpusVersion": "1",
        "methodSha256": "ab" * 32, "scores": {"chrf": 41.5}, "auditHead": "cd" * 32,
        "createdAt": datetime(2026, 11, 1, tzinfo=UTC).isoformat(),
    }  # fmt: skip
    manifest.write_text(json.dumps(said, ensure_ascii=False, indent=2, sort_keys=True) + "\n")
    private = Ed25519PrivateKey.generate()
    der = private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    block = {
        "scheme": "ed25519-single-node-wave1",
        "keyId": sha256(der).hexdigest()[:16],
        "payloadSha256": sha256(manifest.read_bytes()).hexdigest(),
        "signatureB64": base64.b64encode(private.sign(manifest.read_bytes())).decode(),
        "signedAt": "2026-11-01T00:00:00+00:00",
    }
    signature = folder / "score-manifest.json.sig.json"
    signature.write_text(json.dumps(block, indent=2) + "\n")
    key = json.dumps({"publicKeyDerB64": base64.b64encode(der).decode()})
    (folder / "node.pub.json").write_text(key)
    return {"reference-manifest": manifest, "reference-signature": signature}
