"""Wordings that reviewers suggested, offered as variants of the corpus: with their consent and a person's yes.

A variant is another translation that counts as right (scoring-specification §2.1). Nothing is added by
itself, and nothing by somebody who kept the wording for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry, EntryId
from corpora.text.comparison import comparison_form
from review.log.state import State
from review.verdict.panel.key import AnswerKey, counted


@dataclass(frozen=True, slots=True)
class Correction:
    """One suggested wording of one entry."""

    entry_id: EntryId
    wording: str
    people: int
    """Reviewers who suggested it, who all agreed that it may be offered."""


def corrections(key: AnswerKey, state: State, corpus: Corpus) -> list[Correction]:
    """Return the wordings that may be offered, those of most people first within an entry.

    Left out: wordings of people who do not count (``counted``) or did not agree to share them, and those that the corpus already has.
    """
    counts: dict[tuple[EntryId, str], set[str]] = {}
    wordings: dict[tuple[EntryId, str], str] = {}
    for reviewer, _, said in counted(state, key):
        if not said.share_corrections:
            continue
        for item, wording in said.suggestions.items():
            if item in key.items and wording.strip():
                place = (key.items[item].entry, comparison_form(wording))
                counts.setdefault(place, set()).add(reviewer)
                wordings.setdefault(place, wording.strip())
    known = {entry.id: _known(entry) for entry in corpus.entries}
    offered = [
        Correction(entry_id, wordings[entry_id, form], len(who))
        for (entry_id, form), who in counts.items()
        if entry_id in known and form not in known[entry_id]
    ]
    places = {entry.id: place for place, entry in enumerate(corpus.entries)}
    return sorted(offered, key=lambda each: (places[each.entry_id], -each.people, each.wording))


def _known(entry: Entry) -> set[str]:
    return {comparison_form(text) for text in (entry.reference, *entry.variants)}


def with_variants(corpus: Corpus, accepted: Collection[Correction]) -> Corpus:
    """Return the corpus with the accepted wordings as variants and the next version.

    A corpus with other accepted answers is another version (benchmark-specification §2.1): scores of runs
    on the earlier one cannot be compared with new ones.
    """
    added: dict[EntryId, list[str]] = {}
    for each in accepted:
        added.setdefault(each.entry_id, []).append(each.wording)
    entries = tuple(
        entry.model_copy(update={"variants": (*entry.variants, *added.get(entry.id, ()))})
        for entry in corpus.entries
    )
    dataset = corpus.dataset.model_copy(update={"version": next_version(corpus.dataset.version)})
    return replace(corpus, dataset=dataset, entries=entries)


def next_version(version: str) -> str:
    """Return the version after this one: its second number grows, as for a change that others must notice."""
    found = re.fullmatch(r"(\d{1,9})(?:\.(\d{1,9}))?(?:\.\d+)?", version)
    if found is None:
        return f"{version}+variants"
    return f"{found[1]}.{int(found[2] or 0) + 1}.0"
