"""What verifying any file needs: the file as it was examined, what is known here, and which file names which other."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from corpora.files.json_types import JsonObject
from harness.card.checking.signed import KnownSigners
from harness.card.checking.verdict import CardCheck
from harness.card.foreign_cards import unwrapped
from harness.card.model import HASH_FIELD
from harness.card.reading import block, read_card_bytes
from harness.card.withholding import are_safe
from harness.consent.register import checked_lines as register_lines
from harness.core.failures import UsageError
from harness.core.storage import read_bytes
from harness.release.budget import NotReleased, shortfall_of
from harness.release.ledger import checked_lines, history
from harness.release.ledger_records import (
    CertificateTold,
    DifferenceTold,
    InLedger,
    LedgerLine,
    RefusalTold,
    ReleasedCard,
    ScoresTold,
)
from harness.sealed.archive import FLAT, MANIFEST, unpack_all
from harness.sealed.sealing import Lock, lock_of
from harness.sealed.strict_records import FileError
from harness.submission.members import CARD, SHAPE
from harness.vault.grant_log import request_id
from harness.vault.grants.files import read_answer, read_request
from harness.vault.log import keepers_of, read_lines
from review.calibration.proposal import HASH_FIELD as HASH_FIELD_OF_PROPOSAL
from review.calibration.proposal import stated_proposal
from review.verdict.certificate.evidence import unpack_evidence

MOST_LINE: Final = 2**25  # Bytes of the first line that is examined to know what a file is
_FORM: Final = re.compile(rb'"format"\s*:\s*"([a-z-]{1,60}/[0-9]{1,4})"')
MOST_BESIDE: Final = 2**20  # Bytes of a signature's file


@dataclass(frozen=True)
class VerifiedFile:
    """A file that was read, and what it says of itself."""

    path: Path
    data: bytes

    @property
    def lock(self) -> Lock | None:
        """Return what opens it where it is sealed; None where it is not."""
        return lock_of(self.data)

    @cached_property
    def members(self) -> Mapping[str, bytes]:
        """The members of an archive of ours; none where it is no archive, or one that was changed."""
        for shape in (FLAT, SHAPE):
            with suppress(FileError):
                return unpack_all(self.data, shape)
        return {}

    @cached_property
    def stated(self) -> JsonObject:
        """The JSON object that it is, or that its first line or its manifest is; empty where there is none."""
        content = self.members.get(MANIFEST, b"") if self.data.startswith(b"PK") else self.data
        return _object(content) or _object(content[:MOST_LINE].split(b"\n", 1)[0])

    @cached_property
    def is_cut(self) -> bool:
        """Return whether it begins as an object of JSON that is never closed, on its first line or at all."""
        if self.stated or self.data.lstrip()[:1] != b"{":
            return False
        try:
            json.loads(self.data)
        except ValueError:
            return True
        except RecursionError:
            pass
        return False

    @property
    def format(self) -> str:
        """The name and version of its form, as it says; empty where it names none."""
        stated_format = self.stated.get("format")
        if self.is_cut and (match := _FORM.search(self.data[:MOST_LINE])):
            stated_format = match[1].decode()
        return stated_format if isinstance(stated_format, str) else ""

    def beside(self, suffix: str) -> bytes | None:
        """Return the bytes of the file next to it whose name continues with this; None where there is none."""
        path = self.path.with_name(self.path.name + suffix)
        return read_bytes(path, "what is next to it", MOST_BESIDE) if path.is_file() else None


def _object(content: bytes) -> JsonObject:
    """Return a JSON object; empty where bytes are none."""
    with suppress(ValueError, RecursionError):
        value = json.loads(content)
        if isinstance(value, dict):
            return value
    return {}


@dataclass(frozen=True)
class VerifiedAgainst:
    """What a file is held against."""

    connection: sqlite3.Connection
    home: Path
    known: KnownSigners
    # Files that somebody named next to it: a card, a certificate, evidence, a public key
    others: Sequence[Path] = ()
    used: set[Path] = field(default_factory=set)  # Those of them against which the file was held

    @cached_property
    def files(self) -> tuple[VerifiedFile, ...]:
        """The others, as they were examined; UsageError where one cannot be read."""
        return tuple(map(read_verified_file, self.others))

    def among(self, fits: Callable[[VerifiedFile], bool]) -> Iterator[VerifiedFile]:
        """Yield the others that are of a kind, and note that the file is held against them."""
        for file in self.files:
            if fits(file):
                self.used.add(file.path)
                yield file

    @property
    def unused(self) -> tuple[VerifiedFile, ...]:
        """The others against which the file was not held."""
        return tuple(file for file in self.files if file.path not in self.used)


class Signer(NamedTuple):
    """A key that signed a file."""

    role: str
    key: str


@dataclass(frozen=True)
class ToldOfFile:
    """What the verifier of one kind found."""

    facts: Sequence[tuple[str, str]] = ()
    signers: Sequence[Signer] = ()
    checks: Sequence[CardCheck] = ()


@dataclass(frozen=True)
class VerifiableKind:
    """A kind of file: how it is known, and who verifies it."""

    name: str
    what: str  # What it is, for people
    verify: Callable[[VerifiedFile, VerifiedAgainst], ToldOfFile]
    forms: tuple[str, ...] = ()  # What `format` may say
    # How a file is known that names no form
    fits: Callable[[VerifiedFile], bool] = field(default=lambda _: False)


def signature_check(words: str = "its bytes are those that were signed") -> CardCheck:
    """Return the check of a file whose reader found its signature right."""
    return CardCheck("signature", True, words)


UNSIGNED: Final = "unsigned"  # Name of the check of a file of a kind that nobody signs


def unsigned_check(words: str) -> CardCheck:
    return CardCheck(UNSIGNED, None, words)


def is_archive_called(suffix: str) -> Callable[[VerifiedFile], bool]:
    """Return what knows an archive by the end of its name, where its content was changed so that it tells nothing."""
    return lambda file: file.data.startswith(b"PK") and file.path.name.casefold().endswith(suffix)


def read_verified_file(path: Path) -> VerifiedFile:
    """Read a file; raises UsageError where it cannot be read, is not a file, or is too large."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name a file in it.")
    return VerifiedFile(path, read_card_bytes(path))


