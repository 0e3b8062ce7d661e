"""A store that is damaged."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path


def damage(path: Path) -> None:
    """Overwrite the table of runs."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'runs'").fetchone()[0]
        size = raw.execute("PRAGMA page_size").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(os.urandom(size))
