"""A fresh store for each test of the cards."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.card import factory


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with factory.store(tmp_path) as opened:
        yield opened
