"""Texts that were secret once, recognised when they come back under another segment, file or name.

Of the source of every secret entry the store keeps a keyed digest, also of those whose text it does not
keep. The key is next to the store, sealed for this computer: without it a digest confirms no guess. Digests
go with the last run over their file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b

from corpora.files.problems import shown
from corpora.model.corpus import Corpus
from corpora.model.entry import AnyEntry, Entry, OpenEntry, only_open, reveal_here
from corpora.model.terms import Terms
from corpora.model.vocabularies import SECRET_SEGMENTS, Transmission
from corpora.text.comparison import is_blank, normalised
from harness.core.failures import UsageError
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.sqlite.sealing import StoreSealed, digest_key, keys_folder
from harness.store.sqlite.trouble import transaction

_DIGEST_BYTES = 16
_NAMED = 5  # Entries that a message names
Digest = Callable[[str], bytes]


def note_secrets(connection: sqlite3.Connection, corpus: int, entries: Iterable[AnyEntry]) -> None:
    """Store the digests of the secret entries of a stored corpus; called within a transaction."""
    sources = {entry.source for entry in reveal_here(entries) if entry.secret and not is_blank(entry.source)}
    if sources:
        key = _key(connection)
        digests = map(_digest(key), sources)
        connection.executemany(
            "INSERT OR IGNORE INTO secret_texts (corpus, digest, key_id) VALUES (?, ?, ?)",
            ((corpus, digest, _key_id(key)) for digest in digests),
        )


def known_secrets(connection: sqlite3.Connection, entries: Sequence[AnyEntry]) -> list[tuple[OpenEntry, int]]:
    """Return the open entries that have the text of one that is known as secret, each with the number of a corpus that has it."""
    with transaction(connection):
        _complete(connection)
    if connection.execute("SELECT 1 FROM secret_texts LIMIT 1").fetchone() is None:
        return []
    digest = _digest(_key(connection))
    known = dict(connection.execute("SELECT digest, corpus FROM secret_texts"))
    asked = [entry for entry in only_open(entries) if not is_blank(entry.source)]
    return [(entry, known[mark]) for entry in asked if (mark := digest(entry.source)) in known]


def refuse_known_secrets(connection: sqlite3.Connection, entries: Sequence[AnyEntry]) -> None:
    """Raise UsageError where open entries have the text of one that is known as secret; no text is quoted."""
    if secrets := known_secrets(connection, entries):
        raise UsageError(_said([entry for entry, _ in secrets], *_where(connection, secrets[0][1])))


def _said(found: Sequence[Entry], where: str, runs: Sequence[str]) -> str:
    """Return which entries are known, from where, and what to do; no text is quoted."""
    named = ", ".join(str(entry.id) for entry in found[:_NAMED])
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    one = len(found) == 1
    erase = f" If no longer secret, erase: rosetta runs delete --now {' '.join(runs)}"
    return (
        f"{len(found):,} {'entry here has' if one else 'entries here have'} the source of one that is known "
        f"here as secret, in {where}: {named[:200]}{more}. Keep {'it' if one else 'them'} secret here too "
        '(segment, or "transmission": "local-only"), or take '
        f"{'it' if one else 'them'} out.{erase if runs else ''}"
    )


def _where(connection: sqlite3.Connection, corpus: int) -> tuple[str, list[str]]:
    """Name a corpus with its runs; gives next to it how each of its runs is called."""
    dataset = connection.execute("SELECT dataset FROM corpora WHERE id = ?", (corpus,)).fetchone()
    rows = connection.execute("SELECT run_id FROM runs WHERE corpus = ? ORDER BY id", (corpus,))
    runs = [row[0][:8] for row in rows]
    named = shown(json.loads(dataset[0]).get("id", ""))
    run_words = ", ".join(runs[:_NAMED]) + (" …" if len(runs) > _NAMED else "")
    return f"{named} (run {run_words})" if runs else named, runs


def _digest(key: bytes) -> Digest:
    def digest(text: str) -> bytes:
        data = normalised(text).encode("utf-8", "replace")
        return blake2b(data, digest_size=_DIGEST_BYTES, key=key).digest()

    return digest


def _complete(connection: sqlite3.Connection) -> None:
    """Make the digests of corpora that an older version stored, or whose key is lost, as far as texts are here."""
    marks = ",".join("?" * len(SECRET_SEGMENTS))
    rows = connection.execute(
        f"SELECT DISTINCT corpus FROM entries WHERE segment IN ({marks}) AND corpus NOT IN"
        " (SELECT corpus FROM secret_texts) AND corpus IN (SELECT id FROM corpora WHERE NOT partial)",
        [*SECRET_SEGMENTS],
    ).fetchall()
    # and those whose digests were made with a key that is not there any more
    kept = connection.execute("SELECT DISTINCT corpus, key_id FROM secret_texts").fetchall()
    now = _key_id(_key(connection)) if kept else b""
    stale = [corpus for corpus, key_id in kept if key_id != now]
    for corpus in dict.fromkeys([*(row[0] for row in rows), *stale]):
        try:
            entries = read_entries(connection, corpus).in_order
        except StoreSealed:
            continue  # from a vault that is not open here; made when the next run opens it
        connection.execute("DELETE FROM secret_texts WHERE corpus = ?", (corpus,))
        note_secrets(connection, corpus, entries)


def _key_id(key: bytes) -> bytes:
    return blake2b(key, digest_size=8, person=b"key id").digest()


def _key(connection: sqlite3.Connection) -> bytes:
    return digest_key(keys_folder(connection))


# ---- Terms that were stricter before: a corpus whose file says less now than what the store
# knows of it.
#
# Anyone who edits a file can take its term away. What the store knows of the same texts holds
# until their runs are erased.


def refuse_widened(connection: sqlite3.Connection, corpus: Corpus) -> None:
    """Raise UsageError where the store knows texts of a corpus under stricter terms; no text is quoted.

    It is the same corpus by its bytes, its id and languages, or a source that it shares. A corpus that is secret as a
    whole is not opened for this: its sources are known by their digests (``secret_texts``).
    """
    now = corpus.dataset.terms
    rows = connection.execute("SELECT id, sha256 FROM corpora WHERE NOT partial").fetchall()
    for number, sha256 in rows:
        dataset = read_dataset(connection, number)
        if dataset == corpus.dataset:
            continue
        before = dataset.terms
        stated = before.because or before.training is not None
        if not stated or not is_wider(now, before):
            continue
        names = ("id", "source_language", "target_language")
        same = sha256 == corpus.sha256 or all(getattr(corpus.dataset, name) == getattr(dataset, name) for name in names)
        sealed = before.local_only and not before.segments
        if same or (not sealed and _share_a_source(connection, number, corpus)):
            raise UsageError(_terms_check_said(connection, number, dataset.id, before, now))


def is_wider(now: Terms, before: Terms) -> bool:
    """Return whether terms allow for some segment what earlier ones did not."""
    names = {None, *(name for terms in (now, before) for name, _ in terms.segments)}
    if before.training is False and now.training is not False:
        return True
    for sends, sent in ((now.sending(name), before.sending(name)) for name in names):
        if sends.transmission is sent.transmission is Transmission.NAMED:
            if not set(sends.endpoints) <= set(sent.endpoints):
                return True
        elif sends.transmission.rank > sent.transmission.rank:
            return True
    return False


def _share_a_source(connection: sqlite3.Connection, number: int, corpus: Corpus) -> bool:
    stored = reveal_here(read_entries(connection, number).in_order)
    known = {normalised(entry.source) for entry in stored if not is_blank(entry.source)}
    return any(normalised(entry.source) in known for entry in corpus.reveal_here())


def _terms_check_said(connection: sqlite3.Connection, number: int, name: str, before: Terms, now: Terms) -> str:
    runs = connection.execute("SELECT run_id FROM runs WHERE corpus = ? ORDER BY id", (number,))
    named = " ".join(row[0][:8] for row in runs)
    words = now.words or "the corpus names no licence and no other term"
    return (
        f"These texts are known here as {name}, under stricter terms: {before.words}. Now the file says: {words}. Somebody "
        "may have changed it: ask the owner of the texts. Put the term back, or, where the owner allows more now, erase what was "
        f"made under the old one: rosetta runs delete --now {named}"
    )