# ---- Holding one file against another: what names what, by which hash, number or key, in either
# direction.

Naming = Callable[[VerifiedFile, VerifiedFile], bool]  # Whether the first file names the second


def _card_hash(file: VerifiedFile) -> object:
    return unwrapped(dict(file.stated)).get(HASH_FIELD)


def _same(named: object, own: object) -> bool:
    """Return whether two hashes are one; a card of another program may have none, and so may what names it."""
    return isinstance(named, str) and bool(named) and named == own


def _at(file: VerifiedFile, path: Sequence[str]) -> Any:
    """Return what a file states at a place of its JSON."""
    stated: Any = file.stated
    for name in path[:-1]:
        stated = block(stated, name)
    return stated.get(path[-1])


def _by_hash(*path: str) -> Naming:
    """Return what compares the hash of a card, which a file states at a place of its JSON, with that of another."""
    return lambda file, card: _same(_at(file, path), _card_hash(card))


def _states_bytes(*path: str) -> Naming:
    """Return what looks for the SHA-256 of another file's bytes where a file states one, or several."""

    def naming(file: VerifiedFile, other: VerifiedFile) -> bool:
        stated, digest = _at(file, path), sha256(other.data).hexdigest()
        return digest == stated if isinstance(stated, str) else digest in (stated or ())

    return naming


def _certified(evidence: VerifiedFile) -> VerifiedFile:
    return VerifiedFile(evidence.path, unpack_evidence(evidence.data).certificate)


def _rests_on_batch(file: VerifiedFile, batch: VerifiedFile) -> bool:
    manifest = batch.members.get(MANIFEST, b"")
    batches = block(file.stated, "batches")
    return _same(batches.get(str(batch.stated.get("batch"))), sha256(manifest).hexdigest())


def fits_line(lines: Sequence[LedgerLine], stated: JsonObject) -> str:
    """Return why a released file is not what the line of the ledger that it names may say; empty where it is.

    ``lines``: a whole ledger, by ``checked_lines``; ``stated``: the file as JSON. What may be released is decided once more
    by the lines before: which answer it is, whose scores, whether confirmed, and that no atom has too few entries.
    """
    place = InLedger.model_validate(stated["place"]).line
    if not 0 < place < len(lines):
        return "the ledger has no such line"
    act, when, before, left = lines[place].act, lines[place].when, history(lines[:place]), None
    if isinstance(act, CertificateTold):
        left = json.loads(act.certificate)
    elif isinstance(act, ScoresTold | RefusalTold | DifferenceTold):
        left = act.card.model_dump(mode="json")
    if left != {name: value for name, value in stated.items() if name != "signature"}:
        return "the ledger has something else in that line"
    wrong = set() if are_safe(before.after(act, when).atoms) else {"atoms"}
    if isinstance(act, CertificateTold) and (shortfall_of(before, act.run) == "") is not (left["confirmation"] == "confirmed"):  # fmt: skip
        wrong.add("confirmation")
    if isinstance(act, ScoresTold):
        entries = dict(before.sums).get(act.entries, {}) if act.atoms is None else act.atoms
        try:
            card = before.answer(act.model_copy(update={"atoms": entries}), datetime.fromisoformat(when)).card
        except NotReleased as error:
            return f"by the lines before it, nothing might be told: {error}"
        wrong |= {name for name in ReleasedCard.model_fields if getattr(card, name) != getattr(act.card, name)}
    return f"by the lines before it, the ledger says otherwise of its {', '.join(sorted(wrong))}" if wrong else ""


def _in_ledger(file: VerifiedFile, ledger: VerifiedFile) -> bool:
    """Return whether a ledger has what was released in the line that it names; UsageError says what differs."""
    if why := fits_line(checked_lines(ledger.data, ledger.path.name), file.stated):
        raise UsageError(why)
    return True


