"""What a card from elsewhere is refused for before anything of it is stored or scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from corpora.checks.marks import names_secret
from harness.card.checking.recompute import card_scorer
from harness.card.checking.stated import impossible
from harness.card.model import RunCard
from harness.card.rows import row_entry
from harness.consent.verifying import found, of_card
from harness.core.failures import UsageError
from harness.store.withdrawn import now_standing

MOST_TEXT: Final = 2**20
"""Characters of one text on a card that is scored again: a megabyte takes a second and a tenth of a gigabyte of memory."""


def refuse_secrets(card: RunCard, name: str) -> None:
    """Raise UsageError where a card carries texts of a secret segment."""
    texts = sum(
        (row_entry(row).secret or names_secret(row.segment or ""))
        and any(text is not None for text in (row.source, row.reference, row.predicted))
        for row in card.results
    )
    if texts:
        raise UsageError(
            f"{name} carries the texts of {texts:,} entries of a secret segment (gold_standard or "
            "held_out). A card must not: ask its maker for one without them, and delete this file."
        )


def refuse_impossible(card: RunCard, name: str) -> None:
    """Raise UsageError for an entry that is there twice, a text without end, and a number that no run gives."""
    twice = [
        id_ for id_, count in Counter(row.entry_id for row in card.results).items() if count > 1
    ]
    if twice:
        raise UsageError(
            f"{name} has entry {twice[0]!r} more than once, so it is no card of one run."
        )
    for row in card.results:
        texts = (row.source, row.reference, row.predicted, *(row.variants or ()))
        if (longest := max(len(text or "") for text in texts)) > MOST_TEXT:
            raise UsageError(
                f"{name}: a text of entry {row.entry_id!r} has {longest:,} characters; one on a card may have {MOST_TEXT:,}."
            )
    scorer = card_scorer(card, [row_entry(row) for row in card.results])
    for first in impossible(card, scorer):
        raise UsageError(
            f"{name}: {first}. No run gives such a number: ask the card's maker for the right one."
        )


def refuse_withdrawn(raw: Mapping[str, Any], card: RunCard, name: str) -> None:
    """Raise UsageError where consent for what the card is made of was withdrawn."""
    ids = [row.entry_id for row in card.results] or None
    for check in found(of_card(raw, ids), now_standing()):
        if check.ok is False:
            raise UsageError(
                f"{name}: {check.words}. It is not imported. `rosetta consent list` has who said so."
            )
