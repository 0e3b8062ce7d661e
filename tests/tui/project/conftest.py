"""Where the screens of corpora in the making are tried: a data folder of its own, and a keyring in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.keyring_in_memory import memory_keyring


@pytest.fixture(autouse=True)
def keyring() -> Iterator[None]:
    with memory_keyring():
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder that knows no corpus in the making; the person is in the folder above it."""
    found = tmp_path / "home"
    found.mkdir(mode=0o700)
    monkeypatch.setenv("ROSETTA_HOME", str(found))
    monkeypatch.chdir(tmp_path)
    return found
