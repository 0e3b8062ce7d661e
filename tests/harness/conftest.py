"""A scripted endpoint and a data folder of its own for every test of the harness, and stores that cost little to make."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.store.corpora import listing
from harness.store.sqlite import database
from harness.store.sqlite.database import open_store
from harness.store.sqlite.schema import create_schema
from tests.harness.evaluation import chat_plan, corpus, run_corpus
from tests.harness.run.made import ScoredDemo, scored_demo
from tests.harness.scripted import price_table, serving


@pytest.fixture(scope="session", autouse=True)
def stores_of_a_copy() -> Iterator[None]:
    """Fill a fresh store by a copy of those that were made once: a quarter of the processor time."""
    with (
        closing(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)) as made,
        pytest.MonkeyPatch.context() as patch,
    ):
        create_schema(made)
        for module in (database, listing):
            patch.setattr(module, "create_schema", made.backup)
        yield


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


@pytest.fixture(scope="session")
def finished_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one finished run of a model over five entries; only to be read, or copied: ``finished``."""
    path = tmp_path_factory.mktemp("finished") / "rosetta.sqlite"
    with serving() as scripted:
        run_corpus(path, corpus(5), chat_plan(scripted.url))
    return path


@pytest.fixture
def finished(finished_store: Path, store_path: Path) -> Path:
    """A copy of ``finished_store`` of the test's own."""
    store_path.parent.mkdir(mode=0o700)
    return Path(shutil.copy(finished_store, store_path))


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> ScoredDemo:
    """A run over the first entries of the demo, scored with all that ships; only to be read."""
    return scored_demo(tmp_path_factory.mktemp("demo") / "rosetta.sqlite")
