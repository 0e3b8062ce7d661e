"""Texts of secret entries as they are in the store: sealed under a key of their corpus, opened in memory only.

Each stored corpus with secret entries has a data key, which is itself sealed by age for those who may open it: the
keepers of the vault that the corpus came from, else this computer, whose own key is made when it is first needed. A
sealed value is bound to its corpus, its entry's place and what it is, so moved to another place it does not open.
Who opens a store never writes an opened text back to it, nor to any other file.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from corpora.files.json_types import Json, JsonObject
from corpora.files.problems import StoredValueError
from corpora.model.entry import Entry
from harness.core.failures import StoreError, UsageError
from harness.core.storage import private_folder, storable, write_file
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity, lock_of, seal, unseal
from harness.sealed.strict_records import FileError
from harness.store.sqlite.copies import original_of
from harness.store.sqlite.trouble import among, of_kind, stored_json, transaction
from harness.vault.data_key import DataKey, SealedPlace
from harness.vault.secret_text import no_core_dumps

_DAMAGED = (
    "a sealed text of it is damaged, or is in another's place. Put back a copy of the store, or erase the run with "
    "`rosetta runs delete --now`"
)


class StoreSealed(StoreError):  # noqa: N818  said of the texts
    """No key available opens the secret texts of a corpus."""


class SealedKind(StrEnum):
    """What is sealed of an entry at its place in the corpus."""

    ENTRY = "entry"
    """All fields of the entry but its id."""
    RESULT = "result"
    """Output, first answer, and the words of errors."""
    ANNOTATION = "annotation"
    """What was answered about the output."""


NOT_STORED: Final = json.dumps({"not_stored": True})
"""Further fields of what replaces a secret entry that no run used."""


_OPEN = {"segment": "segment", "difficulty": "difficulty", "provenance": "provenance",
         "register": "register_", "context": "context"}  # fmt: skip
"""Fields by which secret entries are counted, as they are called in a file and in ``Entry``."""


def open_fields(entry: Entry) -> dict[str, Json]:
    """Return what of a secret entry is open in the store, by field: tags from lists, by which scores are broken down."""
    tags = {name: entry.open_tag(field) for name, field in _OPEN.items()}
    return {name: tag for name, tag in tags.items() if tag is not None}


class CorpusSeal:
    """Seals and opens what the store holds of the secret entries of one corpus; its key is asked for when it is needed."""

    def __init__(self, connection: sqlite3.Connection, corpus: int) -> None:
        self._connection = connection
        self.corpus = corpus

    def seal(self, position: int, what: str, told: JsonObject) -> bytes:
        """Seal values as JSON for one place."""
        text = storable(json.dumps(told, ensure_ascii=False))
        return self._key.seal_text(text, self._place(position, what))

    def open(self, position: int, what: str, sealed: object) -> dict[str, Json]:
        """Open what ``seal`` gave; StoredValueError where it is not what was sealed for this place."""
        try:
            opened = self._key.open_text(of_kind(sealed, bytes), self._place(position, what))
        except FileError:
            raise StoredValueError(_DAMAGED) from None
        return of_kind(stored_json(opened.reveal()), dict)

    def shown(self, position: int, what: str, sealed: object) -> dict[str, Json] | None:
        """Open it as ``open`` does, for a screen or a list; None where no key available opens it."""
        try:
            return self.open(position, what, sealed)
        except StoreSealed:
            return None

    def require_key(self) -> None:
        """Raise StoreSealed, or KeyStoreError, where the key cannot be opened here."""
        _ = self._key

    def seal_for(self, recipients: Sequence[str]) -> None:
        """Seal the key for these recipients of age alone, making it where there is none; called within a transaction."""
        given = recipients or [own_key(keys_folder(self._connection)).recipient]
        known = self._row()
        place, key = (secrets.token_hex(8), DataKey.make()) if known is None else self._opened
        sealed = key.sealed_for(given)
        self._connection.execute("INSERT OR REPLACE INTO corpus_keys VALUES (?, ?, ?)", (self.corpus, place, sealed))
        _opened[place] = key  # who stores a run goes on with it, though it takes several to open it anew

    def in_queries(self) -> None:
        """Register ``plain`` for the connection's queries of this corpus; what is damaged, or no key opens, is an empty text."""

        def opened(sealed: bytes, position: int, what: str, field: str) -> str | None:
            try:
                text = (self.shown(position, what, sealed) or {field: ""}).get(field)
            except StoredValueError:
                return ""
            return text if isinstance(text, str) else None

        if has_key(self._connection, self.corpus):
            with suppress(StoreSealed):
                self.require_key()  # a query would not say why it fails
        self._connection.create_function("opened", 4, opened)

    @cached_property
    def _opened(self) -> tuple[str, DataKey]:
        row = self._row()
        if row is None:
            raise StoredValueError(_DAMAGED)
        place, sealed = str(row[0]), of_kind(row[1], bytes)
        if place not in _opened:
            no_core_dumps()
            _opened[place] = _data_key(sealed, keys_folder(self._connection))
        return place, _opened[place]

    @property
    def _key(self) -> DataKey:
        return self._opened[1]

    def _place(self, position: int, what: str) -> SealedPlace:
        return SealedPlace(self._opened[0], str(position), what)

    def _row(self) -> tuple[str, bytes] | None:
        query = "SELECT place, sealed FROM corpus_keys WHERE corpus = ?"
        row: tuple[str, bytes] | None = self._connection.execute(query, (self.corpus,)).fetchone()
        return row


