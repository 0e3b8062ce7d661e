"""Corpora in the store: their envelope and entries, exactly as read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from corpora.corpus import Corpus, Dataset
from corpora.entry import Entry
from harness.store.texts import intern_text
from harness.store.trouble import stored_object, unpacks

_COLUMNS = ("segment", "difficulty", "provenance", "register")
_APART = frozenset({"id", "source", "reference", *_COLUMNS})


def save_corpus(connection: sqlite3.Connection, corpus: Corpus) -> int:
    """Give the store's id of a corpus, storing it where it is new; called within a transaction.

    The same file is another corpus where its envelope was completed otherwise, with another language
    or id, or where it was read in another form.
    """
    known = find_corpus(connection, corpus)
    if known is not None:
        return known
    return insert_corpus(connection, corpus.sha256, corpus.dataset, corpus.entries, partial=False)


def find_corpus(connection: sqlite3.Connection, corpus: Corpus) -> int | None:
    """Give the store's id of a corpus, None where it is new."""
    row = connection.execute(
        "SELECT id FROM corpora WHERE sha256 = ? AND dataset = ? AND partial = 0"
        " AND (SELECT count(*) FROM entries WHERE corpus = corpora.id) = ?",
        (corpus.sha256, _envelope(corpus.dataset), len(corpus.entries)),
    ).fetchone()
    return None if row is None else int(row[0])


def insert_corpus(
    connection: sqlite3.Connection,
    sha256: str,
    dataset: Dataset,
    entries: Sequence[Entry],
    *,
    partial: bool,
) -> int:
    """Store a corpus; a partial one is known only through an imported run card."""
    inserted = connection.execute(
        "INSERT INTO corpora (sha256, partial, dataset) VALUES (?, ?, ?)",
        (sha256, partial, _envelope(dataset)),
    )
    corpus_id = int(inserted.lastrowid or 0)
    connection.executemany(
        "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (_entry_row(connection, corpus_id, place, entry) for place, entry in enumerate(entries)),
    )
    return corpus_id


def _envelope(dataset: Dataset) -> str:
    return dataset.model_dump_json(exclude_unset=True)


def _entry_row(
    connection: sqlite3.Connection, corpus_id: int, position: int, entry: Entry
) -> tuple[object, ...]:
    fields = entry.model_dump(mode="json", by_alias=True, exclude_unset=True)
    rest = {name: value for name, value in fields.items() if name not in _APART}
    return (
        corpus_id,
        position,
        entry.id,
        intern_text(connection, entry.source),
        intern_text(connection, entry.reference),
        *(fields.get(name) for name in _COLUMNS),
        json.dumps(rest, ensure_ascii=False) if rest else None,
    )


def read_dataset(connection: sqlite3.Connection, corpus_id: int) -> Dataset:
    """Give the envelope of a stored corpus."""
    row = connection.execute("SELECT dataset FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    return unpacks(Dataset.model_validate_json)(row[0])


def corpus_sha256(connection: sqlite3.Connection, corpus_id: int) -> str:
    """Give the hash over the bytes of a stored corpus's file."""
    row = connection.execute("SELECT sha256 FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    return str(row[0])


_READ = """
    SELECT e.position, e.entry_id, s.body, r.body, e.segment, e.difficulty, e.provenance,
           e.register, e.rest
    FROM entries e JOIN texts s ON s.id = e.source JOIN texts r ON r.id = e.reference
    WHERE e.corpus = ?
"""


def read_entries(
    connection: sqlite3.Connection, corpus_id: int, positions: Iterable[int] | None = None
) -> dict[int, Entry]:
    """Give entries by their place in the corpus: all, or those asked for."""
    if positions is None:
        rows = connection.execute(_READ, (corpus_id,))
        return {row[0]: _entry(row) for row in rows}
    found: dict[int, Entry] = {}
    wanted = list(positions)
    for start in range(0, len(wanted), 500):
        chunk = wanted[start : start + 500]
        marks = ",".join("?" * len(chunk))
        query = f"{_READ} AND e.position IN ({marks})"  # marks only
        found.update(
            (row[0], _entry(row)) for row in connection.execute(query, (corpus_id, *chunk))
        )
    return found


@unpacks
def _entry(row: tuple[object, ...]) -> Entry:
    fields: dict[str, object] = {"id": row[1], "source": row[2], "reference": row[3]}
    fields.update(
        {name: value for name, value in zip(_COLUMNS, row[4:8], strict=True) if value is not None}
    )
    if isinstance(row[8], str):
        fields.update(stored_object(row[8]))
    return Entry.model_validate(fields)
