"""What the store holds of secret entries lies sealed, bound to its place, and opens only for those it was sealed for."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpora.files.problems import StoredValueError
from corpora.model.corpus import Corpus, OutOfVault
from corpora.model.entry import Entry
from harness.core.failures import ErrorClass, KeyStoreError, StoreError
from harness.method.method import Attempt, Result
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from harness.store.annotations import AnnotationRow, keep_annotations, read_annotations
from harness.store.corpora.entries import read_entries, save_corpus
from harness.store.corpora.listing import ENTRY_SORTS, corpus_positions
from harness.store.deletion import erase
from harness.store.file import sealing
from harness.store.file.copies import copied
from harness.store.file.database import open_store
from harness.store.file.examination import damaged
from harness.store.file.sealing import DIGEST_KEY, StoreSealed, also_open_with, forget_keys
from harness.store.file.transaction import transaction
from harness.store.ordering import FILTERS, SORTS, Ordering
from harness.store.results import add_results, read_attempts, read_results, results_after
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from tests.harness.evaluation import begun, corpus_of, run_corpus
from tests.harness.run.breaking_plan import CHEAP as PLAN
from tests.harness.store.stored_rows import make_run, result

CANARY = "kanario"
TEXTS = ["zorgo", "", "abato", "Zorgo", "ĉielo", "abato", "\U0001f9ed", "a\x00b"]


def entries(segment: str) -> list[Entry]:
    """Make entries with a canary in every field but the id."""
    return [
        Entry.model_validate(
            {"id": n, "source": f"{text} {CANARY}", "reference": f"{CANARY} {text}", "segment": segment,
             "variants": [f"{CANARY} v"], "notes": CANARY, "provenance": CANARY, "register": CANARY,
             "context": CANARY, "variety": CANARY, "morphological_analysis": CANARY,
             "record": {"said": [CANARY]}, "difficulty": 1 + n % 5}
        )
        for n, text in enumerate(TEXTS)
    ]  # fmt: skip


def rows(made: list[Entry]) -> list[tuple[Result, list[Attempt]]]:
    said = [
        Attempt(None, 500, 0.5, error_class=ErrorClass.SERVER, error=f"said {CANARY}"),
        Attempt(None, 200, 0.25, note=f"{CANARY} again"),
    ]

    def row(place: int, output: str | None = None, **more: object) -> Result:
        return result(place, made[place], output, statistics=b"\x90", **more)

    return [
        (row(0, f"{CANARY} out", raw=f"{CANARY} raw"), said),
        (row(1, error_class=ErrorClass.METHOD, error=f"{CANARY} broke"), said[:1]),
        (row(2, ""), []),
        *((row(n, f"{TEXTS[n]} {CANARY}"), []) for n in (3, 4, 5, 7)),
    ]


def filled(store: sqlite3.Connection, segment: str = "gold_standard") -> int:
    made = entries(segment)
    number = make_run(store, made, run_id=f"{segment}-run")
    with transaction(store):
        add_results(store, number, rows(made))
        keep_annotations(
            store, number,
            [AnnotationRow(0, "judge", "maker", {"score": 0.5, "reason": CANARY},
                           attempts=(Attempt(None, 500, error=CANARY),)),
             AnnotationRow(None, "judge", "maker", calls=2)],
        )  # fmt: skip
    return number


@pytest.fixture
def store(store_path: Path) -> Iterator[sqlite3.Connection]:
    forget_keys()  # else a key would be at hand that another computer has not
    with closing(open_store(store_path)) as connection:
        yield connection


def files_with(path: Path, text: str) -> list[str]:
    """Name the files of the data folder that hold a text, or its beginning in another case."""
    found = [each for each in path.parent.rglob("*") if each.is_file()]
    assert path in found
    return [each.name for each in found if text.encode() in each.read_bytes()]


def test_secret_entry_can_be_read_in_no_file(store_path: Path, store: sqlite3.Connection) -> None:
    number = filled(store)
    assert files_with(store_path, CANARY) == []
    assert read_entries(store, 1) == dict(enumerate(entries("gold_standard")))
    found = list(read_results(store, number))
    assert found == [row for row, _ in rows(entries("gold_standard"))]
    assert [row for _, row in results_after(store, number, 0)] == found
    assert read_attempts(store, number, 0) == rows(entries("gold_standard"))[0][1]
    assert read_attempts(store, number, 2) == []
    together, alone = read_annotations(store, number)
    assert (together.position, together.value) == (None, None)
    assert alone.value == {"score": 0.5, "reason": CANARY}
    assert alone.attempts == (Attempt(None, 500, error=CANARY),)
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert files_with(store_path, CANARY) == []
    assert not damaged(store)


def test_sealed_rows_are_sorted_as_open_ones(store: sqlite3.Connection) -> None:
    open_, secret = Ordering(filled(store, "development")), Ordering(filled(store))
    for sort in SORTS:
        for descending in (False, True):
            for narrow in FILTERS:
                for search in ("", "ZORGO", "out", "7") if descending else ("", "abato", "nowhere"):
                    asked: dict[str, Any] = {"sort": sort, "narrow": narrow, "search": search}
                    asked["descending"] = descending
                    first, second = (each.positions(store, **asked) for each in (open_, secret))
                    assert first.tolist() == second.tolist(), asked
    for sort in ENTRY_SORTS:
        for search in ("", "abato", f"{CANARY} Z"):
            asked = {"sort": sort, "search": search, "descending": True}
            found = [corpus_positions(store, number, **asked) for number in (1, 2)]
            if sort not in {"provenance", "register"}:  # of secret entries no free tag lies open
                assert found[0] == found[1], asked


CHANGES = (
    "UPDATE entries SET sealed = (SELECT sealed FROM entries WHERE position = 1) WHERE position = 0",
    "UPDATE results SET sealed = (SELECT sealed FROM results WHERE position = 1) WHERE position = 0",
    "UPDATE results SET sealed = (SELECT sealed FROM entries WHERE position = 0) WHERE position = 0",
    "UPDATE entries SET sealed = substr(sealed, 1, length(sealed) - 1) WHERE position = 0",
    "UPDATE results SET sealed = CAST(substr(sealed, 1, 40) || x'00' || substr(sealed, 42) AS BLOB)",
    "UPDATE corpus_keys SET place = '0123456789abcdef'",
    "UPDATE entries SET position = 70 WHERE position = 7; UPDATE entries SET position = 7 WHERE position = 6",
    "DELETE FROM corpus_keys",
)


def test_changed_or_moved_text_does_not_open(store: sqlite3.Connection) -> None:
    number = filled(store)
    store.execute("PRAGMA foreign_keys = OFF")
    for change in CHANGES:
        store.execute("BEGIN")
        for statement in change.split(";"):
            store.execute(statement)
        with pytest.raises(StoredValueError):
            _ = read_entries(store, 1), list(read_results(store, number))
        store.execute("ROLLBACK")
    assert list(read_results(store, number))


def test_text_without_its_mark_of_secrecy_stays_shut(store: sqlite3.Connection) -> None:
    """Opened as an open one, it could be sent away."""
    filled(store)
    local = corpus_of([Entry(id=1, source=CANARY, reference=CANARY, local_only=True)])
    with transaction(store):
        number = save_corpus(store, local)
    store.execute("UPDATE entries SET segment = 'development' WHERE corpus = 1")
    assert all(each.secret for each in read_entries(store, 1).values())
    with pytest.raises(StoredValueError):  # the envelope never said it, or says it no more
        read_entries(store, number)


def test_another_computer_opens_no_text(store_path: Path, store: sqlite3.Connection) -> None:
    number = filled(store)
    store.close()
    (store_path.parent / "computer.key").unlink()
    forget_keys()
    with closing(open_store(store_path)) as other:
        for read in (lambda: read_entries(other, 1), lambda: list(read_results(other, number))):
            with pytest.raises(StoreSealed, match=r"no key in .* opens them.*runs delete --now"):
                read()
        assert not (store_path.parent / "computer.key").exists()
        [run] = list_runs(other)
        assert (run.done, run.failed) == (7, 1)
        erase(other, find_run(other, run.run_id))
        assert other.execute("SELECT count(*) FROM corpus_keys").fetchone() == (0,)
        assert other.execute("SELECT count(*) FROM entries").fetchone() == (0,)


def test_damaged_keys_are_refused(store_path: Path, store: sqlite3.Connection) -> None:
    filled(store)
    (store_path.parent / "computer.key").write_text("nothing")
    forget_keys()
    with pytest.raises(KeyStoreError, match="computer"):
        read_entries(store, 1)
    with pytest.raises(KeyStoreError, match="computer"), transaction(store):
        save_corpus(store, corpus_of(entries("held_out")))


def of_vault(*keepers: AgeIdentity) -> Corpus:
    recipients = tuple(each.recipient for each in keepers)
    return replace(corpus_of(entries("gold_standard")), vault=OutOfVault(recipients, ""))


def test_vault_corpus_opens_for_keepers(store_path: Path, store: sqlite3.Connection) -> None:
    first, second = Identity.load(store_path.parent, Role.KEEPER).age, AgeIdentity.make()
    with transaction(store):
        number = save_corpus(store, of_vault(first, second))
    assert read_entries(store, number) == dict(enumerate(entries("gold_standard")))
    (store_path.parent / "keeper.key").rename(store_path.parent / "elsewhere")
    forget_keys()
    Identity.load(store_path.parent, Role.COMPUTER)
    with pytest.raises(StoreSealed):
        read_entries(store, number)
    forget_keys()
    also_open_with([second])
    assert read_entries(store, number)
    with transaction(store):  # the second keeper uses it again, when the first has left
        assert save_corpus(store, of_vault(second)) == number
    assert read_entries(store, number)
    (store_path.parent / "elsewhere").rename(store_path.parent / "keeper.key")
    forget_keys()
    forget_keys()
    with pytest.raises(StoreSealed):
        read_entries(store, number)


def test_copy_opens_with_the_keys(store_path: Path, store: sqlite3.Connection) -> None:
    filled(store)
    copy = copied(store_path, store_path.with_name(f"{store_path.name}-wal"))
    shutil.copy(store_path, copy)
    forget_keys()
    with closing(open_store(copy)) as read:
        assert len(read_entries(read, 1)) == len(TEXTS)


def test_key_of_digests_is_sealed(store_path: Path) -> None:
    corpus = corpus_of([Entry.model_validate(
        {"id": 1, "source": "unu", "reference": "one", "segment": "gold_standard"})])  # fmt: skip
    store_path.parent.mkdir(mode=0o700)
    (store_path.parent / DIGEST_KEY).write_bytes(b"k" * 32)
    run_corpus(store_path, corpus, PLAN)
    content = (store_path.parent / DIGEST_KEY).read_bytes()
    assert content.startswith(b"age-encryption.org/v1")
    assert b"k" * 32 not in content
    assert sealing.digest_key(store_path.parent) == b"k" * 32
    (store_path.parent / DIGEST_KEY).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(StoreError, match="is damaged"):
        begun(store_path, corpus, PLAN)


def test_key_is_made_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))  # as of FAT and exFAT

    monkeypatch.setattr(os, "link", refused)
    first = sealing.digest_key(tmp_path)
    assert (len(first), sealing.digest_key(tmp_path)) == (32, first)
