"""A store that is damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.harness.evaluation import corpus, run_corpus
from tests.harness.run.breaking_plan import CHEAP as PLAN


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("whole") / "rosetta.sqlite"
    run_corpus(store, corpus(3), PLAN)
    return store


@pytest.fixture
def path(whole: Path, store_path: Path) -> Path:
    store_path.parent.mkdir(mode=0o700)
    return Path(shutil.copy(whole, store_path))


def damage(path: Path) -> None:
    """Overwrite the table of runs."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'runs'").fetchone()[0]
        size = raw.execute("PRAGMA page_size").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(os.urandom(size))
