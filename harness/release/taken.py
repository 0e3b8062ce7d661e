"""Released cards that are here: those that this computer told, and those that were imported."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path
from typing import Final

from harness.card.checking.signed import UNKNOWN
from harness.card.checking.verdict import CardVerdict
from harness.core.failures import UsageError
from harness.core.written_files import private_folder, write_file
from harness.release.budget import history
from harness.release.ledger import FOLDER, LEDGER, checked_lines
from harness.release.records import ReleasedCard, ScoresTold, SignedReleasedCard
from harness.release.verifying import check_consent, verify_released, withdrawn_of

TAKEN: Final = "taken"
"""Folder of imported cards, in that of the ledger."""


def take(home: Path, data: bytes, name: str, connection: sqlite3.Connection) -> SignedReleasedCard:
    """Keep a released card that came from elsewhere; UsageError where it is none, was changed, or consent to it was withdrawn."""
    card, _ = checked_card(data, name, connection)
    folder = private_folder(private_folder(home / FOLDER) / TAKEN)
    write_file(folder / f"{hashlib.sha256(data).hexdigest()}.json", data, overwrite=True)
    return card


def checked_card(
    data: bytes, name: str, connection: sqlite3.Connection
) -> tuple[SignedReleasedCard, CardVerdict]:
    """Return a released card by its bytes, and what was checked; UsageError says why it is not believed.

    Refused too where consent to what it tells was withdrawn, as far as notices that are believed here say.
    """
    verdict = verify_released(data, UNKNOWN)
    if verdict is None:
        raise UsageError(f"{name} is no released card. `rosetta runs export RUN --submitter NAME` writes one.")  # fmt: skip
    if verdict.ok:
        check_consent(verdict, data, connection)
    if wrong := [check.words for check in verdict.checks if check.ok is False]:
        raise UsageError(f"{name} is not believed: {'; '.join(wrong)}.")
    try:
        return SignedReleasedCard.model_validate_json(data, strict=True), verdict
    except ValueError:
        raise UsageError(f"{name} is a released difference or refusal: it has no scores. `rosetta runs verify` checks it.") from None  # fmt: skip


def cards_here(home: Path, connection: sqlite3.Connection) -> list[ReleasedCard]:
    """Return the released cards of this computer that hold, each run's once: what its ledger told, and what was imported."""
    released_cards: list[ReleasedCard] = []
    if (path := home / FOLDER / LEDGER).is_file():
        lines = checked_lines(path.read_bytes(), str(path))
        told = history((line.when, line.act) for line in lines)
        gone = withdrawn_of(told, connection)
        acts = [act for _, act in told.answers if isinstance(act, ScoresTold)]
        released_cards += [act.card for act in acts if act.run not in gone]
    for path in sorted((home / FOLDER / TAKEN).glob("*.json")):
        try:
            released_cards.append(checked_card(path.read_bytes(), path.name, connection)[0])
        except UsageError:
            continue  # consent was withdrawn since, or the file was changed: it has no place in a list
    unique = {(card.by, card.run, card.submitter): card for card in released_cards}
    return list(unique.values())
