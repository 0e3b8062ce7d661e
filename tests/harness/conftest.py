"""A scripted endpoint and a data folder of its own for every test of the harness."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.store.file.database import open_store
from tests.harness.scripted import Scripted, serving


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


PRICES = """
source = "made for this test"
[[price]]
provider = "127.0.0.1"
model = "mock"
as_of = 2026-01-01
input_per_million = 100.0
output_per_million = 1000.0
"""


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(PRICES, "utf-8")
    return path
