"""Making a review that asks speakers for translations: who gets which sentences, and the files for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpora.entry import Entry
from harness.failures import UsageError
from review.files.keys import Identity
from review.files.reviewer_codes import make_codes
from review.office.assignment import orders
from review.office.batches import Asked, Made, Said, sign_batches
from review.office.creating import MOST_REVIEWERS, draw_core
from review.office.items import Item, new_item
from review.office.sampling import draw, drawing
from review.office.sentences import Sentences, check_count
from review.verdict.key import AnswerKey

NO_POLICY = b""
"""Where nothing is judged, there is no rule for a verdict."""


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


@dataclass(frozen=True)
class TranslationDraft:
    """A review that is worked out and not yet written anywhere."""

    sentences: Sentences
    entries: Sequence[Entry]
    """Those that were drawn."""
    items: Sequence[Item]
    core: tuple[str, ...]
    """Items that everybody is asked."""
    orders: Mapping[str, tuple[str, ...]]
    seed: int

    @property
    def longest(self) -> int:
        """Sentences of the person who has most."""
        return max(map(len, self.orders.values()))


def draft_translations(sentences: Sentences, share: Share, seed: int) -> TranslationDraft:
    """Draw sentences and part them; everything but ids and codes follows from the seed.

    UsageError where too much or too little is asked for.
    """
    if not 1 <= share.reviewers <= MOST_REVIEWERS:
        raise UsageError(
            f"--reviewers {share.reviewers}: between 1 and {MOST_REVIEWERS} are possible."
        )
    wanted = len(sentences.entries) if share.items is None else share.items
    check_count(wanted)
    entries = draw(sentences.entries, wanted, 1, seed)
    common = {entry.id for entry in _core(entries, share, seed)}
    items = [new_item(entry, "") for entry in entries]
    drawing(seed, "items").shuffle(items)
    ids = {item.truth.entry: item.id for item in items}
    return TranslationDraft(
        sentences=sentences,
        entries=entries,
        items=sorted(items, key=lambda item: item.id),
        core=tuple(ids[entry] for entry in ids if entry in common),
        orders=orders(
            originals={item.id: item.truth.entry for item in items},
            repeats={},
            for_all=[ids[entry] for entry in ids if entry in common],
            extra={entry: [ids[entry]] for entry in ids if entry not in common},
            reviewers=make_codes(share.reviewers),
            per_person=share.per_person,
            seed=seed,
        ),
        seed=seed,
    )


def _core(entries: Sequence[Entry], share: Share, seed: int) -> Sequence[Entry]:
    if share.core is not None:
        return draw_core(entries, share.core, 1, seed)
    return entries if share.per_person is None else ()


def make_translation_review(
    draft: TranslationDraft, said: Said, identity: Identity, *, one_each: bool = False
) -> Made:
    """Sign the batch, or one for each reviewer, and write the key; nothing is stored yet."""
    dataset = draft.sentences.dataset
    asked = Asked(
        source_language=dataset.source_language,
        target_language=dataset.target_language,
        items={item.id: item.shown for item in draft.items},
        orders=draft.orders,
        task="translate",
    )
    batches = sign_batches(asked, said, NO_POLICY, identity, one_each=one_each)
    key = AnswerKey(
        review=said.name,
        batches=tuple(each.manifest.batch for each in batches),
        batch_sha256={each.manifest.batch: each.sha256 for each in batches},
        runs=(),
        items={item.id: item.truth for item in draft.items},
        core=tuple(sorted(draft.core)),
        orders=dict(draft.orders),
        seed=draft.seed,
        panel=said.panel,
    )
    return Made(key, batches, list(asked.items.values()))
