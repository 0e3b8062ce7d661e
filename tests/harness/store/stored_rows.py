"""Runs and rows to store."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from typing import Any

from corpora.model.entry import Entry
from harness.method.method import MethodClass, Result, Setup
from harness.store.corpora.entries import save_corpus
from harness.store.results import add_results
from harness.store.runs import create_run
from harness.store.sqlite.openings import RunOpening
from harness.store.sqlite.schema import create_schema
from tests.harness.evaluation import corpus_of

SETUP = Setup(
    method="chat", method_class=MethodClass.RAW_LLM, method_version="1", model_slug="m",
    condition="c",
)  # fmt: skip


@cache
def empty_store() -> bytes:
    """Return a store without rows as the bytes of its file."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_schema(connection)
        return connection.serialize()


@contextmanager
def in_memory() -> Iterator[sqlite3.Connection]:
    """Yield an empty store that lies in no file until the block ends."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(empty_store())
        yield connection


def make_run(
    connection: sqlite3.Connection,
    entries: list[Entry],
    run_id: str = "11111111-aaaa",
    positions: list[int] | None = None,
    created: float = 1.0,
) -> int:
    connection.execute("BEGIN IMMEDIATE")
    number = create_run(
        connection, run_id=run_id, corpus=save_corpus(connection, corpus_of(entries)),
        positions=range(len(entries)) if positions is None else positions, setup=SETUP,
        setup_hash="s", fingerprint_hash="f", plan={}, opening=RunOpening(), dataset_id="made",
        language_pair="EN→EO", harness_version="0", created=created,
    )  # fmt: skip
    connection.execute("COMMIT")
    return number


def result(position: int, entry: Entry, output: str | None = "out", **more: Any) -> Result:
    fields: dict[str, Any] = {"statistics": b"s", "headline": 50.0, "exact": False, "second": 0.5}
    return Result(position, entry.id, output, **(fields | more))


def add(connection: sqlite3.Connection, run: int, *rows: Result) -> None:
    connection.execute("BEGIN IMMEDIATE")
    add_results(connection, run, rows)
    connection.execute("COMMIT")
