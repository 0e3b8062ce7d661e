"""A scripted endpoint and a data folder of its own for every test of the harness."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.store.file.database import open_store
from tests.harness.scripted import Scripted, price_table, serving


@pytest.fixture
def endpoint() -> Iterator[Scripted]:
    with serving() as scripted:
        yield scripted


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "rosetta.sqlite"


@pytest.fixture
def connection(store_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_store(store_path)) as opened:
        yield opened


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    return price_table(tmp_path, {"mock": (100.0, 1000.0)})
