"""How far a result was verified (benchmark-specification §9.4, §9.5), and what on this computer shows it.

Three paths, each with its evidence examined again when it is shown: who made the card, who ran it once more, and what
speakers said of it on entries that nobody had seen. What cannot be shown here is named with who answers for it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness.card.checking.seals import signers_of
from harness.card.checking.verdict import CardCheck
from harness.card.checking.verify import check_hash, consent_checks
from harness.card.load import read_raw
from harness.card.signing.reproduction import fits_card, read_reproduction
from harness.card.signing.signed_run import kept_seals, own_keys
from harness.consent.verifying import Verified
from harness.core.failures import UsageError
from harness.sealed.keys import key_phrase
from harness.sealed.strict_records import FileError
from harness.store.corpora.entries import read_dataset
from harness.store.others_cards import reproduction_files
from harness.store.runs import Run
from harness.vault.folder import read_state
from harness.vault.ledger import request_id
from harness.vault.log import LogLine
from harness.vault.opening import folder_of
from harness.vault.records import GrantAsked, GrantRequest, OpenedByGrant, Used
from harness.vault.work import VaultWork
from review.records.agreeing import gate_of
from review.verdict.certificate.certificate import ReviewStatus

SELF, AGAIN, GATE, TEXTS = "card", "run again", "gate", "entries"
"""Names of what shows a path."""


def evidence_of(connection: sqlite3.Connection, run: Run, home: Path) -> list[CardCheck]:
    """Return what shows here how far a finished run was verified: its card, records of reproductions, its gate and its vault.

    ``home``: the data folder, whose keys are known. True shows it, False speaks against it, None cannot be told here.
    """
    raw = read_raw(connection, run.id)
    card_checks = [_made(connection, run, raw, home), *_again(connection, run, raw)]
    review = gate_of(connection, run, raw)
    if review is not None:
        card_checks += [_gate(review), *_consent(review), _texts(connection, run, home)]
    return card_checks


def _made(
    connection: sqlite3.Connection, run: Run, raw: Mapping[str, Any], home: Path
) -> CardCheck:
    whole = check_hash(raw)
    if whole.ok is False:
        return CardCheck(SELF, False, whole.words)
    own = own_keys(home)
    signers = sorted(signers_of(kept_seals(connection, run.id, raw), raw))
    signer_names = [
        own.get(signer) or f"a key with the six words: {key_phrase(signer)}" for signer in signers
    ]
    where = "imported" if run.imported else "made here"
    signed = f"signed with {'; '.join(signer_names)}" if signer_names else "nobody signed it"
    return CardCheck(SELF, True, f"{where}, its hash is its own, {signed}")


def _again(connection: sqlite3.Connection, run: Run, raw: Mapping[str, Any]) -> Iterator[CardCheck]:
    """Read the records of reproductions that were attached once more."""
    signers = signers_of(kept_seals(connection, run.id, raw), raw)
    for trusted, data in reproduction_files(connection, run.id):
        try:
            reproduction = read_reproduction(data)
        except FileError as error:
            yield CardCheck(AGAIN, False, str(error))
            continue
        revoked = next(
            (
                c
                for c in consent_checks(Verified(keys=frozenset({reproduction.by})))
                if c.ok is False
            ),
            None,
        )
        wrong = fits_card(reproduction, raw, signers) or (
            "" if reproduction.by == trusted else "another key signed it than was trusted"
        )
        if revoked is not None or wrong or not reproduction.reproduced:
            words = wrong or (revoked.words if revoked is not None else "it was not reproduced")
            yield CardCheck(AGAIN, False, words)
            continue
        words = f"reached its scores within 2 % on {reproduction.when[:10]}, signed with the six words: {key_phrase(reproduction.by)}"
        yield CardCheck(AGAIN, True, words)


def _gate(review: ReviewStatus) -> CardCheck:
    certificate = review.certificate
    if why := review.why_not_community:
        return CardCheck(GATE, False if review.suspended else None, why)
    words = (
        f"go by {certificate.panel.words}, certificate {certificate.sha256[:16]}… of {certificate.organisation.name}, "
        f"{certificate.issued[:10]}, signed with the six words: {key_phrase(certificate.organisation.signing_key)}"
    )
    return CardCheck(GATE, True, words)


def _consent(review: ReviewStatus) -> Iterator[CardCheck]:
    return consent_checks(Verified(keys=frozenset({review.certificate.organisation.signing_key})))


def _texts(connection: sqlite3.Connection, run: Run, home: Path) -> CardCheck:
    """Return how the reviewed run came to its entries: by which line of which vault's log."""
    vault = (read_dataset(connection, run.corpus).opened_from or "").partition("/")[0]
    if not vault:
        words = "read from a file, not from a vault: that nobody had seen them is the organisation's word"
        return CardCheck(TEXTS, None, words)
    folder = folder_of(home, vault)
    if not folder:
        words = f"out of the vault {vault[:16]}…, which this computer never saw: ask a keeper for its log"
        return CardCheck(TEXTS, None, words)
    try:
        lines = read_state(Path(folder)).lines
    except UsageError as error:
        return CardCheck(TEXTS, None, f"the log of the vault {vault[:16]}… cannot be read: {error}")
    return opened_by(lines, run.run_id)


BRINGING: Final = frozenset(
    {VaultWork.RUN, VaultWork.SCORE, VaultWork.RESUME, VaultWork.RETRY, VaultWork.SCRIPT}
)
"""Work that brings texts into a run; what else opens them for it comes after."""


def opened_by(lines: Sequence[LogLine], run_id: str) -> CardCheck:
    """Return which line of a vault's log first brought its texts into a run, and by which grant."""
    requests = [line.record.act for line in lines if isinstance(line.record.act, GrantAsked)]
    asked = {request_id(request.request): request.request for request in requests}
    for line in lines:
        act = line.record.act
        if not isinstance(act, Used | OpenedByGrant) or act.run != run_id:
            continue
        if not _brings(act, asked):
            continue
        place = f"line {line.seq + 1} of its log ({line.record.when})"
        opened_words = f"{sum(act.entries.values()):,} out of the vault {lines[0].id[:16]}…"
        granted = isinstance(act, OpenedByGrant) or act.grant is not None
        return CardCheck(
            TEXTS, granted, f"{opened_words} {'by' if granted else 'without'} a grant, {place}"
        )
    return CardCheck(
        TEXTS,
        False,
        f"the log of the vault {lines[0].id[:16]}… has no grant by which it was opened for this run",
    )


def _brings(act: Used | OpenedByGrant, asked: Mapping[str, GrantRequest]) -> bool:
    """Return whether an opening brought texts into a run; of a grant its request says for what (``RunTerms.run``)."""
    if isinstance(act, Used):
        return act.work in BRINGING
    terms = asked[act.grant].run
    return terms is not None and (not terms.run or terms.method in BRINGING)