Opening = Callable[[CorpusSeal, int, str, object], dict[str, Json] | None]
"""``CorpusSeal.open`` where texts are computed with, ``CorpusSeal.shown`` where they are only shown."""


def seal_for_keepers(
    connection: sqlite3.Connection, vault: str, identities: Sequence[AgeIdentity], recipients: Sequence[str]
) -> tuple[int, int]:
    """Seal the keys of all corpora that came from a vault for those who may open it now; gives how many, and how many stayed closed.

    ``vault`` is its number, ``identities`` open them, and nothing of how they were sealed before is left. All of it or nothing; a
    store that can only be read stays as it is.
    """
    done = closed = 0
    if connection.execute("PRAGMA query_only").fetchone()[0]:
        return done, closed
    connection.execute("PRAGMA secure_delete = ON")
    with transaction(connection):
        for corpus, place, sealed in connection.execute(_OF_VAULT, (f"{vault}/",)).fetchall():
            try:
                key = DataKey.opened(of_kind(sealed, bytes), identities)
            except FileError:
                closed += 1
                continue
            row = (corpus, place, key.sealed_for(recipients))
            connection.execute("INSERT OR REPLACE INTO corpus_keys VALUES (?, ?, ?)", row)
            done += 1
    # now, and not only when the last one closes the store
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return done, closed


_OF_VAULT: Final = (
    "SELECT k.corpus, k.place, k.sealed FROM corpus_keys k JOIN corpora c ON c.id = k.corpus"
    " WHERE json_valid(c.dataset) AND instr(json_extract(c.dataset, '$.opened_from'), ?) = 1"
)


def plain(body: str, table: str, what: SealedKind, field: str) -> str:
    """Return SQL for a text of a row of this table, open or sealed; ``CorpusSeal.in_queries`` comes before."""
    sealed = f"opened({table}.sealed, {table}.position, '{what}', '{field}')"
    return f"CASE WHEN {table}.sealed IS NULL THEN {body} ELSE {sealed} END"


def sealed_column(connection: sqlite3.Connection, table: str, name: str) -> str:
    """Return SQL for what is sealed of a row of a table that a query calls so; NULL in a store from before (migration 13)."""
    query = "SELECT 1 FROM pragma_table_info(?) WHERE name = 'sealed'"
    return f"{name}.sealed" if connection.execute(query, (table,)).fetchone() else "NULL"


def has_key(connection: sqlite3.Connection, corpus: int) -> bool:
    """Return whether a corpus has a data key, so that something of it may be sealed."""
    if sealed_column(connection, "entries", "e") == "NULL":
        return False
    query = "SELECT 1 FROM corpus_keys WHERE corpus = ?"
    return connection.execute(query, (corpus,)).fetchone() is not None


def sealed_positions(connection: sqlite3.Connection, corpus: int, positions: Iterable[int]) -> frozenset[int]:
    """Return which of these entries are stored encrypted, so that all that is said of them is to be sealed too."""
    if not has_key(connection, corpus):
        return frozenset()
    condition, wanted = among("position", positions)
    query = f"SELECT position FROM entries WHERE corpus = ? AND sealed IS NOT NULL{condition}"
    rows = connection.execute(query, (corpus, *wanted))
    return frozenset(position for (position,) in rows)


