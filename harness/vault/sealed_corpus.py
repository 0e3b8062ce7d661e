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
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import ValidationError

from corpora.model.corpus import Corpus, dataset_fields, entry_fields
from corpora.model.entry import Entry, Segment
from harness.core.canonical import canonical_bytes
from harness.sealed.keys import Identity
from harness.sealed.strict_records import FileProblem
from harness.vault.data_key import DataKey, SealedPlace
from harness.vault.folder import VaultState
from harness.vault.key_shares import OpeningKey
from harness.vault.log import VaultError
from harness.vault.secret_text import SecretText
from harness.vault.shares import check_opener
from harness.vault.vault_records import Counts, Keeper, SealedEntry, SmallestTold, StoredCorpus, TextsHead

FIELDS: Final = ("source", "reference", "rest")
_APART = ("source", "reference", "segment")


@dataclass(frozen=True)
class OpenedEntry:
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
        sealed = _sealed(key, envelope, SealedPlace(number, "", "dataset"))
        head = TextsHead(corpus=number, dataset=sealed)
        entries = (_sealed_entry(number, n, entry, key) for n, entry in enumerate(corpus.reveal_here()))
        return cls(head, tuple(sorted(entries, key=lambda entry: entry.entry)))

    @classmethod
    def read(cls, data: bytes, number: str, stored: StoredCorpus) -> SealedCorpus:
        """Read what ``data`` gave for one corpus; raises VaultError where the form is another, or it is another's."""
        head, *entries = data.splitlines() or [b""]
        try:
            read = cls(
                TextsHead.model_validate_json(head), tuple(SealedEntry.model_validate_json(entry) for entry in entries)
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
        records = (record.model_dump(mode="json") for record in (self.head, *self.entries))
        return b"".join(canonical_bytes(record) + b"\n" for record in records)

    @property
    def sha256(self) -> str:
        """Of the file, hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def counts(self) -> Counts:
        """Segment → entries in it."""
        return dict(Counter(entry.segment for entry in self.entries))

    def of(self, segments: Collection[Segment]) -> SealedCorpus:
        return replace(self, entries=tuple(e for e in self.entries if e.segment in segments))

    def moved(self, drawn: Collection[str], target: Segment) -> SealedCorpus:
        entries = (
            entry.model_copy(update={"segment": target}) if entry.entry in drawn else entry for entry in self.entries
        )
        return replace(self, entries=tuple(entries))

    def under(self, old: DataKey, new: DataKey) -> SealedCorpus:
        """Return it sealed under another key; texts are opened in memory, one after the other."""
        number = self.head.corpus
        dataset = _sealed(new, self.envelope(old).reveal(), SealedPlace(number, "", "dataset"))
        entries = []
        for entry in self.entries:
            texts = [text.reveal() for text in self._texts(entry, old)]
            changed = _sealed_texts(number, entry.entry, texts, new)
            entries.append(entry.model_copy(update=changed))
        return SealedCorpus(self.head.model_copy(update={"dataset": dataset}), tuple(entries))

    def envelope(self, key: DataKey) -> SecretText:
        """Open the metadata of the whole corpus: JSON of its ``dataset`` and of the ``sha256`` of its file.

        A vault of an earlier version has the fields of the dataset alone.
        """
        return _opened(key, self.head.dataset, SealedPlace(self.head.corpus, "", "dataset"))

    def opened(self, key: DataKey) -> tuple[OpenedEntry, ...]:
        """Open every entry in memory; raises FileError where a text is damaged or is in another's place."""
        every = self.entries
        return tuple(OpenedEntry(e.entry, e.segment, *self._texts(e, key)) for e in every)

    def _texts(self, sealed: SealedEntry, key: DataKey) -> list[SecretText]:
        places = (SealedPlace(self.head.corpus, sealed.entry, name) for name in FIELDS)
        return [_opened(key, getattr(sealed, place.field), place) for place in places]


def _sealed_entry(number: str, place: int, entry: Entry, key: DataKey) -> SealedEntry:
    rest = {name: value for name, value in entry_fields(entry).items() if name not in _APART}
    rest["place"] = [place, rest["place"]] if "place" in rest else place
    texts = [entry.source, entry.reference, json.dumps(rest, ensure_ascii=False)]
    own = secrets.token_hex(8)
    facts = {"entry": own, "segment": entry.segment, **_sealed_texts(number, own, texts, key)}
    return SealedEntry.model_validate(facts)


def _sealed_texts(number: str, own: str, texts: list[str], key: DataKey) -> dict[str, str]:
    """Return the sealed fields of an entry, and the digest of its source."""
    pairs = zip(FIELDS, texts, strict=True)
    sealed = {name: _sealed(key, text, SealedPlace(number, own, name)) for name, text in pairs}
    return {"digest": key.digest(texts[0]).hex(), **sealed}


def _sealed(key: DataKey, text: str, place: SealedPlace) -> str:
    return base64.b64encode(key.seal_text(text, place)).decode()


def _opened(key: DataKey, sealed: str, place: SealedPlace) -> SecretText:
    with suppress(binascii.Error):
        return key.open_text(base64.b64decode(sealed), place)
    return key.open_text(b"", place)  # says that it is damaged


# ---- What a vault keeps of each corpus: its data key, opened by one keeper or several together,
# and its sealed texts.


def opened_key(
    state: VaultState, stored: StoredCorpus, identity: Identity, opener: OpeningKey | None = None
) -> DataKey:
    """Open the key of a corpus: with one keeper's keys, or where they open together, with what they have together."""
    age = identity.age if state.split is None else check_opener(state, opener).age
    return DataKey.opened(state.file(stored.key), [age])


def recipients_of(state: VaultState) -> list[str]:
    """Return for whom data keys are sealed: for each keeper, or for what they have together."""
    return recipients(state.keepers.values()) if state.split is None else [state.split.recipient]


def recipients(keepers: Iterable[Keeper]) -> list[str]:
    """Return what is sealed for keepers each of whom opens alone."""
    return [keeper.recipient for keeper in keepers]


def under_new_keys(
    state: VaultState, identity: Identity, opener: OpeningKey | None, recipients: Sequence[str]
) -> tuple[dict[str, StoredCorpus], dict[str, bytes]]:
    """Seal every text again, under new keys for these recipients; gives the corpora, and their files by their hashes."""
    corpora: dict[str, StoredCorpus] = {}
    files: dict[str, bytes] = {}
    for number, stored in state.head.corpora.items():
        old, new = opened_key(state, stored, identity, opener), DataKey.make()
        sealed = sealed_texts(state, number, stored).under(old, new)
        made, written = stored_corpus(stored.name, sealed, new, recipients)
        corpora[number] = stored.model_copy(update={"key": made.key, "texts": made.texts})
        files |= written
    return corpora, files


def sealed_texts(state: VaultState, number: str, stored: StoredCorpus) -> SealedCorpus:
    """Read the entries of a corpus, sealed as they are."""
    return SealedCorpus.read(state.file(stored.texts), number, stored)


def refuse_known(state: VaultState, corpus: Corpus, identity: Identity, opener: OpeningKey | None) -> None:
    """Refuse a corpus of which a text is in the vault already, where another segment might open it."""
    for number, stored in state.head.corpora.items():
        key = opened_key(state, stored, identity, opener)
        known = {entry.digest for entry in sealed_texts(state, number, stored).entries}
        same_ids = [entry.id for entry in corpus.reveal_here() if key.digest(entry.source).hex() in known]
        if same_ids:
            raise VaultError(
                FileProblem.INVALID,
                f"{len(same_ids):,} of these entries are in the vault already, in {stored.name!r}; the first is {same_ids[0]}. "
                "Take them out of the file.",
            )


def stored_corpus(
    name: str,
    sealed: SealedCorpus,
    key: DataKey,
    recipients: Sequence[str],
    tells: Mapping[Segment, SmallestTold] | None = None,
) -> tuple[StoredCorpus, dict[str, bytes]]:
    """Return the record of a corpus, and its two files by their hashes; ``tells`` where something is known of it."""
    opener, texts = key.sealed_for(recipients), sealed.data
    facts = {"tells": dict(tells)} if tells else {}
    stored = StoredCorpus(name=name, entries=sealed.counts, key=sha256_of(opener), texts=sealed.sha256, **facts)
    return stored, {stored.key: opener, stored.texts: texts}


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def counted_segments(corpus: Corpus) -> Counts:
    """Count the entries that are to be sealed; raises VaultError where one has no segment, or there is none."""
    without = [entry.id for entry in corpus.entries if entry.segment is None]
    if without or not corpus.entries:
        raise VaultError(
            FileProblem.INVALID,
            f"{len(without):,} entries have no segment, the first is {without[0]}. Give each one in the file, in a table by "
            "a column named segment: gold_standard or held_out for what stays secret, development or diagnostic for what may be seen."
            if without
            else "This corpus has no entry.",
        )
    return dict(Counter(entry.segment for entry in corpus.entries if entry.segment is not None))


def corpus_named(state: VaultState, name: str) -> tuple[str, StoredCorpus]:
    """Return id and record of a corpus by its name or id; VaultError where none has it, or two."""
    matches = [(n, corpus) for n, corpus in state.head.corpora.items() if name in {corpus.name, n}]
    if len(matches) == 1:
        return matches[0]
    known = ", ".join(corpus.name for corpus in state.head.corpora.values()) or "none yet"
    many = "two corpora" if matches else "no corpus"
    raise VaultError(FileProblem.INVALID, f"The vault holds {many} {name!r}. There are: {known}.")
