"""A file that another program holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tests.desktop.item_scene import Scene


@contextmanager
def held(scene: Scene) -> Iterator[None]:
    """Let another program hold the file with the answers."""
    with closing(sqlite3.connect(scene.laptop.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.rollback()


BUSY = "This was not saved: the program is open in another window."
