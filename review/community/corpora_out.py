"""What an export has of corpora: those of the store, files, and a vault, sealed as it is or opened on explicit wish."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corpora.files.decode import open_regular
from corpora.formats.encode import encode
from corpora.formats.load import load
from corpora.model.corpus import Corpus, Form
from corpora.model.entry import Segment
from corpora.model.sidecar import marks_beside
from corpora.text.spreadsheet import guarded
from harness.consent.opening import with_consent
from harness.consent.withdrawals_in_force import Withdrawals
from harness.core.failures import UsageError
from harness.sealed.keys import Identity
from harness.store.corpora.entries import read_dataset
from harness.store.corpora.listing import PREFIX, CorpusSummary, list_corpora, read_corpus_of_run
from harness.vault.folder import copy_to
from harness.vault.opening import VaultOpening, corpus_of
from harness.vault.sealed_corpus import UnsealedCorpus
from harness.vault.vault import Vault
from harness.vault.work import VaultWork
from review.community.folder import OutFile, plain_name


@dataclass(frozen=True)
class OwnCorpus:
    """A corpus that belongs to the community."""

    id: str
    sha256: str
    number: int | None
    """The store's own; None where only a file has it."""
    runs: tuple[str, ...]
    file: Path | None = None
    corpus: Corpus | None = None
    """As it was read from its file."""


def choose(connection: sqlite3.Connection, names: Iterable[str]) -> list[OwnCorpus]:
    """Find corpora by file, id, or ``store:`` and the beginning of a hash; all versions of an id.

    Raises UsageError that names what there is, CorpusError for a file that cannot be read.
    """
    stored = list_corpora(connection, withdrawn=True)
    own_corpora: dict[str, OwnCorpus] = {}
    for name in names:
        path = Path(name)
        corpus = load(path) if path.is_file() else None
        fitting = [each for each in stored if _is(each, name, corpus)]
        if corpus is None and not fitting:
            known = ", ".join(sorted({each.dataset.id for each in stored})) or "none yet"
            raise UsageError(
                f"There is no corpus {name!r}, as a file or in the store. There are: {known}."
            )
        for corpus_summary in fitting:
            own_corpora[corpus_summary.sha256] = OwnCorpus(
                corpus_summary.dataset.id,
                corpus_summary.sha256,
                None if corpus_summary.partial else corpus_summary.number,
                corpus_summary.runs,
            )
        if corpus is not None:
            known_runs = own_corpora.get(corpus.sha256)
            runs = () if known_runs is None else known_runs.runs
            own_corpora[corpus.sha256] = OwnCorpus(
                corpus.dataset.id, corpus.sha256, None, runs, path, corpus
            )
    return list(own_corpora.values())


def _is(stored: CorpusSummary, name: str, corpus: Corpus | None) -> bool:
    if corpus is not None:
        return stored.sha256 == corpus.sha256
    if name.startswith(PREFIX):
        return len(name) >= len(PREFIX) + 6 and stored.sha256.startswith(name.removeprefix(PREFIX))
    return stored.dataset.id == name


def corpus_files(
    connection: sqlite3.Connection,
    chosen: OwnCorpus,
    now: Withdrawals,
    *,
    open_secrets: bool,
    left_out: list[str],
) -> Iterator[OutFile]:
    """Yield the files of one corpus: JSON of the benchmark specification and a table; a file's own bytes too."""
    whole = _whole(connection, chosen)
    if isinstance(whole, str):
        left_out.append(f"corpus {chosen.id}: {whole}")
        return
    try:
        agreed = with_consent(whole, now).entries
    except UsageError as error:
        left_out.append(f"corpus {chosen.id}: {error}")
        return
    there = [entry for entry in agreed if not entry.not_stored]
    kept = tuple(entry for entry in there if open_secrets or not entry.secret)
    for count, why in (
        (len(whole.entries) - len(agreed), "entries for which consent was withdrawn"),
        (
            len(agreed) - len(there),
            "entries whose texts the store never had, or does not open here",
        ),
        (len(there) - len(kept), "secret entries (--open-secrets)"),
    ):
        if count:
            left_out.append(f"corpus {chosen.id}: {count:,} {why}")
    name = f"corpora/{plain_name(chosen.id)}-{chosen.sha256[:12]}"
    if chosen.file is not None and len(kept) == len(whole.entries):
        yield from _own_files(chosen.file, name)
    if kept:
        corpus = replace(whole, entries=kept)
        for form, suffix in ((Form.SPECIFICATION, "json"), (Form.TSV, "tsv")):
            yield OutFile(f"{name}.{suffix}", encode(corpus, form)[0].encode())


