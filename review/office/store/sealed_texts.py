"""Sentences of reviews as the office's file has them: those of secret reviews sealed, and opened in memory only.

They are sealed by age for this computer, and for the organisation where it has keys here; those of runs from a vault with
the key of the runs' corpus in the store, so that the vault alone opens them, anyone who its keepers are by then. What people
wrote about them is sealed with a key of each batch (``review.log.sealed_words``).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from corpora.files.problems import StoredValueError
from harness.core.failures import StoreError
from harness.core.storage_problems import storable
from harness.sealed.sealing import seal, unseal
from harness.sealed.strict_records import FileError, FileProblem
from harness.store.file.database import opened
from harness.store.file.keys_here import keys_here
from harness.store.file.sealing import CorpusSeal, StoreSealed
from harness.store.runs import find_by_id
from review.files.manifests import BatchItem, BatchManifest, SentenceContext
from review.log.sealed_words import SealedWords

Row = Sequence[str]
"""Item, source, candidate, and where the sentence stands."""
ReviewPlace = tuple[int, str]
"""Number of a review in the office's file, and id of its first batch."""


_NO_KEY = (
    "The sentences of this review are secret and sealed here, and no key of this computer opens them. Use the computer "
    "on which the review was made; what people answered is here all the same."
)
_DAMAGED = (
    "The sealed sentences of this review are damaged. Put back a copy of the data folder; what people answered is here all "
    "the same."
)

_OF_A_VAULT = (
    "The sentences of this review are from a vault, and are opened with it only: add --vault FOLDER and --purpose WORDS. What "
    "people answered, the gate and certificates need no vault."
)
_RUN_IS_GONE = (
    "Run {} is not in the store any more, and with the last run over its corpus went the key of the sentences of this review: "
    "nobody opens them again. What people answered is here all the same."
)
_STORE = "rosetta.sqlite"
"""Beside the office's file."""

_KEYS = (
    "organisation.key or computer.key, or their entries in its keyring; or take a file of ratings of this review in again "
    "with the recovery key (rosetta review import FILE --identity KEY)"
)


def words_here(connection: sqlite3.Connection, path: Path) -> SealedWords:
    """Return what seals and opens what people write in secret reviews, of the office's file at ``path``."""
    return SealedWords(connection, lambda: keys_here(path.parent), file=path.name, keys=_KEYS)


def add_keys(words: SealedWords, manifests: Iterable[bytes], recipients: Sequence[str]) -> None:
    """Seal what is written in batches, within the caller's transaction: for these recipients, and for who opens their ratings."""
    known = words.batches
    for manifest in map(BatchManifest.model_validate_json, manifests):
        if manifest.batch not in known:
            others = manifest.organisation.recipients
            words.add(manifest.batch, sorted({*others, *recipients}))


def _keep_texts(
    connection: sqlite3.Connection, recipients: Sequence[str], review: int, rows: Iterable[Row]
) -> None:
    """Seal the sentences of a review, within the caller's transaction."""
    told = json.dumps([[*row] for row in rows], ensure_ascii=False).encode()
    content = seal(told, recipients)
    connection.execute(
        "INSERT OR REPLACE INTO sealed_texts (review, content) VALUES (?, ?)", (review, content)
    )
    connection.execute("DELETE FROM item WHERE review = ?", (review,))


def _kept_texts(connection: sqlite3.Connection, folder: Path, review: int) -> list[Row] | None:
    """Open the sentences of a review; None where they are not sealed. StoreError in words where they are damaged, or no key available opens them."""
    sealed_row = connection.execute(
        "SELECT content FROM sealed_texts WHERE review = ?", (review,)
    ).fetchone()
    if sealed_row is None:
        return None
    try:
        rows: list[Row] = json.loads(unseal(sealed_row[0], keys_here(folder)))
    except FileError as error:
        raise StoreError(_NO_KEY if error.problem is FileProblem.WRONG_KEY else _DAMAGED) from None
    return rows


def _keep_vault_texts(
    connection: sqlite3.Connection,
    folder: Path,
    review: int,
    runs: Sequence[str],
    batch: str,
    rows: Iterable[Row],
) -> None:
    """Seal the sentences of a review of ``runs`` from a vault, within the caller's transaction; ``batch`` is its first one.

    StoreError in words where the vault is not open, or a run is gone.
    """
    with _vault_seal(folder, runs[0]) as sealing:
        content = sealing.seal(0, _what(batch), {"rows": [[*row] for row in rows]})
    connection.execute(
        "INSERT INTO vault_texts (review, runs, content) VALUES (?, ?, ?)",
        (review, " ".join(runs), content),
    )


