"""A scripted endpoint and a data folder of its own for every test of the harness."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.scripted import Scripted, serving


@pytest.fixture
def endpoint() -> Iterator[Scripted]:
    with serving() as scripted:
        yield scripted


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "rosetta.sqlite"
