"""``NAME.rosetta-evidence``: a certificate with everything it rests on and the program that recomputes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Final

from harness.core.failures import UsageError
from review.sealed.archive import MOST_BYTES, pack, unpack
from review.verdict.certificate.evidence import (
    Evidence,
    events_bytes,
    read_devices,
    read_events_bytes,
    read_key,
    read_signed,
    signed_bytes,
)

EVIDENCE_SUFFIX: Final = ".rosetta-evidence"

_DATA = ("certificate.json", "certificate.sig", "policy.toml", "key.json", "devices.json")
_EVENTS = "events.jsonl"
_SIGNED = "signed.json"
_PROGRAM = "rosetta_verify.py"
_README = "README.txt"

EARLIER_PROGRAMS: Final = {
    "3418c2f0066947cb3dc7dd09f97039e92cf3b694a946224e213e1cb5669febd1": "of certificates of version 1",
}
"""SHA-256 of each second verifier that was given out before the present one."""


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """What an evidence file holds."""

    certificate: bytes
    signature: bytes
    evidence: Evidence
    program: bytes | None = None
    """The second verifier as it lies in the file; None where there is none, as in what an office keeps."""


def own_program() -> bytes:
    """Return the second verifier as it is installed here."""
    return resources.files("review.verdict.stand_alone").joinpath(_PROGRAM).read_bytes()


def own_program_sha256() -> str:
    """Return its hash, which certificates and docs/certificate.md state."""
    return sha256(own_program()).hexdigest()


def pack_evidence(certificate: bytes, signature: bytes, evidence: Evidence) -> bytes:
    """Write an evidence file; the same contents give the same bytes."""
    data = (certificate, signature, evidence.policy, evidence.key_bytes, evidence.devices_bytes)
    own = resources.files("review.verdict.stand_alone")
    return pack(
        {
            **dict(zip(_DATA, data, strict=True)),
            _EVENTS: events_bytes(evidence.events),
            _SIGNED: signed_bytes(evidence),
            _PROGRAM: own_program(),
            _README: own.joinpath(_README).read_bytes(),
        }
    )


def unpack_evidence(data: bytes) -> EvidenceFile:
    """Read an evidence file, nothing of it believed yet; raises UsageError in words."""
    members = unpack(data, (*_DATA, _EVENTS), (_SIGNED, _PROGRAM, _README))
    certificate, signature, policy, key, devices = (members[name] for name in _DATA)
    own, keys = read_devices(devices, "devices.json")
    events = read_events_bytes(members[_EVENTS])
    evidence = Evidence(policy, read_key(key, "key.json"), events, own, keys)
    if _SIGNED in members:
        batches, laptops, witnesses = read_signed(members[_SIGNED], _SIGNED)
        evidence = replace(evidence, batches=batches, laptops=laptops, witnesses=witnesses)
    return EvidenceFile(certificate, signature, evidence, members.get(_PROGRAM))


def read_evidence_file(path: Path) -> EvidenceFile:
    """Read an evidence file from the disk; raises UsageError in words that name it."""
    try:
        with path.open("rb") as file:
            return unpack_evidence(file.read(2 * MOST_BYTES))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}. Name the right file.") from None
    except UsageError as error:
        raise UsageError(f"{path.name}: {error}") from None
