"""An item in the making: what reviewers see of it, and what the organiser knows of it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from corpora.model.entry import Entry
from harness.card.rows import card_id
from review.files.batch_form import BatchItem
from review.office.items.sampling import stratum
from review.verdict.panel.key import ControlKind, KeyItem


@dataclass(frozen=True, slots=True)
class Item:
    """One item; the first half travels, the second never does."""

    shown: BatchItem
    truth: KeyItem

    @property
    def id(self) -> str:
        """Its random id."""
        return self.shown.id


def new_item(
    entry: Entry,
    candidate: str,
    *,
    run_id: str | None = None,
    control: ControlKind | None = None,
    partner: str | None = None,
    made_by: str | None = None,
) -> Item:
    """Make an item; its id is random and not drawn from the seed, so that nothing can be read from it."""
    shown = BatchItem(id=secrets.token_hex(8), source=entry.source, candidate=candidate)
    truth = KeyItem(
        run_id=run_id,
        entry=card_id(entry.id),
        stratum=stratum(entry),
        control=control,
        partner=partner,
        made_by=made_by,
    )
    return Item(shown, truth)