def _of_vault(file: VerifiedFile, log: VerifiedFile) -> bool:
    """Return whether what a keeper signed is of the vault whose log this is, and its signer a keeper there."""
    answer = block(file.stated, "answer") or file.stated
    lines = read_lines(log.data)
    by = answer.get("keeper") or answer.get("by")
    return answer.get("vault") == lines[0].id and by in keepers_of(lines)


ANY: Final = "*"  # Stands for every kind


_RUN_CARD: Final = _by_hash("run", HASH_FIELD)
# Kind that names another, that other's kind → whether one file names the other. Where a verifier of
# a kind holds its file against others itself, as that of ownership does, this table serves the way
# back.
NAMES: Final[Mapping[tuple[str, str], Naming]] = {
    ("card-seal", "card"): _by_hash("seal", "card"),
    ("card-seal", "row-proof"): lambda seal, proof: _at(seal, ("seal", "signature")) == _at(proof, ("seal", "signature")),
    ("row-proof", "card"): _by_hash("seal", "card"),
    ("reproduction", "card"): _by_hash("claimed", "card"),
    ("released-card", "card"): _by_hash(HASH_FIELD),
    ("released-refusal", "card"): lambda file, card: _same(file.stated.get("run"), unwrapped(dict(card.stated)).get("run_id")),
    ("released-card", "release-ledger"): _in_ledger,
    ("released-difference", "release-ledger"): _in_ledger,
    ("released-refusal", "release-ledger"): _in_ledger,
    ("coarse-certificate", "release-ledger"): _in_ledger,
    ("certificate", "card"): _RUN_CARD,
    ("certificate", "batch"): _rests_on_batch,
    ("coarse-certificate", "card"): _RUN_CARD,
    ("coarse-certificate", "released-card"): _RUN_CARD,
    ("coarse-certificate", "batch"): _rests_on_batch,
    ("coarse-certificate", "certificate"): _states_bytes("exact"),
    ("evidence", "card"): lambda evidence, card: _RUN_CARD(_certified(evidence), card),
    ("evidence", "batch"): lambda evidence, batch: _rests_on_batch(_certified(evidence), batch),
    ("evidence", "certificate"): lambda evidence, certificate: _certified(evidence).data == certificate.data,
    ("ownership", "card"): _by_hash("terms", "card"),
    ("ownership", "released-card"): _by_hash("terms", "card"),
    ("ownership", "certificate"): _states_bytes("terms", "certificate"),
    ("ownership", "coarse-certificate"): _states_bytes("terms", "certificate"),
    ("profile", "statement"): lambda profile, statement: isinstance(listed := profile.stated.get("stated"), list) and statement.stated in listed,
    ("submission", "card"): lambda bundle, card: _same(_card_hash(VerifiedFile(bundle.path, bundle.members.get(CARD, b""))), _card_hash(card)),
    ("request", "vault-log"): _of_vault,
    ("answer", "vault-log"): _of_vault,
    ("vault-head", "vault-log"): _of_vault,
    ("keeper", "vault-log"): lambda keeper, log: keeper.stated.get("signing_key") in keepers_of(read_lines(log.data)),
    ("answer", "request"): lambda answer, request: read_answer(answer.data)[0].request == request_id(read_request(request.data)),
    ("register", "notice"): lambda register, notice: any(line.notice.model_dump(mode="json") == notice.stated for line in register_lines(register.path, register.data)[0]),
    ("witness", "laptop"): lambda witness, laptop: _same(witness.stated.get("laptop"), laptop.stated.get("signing_key")),
    ("share-tried", "vault-log"): _of_vault,
    ("scoring", "scoring-proposal"): lambda scoring, proposal: _same(scoring.stated.get("proposal"), stated_proposal(proposal.data.decode("utf-8", "replace"), proposal.path.name).get(HASH_FIELD_OF_PROPOSAL)),
    ("exchange-list", ANY): _states_bytes("files"),
}  # fmt: skip


def held(pair: tuple[VerifiableKind, VerifiedFile], beside: tuple[VerifiableKind, VerifiedFile]) -> CardCheck | None:
    """Return whether a file and one that was named next to it belong together; None where neither names the other."""
    (kind, file), (other, given) = pair, beside
    ways = [(NAMES.get((kind.name, name)), file, given) for name in (other.name, ANY)]
    ways += [(NAMES.get((other.name, name)), given, file) for name in (kind.name, ANY)]
    if not any(naming for naming, _, _ in ways):
        return None
    right, why = False, "neither names the other"
    try:
        right = any(naming(one, two) for naming, one, two in ways if naming)
    except UsageError as error:
        why = str(error)
    except (AttributeError, TypeError, KeyError):
        pass
    words = "belong together" if right else f"do not belong together: {why}"
    return CardCheck(other.name, right, f"this file and {given.path.name}, {other.what}, {words}")
