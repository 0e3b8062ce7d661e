"""Published cards read again: each is verified and scored again, and put into its own store, in which lists are made as of any runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.card.checking.recount import pinned_corpus
from harness.card.foreign.layouts import ForeignLayout, layout
from harness.card.importing import Corpora, DifferentCard, import_parsed
from harness.card.reading import parse_object
from harness.core.failures import UsageError
from harness.publish.outgoing import is_released, lacks_outputs, published_hash, released_holds
from harness.release.records import ReleasedCard
from harness.store.file.database import default_path, opened


@dataclass
class PublishedCards:
    """What was found where cards are published."""

    store: sqlite3.Connection
    """The cards whose entries are open, as imported runs; those that did not verify are marked."""
    count: int = 0
    unverified: list[str] = field(default_factory=list)
    """In words, what does not verify, and what is left out."""
    released: list[ReleasedCard] = field(default_factory=list)
    """Cards over secret entries whose signature holds, the first published first."""


@contextmanager
def taken(found: Iterable[tuple[str, bytes]]) -> Iterator[PublishedCards]:
    """Import cards, each with the hash under which it was published, into a store that is gone after the block.

    The first published comes first: a later one under the same run's id is left out, and said. Texts are held against
    the corpora of this computer's store.
    """
    with (
        TemporaryDirectory(prefix="rosetta-published-") as folder,
        opened(Path(folder) / "published.sqlite") as store,
        _corpora_here() as at_hand,
    ):
        cards = PublishedCards(store)
        for name, data in found:
            cards.count += 1
            try:
                wrong = _take(cards, name, data, at_hand)
            except UsageError as error:
                wrong = f"left out: {error}"
            if wrong is not None:
                cards.unverified.append(wrong)
        yield cards


@contextmanager
def _corpora_here() -> Iterator[Corpora]:
    """Yield what gives the corpora of this computer's store, each read once; none where there is no store yet."""
    if not default_path().is_file():
        yield lambda _: None
        return
    with opened() as store:
        yield cache(partial(pinned_corpus, store))


def _take(cards: PublishedCards, name: str, data: bytes, at_hand: Corpora) -> str | None:
    """Import a card and return what is wrong with it, if anything; raises UsageError where it is omitted."""
    short = f"card {name[:12]}"
    card = parse_object(data, short)
    released = is_released(card)
    sound = released_holds(data) if released else _imported(cards.store, card, data, short, at_hand)
    if not sound:
        return f"{short} does not verify: it was changed after it was sealed, or never was. It has no rank."
    if released:
        cards.released.append(ReleasedCard.model_validate_json(data, strict=True))
    if published_hash(data, card) != name:
        return f"{short} is another card than the one that was published under this hash, though its own seal holds."
    return None


def _imported(
    store: sqlite3.Connection, card: dict[str, Any], data: bytes, short: str, at_hand: Corpora
) -> bool:
    """Store a card and tell whether its seal holds; UsageError where it is none that could be published."""
    if layout(card, short) is not ForeignLayout.CARD:
        raise UsageError(f"{short} is not a run card.")
    if lacks_outputs(card):
        raise UsageError(f"{short} came without outputs of its entries, so nobody can score it again.")  # fmt: skip
    try:
        imported = import_parsed(store, card, data, short, unverified=True, at_hand=at_hand)
    except DifferentCard:
        raise UsageError(f"another card came before {short} under the id of its run.") from None
    return imported.unverified is None
