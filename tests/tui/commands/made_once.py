"""Folders that are dear to make, made once for all workers."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import filelock
import keyring
import pytest
from keyring.backends.fail import Keyring

Made = TypeVar("Made")
CopyOf = Callable[[str, Callable[[Path, pytest.MonkeyPatch], object]], Path]


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path, pytest.MonkeyPatch], Made]
) -> tuple[Path, Made]:
    """Have the first worker that asks make a folder, which is only read from then on; gives it and what was made."""
    top = factory.getbasetemp()
    folder = (top.parent if os.environ.get("PYTEST_XDIST_WORKER") else top) / f"made-{name}"
    done = folder / "made.pickle"
    with filelock.FileLock(f"{folder}.lock"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyring, "get_keyring", Keyring)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            found = make(folder, patch)
            done.write_bytes(pickle.dumps(found))
    made: Made = pickle.loads(done.read_bytes())
    return folder, made
