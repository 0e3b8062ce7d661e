"""A vault that several keepers open together, made once."""

import shutil
from pathlib import Path

import pytest

from tests.harness.vault.together import filled_together


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a filled vault that no test changes."""
    folder = tmp_path_factory.mktemp("together")
    filled_together(folder)
    return folder


@pytest.fixture
def here(tmp_path: Path, whole: Path) -> Path:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path
