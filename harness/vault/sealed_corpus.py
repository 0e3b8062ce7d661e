"""A corpus in its sealed form: an envelope and entries whose texts only the corpus's key opens.

Of an entry three texts are sealed, each for its own place: source, reference, and all other fields as JSON. Openly
stand a random id, the segment and a keyed digest of the source, by which the same text is known again. Entries are in
the order of their random ids, which tells nothing; their places in the corpus are sealed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import ValidationError

from corpora.model.corpus import Corpus, dataset_fields, entry_fields
from corpora.model.entry import Entry, Segment
from harness.core.canonical import canonical_bytes
from harness.sealed.strict_records import FileProblem
from harness.vault.data_key import DataKey, SealedPlace
from harness.vault.log import VaultError
from harness.vault.records import Counts, SealedEntry, StoredCorpus, TextsHead
from harness.vault.secret_text import SecretText

FIELDS: Final = ("source", "reference", "rest")
_APART = ("source", "reference", "segment")


@dataclass(frozen=True)
class OpenedEntry:
    """An entry, opened in memory."""

    entry: str
    """Its random id in the vault."""
    segment: Segment
    source: SecretText = field(repr=False)
    reference: SecretText = field(repr=False)
    rest: SecretText = field(repr=False)
    """JSON of all other fields, the id in the corpus and the place in it, from 0, among them.

    Where the entry has a field ``place`` of its own, the two are a list, the place first.
    """


@dataclass(frozen=True)
class UnsealedCorpus:
    """A corpus, opened in memory for a piece of work."""

    vault: str
    """Number of the vault."""
    number: str
    """Of the corpus in it."""
    rotations: int
    """How often entries of it changed their segments."""
    counts: Counts
    """All its entries by segment, those that stayed closed too."""
    recipients: tuple[str, ...]
    """Of age: for whom the vault seals the keys of its corpora."""
    envelope: SecretText = field(repr=False)
    """As ``SealedCorpus.envelope`` gives it."""
    entries: tuple[OpenedEntry, ...] = field(repr=False)


@dataclass(frozen=True)
class SealedCorpus:
    """A corpus of a vault; nothing in it is text that can be read."""

    head: TextsHead
    entries: tuple[SealedEntry, ...]

    @classmethod
    def seal(cls, number: str, corpus: Corpus, key: DataKey) -> SealedCorpus:
        """Seal a corpus each of whose entries has a segment; ``number`` is its random id in the vault."""
        metadata = {"dataset": dataset_fields(corpus.dataset), "sha256": corpus.sha256}
        envelope = json.dumps(metadata, ensure_ascii=False)
        head = TextsHead(
            corpus=number, dataset=_sealed(key, envelope, SealedPlace(number, "", "dataset"))
        )
        entries = (_sealed_entry(number, n, entry, key) for n, entry in enumerate(corpus.entries))
        return cls(head, tuple(sorted(entries, key=lambda entry: entry.entry)))

    @classmethod
    def read(cls, data: bytes, number: str, stored: StoredCorpus) -> SealedCorpus:
        """Read what ``data`` gave for one corpus; raises VaultError where the form is another, or it is another's."""
        head, *entries = data.splitlines() or [b""]
        try:
            read = cls(
                TextsHead.model_validate_json(head),
                tuple(SealedEntry.model_validate_json(entry) for entry in entries),
            )
        except ValidationError:
            raise VaultError(
                FileProblem.NEWER,
                "The entries of this corpus are of a form that this version does not know. Install the newest version.",
            ) from None
        ids = {entry.entry for entry in read.entries}
        if (read.head.corpus, read.counts, len(ids)) != (number, stored.entries, len(entries)):
            raise VaultError(
                FileProblem.DAMAGED,
                f"{stored.texts} is not the file of {stored.name!r}, though a keeper signed that it is. The log says who "
                "changed this corpus: ask them, and put back a copy of the whole folder.",
            )
        return read

    @property
    def data(self) -> bytes:
        """The file: a line of canonical JSON for the envelope, and one for each entry."""
        records = (self.head, *self.entries)
        return b"".join(
            canonical_bytes(record.model_dump(mode="json")) + b"\n" for record in records
        )

    @property
    def sha256(self) -> str:
        """Of the file, hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def counts(self) -> Counts:
        """Segment → entries in it."""
        return dict(Counter(entry.segment for entry in self.entries))

    def of(self, segments: Collection[Segment]) -> SealedCorpus:
        """Return it with the entries of these segments only."""
        return replace(self, entries=tuple(e for e in self.entries if e.segment in segments))

    def moved(self, drawn: Collection[str], target: Segment) -> SealedCorpus:
        """Return it with some entries, by their ids, in another segment."""
        return replace(
            self,
            entries=tuple(
                entry.model_copy(update={"segment": target}) if entry.entry in drawn else entry
                for entry in self.entries
            ),
        )

    def under(self, old: DataKey, new: DataKey) -> SealedCorpus:
        """Return it sealed under another key; texts are opened in memory, one after the other."""
        number = self.head.corpus
        dataset = _sealed(new, self.envelope(old).reveal(), SealedPlace(number, "", "dataset"))
        return SealedCorpus(
            self.head.model_copy(update={"dataset": dataset}),
            tuple(self._under(entry, old, new) for entry in self.entries),
        )

    def _under(self, sealed: SealedEntry, old: DataKey, new: DataKey) -> SealedEntry:
        texts = [text.reveal() for text in self._texts(sealed, old)]
        changed = _sealed_texts(self.head.corpus, sealed.entry, texts, new)
        return sealed.model_copy(update=changed)

    def envelope(self, key: DataKey) -> SecretText:
        """Open the metadata of the whole corpus: JSON of its ``dataset`` and of the ``sha256`` of its file.

        A vault of an earlier version has the fields of the dataset alone.
        """
        return _opened(key, self.head.dataset, SealedPlace(self.head.corpus, "", "dataset"))

    def opened(self, key: DataKey) -> tuple[OpenedEntry, ...]:
        """Open every entry in memory; raises FileError where a text is damaged or is in another's place."""
        return tuple(
            OpenedEntry(entry.entry, entry.segment, *self._texts(entry, key))
            for entry in self.entries
        )

    def _texts(self, sealed: SealedEntry, key: DataKey) -> list[SecretText]:
        return [
            _opened(key, getattr(sealed, name), SealedPlace(self.head.corpus, sealed.entry, name))
            for name in FIELDS
        ]


