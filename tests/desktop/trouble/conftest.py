"""A window at its first sentence, on a laptop whose folder an ordinary person can enter."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pytestqt.qtbot import QtBot

if TYPE_CHECKING:
    from tests.desktop.visit_scene import Entry

Begin = Callable[..., "Entry"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder for the laptop and the stick; what is mounted in it is taken away."""
    from tests.desktop.trouble.causes import pulled

    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for each in folder.iterdir():
        while os.path.ismount(each):
            pulled(each)
    shutil.rmtree(folder)


@pytest.fixture
def begin(qtbot: QtBot, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Start the program, and go to the first sentence of a batch on the stick."""
    from tests.desktop.visit_scene import Entry
    from tests.review.session.scenes import CODE, batch_of, items_of, write_file

    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    entries: list[Entry] = []
    (folder / "home").mkdir()
    (folder / "stick").mkdir()

    def start(**options: Any) -> Entry:
        file = write_file(batch_of(items_of(4)), folder / "mail")
        options = {"places": [file], "sticks": [folder / "stick"], **options}
        entries.append(Entry(qtbot, folder / "home", **options))
        entry = entries[-1]
        entry.window.resize(1024, 600)
        entry.press("\r")
        entry.type(CODE)
        entry.press("\r", "\r")
        return entry

    yield start
    for entry in entries:
        entry.close()
