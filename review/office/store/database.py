"""The office's file: reviews with the log of all laptops; sentences of secret reviews are sealed and opened in memory only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from corpora.files.problems import StoredValueError
from harness.core.failures import StoreError
from harness.core.storage import storable
from harness.sealed.sealing import seal, unseal
from harness.sealed.strict_records import FileError, FileProblem
from harness.store.runs import find_by_id
from harness.store.sqlite.database import BUSY_MILLISECONDS, opened
from harness.store.sqlite.sealing import CorpusSeal, StoreSealed, keys_here
from harness.store.sqlite.trouble import of_kind
from review.files.manifests import BatchItem, BatchManifest, SentenceContext
from review.log.event import erase
from review.log.own_file import FileForm, fingerprint, new_device, opening
from review.log.sealed_words import SealedWords, create_key_table
from review.log.table import NotSaved, create_event_table

FILE = "reviews.sqlite"
APPLICATION_ID = 0x524F5346  # Marks the file as an office's (`ROSF`)


def _m001(connection: sqlite3.Connection) -> None:
    create_event_table(connection)
    for statement in Path(__file__).with_name("first_tables.sql").read_text("utf-8").split(";\n"):
        connection.execute(statement)


def _m002(connection: sqlite3.Connection) -> None:
    """Record whose log a laptop continues with, and that the file is to be rewritten after a withdrawal."""
    connection.execute("ALTER TABLE laptop ADD COLUMN instead_of TEXT")
    connection.execute("CREATE TABLE unclean (one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT")


def _m003(connection: sqlite3.Connection) -> None:
    """Record the six words of a file that waits; of older ones they are not known until they come again."""
    connection.execute("ALTER TABLE quarantine ADD COLUMN phrase TEXT NOT NULL DEFAULT ''")


def _m_removed(connection: sqlite3.Connection) -> None:
    """Record since when a laptop is not heard any more, and why; NULL for those that are."""
    connection.execute("ALTER TABLE laptop ADD COLUMN removed TEXT")
    connection.execute("ALTER TABLE laptop ADD COLUMN reason TEXT NOT NULL DEFAULT ''")


def _m_signed(connection: sqlite3.Connection) -> None:
    """Store what was signed: the organisation's signature of each batch, and each manifest of a laptop."""
    connection.execute("ALTER TABLE batch ADD COLUMN signature BLOB NOT NULL DEFAULT x''")
    connection.execute(
        """CREATE TABLE signed (       -- manifests of laptops, as they came, of files that were imported
            number INTEGER PRIMARY KEY,
            sha256 TEXT NOT NULL UNIQUE,
            manifest BLOB NOT NULL,
            signature BLOB NOT NULL,
            devices TEXT NOT NULL  -- whose chains it signs, with blanks between
        ) STRICT"""
    )


def _m_witness(connection: sqlite3.Connection) -> None:
    """Store what witnesses signed of laptops."""
    connection.execute(
        """CREATE TABLE witness (      -- statements of people who saw a laptop
            laptop TEXT NOT NULL,
            witness TEXT NOT NULL,
            content BLOB NOT NULL,     -- the file, canonical JSON
            PRIMARY KEY (laptop, witness)
        ) STRICT"""
    )


def _m_people(connection: sqlite3.Connection) -> None:
    """Record who has which code, where the log names people by tags; other reviews have no such rows."""
    connection.execute(
        """CREATE TABLE person (
            review INTEGER NOT NULL REFERENCES review (number),
            person TEXT NOT NULL,
            code TEXT NOT NULL,
            PRIMARY KEY (review, person)
        ) STRICT"""
    )


