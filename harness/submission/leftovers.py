"""What a run of a submission that was killed leaves unpacked: its members, and the store of a rehearsal that is kept nowhere."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

import filelock

from harness.core.written_files import PRIVATE

FOLDER: Final = "submissions"
"""In the data folder: a folder for each submission that came, called by its number."""
UNPACKED: Final = "unpacked"
"""In that of a submission: where its members lie while it runs."""
LOCK: Final = "run.lock"
"""Beside it: held by the process that runs it."""


def remove_leftovers(home: Path) -> None:
    """Remove what kills left unpacked in a data folder, sentences among it; a run that is under way keeps its own."""
    for left in (home / FOLDER).glob(f"*/{UNPACKED}"):
        with suppress(
            OSError
        ):  # another program is at it, or may not be hindered by a disk that cannot be written
            if any(left.iterdir()):
                with filelock.FileLock(left.with_name(LOCK), timeout=0, mode=PRIVATE):
                    shutil.rmtree(left)
