"""Attaching a certificate to its run: only what verifies, by whom one trusts, about the very card that is there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import sha256

from harness.card.canonical import HASH_FIELD, seal_form
from harness.card.load import read_raw
from harness.core.failures import HarnessError, UsageError
from harness.store.file.database import default_path, open_store
from harness.store.notes import (
    Attached,
    attach_certificate,
    attached_to,
    suspend_certificates,
)
from harness.store.runs import Run, find_run, read_card
from review.office.store.store import Office
from review.verdict.certificate.certificate import Certificate, Standing, standing
from review.verdict.certificate.evidence import EvidenceFile
from review.verdict.certificate.verifying import Verification, verify
from review.verdict.gate.verdict import GateOutcome


def attach(
    connection: sqlite3.Connection,
    presented: EvidenceFile,
    trusted: str,
    *,
    earlier: bool = False,
) -> Standing:
    """Attach a certificate to the run of the store that it names, and give what counts for the run now.

    ``trusted`` is the public key whose word is taken; ``earlier`` takes a go of an earlier form too, which
    cannot show all that holds its organisation to its word. A certificate that is not ``go`` is kept only where it
    takes away what an earlier one gave. Raises HarnessError in words where anything is wrong.
    """
    done = verify(presented.certificate, presented.signature, presented.evidence)
    certificate = done.certificate
    _refuse(done, trusted, earlier=earlier)
    run = _run(connection, certificate)
    before = standing(attached_to(connection, run.id), run.run_id, certificate.run.run_card_hash)
    if certificate.outcome is not GateOutcome.GO and before is None:
        raise HarnessError(
            f"The certificate says {certificate.outcome}: there is nothing that it could lift. "
            "Only a go is attached, or what takes an earlier go away."
        )
    attached = Attached(presented.certificate, presented.signature, trusted)
    attach_certificate(connection, run.id, attached)
    now = standing(attached_to(connection, run.id), run.run_id, certificate.run.run_card_hash)
    if now is None:  # another program changed the store meanwhile
        raise HarnessError("The store was changed meanwhile. Try again.")
    return now


def suspend_withdrawn(office: Office) -> int:
    """Let attached certificates give nothing where somebody took back what they rest on; gives how many newly.

    The runs' store lies beside the office's file. Whoever issues and attaches anew lifts it again.
    """
    path = office.path.with_name(default_path().name)
    if not path.exists():
        return 0
    rows = office.connection.execute("SELECT certificate FROM certificate WHERE recompute")
    hashes = [sha256(certificate).hexdigest() for (certificate,) in rows]
    with closing(open_store(path)) as connection:
        return suspend_certificates(connection, hashes)


def _refuse(done: Verification, trusted: str, *, earlier: bool) -> None:
    if not done.ok:
        wrong = next((c for c in done.checks if c.ok is False), done.checks[-1])
        raise HarnessError(f"Not attached. {done.words} ({wrong.name}: {wrong.words})")
    if done.unshown and done.certificate.outcome is GateOutcome.GO and not earlier:
        raise HarnessError(
            f"Not attached. {done.words} Issue it anew from a batch of now, or take it for what it shows: --earlier"
        )
    signer = done.certificate.organisation.signing_key
    if signer != trusted:
        raise UsageError(
            f"Not attached: it is signed with key {signer}, which nobody here has called trustworthy. Ask the "
            "organisation for its key by another way; if it is this one: --trust KEY"
        )


def _run(connection: sqlite3.Connection, certificate: Certificate) -> Run:
    """Return the run that a certificate is about; its card must be there, whole, and the very same."""
    stated = certificate.run
    try:
        run = find_run(connection, stated.run_id)
    except UsageError:
        run = None
    if run is None or run.run_id != stated.run_id:
        raise UsageError(
            f"Not attached: it is about run {stated.run_id}, which is not in the list of runs. "
            "Import its card first: rosetta runs import"
        )
    raw = read_raw(connection, run.id)
    if raw.get(HASH_FIELD) != stated.run_card_hash:
        raise HarnessError(
            "Not attached: it is about another card of this run, with another seal. Attach it on a "
            "computer that has the card as it was reviewed."
        )
    if seal_form(raw) is None or "unverified" in (read_card(connection, run.id) or {}):
        raise HarnessError(
            "Not attached: the seal of the run's card is broken, so it is not what was reviewed. Attach it on "
            "a computer that has the card whole."
        )
    return run
