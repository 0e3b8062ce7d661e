"""Making a review that asks speakers for translations: who gets which sentences, and the files for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpora.model.entry import Entry, EntryId
from review.files.reviewer_codes import make_codes
from review.office.items.assignment import orders
from review.office.items.items import new_item
from review.office.items.sampling import draw, draw_core, drawing
from review.office.items.sentences import Sentences, check_count
from review.office.making.batches import Drawn, check_reviewers


@dataclass(frozen=True)
class Share:
    """How much is asked of whom."""

    reviewers: int = 5
    items: int | None = None
    """Sentences that are drawn; None: all."""
    core: int | None = None
    """Sentences that everybody is asked; None: all, or none where ``per_person`` is given."""
    per_person: int | None = None
    """Further sentences for each person, spread evenly; None: all of them."""


@dataclass(frozen=True, kw_only=True)
class TranslationDraft(Drawn):
    """A review that is worked out and not yet written anywhere."""

    sentences: Sentences


def draft_translations(sentences: Sentences, share: Share, seed: int) -> TranslationDraft:
    """Draw sentences and part them; everything but ids and codes follows from the seed.

    UsageError where too much or too little is asked for.
    """
    check_reviewers(share.reviewers)
    wanted = len(sentences.entries) if share.items is None else share.items
    check_count(wanted)
    entries = draw(sentences.entries, wanted, 1, seed)
    common = {entry.id for entry in _core(entries, share, seed)}
    items = sentences.around.of(new_item(entry, "") for entry in entries)
    drawing(seed, "items").shuffle(items)
    ids = {item.truth.entry: item.id for item in items}
    core = tuple(item for entry, item in ids.items() if entry in common)
    return TranslationDraft(
        dataset=sentences.dataset,
        sentences=sentences,
        entries=entries,
        items=sorted(items, key=lambda item: item.id),
        core=core,
        orders=_sentence_orders(ids, core, share, seed),
        task="translate",
        written=sentences.written,
        seed=seed,
    )


def _core(entries: Sequence[Entry], share: Share, seed: int) -> Sequence[Entry]:
    if share.core is not None:
        return draw_core(entries, share.core, 1, seed)
    return entries if share.per_person is None else ()


def _sentence_orders(
    ids: Mapping[EntryId, str], core: Sequence[str], share: Share, seed: int
) -> dict[str, tuple[str, ...]]:
    return orders(
        originals={item: entry for entry, item in ids.items()},
        repeats={},
        for_all=core,
        extra={entry: [item] for entry, item in ids.items() if item not in core},
        reviewers=make_codes(share.reviewers),
        per_person=share.per_person,
        seed=seed,
    )