def runs_out_of_vault(connection: sqlite3.Connection, review: int) -> tuple[str, ...]:
    """Return the ids of the runs from a vault whose sentences a review asks about; none of other reviews."""
    row = connection.execute("SELECT runs FROM vault_texts WHERE review = ?", (review,)).fetchone()
    return () if row is None else tuple(row[0].split())


def _kept_vault_texts(
    connection: sqlite3.Connection, folder: Path, review: int, batch: str
) -> list[Row] | None:
    """Open the sentences of a review of runs from a vault; None of any other review.

    StoreSealed in words where the vault is not open, StoreError where they are damaged or a run is gone.
    """
    row = connection.execute(
        "SELECT runs, content FROM vault_texts WHERE review = ?", (review,)
    ).fetchone()
    if row is None:
        return None
    try:
        with _vault_seal(folder, row[0].split()[0]) as sealing:
            rows: list[Row] = sealing.open(0, _what(batch), row[1])["rows"]
    except StoreSealed:
        raise StoreSealed(_OF_A_VAULT) from None
    except StoredValueError:
        raise StoreError(_DAMAGED) from None
    return rows


def _what(batch: str) -> str:
    return f"review {batch}"


@contextmanager
def _vault_seal(folder: Path, run_id: str) -> Iterator[CorpusSeal]:
    with opened(folder / _STORE) as store:
        run = find_by_id(store, run_id)
        if run is None:
            raise StoreError(_RUN_IS_GONE.format(run_id[:8]))
        yield CorpusSeal(store, run.corpus)


def keep_items(
    connection: sqlite3.Connection,
    folder: Path,
    review: ReviewPlace,
    texts: Iterable[BatchItem],
    recipients: Sequence[str],
    runs: Sequence[str],
) -> None:
    """Store the sentences of a review, within the caller's transaction; StoreError in words where their vault is not open.

    They are sealed where there are ``recipients``, and for a vault alone where ``runs`` are out of one. ``folder`` is that of the
    office's file.
    """
    rows = [
        (text.id, storable(text.source), storable(text.candidate), _around(text)) for text in texts
    ]
    number, batch = review
    if runs:
        _keep_vault_texts(connection, folder, number, runs, batch, rows)
    elif recipients:
        _keep_texts(connection, recipients, number, rows)
    else:
        connection.executemany(
            "INSERT INTO item (review, item, source, candidate, around) VALUES (?, ?, ?, ?, ?)",
            [(number, *row) for row in rows],
        )


def read_items(
    connection: sqlite3.Connection, folder: Path, review: ReviewPlace
) -> dict[str, BatchItem]:
    """Return item → what reviewers see of it; StoreError in words where no key available opens it, or it is damaged."""
    number, batch = review
    rows = _kept_vault_texts(connection, folder, number, batch)
    if rows is None:
        rows = _kept_texts(connection, folder, number)
    if rows is None:
        rows = connection.execute(
            "SELECT item, source, candidate, around FROM item WHERE review = ?", (number,)
        ).fetchall()
    return {
        item: BatchItem(id=item, source=source, candidate=candidate, **_read_around(around))
        for item, source, candidate, around in rows
    }


def _around(item: BatchItem) -> str:
    return "" if item.around is None else storable(item.around.model_dump_json())


def _read_around(kept: str) -> dict[str, SentenceContext]:
    return {"around": SentenceContext.model_validate_json(kept)} if kept else {}


def must_seal(connection: sqlite3.Connection) -> bool:
    """Return whether the file is of a version that left secret sentences, or what is written about them, open."""
    return connection.execute("SELECT 1 FROM unsealed").fetchone() is not None


def seal_older(
    connection: sqlite3.Connection, recipients: Sequence[str], secret: Iterable[int]
) -> None:
    """Seal the sentences that an older version left open of these reviews, within the caller's transaction."""
    for number in secret:
        rows = connection.execute(
            "SELECT item, source, candidate, around FROM item WHERE review = ?", (number,)
        ).fetchall()
        if rows:
            _keep_texts(connection, recipients, number, rows)
    connection.execute("DELETE FROM unsealed")
