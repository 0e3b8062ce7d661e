"""Putting a signed record of a reproduction beside the card that it is about, so that it shows as verified."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from harness.card.checking.seals import signers_of
from harness.card.checking.verify import check_hash, consent_checks
from harness.card.load import read_raw
from harness.card.signing.reproduction import SignedReproduction, fits_card, read_reproduction
from harness.card.signing.signed_run import kept_seals, own_keys
from harness.consent.verifying import Verified
from harness.core.failures import UsageError
from harness.sealed.keys import key_phrase
from harness.store.others_cards import keep_reproduction
from harness.store.runs import find_by_id


def attach(
    connection: sqlite3.Connection, data: bytes, trusted: str | None, home: Path
) -> SignedReproduction:
    """Check a record and keep it beside the run whose card it names; raises UsageError where it shows nothing.

    ``trusted``: the key that a person named; None: a key of this computer signed. Anyone who made or signed the card is
    never believed about it, whatever is named.
    """
    reproduction = read_reproduction(data)
    own = own_keys(home)
    if not (reproduction.by == trusted if trusted is not None else reproduction.by in own):
        raise UsageError(
            f"The key that signed this record is not trusted here. Its six words are: {key_phrase(reproduction.by)}. Compare them "
            f"with anyone who is said to have signed, by another way than the record itself came, and name the key: --trust {reproduction.by}"
        )
    for consent_check in consent_checks(
        Verified(keys=frozenset({reproduction.by, reproduction.claimed_by}))
    ):
        if consent_check.ok is False:
            raise UsageError(f"{consent_check.words}. The record shows nothing.")
    if not reproduction.reproduced:
        raise UsageError(
            "The record says that the card was not reproduced: there is nothing to show."
        )
    run = find_by_id(connection, reproduction.claimed.run_id)
    if run is None:
        raise UsageError(
            f"Run {reproduction.claimed.run_id[:8]} is not in the list: import its card with its seal first."
        )
    if not run.imported and reproduction.by in own:
        raise UsageError(
            "This run was made here, and so was the record: nobody verifies their own run."
        )
    raw = read_raw(connection, run.id)
    checked = check_hash(raw)
    wrong = fits_card(reproduction, raw, signers_of(kept_seals(connection, run.id, raw), raw))
    if not checked.ok or wrong:
        raise UsageError(f"The record shows nothing of this run: {wrong or checked.words}.")
    keep_reproduction(connection, run.id, reproduction.by, reproduction.claimed.card, data)
    return reproduction
