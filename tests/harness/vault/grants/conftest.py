"""A vault to ask for, made once."""

import shutil
from pathlib import Path

import pytest

from harness.vault.grants.grants import Grants
from tests.harness.vault.grants.made import at, founded


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of which two of four keepers open together; never changed by a test."""
    folder = tmp_path_factory.mktemp("whole")
    founded(folder)
    return folder


@pytest.fixture
def here(tmp_path: Path, whole: Path) -> Grants:
    shutil.copytree(whole / "vault", tmp_path / "vault")
    return at(tmp_path)