def _sealed_entry(number: str, place: int, entry: Entry, key: DataKey) -> SealedEntry:
    rest = {name: value for name, value in entry_fields(entry).items() if name not in _APART}
    rest["place"] = [place, rest["place"]] if "place" in rest else place
    texts = [entry.source, entry.reference, json.dumps(rest, ensure_ascii=False)]
    own = secrets.token_hex(8)
    return SealedEntry.model_validate(
        {"entry": own, "segment": entry.segment, **_sealed_texts(number, own, texts, key)}
    )


def _sealed_texts(number: str, own: str, texts: list[str], key: DataKey) -> dict[str, str]:
    """Return the sealed fields of an entry, and the digest of its source."""
    sealed = {
        name: _sealed(key, text, SealedPlace(number, own, name))
        for name, text in zip(FIELDS, texts, strict=True)
    }
    return {"digest": key.digest(texts[0]).hex(), **sealed}


def _sealed(key: DataKey, text: str, place: SealedPlace) -> str:
    return base64.b64encode(key.seal_text(text, place)).decode()


def _opened(key: DataKey, sealed: str, place: SealedPlace) -> SecretText:
    with suppress(binascii.Error):
        return key.open_text(base64.b64decode(sealed), place)
    return key.open_text(b"", place)  # says that it is damaged
