"""What a vault keeps of each corpus: its data key, opened by one keeper or several together, and its sealed texts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from harness.sealed.keys import Identity
from harness.sealed.strict_records import FileProblem
from harness.vault.data_key import DataKey
from harness.vault.folder import VaultState
from harness.vault.log import VaultError
from harness.vault.records import Counts, Keeper, SmallestTold, StoredCorpus
from harness.vault.sealed_corpus import SealedCorpus
from harness.vault.shares.dealing import check_opener
from harness.vault.shares.split import OpeningKey


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


def refuse_known(
    state: VaultState, corpus: Corpus, identity: Identity, opener: OpeningKey | None
) -> None:
    """Refuse a corpus of which a text is in the vault already, where another segment might open it."""
    for number, stored in state.head.corpora.items():
        key = opened_key(state, stored, identity, opener)
        known = {entry.digest for entry in sealed_texts(state, number, stored).entries}
        same_ids = [entry.id for entry in corpus.entries if key.digest(entry.source).hex() in known]
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
    stored = StoredCorpus(
        name=name,
        entries=sealed.counts,
        key=sha256_of(opener),
        texts=sealed.sha256,
        **({"tells": dict(tells)} if tells else {}),
    )
    return stored, {stored.key: opener, stored.texts: texts}


def sha256_of(data: bytes) -> str:
    """Return the name of a file by its bytes."""
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
