"""Sealing what an older version stored openly of secret entries, so that nothing of it can be read in the file.

Done once, when a store is first opened by a version that seals. It goes in small steps, each whole or not at all; the
store gets its new version number only after the last, so anyone who is stopped continues with the next opening. An entry
is sealed first, and what belongs to it follows. At the end the file is written again and the journal emptied.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgpack
from pydantic import ValidationError

from corpora.files.json_types import Json, JsonObject
from corpora.files.problems import StoredValueError
from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.model.vocabularies import SECRET_SEGMENTS
from harness.core.failures import StoreError
from harness.store.sqlite.sealing import (
    DIGEST_KEY,
    NOT_STORED,
    CorpusSeal,
    SealedKind,
    digest_key,
    has_key,
    keys_folder,
    open_fields,
    ready_to_seal,
    sealed_column,
)
from harness.store.sqlite.trouble import (
    intern_text,
    of_kind,
    stored_object,
    sweep_texts,
    transaction,
    unpacked_message,
    unpacks,
)

STEP = 500  # Rows that are sealed at once: small enough to be done in a moment
_SPARE_BYTES = 20 * 10**6

_DAMAGED: JsonObject = {"damaged": True}
"""Sealed instead of what could not be read before either; anyone who reads it is told so."""

Row = tuple[Any, ...]


def take_over(connection: sqlite3.Connection, path: Path) -> None:
    """Seal all that is open of secret entries, and leave nothing of it in the file or its journal.

    Raises StoreError in words where disk or another program do not allow it, KeyStoreError where this computer's key
    cannot be had; what was done by then stays done.
    """
    waiting = lying_open(connection)
    total = sum(map(len, waiting.values()))
    if not total and connection.execute("SELECT 1 FROM corpus_keys LIMIT 1").fetchone() is None:
        return
    lacking = 2 * path.stat().st_size + _SPARE_BYTES - shutil.disk_usage(path.parent).free
    if lacking > 0:
        raise StoreError(
            f"{path} was written by a version that left texts of secret entries open. To seal them now, the disk needs more "
            f"room for a while: free {-(-lacking // 10**6):,} MB or more on it, then try again. What was stored is safe."
        )
    _say(
        f"The store {path} was written by a version that left texts of secret entries open. They are sealed now"
        f"{f' ({total:,} entries)' if total else ''}. This can take some minutes; if it is stopped, the next start continues."
    )
    ready_to_seal(connection)
    for corpus, places in waiting.items():
        _seal_entries(connection, corpus, places)
    for (corpus,) in connection.execute("SELECT corpus FROM corpus_keys").fetchall():
        _forget_answers(connection, corpus)
        _seal_rows(connection, corpus, _RESULTS, _sealed_result)
        _seal_rows(connection, corpus, _ANNOTATIONS, _sealed_annotation)
    with transaction(connection):
        sweep_texts(connection)
    if (keys_folder(connection) / DIGEST_KEY).exists():
        digest_key(keys_folder(connection))
    # Write the file again without what was erased in it, and empty the journal; busy where
    # another program reads it.
    _empty_journal(connection)
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("VACUUM")
    _empty_journal(connection)
    _say("The texts of secret entries in the store are sealed.")


def warn_of(connection: sqlite3.Connection, path: Path) -> None:
    """Warn of an older store that can only be read, once, where texts of secret entries are open in it."""
    if lying_open(connection):
        _warn(path)


@cache
def _warn(path: Path) -> None:
    _say(
        f"warning: {path} holds texts of secret entries that are open, and can only be read here. Copy its folder to a disk "
        "that can be written, name that in ROSETTA_HOME, and start Rosetta: it seals them. Then erase this one."
    )


def _say(words: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{words}\n")
        sys.stderr.flush()


_NO_TEXT = "(SELECT body = '' FROM texts WHERE id = {})"
"""Of entries whose card came without their texts there is nothing to seal."""


def lying_open(connection: sqlite3.Connection) -> dict[int, list[int]]:
    """Return the places of secret entries whose texts are open, by corpus; corpora without any are left out."""
    sealed = sealed_column(connection, "entries", "entries")
    open_corpora = {}
    for corpus, dataset in connection.execute("SELECT id, dataset FROM corpora").fetchall():
        local_only = False
        with suppress(StoredValueError):  # one that cannot be read says it neither here nor elsewhere
            local_only = unpacks(Dataset.model_validate_json)(of_kind(dataset, str)).terms.local_only
        rows = connection.execute(
            f"SELECT position, segment FROM entries WHERE corpus = ? AND {sealed} IS NULL AND rest IS NOT ?"
            f" AND NOT (instr(coalesce(rest, ''), '\"withheld\"') AND {_NO_TEXT.format('source')}"
            f" AND {_NO_TEXT.format('reference')})",
            (corpus, NOT_STORED),
        )
        places = [place for place, segment in rows if local_only or segment in SECRET_SEGMENTS]
        if places:
            open_corpora[corpus] = places
    return open_corpora


_ENTRIES = """
    SELECT e.position, e.entry_id, CAST(s.body AS BLOB), CAST(r.body AS BLOB), e.segment, e.difficulty,
           e.provenance, e.register, e.rest
    FROM entries e LEFT JOIN texts s ON s.id = e.source LEFT JOIN texts r ON r.id = e.reference
    WHERE e.corpus = ? AND e.sealed IS NULL AND e.position IN (SELECT value FROM json_each(?))