def is_on_disk(connection: sqlite3.Connection) -> bool:
    """Distinguish a store that is a file from one that lives in memory, where nothing needs a seal."""
    return bool(connection.execute("PRAGMA database_list").fetchone()[2])


def keys_folder(connection: sqlite3.Connection) -> Path:
    """Return the folder where this computer's keys lie, or what names them: beside the store."""
    return original_of(Path(connection.execute("PRAGMA database_list").fetchone()[2])).parent


def ready_to_seal(connection: sqlite3.Connection) -> None:
    """Make or open this computer's key now, so that no transaction waits for the keyring."""
    if is_on_disk(connection):
        own_key(private_folder(keys_folder(connection)))


@cache
def own_key(folder: Path) -> AgeIdentity:
    """Return the key by which this computer opens what it sealed, made the first time; KeyStoreError in words."""
    no_core_dumps()
    return Identity.load(folder, Role.COMPUTER).age


_given: list[AgeIdentity] = []


def also_open_with(identities: Iterable[AgeIdentity]) -> None:
    """Add keys with which this process opens stored texts too, such as a recovery key that a person named."""
    _given.extend(identities)


def forget_keys() -> None:
    """Forget every key that this process opened or was given; what is sealed is asked for again."""
    _given.clear()
    _opened.clear()
    own_key.cache_clear()


def _identities(folder: Path) -> Iterator[AgeIdentity]:
    """Yield the keys that are available; nothing is made."""
    yield from _given
    if Identity.known(folder, Role.COMPUTER):
        yield own_key(folder)


_opened: dict[str, DataKey] = {}
"""The keys that this process opened or made, by what their corpus's values are bound to: they are sealed for others at times."""


def _data_key(sealed: bytes, folder: Path) -> DataKey:
    """Open the key of a corpus with any key available; StoreSealed where none fits."""
    try:
        key = DataKey.fitting(sealed, _identities(folder))
    except FileError:
        raise StoredValueError(_DAMAGED) from None
    if key is not None:
        return key
    raise StoreSealed(
        f"The secret texts of this corpus are sealed in the store, and no key in {folder} opens them on its own. They come from a vault, "
        "and only with it they are opened, by whose keys open the vault, which is in its log (--vault and --purpose of rosetta resume, retry, score "
        "--rescore, calibrate, watch, runs export, runs lint, runs sign and vault compare); or they were stored on another computer, or their vault was sealed again under another key since. Scores can be examined all the same, and `rosetta runs delete "
        "--now` erases without a key."
    )


DIGEST_KEY: Final = "secret-texts.key"
"""Beside the store: the key of the digests of secret sources, sealed for this computer."""

_KEY_BYTES = 32


def digest_key(folder: Path) -> bytes:
    """Return the key of the digests, made where there is none yet; one for all processes.

    One that an earlier version left open is sealed. StoreError in words where it is damaged.
    """
    path = folder / DIGEST_KEY
    with suppress(FileNotFoundError):
        return _read_digest_key(path)
    own = own_key(private_folder(folder))
    try:
        write_file(path, seal(secrets.token_bytes(_KEY_BYTES), [own.recipient]), overwrite=False)
    except UsageError:
        if not path.exists():
            raise
        # another process was quicker
    return _read_digest_key(path)


def _read_digest_key(path: Path) -> bytes:
    content = path.read_bytes()
    if len(content) == _KEY_BYTES and lock_of(content) is None:
        write_file(path, seal(content, [own_key(path.parent).recipient]), overwrite=True)
        return content
    try:
        key = unseal(content, [own_key(path.parent)])
    except FileError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise StoreError(
            f"{path} is damaged, or it was sealed with other keys of this computer. Move it away; Rosetta makes a new one, and "
            "the digests of the secret texts that the store holds."
        )
    return key


# ---- The keys of this computer, for whom and by which secret texts are sealed on it ----


def recipients_here(folder: Path) -> list[str]:
    """Return for whom secret texts are sealed here, this computer's key made where there is none; KeyStoreError in words.

    It may ask the keyring, so it is called before a transaction.
    """
    own_key(folder)
    return [age_identity.recipient for age_identity in keys_here(folder)]


def keys_here(folder: Path) -> Iterator[AgeIdentity]:
    """Yield the keys that are here, this computer's first; none is made."""
    if Identity.known(folder, Role.COMPUTER):
        yield own_key(folder)
    if Identity.known(folder, Role.ORGANISATION):
        yield Identity.load(folder, Role.ORGANISATION).age
