"""Vaults that are made once and copied for each test: one of single keepers, and one that several open together."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from harness.vault.vault import Vault
from tests.harness.vault.made import START, filled, filled_together, vault


@pytest.fixture(scope="session")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a filled vault of single keepers that no test changes."""
    return filled(tmp_path_factory.mktemp("single")).folder.parent


@pytest.fixture
def made(tmp_path: Path, single: Path) -> Vault:
    """A vault with one corpus, seen by this computer, whose clock goes on."""
    shutil.copytree(single / "vault", tmp_path / "vault")
    copied = vault(tmp_path, START + timedelta(minutes=2))
    copied.read()
    return copied


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a filled vault of several keepers that no test changes."""
    return filled_together(tmp_path_factory.mktemp("together")).folder.parent


@pytest.fixture
def here(tmp_path: Path, whole: Path) -> Path:
    """A folder with a vault that several keepers open together."""
    return shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
