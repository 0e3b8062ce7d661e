"""How many of the laptops somebody else saw, who signed for it."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from review.files.witness import Statement, read_statement
from review.forms import StrictForm
from review.log.payloads import Count, Hex64
from review.sealed.problem import FileError
from review.verdict.certificate.evidence import Evidence


class CertifiedWitnesses(StrictForm):
    """What witnesses said, in numbers."""

    laptops: Count
    """Laptops that wrote the log."""
    witnessed: Count
    """Of these, laptops that a second person saw."""
    witnesses: Count
    """Different keys that signed for it."""
    statements: tuple[Hex64, ...]
    """SHA-256 of the statements that are counted, sorted."""


def certified_witnesses(evidence: Evidence, organisation: str) -> CertifiedWitnesses:
    """Count what witnesses said of the laptops that wrote some events; ``organisation`` is its signing key."""
    wrote = _laptops(evidence)
    found = dict(statements(evidence, organisation))
    return CertifiedWitnesses(
        laptops=len(wrote),
        witnessed=len({said.laptop for said in found.values()}),
        witnesses=len({said.witness for said in found.values()}),
        statements=tuple(sorted(found)),
    )


def statements(evidence: Evidence, organisation: str) -> Iterator[tuple[str, Statement]]:
    """Yield the SHA-256 of each statement that counts with what it says."""
    wrote = _laptops(evidence)
    for content in evidence.witnesses:
        try:
            said = read_statement(content)
        except FileError:
            continue
        if said.organisation == organisation and said.laptop in wrote:
            yield sha256(content).hexdigest(), said


def _laptops(evidence: Evidence) -> set[str | None]:
    theirs = {event.device for event in evidence.events} - evidence.own_devices
    return {evidence.devices.get(device) for device in theirs} - {None}
