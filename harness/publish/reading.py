"""Published cards read again: each is verified, and put into a store of its own, in which lists are made as of any runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.card.importing import import_card
from harness.card.reading import parse_object
from harness.core.failures import UsageError
from harness.publish.outgoing import is_released, published_hash, seal_holds
from harness.sealed.keys import key_phrase
from harness.store.file.database import opened


@dataclass
class PublishedCards:
    """What was found where cards are published."""

    store: sqlite3.Connection
    """The cards whose entries are open, as imported runs; those that did not verify are marked."""
    count: int = 0
    unverified: list[str] = field(default_factory=list)
    """In words, what does not verify, and what is left out."""
    released: list[dict[str, Any]] = field(default_factory=list)
    """Cards over secret entries whose signature holds, the first published first; each stands alone, for its scores are coarse."""


@contextmanager
def taken(found: Iterable[tuple[str, bytes]]) -> Iterator[PublishedCards]:
    """Put cards, each with the hash under which it was published, into a store that is gone after the block.

    The first published comes first: a later one under the same run's id is left out, and said.
    """
    with TemporaryDirectory(prefix="rosetta-published-") as folder, opened(Path(folder) / "published.sqlite") as store:  # fmt: skip
        cards = PublishedCards(store)
        for name, data in found:
            cards.count += 1
            try:
                _take(cards, name, data)
            except UsageError as error:
                cards.unverified.append(f"{name[:12]} is left out: {error}")
        yield cards


def _take(cards: PublishedCards, name: str, data: bytes) -> None:
    short = f"card {name[:12]}"
    card = parse_object(data, short)
    sound = seal_holds(card, data)
    if not sound:
        cards.unverified.append(
            f"{short} does not verify: it was changed after it was sealed, or never was. It has no rank."
        )
    elif published_hash(data, card) != name:
        cards.unverified.append(
            f"{short} is another card than the one that was published under this hash, though its own seal holds."
        )
    if not is_released(card):
        import_card(cards.store, data, short, unverified=True)
    elif sound:
        cards.released.append({**card, "signed_by": key_phrase(card["by"])})
