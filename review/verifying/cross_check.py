"""Holding one file against another: what names what, by which hash, number or key, in either direction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from harness.card.checking.verdict import CardCheck
from harness.card.foreign.layouts import unwrapped
from harness.card.reading import block
from harness.card.seal import HASH_FIELD
from harness.consent.register import checked_lines as register_lines
from harness.core.failures import UsageError
from harness.release.ledger import checked_lines, fits_line
from harness.sealed.signed_archive import MANIFEST
from harness.submission.members import CARD
from harness.vault.grants.files import read_answer, read_request
from harness.vault.ledger import request_id
from harness.vault.log import keepers_of, read_lines
from review.calibration.proposal import HASH_FIELD as HASH_FIELD_OF_PROPOSAL
from review.calibration.signing import stated_proposal
from review.verdict.certificate.evidence import unpack_evidence
from review.verifying.kinds import VerifiableKind, VerifiedFile

Naming = Callable[[VerifiedFile, VerifiedFile], bool]
"""Whether the first file names the second."""


def _card_hash(file: VerifiedFile) -> object:
    return unwrapped(dict(file.stated)).get(HASH_FIELD)


def _same(named: object, own: object) -> bool:
    """Return whether two hashes are one; a card of another program may have none, and so may what names it."""
    return isinstance(named, str) and bool(named) and named == own


def _by_hash(*path: str) -> Naming:
    """Return what compares the hash of a card, which a file states at a place of its JSON, with that of another."""

    def naming(file: VerifiedFile, card: VerifiedFile) -> bool:
        stated: Any = file.stated
        for name in path[:-1]:
            stated = block(stated, name)
        return _same(stated.get(path[-1]), _card_hash(card))

    return naming


def _of_the_same_run(file: VerifiedFile, card: VerifiedFile) -> bool:
    return _same(file.stated.get("run"), unwrapped(dict(card.stated)).get("run_id"))


def _states_bytes(*path: str) -> Naming:
    """Return what looks for the SHA-256 of another file's bytes where a file states one, or several."""

    def naming(file: VerifiedFile, other: VerifiedFile) -> bool:
        stated: Any = file.stated
        for name in path[:-1]:
            stated = block(stated, name)
        stated_hash = stated.get(path[-1])
        digest = sha256(other.data).hexdigest()
        return (
            digest == stated_hash if isinstance(stated_hash, str) else digest in (stated_hash or ())
        )

    return naming


def _of_evidence(naming: Naming) -> Naming:
    """Return what asks the certificate within evidence instead of the evidence."""

    def inside(file: VerifiedFile, other: VerifiedFile) -> bool:
        return naming(VerifiedFile(file.path, unpack_evidence(file.data).certificate), other)

    return inside


def _evidence_of(file: VerifiedFile, other: VerifiedFile) -> bool:
    evidence_file = unpack_evidence(file.data)
    return other.data == evidence_file.certificate


def _rests_on_batch(file: VerifiedFile, batch: VerifiedFile) -> bool:
    manifest = batch.members.get(MANIFEST, b"")
    batches = block(file.stated, "batches")
    return _same(batches.get(str(batch.stated.get("batch"))), sha256(manifest).hexdigest())


def _in_ledger(file: VerifiedFile, ledger: VerifiedFile) -> bool:
    """Return whether a ledger has what was released in the line that it names; UsageError says what differs."""
    if why := fits_line(checked_lines(ledger.data, ledger.path.name), file.stated):
        raise UsageError(why)
    return True


def _of_vault(file: VerifiedFile, log: VerifiedFile) -> bool:
    """Return whether what a keeper signed is of the vault whose log this is, and its signer a keeper there."""
    answer = file.stated.get("answer", file.stated)
    lines = read_lines(log.data)
    by = answer.get("keeper") or answer.get("by")
    return answer.get("vault") == lines[0].id and by in keepers_of(lines)


def _keeper_there(file: VerifiedFile, log: VerifiedFile) -> bool:
    return file.stated.get("signing_key") in keepers_of(read_lines(log.data))


def _answers(file: VerifiedFile, request: VerifiedFile) -> bool:
    return read_answer(file.data)[0].request == request_id(read_request(request.data))