"""
_TAGS = ("segment", "difficulty", "provenance", "register")


def _seal_entries(connection: sqlite3.Connection, corpus: int, places: Sequence[int]) -> None:
    seal = CorpusSeal(connection, corpus)
    if not has_key(connection, corpus):
        with transaction(connection):
            seal.seal_for(())
    for start in range(0, len(places), STEP):
        chunk = json.dumps(places[start : start + STEP])
        with transaction(connection):
            empty = intern_text(connection, "")
            for row in connection.execute(_ENTRIES, (corpus, chunk)).fetchall():
                texts, kept = _of_entry(row)
                rest = {"context": kept["context"]} if "context" in kept else None
                connection.execute(
                    "UPDATE entries SET source = ?, reference = ?, provenance = ?, register = ?, rest = ?, sealed = ?"
                    " WHERE corpus = ? AND position = ?",
                    (empty, empty, kept.get("provenance"), kept.get("register"),
                     rest and json.dumps(rest), seal.seal(row[0], SealedKind.ENTRY, texts), corpus, row[0]),
                )  # fmt: skip


def _of_entry(row: Row) -> tuple[JsonObject, JsonObject]:
    """Return what is sealed of an entry, and what stays open of it."""
    try:
        fields: dict[str, Json] = {"source": _text(row[2]), "reference": _text(row[3])}
        tags = zip(_TAGS, row[4:8], strict=True)
        fields |= {name: tag for name, tag in tags if tag is not None}
        if row[8] is not None:
            fields |= stored_object(row[8])
        # secret in any case: a corpus whose terms keep it here says so in its envelope
        entry = Entry.model_validate({**fields, "id": row[1], "local_only": True})
    except (StoredValueError, ValidationError):
        return _DAMAGED, {}
    return fields, open_fields(entry)


def _text(body: object) -> str:
    """Read a text that was stored; StoredValueError where there is none, or it is damaged."""
    return unpacks(bytes.decode)(of_kind(body, bytes))


_OF_SEALED = """
    JOIN runs u ON u.id = x.run JOIN entries e ON e.corpus = u.corpus AND e.position = x.position
    LEFT JOIN texts t ON t.id = {output} LEFT JOIN texts w ON w.id = {raw}
    WHERE u.corpus = ? AND e.sealed IS NOT NULL AND x.sealed IS NULL AND x.rowid > ? ORDER BY x.rowid LIMIT ?
