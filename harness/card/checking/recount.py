"""Scoring a card from elsewhere again: what its outputs give here, before its numbers count as more than stated.

Anybody can seal any numbers. From the outputs on the card every metric that needs no more than the texts is computed
here; what an analyser or a model found is taken as the rows state it. Sources and references are held against the corpus
file that the card names by its hash, where that is available: a card could bring references that are its outputs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from corpora.model.entry import Entry
from harness.card.checking.recompute import card_material, withheld
from harness.card.checking.stated import differences
from harness.card.foreign.layouts import is_ours
from harness.card.material import Material
from harness.card.model import RunCard
from harness.card.signing.reproduction import stated_scores
from harness.store.corpora.entries import read_entries, whole_corpus
from harness.store.others_cards import Recount
from scoring.core.metric_rows import short_title
from scoring.core.scorer import RunningTotals
from scoring.core.specification import COMPOSITE


def recount(
    card: RunCard, corpus: Sequence[Entry] | None = None, material: Material | None = None
) -> Recount | None:
    """Score the outputs of a card again; None where it carries none, as of secret entries.

    ``corpus``: the entries of the file that the card names by its hash; None: it is not here. ``material``: what
    ``card_material`` took of its texts, where that is available.
    """
    if not card.results or withheld(card.results):
        return None
    differences = (
        *_scores(card, material or card_material(card)),
        *(() if corpus is None else _texts(card, corpus)),
    )
    return Recount(corpus is not None, differences)


def pinned_corpus(connection: sqlite3.Connection, sha256: str) -> Sequence[Entry] | None:
    """Return the entries of the whole corpus of the store that has this hash; None where there is none."""
    corpus = whole_corpus(connection, sha256)
    return None if corpus is None else list(read_entries(connection, corpus, to_show=True).values())


def _scores(card: RunCard, material: Material) -> Iterator[str]:
    """Yield each score that is not that of the card's outputs, beyond rounding."""
    totals = RunningTotals(material.scorer)
    totals.add(material.statistics)
    again: dict[str, float | None] = dict(totals.values())
    if material.scorer.mixes and not material.scorer.foreign:
        again[COMPOSITE] = totals.composite().value
    rounded = not is_ours(card.as_json())
    for metric, stated in stated_scores(card.as_json()).items():
        value = again.get(metric)
        if value is not None and next(differences(stated, value, rounded=rounded), None):
            yield f"{short_title(metric)} states {stated:.6g}, its outputs give {value:.6g}"


def _texts(card: RunCard, corpus: Sequence[Entry]) -> Iterator[str]:
    """Yield what of a card's rows is not as in its corpus."""
    by_id = {str(entry.id): entry for entry in corpus}
    rows = [(row, by_id.get(str(row.entry_id))) for row in card.results]
    if strange := sum(entry is None for _, entry in rows):
        yield f"{strange:,} of its entries are not in the corpus"
    known: Mapping[str, int] = {
        name: sum(
            entry is not None and getattr(row, name) != getattr(entry, name) for row, entry in rows
        )
        for name in ("source", "reference")
    }
    for name, count in known.items():
        if count:
            yield f"the {name} of {count:,} entries is not that of the corpus"
    other = sum(
        entry is not None and list(row.variants or ()) != list(entry.variants or ())
        for row, entry in rows
    )
    if other:
        yield f"the variants of {other:,} entries are not those of the corpus"
