"""Sealing a run's card: computed, checked as a reader would check it, stored."""

from __future__ import annotations

import sqlite3

from harness.card.build import assemble, store_card
from harness.card.checking.verify import check_own_card
from harness.card.material import Material, stored_material
from harness.card.model import RunCard
from harness.core.failures import HarnessError
from harness.store.file.transaction import transaction


def seal(connection: sqlite3.Connection, run: int) -> RunCard:
    """Compute a finished run's card and store it.

    Raises StoreError if the run has one already, and HarnessError if ``runs verify`` would not accept the card.
    """
    card = sealed_card(stored_material(connection, run))
    with transaction(connection):
        store_card(connection, run, card.as_json())
    return card


def sealed_card(material: Material) -> RunCard:
    """Compute a card that ``runs verify`` accepts; HarnessError names the first field that it would not."""
    card = assemble(material)
    verdict = check_own_card(card)
    if not verdict.ok:
        wrong = verdict.first_difference
        what = str(wrong) if wrong else next(c.words for c in verdict.checks if c.ok is False)
        raise HarnessError(
            f"The card of run {card.run_id[:8]} is not sealed, because `rosetta runs verify` would not accept it: "
            f"{what}. The run's entries are stored. Please report this as a fault of the program."
        )
    return card
