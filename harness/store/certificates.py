"""Certificates of reviews that a person attached to a run; what they are worth is judged by ``review.verdict``.

They lie beside the run's card and never in it, because a sealed card does not change (DESIGN C4).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attached:
    """One certificate beside a run."""

    certificate: bytes
    """Its own bytes, over which it is signed."""
    signature: bytes
    """Ed25519, 64 bytes."""
    signer: str
    """Public key that was trusted when it was attached, hexadecimal."""
    suspended: bool = False
    """True where somebody took back what it rests on: it gives nothing until one is issued anew."""

    @property
    def sha256(self) -> str:
        """Hash of its bytes, hexadecimal."""
        from hashlib import sha256  # loads OpenSSL, which a list of runs does without

        return sha256(self.certificate).hexdigest()


def attach_certificate(connection: sqlite3.Connection, run: int, attached: Attached) -> None:
    """Keep a certificate beside a run; the same one a second time changes nothing."""
    connection.execute(
        "INSERT OR IGNORE INTO certificates (run, sha256, certificate, signature, signer, attached)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            run,
            attached.sha256,
            attached.certificate,
            attached.signature,
            attached.signer,
            time.time(),
        ),
    )


def detach_certificates(connection: sqlite3.Connection, run: int) -> int:
    """Take all certificates away from a run; gives how many there were."""
    return connection.execute("DELETE FROM certificates WHERE run = ?", (run,)).rowcount


def suspend_certificates(connection: sqlite3.Connection, hashes: Iterable[str]) -> int:
    """Let certificates give nothing any more, whichever runs they lie beside; gives how many newly."""
    marked = (
        connection.execute(
            "UPDATE certificates SET suspended = 1 WHERE sha256 = ? AND NOT suspended", (each,)
        ).rowcount
        for each in hashes
    )
    return sum(marked)


def attached_to(connection: sqlite3.Connection, run: int) -> tuple[Attached, ...]:
    """Return the certificates of one run, in the order in which they were attached."""
    return attached_by_run(connection, run).get(run, ())


def attached_by_run(
    connection: sqlite3.Connection, only: int | None = None
) -> dict[int, tuple[Attached, ...]]:
    """Return the certificates of every run that has any; rows of a wrong type count as absent."""
    found: dict[int, tuple[Attached, ...]] = {}
    rows = connection.execute(
        "SELECT run, certificate, signature, signer, suspended FROM certificates"
        " WHERE ? IS NULL OR run = ? ORDER BY attached, sha256",
        (only, only),
    )
    for run, certificate, signature, signer, suspended in rows:
        if isinstance(certificate, bytes) and isinstance(signature, bytes):
            one = Attached(certificate, signature, str(signer), bool(suspended))
            found[run] = (*found.get(run, ()), one)
    return found
