"""Where a sentence stands: what the corpus says of it, and the sentences next to it in its document.

Nothing of a secret entry goes along unless the organisation says so, neither beside its own sentence nor beside
another's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from corpora.model.entry import Entry, EntryId
from harness.card.rows import card_id
from review.files.batch_form import Around
from review.office.items.controls import fits
from review.office.items.items import Item

DOCUMENT = "document"
"""Field of an entry that names its document; sentences of one follow each other in the order of the corpus."""


class Carries(StrEnum):
    """Of which sentences a batch tells where they stand."""

    OPEN = "open"
    ALL = "all"
    """Of secret ones, too."""
    NONE = "none"


@dataclass(frozen=True)
class Surroundings:
    """What can be told of each entry."""

    told: Mapping[EntryId, Around] = field(default_factory=dict)
    """Entry, by id as on cards → where its sentence stands; absent where there is nothing to tell."""
    secret: frozenset[EntryId] = frozenset()
    """Entries beside which a secret sentence stands."""

    def of(self, items: Iterable[Item]) -> list[Item]:
        """Return items with where their sentences stand: controls the same as the others."""
        return [self._with(item) for item in items]

    def _with(self, item: Item) -> Item:
        around = self.told.get(item.truth.entry)
        if around is None:
            return item
        return replace(item, shown=item.shown.model_copy(update={"around": around}))


def surroundings(entries: Sequence[Entry], carries: Carries) -> Surroundings:
    """Gather what can be told of the ``entries`` of a whole corpus, in its order.

    A neighbour is the entry directly before or after, of the same document. One that may not be shown, or is not
    stored here, is left out; the one behind it does not take its place.
    """
    told: dict[EntryId, Around] = {}
    secret: set[EntryId] = set()
    for place, entry in enumerate(entries):
        if not _may_be_told(entry, carries):
            continue
        id_ = card_id(entry.id)
        before = _neighbour(entries, place, -1, carries)
        after = _neighbour(entries, place, 1, carries)
        around = Around(
            context=_short(entry.context),
            formality=_short(entry.register_),
            before=before.source if before else "",
            after=after.source if after else "",
        )
        if around != Around():
            told[id_] = around
            if any(each is not None and each.secret for each in (before, after)):
                secret.add(id_)
    return Surroundings(told, frozenset(secret))


def _may_be_told(entry: Entry, carries: Carries) -> bool:
    if carries is Carries.NONE or entry.not_stored:
        return False
    return carries is Carries.ALL or not entry.secret


def _neighbour(entries: Sequence[Entry], place: int, step: int, carries: Carries) -> Entry | None:
    other = place + step
    if not 0 <= other < len(entries):
        return None
    document, found = _document(entries[place]), entries[other]
    same = document is not None and _document(found) == document
    return found if same and _may_be_told(found, carries) and fits(found.source) else None


def _document(entry: Entry) -> object:
    named = (entry.model_extra or {}).get(DOCUMENT)
    return named if isinstance(named, str | int) and named != "" else None


def _short(tag: str | None) -> str:
    """Return a tag as it may stand in a batch; what is longer than one is left out."""
    return tag if tag is not None and len(tag) <= 200 else ""