def _m_around(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE item ADD COLUMN around TEXT NOT NULL DEFAULT ''")


def _m_sealed(connection: sqlite3.Connection) -> None:
    """Store the sentences of secret reviews sealed; those of before are sealed when the office is opened next."""
    connection.execute(
        """CREATE TABLE sealed_texts (
            review INTEGER PRIMARY KEY REFERENCES review (number),
            content BLOB NOT NULL      -- rows of item as JSON, sealed by age
        ) STRICT"""
    )
    connection.execute("CREATE TABLE unsealed (one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT")
    connection.execute("INSERT INTO unsealed SELECT 1 WHERE EXISTS (SELECT 1 FROM review)")


def _m_words(connection: sqlite3.Connection) -> None:
    """Store what is written in secret reviews sealed; that of before is sealed when the office is opened next."""
    create_key_table(connection)
    connection.execute("INSERT OR IGNORE INTO unsealed SELECT 1 WHERE EXISTS (SELECT 1 FROM review)")


def _m_vault(connection: sqlite3.Connection) -> None:
    """Store the sentences of runs from a vault under the key by which the store has them, so that only the vault opens them."""
    connection.execute(
        """CREATE TABLE vault_texts (
            review INTEGER PRIMARY KEY REFERENCES review (number),
            runs TEXT NOT NULL,        -- ids of the runs, with blanks between; the key is that of the first one's corpus
            content BLOB NOT NULL      -- rows of item as JSON, sealed
        ) STRICT"""
    )


# The form of the office's file
OFFICE = FileForm(
    APPLICATION_ID,
    (_m001, _m002, _m003, _m_removed, _m_signed, _m_witness, _m_people, _m_around, _m_sealed, _m_words, _m_vault),
)


def open_office(path: Path) -> sqlite3.Connection:
    """Open the office's file, making or upgrading it first where needed.

    Raises StoreError where the file is no office's, is damaged, cannot be written, or was written by a newer
    version.
    """
    try:
        with opening(path, OFFICE, BUSY_MILLISECONDS / 1000) as connection:
            # Start a chain of events where there is none yet, or where the file is a copy of another.
            mark = fingerprint(path)
            last = connection.execute("SELECT fingerprint FROM own_device ORDER BY rowid DESC LIMIT 1").fetchone()
            if last is None or last[0] != mark:
                connection.execute("INSERT INTO own_device VALUES (?, ?)", (new_device(), mark))
    except NotSaved as error:
        raise StoreError(f"{path} cannot be used: {error.words}.") from error
    rewrite(connection)
    return connection


def note_unclean(connection: sqlite3.Connection) -> None:
    """Record, within the caller's transaction, that something is taken back and the file is to be rewritten."""
    connection.execute("INSERT OR IGNORE INTO unclean VALUES (1)")


def is_unclean(connection: sqlite3.Connection) -> bool:
    """Return whether the file is still to be rewritten without what was taken back."""
    return connection.execute("SELECT 1 FROM unclean").fetchone() is not None


def rewrite(connection: sqlite3.Connection) -> None:
    """Rewrite the file without what was taken back, where that is due; tried again at the next opening.

    What was erased is overwritten already; rewriting needs free space that a full disk has not.
    """
    with suppress(sqlite3.Error):
        if is_unclean(connection):
            erase(connection)
            connection.execute("DELETE FROM unclean")


# ---- Sentences of reviews as the office's file has them: those of secret reviews sealed, and
# opened in memory only.
#
# They are sealed by age for this computer, and for the organisation where it has keys here; those
# of runs from a vault with the key of the runs' corpus in the store, so that the vault alone
# opens them, anyone who its keepers are by then. What people wrote about them is sealed with a
# key of each batch (``review.log.sealed_words``).

Row = Sequence[str]  # Item, source, candidate, and where the sentence stands
ReviewPlace = tuple[int, str]  # Number of a review in the office's file, and id of its first batch


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
_STORE = "rosetta.sqlite"  # Beside the office's file

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
            words.add(manifest.batch, sorted({*manifest.organisation.recipients, *recipients}))


def _keep_texts(connection: sqlite3.Connection, recipients: Sequence[str], review: int, rows: Iterable[Row]) -> None:
    """Seal the sentences of a review, within the caller's transaction."""
    content = seal(json.dumps([[*row] for row in rows], ensure_ascii=False).encode(), recipients)
    connection.execute("INSERT OR REPLACE INTO sealed_texts (review, content) VALUES (?, ?)", (review, content))
    connection.execute("DELETE FROM item WHERE review = ?", (review,))


def _kept_texts(connection: sqlite3.Connection, folder: Path, review: int) -> list[Row] | None:
    """Open the sentences of a review; None where they are not sealed. StoreError in words where they are damaged, or no key available opens them."""
    sealed_row = connection.execute("SELECT content FROM sealed_texts WHERE review = ?", (review,)).fetchone()
    if sealed_row is None:
        return None
    try:
        rows: list[Row] = json.loads(unseal(sealed_row[0], keys_here(folder)))
    except FileError as error:
        raise StoreError(_NO_KEY if error.problem is FileProblem.WRONG_KEY else _DAMAGED) from None
    return rows


def runs_out_of_vault(connection: sqlite3.Connection, review: int) -> tuple[str, ...]:
    """Return the ids of the runs from a vault whose sentences a review asks about; none of other reviews."""
    row = connection.execute("SELECT runs FROM vault_texts WHERE review = ?", (review,)).fetchone()
    return () if row is None else tuple(row[0].split())


def _kept_vault_texts(connection: sqlite3.Connection, folder: Path, review: int, batch: str) -> list[Row] | None:
    """Open the sentences of a review of runs from a vault; None of any other review.

    StoreSealed in words where the vault is not open, StoreError where they are damaged or a run is gone.
    """
    row = connection.execute("SELECT runs, content FROM vault_texts WHERE review = ?", (review,)).fetchone()
    if row is None:
        return None
    try:
        with _vault_seal(folder, row[0].split()[0]) as sealing:
            rows: list[Row] = of_kind(sealing.open(0, f"review {batch}", row[1])["rows"], list)
    except StoreSealed:
        raise StoreSealed(_OF_A_VAULT) from None
    except StoredValueError:
        raise StoreError(_DAMAGED) from None
    return rows


@contextmanager
def _vault_seal(folder: Path, run_id: str) -> Iterator[CorpusSeal]:
    with opened(folder / _STORE) as store:
        if (run := find_by_id(store, run_id)) is None:
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
    number, batch = review
    rows = []
    for text in texts:
        around = "" if text.around is None else storable(text.around.model_dump_json())
        rows.append((text.id, storable(text.source), storable(text.candidate), around))
    if runs:
        with _vault_seal(folder, runs[0]) as sealing:
            content = sealing.seal(0, f"review {batch}", {"rows": [[*row] for row in rows]})
        connection.execute(
            "INSERT INTO vault_texts (review, runs, content) VALUES (?, ?, ?)", (number, " ".join(runs), content)
        )
    elif recipients:
        _keep_texts(connection, recipients, number, rows)
    else:
        connection.executemany(
            "INSERT INTO item (review, item, source, candidate, around) VALUES (?, ?, ?, ?, ?)",
            [(number, *row) for row in rows],
        )


def read_items(connection: sqlite3.Connection, folder: Path, review: ReviewPlace) -> dict[str, BatchItem]:
    """Return item → what reviewers see of it; StoreError in words where no key available opens it, or it is damaged."""
    number, batch = review
    if (rows := _kept_vault_texts(connection, folder, number, batch)) is None:
        rows = _kept_texts(connection, folder, number)
    if rows is None:
        rows = _open_texts(connection, number)
    return {
        item: BatchItem(
            id=item,
            source=source,
            candidate=candidate,
            **{"around": SentenceContext.model_validate_json(around)} if around else {},
        )
        for item, source, candidate, around in rows
    }


def must_seal(connection: sqlite3.Connection) -> bool:
    """Return whether the file is of a version that left secret sentences, or what is written about them, open."""
    return connection.execute("SELECT 1 FROM unsealed").fetchone() is not None


def seal_older(connection: sqlite3.Connection, recipients: Sequence[str], secret: Iterable[int]) -> None:
    """Seal the sentences that an older version left open of these reviews, within the caller's transaction."""
    for number in secret:
        if rows := _open_texts(connection, number):
            _keep_texts(connection, recipients, number, rows)
    connection.execute("DELETE FROM unsealed")


def _open_texts(connection: sqlite3.Connection, review: int) -> list[Row]:
    columns = "SELECT item, source, candidate, around FROM item WHERE review = ?"
    return connection.execute(columns, (review,)).fetchall()
