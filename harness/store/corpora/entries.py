"""Corpora in the store: their envelope and entries, exactly as read; secret ones sealed."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from corpora.files.json_types import Json
from corpora.files.packed_list import PackedList, PlaceMap, packed
from corpora.files.places import without_gaps
from corpora.files.problems import StoredValueError
from corpora.model.corpus import INHERITED, Corpus, Dataset
from corpora.model.entry import (
    AnyEntry,
    Entry,
    OpenEntry,
    Segment,
    only_open,
    open_entry,
    reveal_here,
    seal_secrets,
    secrets_among,
)
from corpora.model.task import TRANSLATION
from corpora.model.terms import Terms
from corpora.model.vocabularies import SECRET_SEGMENTS
from harness.store.sqlite.sealing import (
    NOT_STORED,
    CorpusSeal,
    Opening,
    SealedKind,
    has_key,
    is_on_disk,
    open_fields,
    sealed_column,
)
from harness.store.sqlite.trouble import among, intern_text, stored_object, stored_word, unpack_positions, unpacks

if TYPE_CHECKING:
    from harness.store.runs import Run

_COLUMNS = ("segment", "difficulty", "provenance", "register")
_NAMES = ("corpus", "position", "entry_id", "source", "reference", *_COLUMNS, "rest")
_APART = frozenset({"id", "source", "reference", *_COLUMNS})


def save_corpus(connection: sqlite3.Connection, corpus: Corpus, positions: Iterable[int] | None = None) -> int:
    """Return the store's id of a corpus, storing it where it is new; called within a transaction.

    Of its secret entries only those at ``positions`` are stored (None: all), the others as places without
    id or text. They are sealed for the keepers of the vault that the corpus came from, else for this computer; a store in
    memory seals nothing. The same file is another corpus where its envelope was
    completed otherwise, with another language or id, or where it was read in another form.
    """
    recipients = () if corpus.vault is None else corpus.vault.recipients
    entries = reveal_here(corpus.entries)
    if any(secrets_among(entries)):
        wanted = None if positions is None else frozenset(positions)
        entries = packed(
            entry if wanted is None or place in wanted or not entry.secret else _not_stored(place, entry.segment)
            for place, entry in enumerate(entries)
        )
    known = find_corpus(connection, corpus)
    if known is None:
        return insert_corpus(connection, corpus.sha256, corpus.dataset, entries, partial=False, recipients=recipients)
    if recipients and has_key(connection, known):
        CorpusSeal(connection, known).seal_for(recipients)  # keepers come and leave
    # fill the empty places of entries that are wanted now
    empty = connection.execute(
        "SELECT position FROM entries WHERE corpus = ? AND rest = ?", (known, NOT_STORED)
    ).fetchall()
    filled = {place: entries[place] for (place,) in empty if not entries[place].not_stored}
    _put(connection, known, filled, recipients)
    return known


_PLACE = "not stored "


def _not_stored(position: int, segment: Segment | None) -> Entry:
    """Return what replaces a secret entry: its segment, for counts, and nothing else of it."""
    return Entry.model_construct(
        id=f"{_PLACE}{position + 1}", source="", reference="", segment=segment, not_stored=True
    )


def forget_unused_secrets(connection: sqlite3.Connection) -> int:
    """Empty the places of secret entries that no run has any more; gives how many; in a transaction.

    Nothing is opened for it. Texts that are open, in stores of older versions, go with ``texts.sweep_texts``.
    """
    emptied = 0
    for (corpus,) in connection.execute("SELECT id FROM corpora WHERE NOT partial").fetchall():
        stored = _stored_secrets(connection, corpus)
        used: set[int] = set()
        if stored:
            rows = connection.execute("SELECT positions FROM runs WHERE corpus = ?", (corpus,))
            used.update(*(unpack_positions(packed) for (packed,) in rows))
        gone = {place: _not_stored(place, segment) for place, segment in stored.items() if place not in used}
        _put(connection, corpus, gone)
        emptied += len(gone)
    return emptied


def _stored_secrets(connection: sqlite3.Connection, corpus: int) -> dict[int, Segment | None]:
    """Return the segments of the secret entries that are stored, by place."""
    terms = read_dataset(connection, corpus).terms
    rows = connection.execute(
        "SELECT position, segment FROM entries WHERE corpus = ? AND rest IS NOT ?", (corpus, NOT_STORED)
    )
    return {
        position: None if segment is None else stored_word(segment, Segment)
        for position, segment in rows
        if terms.keeps(segment) or segment in SECRET_SEGMENTS
    }


def find_corpus(connection: sqlite3.Connection, corpus: Corpus) -> int | None:
    """Return the store's id of a corpus, None where it is new.

    One that an earlier version stored without the tags that its envelope says of every entry is another.
    """
    rows = connection.execute(
        "SELECT id FROM corpora WHERE sha256 = ? AND dataset = ? AND partial = 0"
        " AND (SELECT count(*) FROM entries WHERE corpus = corpora.id) = ?",
        (corpus.sha256, _envelope(corpus.dataset), len(corpus.entries)),
    )
    inherited = [name for name in INHERITED if getattr(corpus.dataset, name) is not None]
    return next((int(id_) for (id_,) in rows if _all_tagged(connection, id_, inherited)), None)


def _all_tagged(connection: sqlite3.Connection, corpus: int, names: Iterable[str]) -> bool:
    """Return whether every stored entry of a corpus has these tags."""
    wanted = [*names]
    lacking = (
        "SELECT 1 FROM entries WHERE corpus = ? AND rest IS NOT ? AND sealed IS NULL"
        " AND json_extract(rest, ?) IS NULL LIMIT 1"
    )
    asked = ((corpus, NOT_STORED, f"$.{name}") for name in wanted)
    if not all(connection.execute(lacking, values).fetchone() is None for values in asked):
        return False
    seal = CorpusSeal(connection, corpus)
    query = "SELECT position, sealed FROM entries WHERE corpus = ? AND sealed IS NOT NULL"
    return not wanted or all(
        seal.open(position, SealedKind.ENTRY, sealed).keys() >= {*wanted}
        for position, sealed in connection.execute(query, (corpus,))
    )


def insert_corpus(
    connection: sqlite3.Connection,
    sha256: str,
    dataset: Dataset,
    entries: Sequence[Entry],
    *,
    partial: bool,
    recipients: Sequence[str] = (),
) -> int:
    """Store a corpus; a partial one is known only through an imported run card. ``recipients`` of age may open it; none:
    this computer.
    """
    inserted = connection.execute(
        "INSERT INTO corpora (sha256, partial, dataset) VALUES (?, ?, ?)", (sha256, partial, _envelope(dataset))
    )
    corpus_id = int(inserted.lastrowid or 0)
    _put(connection, corpus_id, PlaceMap.of(entries), recipients)
    return corpus_id


def _put(
    connection: sqlite3.Connection, corpus: int, entries: Mapping[int, Entry], recipients: Sequence[str] = ()
) -> None:
    seal = None
    given = entries.in_order if isinstance(entries, PlaceMap) else entries.values()
    if any(entry.holds_secret for entry in secrets_among(given)) and is_on_disk(connection):
        seal = CorpusSeal(connection, corpus)
        if not has_key(connection, corpus):
            seal.seal_for(recipients)
    names = _NAMES if seal is None else (*_NAMES, "sealed")
    connection.executemany(
        f"INSERT OR REPLACE INTO entries ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
        (_entry_row(connection, corpus, place, entry, seal)[: len(names)] for place, entry in entries.items()),
    )


def _envelope(dataset: Dataset) -> str:
    return dataset.model_dump_json(exclude_unset=True)


def _entry_row(
    connection: sqlite3.Connection, corpus_id: int, position: int, entry: Entry, seal: CorpusSeal | None
) -> tuple[object, ...]:
    """Return the columns of an entry; of a sealed one only what the lists have is in those that are open."""
    fields = entry.model_dump(mode="json", by_alias=True, exclude_unset=True)
    sealed = None
    if seal is not None and entry.holds_secret:
        del fields["id"]
        sealed = seal.seal(position, SealedKind.ENTRY, fields)
        fields = open_fields(entry) | {"source": "", "reference": ""}
    rest = {name: value for name, value in fields.items() if name not in _APART}
    return (
        corpus_id,
        position,
        entry.id,
        intern_text(connection, str(fields.get("source", ""))),
        intern_text(connection, str(fields.get("reference", ""))),
        *(fields.get(name) for name in _COLUMNS),
        NOT_STORED if entry.not_stored else (json.dumps(rest, ensure_ascii=False) if rest else None),
        sealed,
    )


def read_dataset(connection: sqlite3.Connection, corpus_id: int) -> Dataset:
    """Return the envelope of a stored corpus."""
    row = connection.execute("SELECT dataset FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    return _dataset(row[0])


@lru_cache(maxsize=16)
@unpacks
def _dataset(stored: str) -> Dataset:
    """Read a stored envelope once: what its terms say is worked out with it."""
    return Dataset.model_validate_json(stored)


class _Envelope(NamedTuple):
    """What the envelope of a corpus says of its entries."""

    terms: Terms
    task: str
    local_only: bool
    """Whether the terms keep texts of some segment here."""

    def keeps(self, segment: Json) -> bool:
        """Return whether the terms keep the texts of a segment here."""
        return self.local_only and self.terms.keeps(segment if isinstance(segment, str) else None)

    def of_entry(self, segment: Json) -> dict[str, Json]:
        """Return what it says of an entry of a segment: whether it is kept here, and its task."""
        fields: dict[str, Json] = {} if self.task == TRANSLATION else {"of_task": self.task}
        return fields | {"local_only": True} if self.keeps(segment) else fields


def _read_envelope(connection: sqlite3.Connection, corpus_id: int) -> _Envelope | None:
    """Return what the envelope of a stored corpus says of every entry; None of one that is gone."""
    row = connection.execute("SELECT dataset FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    if row is None:
        return None
    return _envelope_of(_dataset(row[0]))


def _envelope_of(dataset: Dataset) -> _Envelope:
    return _Envelope(dataset.terms, dataset.task, dataset.terms.local_only)


def corpus_sha256(connection: sqlite3.Connection, corpus_id: int) -> str:
    """Return the hash over the bytes of a stored corpus's file."""
    row = connection.execute("SELECT sha256 FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    return str(row[0])


def whole_corpus(connection: sqlite3.Connection, sha256: str) -> int | None:
    """Return the store's number of the corpus whose file has this hash, as it was read last; None where only cards are known of it."""
    query = "SELECT max(id) FROM corpora WHERE NOT partial AND sha256 = ?"
    corpus_number: int | None = connection.execute(query, (sha256,)).fetchone()[0]
    return corpus_number


_READ = """
    SELECT e.position, e.entry_id, s.body, r.body, e.segment, e.difficulty, e.provenance,
           e.register, e.rest, {sealed}
    FROM entries e JOIN texts s ON s.id = e.source JOIN texts r ON r.id = e.reference
    WHERE e.corpus = ?
"""


def read_entries(
    connection: sqlite3.Connection,
    corpus_id: int,
    positions: Iterable[int] | None = None,
    dataset: Dataset | None = None,
    known: Sequence[AnyEntry] = (),
) -> PlaceMap[AnyEntry]:
    """Return entries by their place in the corpus: all, or those asked for; secret ones to be revealed.

    ``dataset``: the corpus's envelope, where it was read already. ``known``: these entries as they are in memory, returned
    in place of equal ones, so that a corpus is held once.
    Raises StoreSealed, or KeyStoreError, where there is one among them that is sealed on the disk and no key opens it.
    """
    opened = _entries(connection, corpus_id, positions, CorpusSeal.open, dataset, known)
    return PlaceMap(opened.places, seal_secrets(opened.in_order))


def shown_entries(
    connection: sqlite3.Connection, corpus_id: int, positions: Iterable[int] | None = None
) -> PlaceMap[Entry]:
    """Return the same for a screen or list of this computer, and for no computing.

    A sealed one that no key available opens comes without its texts (``not_stored``).
    """
    return _entries(connection, corpus_id, positions, CorpusSeal.shown)


def open_entries(
    connection: sqlite3.Connection, corpus_id: int, positions: Iterable[int] | None = None
) -> PlaceMap[OpenEntry]:
    """Return those that are not secret, for what may leave this machine; nothing is opened for it."""
    secret = secret_positions(connection, corpus_id)
    wanted = _positions(connection, corpus_id) if positions is None else positions
    read = _entries(connection, corpus_id, [place for place in wanted if place not in secret], CorpusSeal.open)
    places = without_gaps([place for place, entry in read.items() if open_entry(entry)])
    return PlaceMap(places, only_open(read.in_order))


def secret_positions(connection: sqlite3.Connection, corpus_id: int) -> frozenset[int]:
    """Return the places of the secret entries of a corpus, sealed ones among them whatever they say; nothing is opened."""
    envelope = _read_envelope(connection, corpus_id)
    sealed = sealed_column(connection, "entries", "e")
    rows = connection.execute(
        f"SELECT position, segment, {sealed} IS NOT NULL FROM entries e WHERE corpus = ?", (corpus_id,)
    )
    return frozenset(
        place
        for place, segment, is_sealed in rows
        if is_sealed or segment in SECRET_SEGMENTS or (envelope is not None and envelope.keeps(segment))
    )


def holds_secrets(connection: sqlite3.Connection, run: Run) -> bool:
    """Return whether an entry of a run is secret here: by its segment, by the corpus's terms, or because it is sealed.

    An imported card has no secret text, and its exporter decided what its numbers say.
    """
    return not run.imported and not secret_positions(connection, run.corpus).isdisjoint(run.positions)


def _positions(connection: sqlite3.Connection, corpus_id: int) -> list[int]:
    rows = connection.execute("SELECT position FROM entries WHERE corpus = ? ORDER BY position", (corpus_id,))
    return [place for (place,) in rows]


@unpacks
def _entries(
    connection: sqlite3.Connection,
    corpus_id: int,
    positions: Iterable[int] | None,
    opening: Opening,
    dataset: Dataset | None = None,
    known: Sequence[AnyEntry] = (),
) -> PlaceMap[Entry]:
    envelope = _read_envelope(connection, corpus_id) if dataset is None else _envelope_of(dataset)
    seal = CorpusSeal(connection, corpus_id)
    condition, wanted = among("e.position", positions)
    read = _READ.format(sealed=sealed_column(connection, "entries", "e")) + condition
    places = array("L")
    if envelope is None:
        return PlaceMap(places, PackedList())
    entries: PackedList[Entry] | None = None
    remembered = iter(known)
    for row in connection.execute(f"{read} ORDER BY e.position", (corpus_id, *wanted)):
        entry = _entry(row, envelope, seal, opening)
        if entries is None and next(remembered, None) != entry:  # those before it are as in memory
            entries = PackedList(reveal_here(known[: len(places)]))
        places.append(row[0])
        if entries is not None:
            entries.append(entry)
    if entries is None:
        return PlaceMap(without_gaps(places), reveal_here(known if len(known) == len(places) else known[: len(places)]))
    return PlaceMap(without_gaps(places), entries)


def _tags(row: tuple[Any, ...]) -> dict[str, Json]:
    columns = zip(_COLUMNS, row[4:8], strict=True)
    return {name: value for name, value in columns if value is not None}


def _entry(row: tuple[Any, ...], envelope: _Envelope, seal: CorpusSeal, opening: Opening) -> Entry:
    if row[9] is not None:
        opened = opening(seal, row[0], SealedKind.ENTRY, row[9])
        if opened is None:
            # What is open of a sealed entry: its id, and tags that lists have.
            texts = {"source": "", "reference": "", "not_stored": True}
            return Entry.model_validate({**envelope.of_entry(row[4]), **_tags(row), "id": row[1], **texts})
        entry = Entry.model_validate({**envelope.of_entry(opened.get("segment")), "id": row[1], **opened})
        if not entry.secret:  # somebody took its mark away: opened as it is, it could be sent
            raise StoredValueError
        return entry
    fields: dict[str, Json] = {**envelope.of_entry(row[4]), "id": row[1], "source": row[2], "reference": row[3]}
    fields |= _tags(row)
    if isinstance(row[8], str):
        fields.update(stored_object(row[8]))
    return Entry.model_validate(fields)
