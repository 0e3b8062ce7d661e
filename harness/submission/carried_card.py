"""The run card that a bundle carries: the claim that is held against what comes out here."""

from __future__ import annotations

from harness.card.checking.verify import check_hash
from harness.card.foreign.layouts import adopt, unwrapped
from harness.card.model import RunCard
from harness.card.reading import parse_object
from harness.card.rows import row_entry
from harness.core.failures import UsageError
from harness.submission.members import CARD


def carried_card(data: bytes) -> RunCard:
    """Read a card whose hash is its own and whose entries are open; raises UsageError in words."""
    raw = unwrapped(parse_object(data, CARD))
    checked = check_hash(raw)
    if not checked.ok:
        raise UsageError(f"{CARD}: {checked.words}. Export it again: rosetta runs export RUN.")
    card = adopt(raw, CARD)
    if not card.results:
        raise UsageError(f"{CARD}: it names no entries (results[]). Put in the card of a run over open entries.")  # fmt: skip
    if card.withheld is not None or any(result.withheld or row_entry(result).secret for result in card.results):  # fmt: skip
        raise UsageError(f"{CARD}: it is over secret entries. Put in the card of a run over open ones.")  # fmt: skip
    return card
