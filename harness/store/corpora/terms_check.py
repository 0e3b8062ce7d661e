"""Terms that were stricter before: a corpus whose file says less now than what the store knows of it.

Anyone who edits a file can take its term away. What the store knows of the same texts holds until their runs are erased.
"""

from __future__ import annotations

import sqlite3

from corpora.model.corpus import Corpus
from corpora.model.sending import Sending, Transmission
from corpora.model.terms import Terms
from corpora.text.comparison import is_blank, normalised
from harness.core.failures import UsageError
from harness.store.corpora.entries import read_dataset, read_entries


def refuse_widened(connection: sqlite3.Connection, corpus: Corpus) -> None:
    """Raise UsageError where the store knows texts of a corpus under stricter terms; no text is quoted.

    It is the same corpus by its bytes, its id and languages, or a source that it shares. A corpus that is secret as a
    whole is not opened for this: its sources are known by their digests (``secret_texts``).
    """
    now = corpus.dataset.terms
    rows = connection.execute("SELECT id, sha256 FROM corpora WHERE NOT partial").fetchall()
    for number, sha256 in rows:
        dataset = read_dataset(connection, number)
        before = dataset.terms
        if not before.because and before.training is None:
            continue
        if not is_wider(now, before):
            continue
        stated, known = corpus.dataset, dataset
        same = sha256 == corpus.sha256 or (
            (stated.id, stated.source_language, stated.target_language)
            == (known.id, known.source_language, known.target_language)
        )
        sealed = before.local_only and not before.segments
        if same or (not sealed and _share_a_source(connection, number, corpus)):
            raise UsageError(_said(connection, number, dataset.id, before, now))


def is_wider(now: Terms, before: Terms) -> bool:
    """Return whether terms allow for some segment what earlier ones did not."""
    names = {None, *(name for terms in (now, before) for name, _ in terms.segments)}
    learning = before.training is False and now.training is not False
    return learning or any(_wider(now.sending(name), before.sending(name)) for name in names)


def _wider(now: Sending, before: Sending) -> bool:
    if now.transmission is before.transmission is Transmission.NAMED:
        return not set(now.endpoints) <= set(before.endpoints)
    return now.transmission.rank > before.transmission.rank


def _share_a_source(connection: sqlite3.Connection, number: int, corpus: Corpus) -> bool:
    stored = read_entries(connection, number).values()
    known = {normalised(entry.source) for entry in stored if not is_blank(entry.source)}
    return any(normalised(entry.source) in known for entry in corpus.entries)


def _said(connection: sqlite3.Connection, number: int, name: str, before: Terms, now: Terms) -> str:
    runs = connection.execute("SELECT run_id FROM runs WHERE corpus = ? ORDER BY id", (number,))
    named = " ".join(row[0][:8] for row in runs)
    words = now.words or "the corpus names no licence and no other term"
    return (
        f"These texts are known here as {name}, under stricter terms: {before.words}. Now the file says: {words}. Somebody "
        "may have changed it: ask the owner of the texts. Put the term back, or, where the owner allows more now, erase what was "
        f"made under the old one: rosetta runs delete --now {named}"
    )