"""
_RESULTS = (
    "SELECT x.rowid, x.position, x.trace, x.output, CAST(t.body AS BLOB), x.raw, CAST(w.body AS BLOB),"
    " CAST(x.error AS BLOB) FROM results x"
    + _OF_SEALED.format(output="x.output", raw="x.raw")
)  # fmt: skip
_ANNOTATIONS = "SELECT x.rowid, x.position, x.trace, x.annotator, x.value FROM annotations x" + _OF_SEALED.format(
    output="NULL", raw="NULL"
)
_WRITE = {
    _RESULTS: "UPDATE results SET output = NULL, raw = NULL, error = NULL, trace = ?, sealed = ? WHERE rowid = ?",
    _ANNOTATIONS: "UPDATE annotations SET value = NULL, trace = ?, sealed = ? WHERE rowid = ?",
}


def _seal_rows(connection: sqlite3.Connection, corpus: int, query: str, of_row: Any) -> None:
    """Seal what rows of results or annotations say of sealed entries."""
    seal, last = CorpusSeal(connection, corpus), -1
    while True:
        with transaction(connection):
            rows = connection.execute(query, (corpus, last, STEP)).fetchall()
            for row in rows:
                trace, attempt_words = _without_words(row[2])
                what, sealed_fields = of_row(row, attempt_words)
                sealed = seal.seal(row[1], what, sealed_fields)
                connection.execute(_WRITE[query], (trace, sealed, row[0]))
        if not rows:
            return
        last = rows[-1][0]


def _sealed_result(row: Row, said: Json) -> tuple[str, JsonObject]:
    try:
        texts = {
            "output": None if row[3] is None else _text(row[4]),
            "raw": None if row[5] is None else _text(row[6]),
            "error": None if row[7] is None else _text(row[7]),
        }
    except StoredValueError:
        return SealedKind.RESULT, _DAMAGED
    return SealedKind.RESULT, {**texts, "said": said}


def _sealed_annotation(row: Row, said: Json) -> tuple[str, JsonObject]:
    what = f"{SealedKind.ANNOTATION} {row[3]}"
    try:
        value = None if row[4] is None else unpacked_message(row[4])
        return what, json.loads(json.dumps({"value": value, "said": said}))
    except (StoredValueError, TypeError):
        return what, _DAMAGED


_ERROR, _NOTE = 6, 7  # Places of an attempt's words in a trace (`harness.store.results`)


def _without_words(trace: object) -> tuple[object, list[list[Any]]]:
    """Return a trace without the words of its attempts, and these; one that is damaged is emptied, and stays damaged."""
    if trace is None:
        return None, []
    try:
        tries = [list(of_kind(attempt, list)) for attempt in of_kind(unpacked_message(trace), list)]
    except StoredValueError:
        return b"", []
    whole = [attempt + [None] * (_NOTE + 1 - len(attempt)) for attempt in tries]
    words = [attempt[_ERROR : _NOTE + 1] for attempt in whole]
    unsaid = [[*attempt[:_ERROR], None, None if attempt[_NOTE] is None else ""] for attempt in whole]
    for kept in unsaid:
        while kept and kept[-1] is None:
            kept.pop()
    return msgpack.packb(unsaid), words


def _forget_answers(connection: sqlite3.Connection, corpus: int) -> None:
    """Erase what early versions kept of secret entries to answer later calls; the program keeps none of it any more."""
    of_sealed = (
        "JOIN runs u ON u.id = x.run JOIN entries e ON e.corpus = u.corpus AND e.position = x.position"
        " WHERE u.corpus = ? AND e.sealed IS NOT NULL"
    )
    with transaction(connection):
        for table in ("results", "annotations"):
            rows = connection.execute(f"SELECT x.trace FROM {table} x {of_sealed}", (corpus,)).fetchall()
            keys = [(key,) for (trace,) in rows for key in _reply_keys(trace)]
            connection.executemany("DELETE FROM replies WHERE key = ?", keys)
        connection.execute(
            "DELETE FROM replies WHERE key IN (SELECT a.reply FROM asked_about a JOIN runs u ON u.id = a.run"
            " WHERE u.corpus = ?)",
            (corpus,),
        )
        connection.execute(
            "DELETE FROM row_words WHERE EXISTS (SELECT 1 FROM runs u JOIN entries e ON e.corpus = u.corpus"
            " WHERE u.id = row_words.run AND u.corpus = ? AND e.position = row_words.position AND e.sealed IS NOT NULL)",
            (corpus,),
        )
        connection.execute("DELETE FROM findings")


def _reply_keys(trace: object) -> Iterator[bytes]:
    try:
        tries = [] if trace is None else of_kind(unpacked_message(trace), list)
    except StoredValueError:
        return
    yield from (
        attempt[0] for attempt in tries if isinstance(attempt, list) and attempt and isinstance(attempt[0], bytes)
    )


def _empty_journal(connection: sqlite3.Connection) -> None:
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        raise StoreError(
            "Another program has the store open, so the journal next to it cannot be emptied of texts that were open. Close "
            "the other Rosetta, then try again: what is sealed already stays so."
        )
