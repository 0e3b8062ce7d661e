"""Certificates beside runs: kept with their run, gone with it, and in stores of older versions too."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlite_utils import Database

from harness.store.certificates import (
    Attached,
    attach_certificate,
    attached_by_run,
    attached_to,
    detach_certificates,
)
from harness.store.deletion import delete_run
from harness.store.file.database import SCHEMA_VERSION, open_store
from harness.store.file.migrations import migrations
from harness.store.runs import list_runs
from tests.harness.card import factory

ONE = Attached(b'{"one":1}', b"s" * 64, "aa" * 32)
TWO = Attached(b'{"two":2}', b"t" * 64, "bb" * 32)


def test_what_is_attached_is_kept_once(store_path: Path) -> None:
    with closing(open_store(store_path)) as connection:
        number = factory.add_run(connection)
        for each in (ONE, TWO, ONE):
            attach_certificate(connection, number, each)
        assert attached_to(connection, number) == (ONE, TWO)
        assert attached_to(connection, number + 1) == ()
        assert attached_by_run(connection) == {number: (ONE, TWO)}
        assert list_runs(connection)[0].certificates == (ONE, TWO)
        assert detach_certificates(connection, number) == 2
        assert detach_certificates(connection, number) == 0
        assert list_runs(connection)[0].certificates == ()


def test_who_deletes_a_run_deletes_its_certificates(store_path: Path) -> None:
    with closing(open_store(store_path)) as connection:
        number = factory.add_run(connection)
        attach_certificate(connection, number, ONE)
        delete_run(connection, number)
        assert attached_by_run(connection) == {}
    everything = b"".join(f.read_bytes() for f in store_path.parent.iterdir() if f.is_file())
    assert ONE.certificate not in everything


def test_rows_of_a_wrong_type_count_as_absent(store_path: Path) -> None:
    with closing(open_store(store_path)) as connection:
        number = factory.add_run(connection)
        attach_certificate(connection, number, ONE)
        connection.execute("UPDATE certificates SET certificate = 'text'")
        assert attached_to(connection, number) == ()


def test_a_store_of_the_version_before_gets_the_table(store_path: Path) -> None:
    store_path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(store_path)) as connection:
        migrations.apply(Database(connection), stop_before="m005_certificates")
        connection.execute("PRAGMA user_version = 4")
        connection.commit()
    with closing(open_store(store_path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
        number = factory.add_run(connection)
        attach_certificate(connection, number, ONE)
        assert attached_to(connection, number) == (ONE,)