def _in_register(register: VerifiedFile, notice: VerifiedFile) -> bool:
    lines, _ = register_lines(register.path, register.data)
    return any(line.notice.model_dump(mode="json") == notice.stated for line in lines)


def _saw(file: VerifiedFile, laptop: VerifiedFile) -> bool:
    return _same(file.stated.get("laptop"), laptop.stated.get("signing_key"))


def _in_profile(profile: VerifiedFile, statement: VerifiedFile) -> bool:
    return statement.stated in (profile.stated.get("stated") or ())


def _carries(bundle: VerifiedFile, card: VerifiedFile) -> bool:
    carried = VerifiedFile(bundle.path, bundle.members.get(CARD, b""))
    return _same(_card_hash(carried), _card_hash(card))


ANY: Final = "*"
"""Stands for every kind."""


def _signs_proposal(scoring: VerifiedFile, proposal: VerifiedFile) -> bool:
    stated = stated_proposal(proposal.data.decode("utf-8", "replace"), proposal.path.name)
    return _same(scoring.stated.get("proposal"), stated.get(HASH_FIELD_OF_PROPOSAL))


_RUN_CARD: Final = _by_hash("run", HASH_FIELD)
NAMES: Final[Mapping[tuple[str, str], Naming]] = {
    ("card-seal", "card"): _by_hash("seal", "card"),
    ("card-seal", "row-proof"): lambda seal, proof: block(seal.stated, "seal").get("signature")
    == block(proof.stated, "seal").get("signature"),
    ("row-proof", "card"): _by_hash("seal", "card"),
    ("reproduction", "card"): _by_hash("claimed", "card"),
    ("released-card", "card"): _by_hash(HASH_FIELD),
    ("released-refusal", "card"): _of_the_same_run,
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
    ("evidence", "card"): _of_evidence(_RUN_CARD),
    ("evidence", "batch"): _of_evidence(_rests_on_batch),
    ("evidence", "certificate"): _evidence_of,
    ("ownership", "card"): _by_hash("terms", "card"),
    ("ownership", "released-card"): _by_hash("terms", "card"),
    ("ownership", "certificate"): _states_bytes("terms", "certificate"),
    ("ownership", "coarse-certificate"): _states_bytes("terms", "certificate"),
    ("profile", "statement"): _in_profile,
    ("submission", "card"): _carries,
    ("request", "vault-log"): _of_vault,
    ("answer", "vault-log"): _of_vault,
    ("vault-head", "vault-log"): _of_vault,
    ("keeper", "vault-log"): _keeper_there,
    ("answer", "request"): _answers,
    ("register", "notice"): _in_register,
    ("witness", "laptop"): _saw,
    ("share-tried", "vault-log"): _of_vault,
    ("scoring", "scoring-proposal"): _signs_proposal,
    ("exchange-list", ANY): _states_bytes("files"),
}  # fmt: skip
"""Kind that names another, that other's kind → whether one file names the other. Where a verifier of a kind holds its
file against others itself, as that of ownership does, this table serves the way back."""


def held(
    pair: tuple[VerifiableKind, VerifiedFile], beside: tuple[VerifiableKind, VerifiedFile]
) -> CardCheck | None:
    """Return whether a file and one that was named next to it belong together; None where neither names the other."""
    (kind, file), (other, given) = pair, beside
    ways = list(_ways(kind.name, file, other.name, given))
    if not ways:
        return None
    right, why = False, "neither names the other"
    try:
        right = any(naming(one, two) for naming, one, two in ways)
    except UsageError as error:
        why = str(error)
    except (AttributeError, TypeError, KeyError):
        pass
    words = "belong together" if right else f"do not belong together: {why}"
    return CardCheck(other.name, right, f"this file and {given.path.name}, {other.what}, {words}")


def _ways(
    kind: str, file: VerifiedFile, other: str, given: VerifiedFile
) -> Iterator[tuple[Naming, VerifiedFile, VerifiedFile]]:
    for naming in (NAMES.get((kind, other)), NAMES.get((kind, ANY))):
        if naming:
            yield naming, file, given
    for naming in (NAMES.get((other, kind)), NAMES.get((other, ANY))):
        if naming:
            yield naming, given, file
