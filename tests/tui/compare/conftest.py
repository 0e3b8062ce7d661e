"""Stores with finished runs over one corpus; each test has a copy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.tui.compare.compared import filled, small_corpus


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs of one corpus, the second best, and one of another corpus."""
    return filled(tmp_path_factory.mktemp("compared") / "rosetta.sqlite", small_corpus())


@pytest.fixture(scope="module")
def made_open(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without secret entries, whose numbers leave."""
    return filled(tmp_path_factory.mktemp("open") / "rosetta.sqlite", small_corpus(secret=0))


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path))


@pytest.fixture
def open_path(made_open: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made_open, tmp_path))
