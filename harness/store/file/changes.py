"""Whether anything was written to the store since one looked, without opening it."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

MOMENT_SECONDS = 1.0
"""A file written so short a time ago may be written again without its times showing it."""

Mark = tuple[object, ...]


def mark_of(path: Path) -> Mark:
    """Return what is different after each change of the store at ``path``, by this process or another.

    Equal marks mean that nothing was written between them; unequal ones that something may have been.
    """
    newest, found = 0.0, []
    for file in (path, path.with_name(f"{path.name}-wal")):
        with suppress(OSError):
            seen = file.stat()
            newest = max(newest, seen.st_mtime)
            found.append((file.name, seen.st_ino, seen.st_size, seen.st_mtime_ns))
    return (*found, object()) if time.time() - newest < MOMENT_SECONDS else tuple(found)
