"""Corpora in the store: their envelope and entries, exactly as read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from corpora.model.corpus import INHERITED, Corpus, Dataset
from corpora.model.entry import Entry, Segment
from corpora.tasks.task import TRANSLATION
from harness.store.file.transaction import intern_text
from harness.store.file.trouble import stored_object, unpack_positions, unpacks

_COLUMNS = ("segment", "difficulty", "provenance", "register")
_APART = frozenset({"id", "source", "reference", *_COLUMNS})


def save_corpus(
    connection: sqlite3.Connection, corpus: Corpus, positions: Iterable[int] | None = None
) -> int:
    """Return the store's id of a corpus, storing it where it is new; called within a transaction.

    Of its secret entries only those at ``positions`` are stored (None: all), the others as places without
    id or text. The same file is another corpus where its envelope was completed otherwise, with another
    language or id, or where it was read in another form.
    """
    wanted = None if positions is None else frozenset(positions)
    entries = [
        entry
        if wanted is None or place in wanted or not entry.secret
        else _not_stored(place, entry)
        for place, entry in enumerate(corpus.entries)
    ]
    known = find_corpus(connection, corpus)
    if known is None:
        return insert_corpus(connection, corpus.sha256, corpus.dataset, entries, partial=False)
    _fill(connection, known, entries)
    return known


_PLACE = "not stored "
_NOT_STORED = json.dumps({"not_stored": True})


def _not_stored(position: int, entry: Entry) -> Entry:
    """Return what stands in the place of a secret entry: its segment, for counts, and nothing else of it."""
    return Entry.model_construct(
        id=f"{_PLACE}{position + 1}",
        source="",
        reference="",
        segment=entry.segment,
        local_only=entry.local_only,
        not_stored=True,
    )


def _fill(connection: sqlite3.Connection, corpus: int, entries: Sequence[Entry]) -> None:
    """Put entries into their empty places where they are wanted now."""
    empty = connection.execute(
        "SELECT position FROM entries WHERE corpus = ? AND rest = ?", (corpus, _NOT_STORED)
    ).fetchall()
    for (position,) in empty:
        if not entries[position].not_stored:
            _put(connection, corpus, [(position, entries[position])])


def forget_unused_secrets(connection: sqlite3.Connection) -> int:
    """Empty the places of secret entries that no run has any more; gives how many; in a transaction.

    Their texts go with ``texts.sweep_texts``.
    """
    emptied = 0
    for (corpus,) in connection.execute("SELECT id FROM corpora WHERE NOT partial").fetchall():
        stored = read_entries(connection, corpus, _secret_positions(connection, corpus))
        used: set[int] = set()
        if stored:
            rows = connection.execute("SELECT positions FROM runs WHERE corpus = ?", (corpus,))
            used.update(*(unpack_positions(packed) for (packed,) in rows))
        gone = [
            (place, _not_stored(place, entry))
            for place, entry in stored.items()
            if place not in used and not entry.not_stored
        ]
        _put(connection, corpus, gone)
        emptied += len(gone)
    return emptied


def _secret_positions(connection: sqlite3.Connection, corpus: int) -> list[int]:
    secret = [each.value for each in Segment if each.secret]
    local_only = read_dataset(connection, corpus).terms.local_only
    rows = connection.execute("SELECT position, segment FROM entries WHERE corpus = ?", (corpus,))
    return [position for position, segment in rows if local_only or segment in secret]


def find_corpus(connection: sqlite3.Connection, corpus: Corpus) -> int | None:
    """Return the store's id of a corpus, None where it is new.

    One that an earlier version stored without the tags that its envelope says of every entry is another.
    """
    rows = connection.execute(
        "SELECT id FROM corpora WHERE sha256 = ? AND dataset = ? AND partial = 0"
        " AND (SELECT count(*) FROM entries WHERE corpus = corpora.id) = ?",
        (corpus.sha256, _envelope(corpus.dataset), len(corpus.entries)),
    )
    said = [name for name in INHERITED if getattr(corpus.dataset, name) is not None]
    return next((int(id_) for (id_,) in rows if _all_tagged(connection, id_, said)), None)


def _all_tagged(connection: sqlite3.Connection, corpus: int, names: Iterable[str]) -> bool:
    """Tell whether every stored entry of a corpus has these tags."""
    lacking = (
        "SELECT 1 FROM entries WHERE corpus = ? AND rest IS NOT ?"
        " AND json_extract(rest, ?) IS NULL LIMIT 1"
    )
    asked = ((corpus, _NOT_STORED, f"$.{name}") for name in names)
    return all(connection.execute(lacking, values).fetchone() is None for values in asked)


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
    _put(connection, corpus_id, enumerate(entries))
    return corpus_id


def _put(connection: sqlite3.Connection, corpus: int, placed: Iterable[tuple[int, Entry]]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (_entry_row(connection, corpus, place, entry) for place, entry in placed),
    )


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
        _NOT_STORED if entry.not_stored else _rest_json(rest),
    )


def _rest_json(rest: dict[str, object]) -> str | None:
    return json.dumps(rest, ensure_ascii=False) if rest else None


def read_dataset(connection: sqlite3.Connection, corpus_id: int) -> Dataset:
    """Return the envelope of a stored corpus."""
    row = connection.execute("SELECT dataset FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    return unpacks(Dataset.model_validate_json)(row[0])


def _of_all(connection: sqlite3.Connection, corpus_id: int) -> dict[str, object]:
    """Return what the envelope of a stored corpus says of every entry; no entry is left of one that is gone."""
    row = connection.execute("SELECT dataset FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    if row is None:
        return {}
    dataset = unpacks(Dataset.model_validate_json)(row[0])
    said: dict[str, object] = {"local_only": True} if dataset.terms.local_only else {}
    return said if dataset.task == TRANSLATION else said | {"of_task": dataset.task}


def corpus_sha256(connection: sqlite3.Connection, corpus_id: int) -> str:
    """Return the hash over the bytes of a stored corpus's file."""
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
    """Return entries by their place in the corpus: all, or those asked for."""
    of_all = _of_all(connection, corpus_id)
    if positions is None:
        rows = connection.execute(_READ, (corpus_id,))
        return {row[0]: _entry(row, of_all) for row in rows}
    found: dict[int, Entry] = {}
    wanted = list(positions)
    for start in range(0, len(wanted), 500):
        chunk = wanted[start : start + 500]
        marks = ",".join("?" * len(chunk))
        query = f"{_READ} AND e.position IN ({marks})"  # marks only
        found.update(
            (row[0], _entry(row, of_all)) for row in connection.execute(query, (corpus_id, *chunk))
        )
    return found


@unpacks
def _entry(row: tuple[object, ...], of_all: Mapping[str, object]) -> Entry:
    fields: dict[str, object] = {**of_all, "id": row[1], "source": row[2], "reference": row[3]}
    fields.update(
        {name: value for name, value in zip(_COLUMNS, row[4:8], strict=True) if value is not None}
    )
    if isinstance(row[8], str):
        fields.update(stored_object(row[8]))
    return Entry.model_validate(fields)
