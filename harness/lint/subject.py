"""What is linted: a run of the store, or the card in a file, with what the store knows of its corpus."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry, Segment
from harness.card.entry_ids import card_id
from harness.card.foreign.layouts import ForeignLayout, adopt, layout, unwrapped
from harness.card.load import card_head
from harness.card.reading import parse_object, read_card_bytes
from harness.card.rows import row_entry
from harness.core.failures import UsageError
from harness.store.corpora.entries import corpus_sha256, read_dataset, read_entries, whole_corpus
from harness.store.results import read_results
from harness.store.runs import Run


@dataclass(frozen=True, slots=True)
class LintedEntry:
    """One entry with what a method gave for it."""

    entry: Entry
    output: str
    """Empty where it failed."""


@dataclass(frozen=True, slots=True)
class LintSubject:
    """A run as linting sees it."""

    name: str
    rows: tuple[LintedEntry, ...]
    development: tuple[Entry, ...]
    """Those entries of its corpus, whether they were translated or not; of a card from elsewhere only open ones."""
    dataset: Dataset | None
    """The envelope of its corpus; None where the store does not have the corpus."""
    card: Mapping[str, Any]


def stored_subject(connection: sqlite3.Connection, run: Run) -> LintSubject:
    """Return a finished run of the store; HarnessError where it has no card yet, StoreSealed where no key opens it."""
    card = card_head(connection, run)
    own = read_entries(connection, run.corpus, run.positions)
    rows = [
        LintedEntry(own[result.position], result.output or "")
        for result in read_results(connection, run.id)
        if result.position in own and not _is_withheld(own[result.position])
    ]
    if run.imported:
        whole = whole_corpus(connection, corpus_sha256(connection, run.corpus))
        return _completed(connection, run.run_id, rows, card, whole)
    return _completed(connection, run.run_id, rows, card, run.corpus, own=True)


def filed_subject(connection: sqlite3.Connection, path: Path) -> LintSubject:
    """Return the card in a file; UsageError where it is none, or has no rows."""
    raw = unwrapped(parse_object(read_card_bytes(path), path.name))
    if layout(raw, path.name) is not ForeignLayout.CARD:
        raise UsageError(f"{path.name} is not a run card. `rosetta runs import` takes it in first.")
    card = adopt(raw, path.name)
    rows = [
        LintedEntry(row_entry(result), result.predicted or "")
        for result in card.results
        if not result.withheld
    ]
    whole = whole_corpus(connection, card.dataset.sha256)
    return _completed(connection, path.name, rows, raw, whole)


def _is_withheld(entry: Entry) -> bool:
    """Return whether a card came without the texts of this entry."""
    return bool((entry.model_extra or {}).get("withheld"))


def _completed(
    connection: sqlite3.Connection,
    name: str,
    told: Iterable[LintedEntry],
    card: Mapping[str, Any],
    corpus: int | None,
    *,
    own: bool = False,
) -> LintSubject:
    """Return rows with the classes of variants that the corpus knows beyond a card, and the development entries.

    ``own``: a run of this store, whose secret entries may be examined here; a card from elsewhere is held against open ones only.
    """
    whole = {} if corpus is None else read_entries(connection, corpus, to_show=True)
    usable = [
        entry for entry in whole.values() if not entry.not_stored and (own or not entry.secret)
    ]
    known = {str(card_id(entry.id)): entry for entry in usable}
    rows = tuple(_with_class(row, known.get(str(card_id(row.entry.id)))) for row in told)
    every = usable or [row.entry for row in rows]
    return LintSubject(
        name=name,
        rows=rows,
        development=tuple(entry for entry in every if entry.segment is Segment.DEVELOPMENT),
        dataset=None if corpus is None else read_dataset(connection, corpus),
        card=card,
    )


def _with_class(row: LintedEntry, known: Entry | None) -> LintedEntry:
    """Return a row with the class of its entry; its texts stay those of the run."""
    if known is None or known.variant_class is None:
        return row
    entry = row.entry.model_copy(update={"variant_class": known.variant_class})
    return LintedEntry(entry, row.output)
