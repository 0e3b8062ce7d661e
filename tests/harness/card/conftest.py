"""Fresh stores for each test of the cards."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.card import factory
from tests.harness.run.made import ScoredDemo


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with factory.store(tmp_path) as opened:
        yield opened


@pytest.fixture
def there(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Another store, to import into."""
    with factory.store(tmp_path / "there") as opened:
        yield opened


@pytest.fixture
def card(demo_run: ScoredDemo) -> dict[str, Any]:
    """The card of the demo's first entries, scored with everything that ships."""
    return demo_run.card