def _whole(connection: sqlite3.Connection, chosen: OwnCorpus) -> Corpus | str:
    """Return a corpus with what is available of its texts, or say why none of it goes out; one of a vault is not opened."""
    if chosen.corpus is not None:
        return chosen.corpus
    if chosen.number is None:
        return "only cards from elsewhere tell of it; its texts are in their rows"
    if read_dataset(connection, chosen.number).opened_from is not None:
        return "it is in a vault, which goes along where it is named (--vault)"
    return read_corpus_of_run(connection, chosen.number, to_show=True)


def _own_files(file: Path, folder: str) -> Iterator[OutFile]:
    """Yield the file of a corpus as it is, and the terms next to it."""
    for path in (file, *marks_beside(file)):
        yield OutFile(f"{folder}/{plain_name(path.name)}", _bytes(path))


def table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Write a table: tabs between cells, quotation marks where needed; texts that would run as formulas are guarded."""
    file = io.StringIO(newline="")
    made = csv.DictWriter(file, columns, dialect="excel-tab", lineterminator="\n")
    made.writeheader()
    made.writerows(
        {name: guarded(value) if isinstance(value, str) else value for name, value in row.items()}
        for row in rows
    )
    return file.getvalue().encode()


def sealed_vault(vault: Vault, target: Path, purpose: str, keeper: Identity | None) -> list[str]:
    """Copy a vault, sealed as it is, into a new folder; gives the names of its files.

    With the keys of one of its keepers its log has the copy first. Without them the copy is as good, and no line tells
    of it.
    """
    if keeper is None or keeper.public.signing_key not in vault.read().keepers:
        copy_to(vault.read(), target)
    else:
        vault.export(target, purpose, keeper)
    (target / "vault.lock").unlink(missing_ok=True)
    return sorted(path.name for path in target.iterdir())


def opened_vault(
    vault: Vault, purpose: str, keeper: Identity, now: Withdrawals, left_out: list[str]
) -> Iterator[OutFile]:
    """Open every corpus of a vault but its ``held_out`` entries, each with a line of the log first, and yield it as JSON.

    A vault that several keepers open together stays closed, which ``left_out`` says.
    """
    state = vault.read()
    if state.split is not None:
        left_out.append(
            "vault: what is in it, openly, for it asks for several keepers together; its sealed copy has all of it"
        )
        return
    for number, stored in state.head.corpora.items():
        shut = stored.entries.get(Segment.HELD_OUT, 0)
        if shut:
            left_out.append(
                f"vault, corpus {stored.name!r}: {shut:,} entries of held_out, which are in its sealed copy alone"
            )
        if shut == sum(stored.entries.values()):
            continue
        opened = VaultOpening(vault, keeper, purpose, VaultWork.EXPORT).unsealed(number)
        whole = corpus_of(opened)
        try:
            agreed = {entry.id for entry in with_consent(whole, now).entries}
        except UsageError as error:
            left_out.append(f"vault: {error}")
            continue
        if gone := len(whole.entries) - len(agreed):
            left_out.append(
                f"vault, corpus {stored.name!r}: {gone:,} entries for which consent was withdrawn"
            )
        yield OutFile(f"corpora/vault-{number}.json", _opened(opened, agreed))


def _opened(opened: UnsealedCorpus, agreed: Collection[int | str]) -> bytes:
    """Return the entries with these ids, with all their fields, in their order in the corpus."""
    metadata = json.loads(opened.envelope.reveal())
    entries = []
    for entry in opened.entries:
        fields = json.loads(entry.rest.reveal())
        if fields["id"] not in agreed:
            continue
        place = fields.pop("place")
        texts = {"source": entry.source.reveal(), "reference": entry.reference.reveal()}
        entries.append(
            (
                place[0] if isinstance(place, list) else place,
                fields | texts | {"segment": entry.segment},
            )
        )
    made = {
        "dataset": metadata.get("dataset", metadata),
        "entries": [entry for _, entry in sorted(entries, key=lambda e: e[0])],
    }
    return f"{json.dumps(made, ensure_ascii=False, indent=2)}\n".encode()


def _bytes(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
