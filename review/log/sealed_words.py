"""What people write about the sentences of secret reviews, as a file of ours has it: sealed, and opened in memory only.

Each secret batch has a data key, which is sealed by age for anyone who reads its words here. Of an event the words are
sealed and with them the salt of its commitment, which would confirm a guess. Who said something about which item, and
when, stays open: so a computer without a key can show a review's status and erase what is taken back. A sealed
text is bound to its batch and its event, so moved to another place it does not open.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from corpora.files.json_types import JsonObject
from harness.core.canonical import canonical_bytes
from harness.core.failures import KeyStoreError, StoreError
from harness.sealed.sealing import AgeIdentity
from harness.sealed.strict_records import FileError
from harness.store.sqlite.trouble import transaction
from harness.vault.data_key import DataKey, SealedPlace
from harness.vault.secret_text import no_core_dumps
from review.log.event import Event, EventError, read_payload
from review.log.payloads import Kind

# Kinds of events → their fields in which people write as they like, and so may quote a sentence
WRITTEN: Final[Mapping[Kind, tuple[str, ...]]] = {
    Kind.COMMENT: ("text",),
    Kind.SUGGEST: ("text",),
    Kind.TRANSLATE: ("text",),
    Kind.ADJUDICATE: ("note", "reason"),
}

SHUT: Final = "[sealed]"  # Is in an event for words that no key available opens

_SEALED = "sealed"  # Field of a stored payload: the names of the fields that are sealed
# Field that holds what was stored of an event and is none; it is none when it is opened either
_DAMAGED = "damaged"

_NO_KEY = (
    "What people wrote in this review is sealed, and no key available opens it. Continue at the computer where it was written, or "
    "put back the keys of its data folder: {keys}. The number of each person's answers is shown all the same."
)
_KEY_DAMAGED = (
    "The key of what people wrote in this review is damaged. Put back a copy of {file}. The number of each person's answers is shown all "
    "the same."
)
_NO_ROW = "The key of what people wrote in this review is not in its file any more: somebody changed the file. Put back a copy of it."

# What the columns `payload` and `salt` hold of an event; its salt is sealed together with its words
Content = tuple[str, bytes]


@dataclass(frozen=True)
class WordKeys:
    """The keys of secret batches as far as they opened at one moment."""

    secret: frozenset[str] = frozenset()  # Batches whose words are sealed
    # Batch → its keys that are available, the newest last
    opened: Mapping[str, Sequence[DataKey]] = field(default_factory=dict)
    # Batch → why some of its words stay shut, and the fix
    why: Mapping[str, str] = field(default_factory=dict)

    def content(self, event: Event) -> Content | tuple[None, None]:
        """Return what is stored of an event; StoreError where it must be sealed and no key is available."""
        if event.payload is None or event.salt is None:
            return None, None
        payload = event.payload.model_dump(mode="json")
        return self.sealed(event.id, payload, event.salt, WRITTEN.get(event.kind, ()))

    def sealed(self, event: str, payload: JsonObject, salt: bytes, names: Collection[str]) -> Content:
        """Return a payload as it is stored, with those of the named fields that hold something sealed."""
        batch = str(payload.get("batch"))
        words = {name: payload[name] for name in names if payload.get(name)}
        if not words or batch not in self.secret:
            return _canonical(payload), salt
        rest = {name: value for name, value in payload.items() if name not in words}
        packed = self.seal(_place(batch, event), _canonical({"salt": salt.hex(), "words": words}))
        return _canonical({**rest, _SEALED: sorted(words)}), packed

    def whole(self, event: str, payload: JsonObject, sealed: bytes) -> Content | None:
        """Return payload and salt of a stored event as they were before it was sealed; None where its words stay shut.

        EventError where it is not what was sealed for this event.
        """
        rest = {name: value for name, value in payload.items() if name != _SEALED}
        if (opened_bytes := self.open(_place(str(payload.get("batch")), event), sealed)) is None:
            return None
        opened = json.loads(opened_bytes)
        return _canonical({**rest, **opened["words"]}), bytes.fromhex(opened["salt"])

    def draft(self, place: Sequence[str], text: str) -> tuple[str, bytes | None]:
        """Return what is stored of a draft: its text, or nothing and the text sealed; ``place`` begins with the batch."""
        if not text or place[0] not in self.secret:
            return text, None
        return "", self.seal(_draft_place(*place), text)

    def draft_text(self, place: Sequence[str], text: str, sealed: bytes | None) -> str:
        """Return the text of a stored draft; StoreError in words where it stays shut."""
        if (opened := text if sealed is None else self.open(_draft_place(*place), sealed)) is None:
            raise StoreError(self._reason(place[0]))
        return opened

    def seal(self, place: SealedPlace, text: str) -> bytes:
        """Seal a text of a batch for one place; StoreError in words where no key of the batch is available."""
        if place.corpus not in self.opened:
            raise StoreError(self._reason(place.corpus))
        return self.opened[place.corpus][-1].seal_text(text, place)

    def open(self, place: SealedPlace, sealed: bytes) -> str | None:
        """Open what ``seal`` gave; None where no key available does, EventError where it was changed or moved."""
        for key in reversed(self.opened.get(place.corpus, ())):
            try:
                return key.open_text(sealed, place).reveal()
            except FileError:
                continue  # sealed with another key of the batch, or damaged
        if place.corpus in self.why or place.corpus not in self.opened:
            return None
        raise EventError("was changed after it was sealed, or moved from another place")

    def require(self, events: Iterable[Event]) -> None:
        """Raise StoreError in words where the words of one of these events stay shut."""
        for event in events:
            if event.shut:
                raise StoreError(self._reason(getattr(event.payload, "batch", "")))

    def _reason(self, batch: str) -> str:
        return self.why.get(batch, _NO_ROW)


def names_sealed(payload: JsonObject) -> list[str]:
    """Return the names of the fields that are sealed of a stored payload."""
    names = payload.get(_SEALED)
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def shut_payload(payload: JsonObject) -> JsonObject:
    """Return a stored payload with a mark instead of what stays sealed."""
    rest = {name: value for name, value in payload.items() if name != _SEALED}
    return {**rest, **dict.fromkeys(names_sealed(payload), SHUT)}


def older_content(kind: str, batch: str, payload: str) -> tuple[JsonObject, Collection[str]]:
    """Read what an earlier version stored of an event, and name the fields to be sealed: all of what is no event."""
    try:
        stored = json.loads(payload)
        read_payload(stored, kind)
    except (ValueError, EventError):
        return {"batch": batch, "kind": kind, _DAMAGED: payload}, (_DAMAGED,)
    return {**stored, "batch": batch}, WRITTEN[Kind(kind)]


class SealedWords:
    def __init__(
        self, connection: sqlite3.Connection, identities: Callable[[], Iterable[AgeIdentity]], *, file: str, keys: str
    ) -> None:
        """``identities`` gives what opens keys here, one after the other; ``file`` and ``keys`` are named in the fixes."""
        self._connection = connection
        self._identities = identities
        self._mends = {"file": file, "keys": keys}
        self._opened: dict[bytes, DataKey] = {}

    @property
    def batches(self) -> frozenset[str]:
        """Batches whose words are sealed."""
        rows = self._connection.execute("SELECT DISTINCT batch FROM words_key").fetchall()
        return frozenset(batch for (batch,) in rows)

    def keys(self, batches: Collection[str] | None = None) -> WordKeys:
        """Open the keys of these batches, or of all; it may ask the keyring, so it is called before a transaction."""
        opened: dict[str, list[DataKey]] = {}
        why: dict[str, str] = {}
        rows = self._connection.execute("SELECT batch, sealed FROM words_key ORDER BY rowid")
        for batch, sealed in rows.fetchall():
            if batches is not None and batch not in batches:
                continue
            try:
                key = self._key(sealed)
            except (StoreError, KeyStoreError) as error:
                why[batch] = str(error)
            else:
                opened.setdefault(batch, []).append(key)
        return WordKeys(self.batches, opened, why)

    def ready(self, batches: Collection[str], recipients: Callable[[], Sequence[str]]) -> WordKeys:
        """Return keys by which words of these batches can be sealed; a new one where none of a batch opens here.

        ``recipients`` (``age1…``) can open that one; it is kept at once, so no transaction is open. Raises KeyStoreError.
        """
        keys = self.keys(batches)
        if lacking := [b for b in batches if b in keys.why and b not in keys.opened]:
            recipient_keys = recipients()
            with transaction(self._connection):
                for batch in lacking:
                    self.add(batch, recipient_keys)
            keys = self.keys(batches)
        return keys

    def seal_anew(
        self, batches: Collection[str], named: Sequence[AgeIdentity], recipients: Callable[[], Sequence[str]]
    ) -> None:
        """Seal for ``recipients`` the keys of these batches that none here opens, and one of ``named`` does: a recovery key.

        It is kept at once, so no transaction is open. Raises KeyStoreError.
        """
        shut = self.keys(batches).why
        rows = self._connection.execute("SELECT batch, sealed FROM words_key").fetchall()
        left = [key for batch, key in rows if batch in shut and key not in self._opened]
        if not (fitting := [(s, key) for s in left if (key := DataKey.fitting(s, named))]):
            return
        recipient_keys = recipients()
        with transaction(self._connection):
            for before, key in fitting:
                sealed = key.sealed_for(recipient_keys)
                self._connection.execute("UPDATE words_key SET sealed = ? WHERE sealed = ?", (sealed, before))
                self._opened[sealed] = key

    def add(self, batch: str, recipients: Sequence[str]) -> None:
        """Store a new key for a batch, whose words are sealed from now on, within the caller's transaction."""
        no_core_dumps()
        key = DataKey.make()
        sealed = key.sealed_for(recipients)
        self._connection.execute("INSERT INTO words_key VALUES (?, ?)", (batch, sealed))
        self._opened[sealed] = key

    def _key(self, sealed: bytes) -> DataKey:
        """Open one key; StoreError in words where no identity fits, or it is damaged."""
        if sealed not in self._opened:
            no_core_dumps()
            try:
                key = DataKey.fitting(sealed, self._identities())
            except FileError:
                raise StoreError(_KEY_DAMAGED.format(**self._mends)) from None
            if key is None:
                raise StoreError(_NO_KEY.format(**self._mends))
            self._opened[sealed] = key
        return self._opened[sealed]


def create_key_table(connection: sqlite3.Connection) -> None:
    """Make the table of keys, within the caller's transaction."""
    connection.execute(
        """CREATE TABLE words_key (     -- of secret batches; one that opens nowhere any more gets a second
            batch TEXT NOT NULL,
            sealed BLOB NOT NULL        -- 32 bytes, sealed by age
        ) STRICT"""
    )


def _place(batch: str, event: str) -> SealedPlace:
    return SealedPlace(batch, event, "words")


def _draft_place(batch: str, reviewer: str, item: str, name: str) -> SealedPlace:
    return SealedPlace(batch, f"{reviewer} {item}", f"draft {name}")


def _canonical(told: JsonObject) -> str:
    return canonical_bytes(dict(told)).decode()
