"""``rosetta runs`` on a store in a home of the test's own."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.card.checking.sealing import seal
from harness.store.file.database import open_store
from rosetta_tui.commands.runs import runs
from tests.harness.card import factory


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    opened = open_store()
    yield opened
    opened.close()


@pytest.fixture
def number(connection: sqlite3.Connection) -> int:
    """Return a sealed run."""
    number = factory.add_run(connection)
    seal(connection, number)
    return number


def rosetta_runs(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(runs, arguments, input=text)


def harmless(text: str) -> bool:
    return all(c in "\n\u200c\u200d" or unicodedata.category(c) not in {"Cc", "Cf"} for c in text)
