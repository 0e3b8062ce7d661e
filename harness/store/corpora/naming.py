"""Corpora of the store in the place of files: ``store:`` and the beginning of a corpus's hash.

A run can so be asked for again after its file was moved or changed, on exactly the entries it had.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import replace

from corpora.checks.entries import check_entries
from corpora.model.corpus import Corpus, Form
from harness.core.failures import UsageError
from harness.store.corpora.entries import read_dataset, read_entries

PREFIX = "store:"

_LETTERS = 12
"""Letters of the hash in a name that we give."""

_HASH = re.compile("[0-9a-f]{6,64}")


def stored_name(corpus: Corpus) -> str:
    """Name a corpus of the store."""
    return f"{PREFIX}{corpus.sha256[:_LETTERS]}"


def names_stored(name: str) -> bool:
    """Tell the name of a corpus of the store from that of a file."""
    return name.startswith(PREFIX)


def read_stored(
    connection: sqlite3.Connection,
    name: str,
    envelope: Mapping[str, str | None],
    columns: Mapping[str, str] | None = None,
) -> Corpus:
    """Read the corpus of this name; ``envelope`` and the ``columns`` by side tell which, where one file was
    read in several ways.

    It comes with the warnings that its entries give without their file.
    UsageError where it is not there, or is still not clear.
    """
    beginning = name.removeprefix(PREFIX).lower()
    if not _HASH.fullmatch(beginning):
        raise UsageError(f"{name}: after {PREFIX} come at least six letters of the corpus's hash.")
    envelope = {"id": None, "source_language": None, "target_language": None} | dict(envelope)
    rows = connection.execute(
        "SELECT id FROM corpora WHERE NOT partial AND substr(sha256, 1, ?) = ? ORDER BY id",
        (len(beginning), beginning),
    ).fetchall()
    found = [number for (number,) in rows if _fits(connection, number, envelope)]
    if not found:
        raise UsageError(f"{name}: the store has no such corpus. Name its file instead.")
    if columns or None not in envelope.values():
        named = dict(columns or {})
        exact = [n for n in found if (read_dataset(connection, n).columns_read or {}) == named]
        found = exact or found
    if len(found) > 1 and None in envelope.values():
        raise UsageError(
            f"{name}: the store has {len(found)} corpora that begin so. Give more of the hash, or "
            "--source-language, --target-language, --id and the columns of the one that is meant."
        )
    corpus = read_corpus_of_run(connection, found[-1])
    return replace(corpus, warnings=check_entries(corpus.entries, corpus.dataset.id))


def _fits(connection: sqlite3.Connection, number: int, envelope: Mapping[str, str | None]) -> bool:
    dataset = read_dataset(connection, number)
    return all(value in (None, getattr(dataset, name)) for name, value in envelope.items())


def read_corpus_of_run(connection: sqlite3.Connection, number: int) -> Corpus:
    """Read the whole corpus with this number of the store."""
    sha256 = connection.execute("SELECT sha256 FROM corpora WHERE id = ?", (number,)).fetchone()[0]
    entries = read_entries(connection, number)
    return Corpus(
        read_dataset(connection, number),
        tuple(entries[place] for place in sorted(entries)),
        sha256,
        Form.SPECIFICATION,
    )
