"""Keeping what both sides said: two programs at once, and a word whose file could not be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role
from harness.store.file.database import open_store
from harness.store.signed_records import signed_file
from review.records import agreeing
from review.records.ownership import (
    Deed,
    OwnershipRecord,
    OwnershipState,
    propose,
    read_ownership,
    say,
)
from tests.review.records.made import ANN, US, terms


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_store(tmp_path / "rosetta.sqlite")) as connection:
        yield connection


def kept(store: sqlite3.Connection, record: OwnershipRecord) -> OwnershipRecord:
    data = signed_file(store, record.terms.id)
    assert data is not None
    return read_ownership(data)


def _answer(store: sqlite3.Connection, record: OwnershipRecord, home: Path) -> None:
    agreeing.answer(store, record.data(), Deed.SIGNED, home)


def _take(store: sqlite3.Connection, record: OwnershipRecord, home: Path) -> None:
    agreeing.take(store, record.data(), home, US.public.signing_key)


@pytest.mark.parametrize("work", [_answer, _take])
def test_a_revocation_that_is_kept_in_between_is_not_lost(
    store: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    work: Callable[[sqlite3.Connection, OwnershipRecord, Path], None],
) -> None:  # fmt: skip
    """Another program keeps a revocation just after this one read what is kept: it has to wait, and its word stays."""
    mine = Identity.load(tmp_path, Role.COMPUTER)
    proposed = propose(terms(mine), US)
    revoked = say(say(proposed, Deed.SIGNED, US), Deed.REVOKED, US, "misused")
    agreeing.keep(store, proposed)
    with_kept = agreeing.with_kept
    waits: list[bool] = []

    def read_while_another_writes(
        connection: sqlite3.Connection, record: OwnershipRecord
    ) -> OwnershipRecord:
        found = with_kept(connection, record)
        with closing(
            sqlite3.connect(tmp_path / "rosetta.sqlite", timeout=0, isolation_level=None)
        ) as two:
            try:
                agreeing.keep(two, revoked)
            except sqlite3.OperationalError:
                waits.append(True)
        return found

    monkeypatch.setattr(agreeing, "with_kept", read_while_another_writes)
    work(store, proposed, tmp_path)
    monkeypatch.undo()
    if waits:
        agreeing.take(store, revoked.data(), tmp_path, US.public.signing_key)
    assert kept(store, proposed).state is OwnershipState.REVOKED


def test_a_word_whose_file_was_not_written_is_given_again(
    store: sqlite3.Connection, tmp_path: Path
) -> None:
    mine = Identity.load(tmp_path, Role.COMPUTER)
    proposed = propose(terms(mine), US)
    first = agreeing.answer(store, proposed.data(), Deed.SIGNED, tmp_path)
    again = agreeing.answer(store, proposed.data(), Deed.SIGNED, tmp_path)
    assert again.data() == first.data() == kept(store, proposed).data()
    with pytest.raises(UsageError, match="already"):
        agreeing.answer(store, first.data(), Deed.SIGNED, tmp_path)
    with pytest.raises(UsageError, match="No key of this computer"):
        agreeing.answer(store, propose(terms(ANN), US).data(), Deed.SIGNED, tmp_path)
