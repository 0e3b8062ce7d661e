"""What a person put aside of what waits on Home: it comes back as soon as something about it is new."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from rosetta_tui.home.waiting import WaitingItem

NAME = "put-aside.json"
"""In the data folder: the items put aside, each as its lead, its name and its words."""

MOST_ITEMS = 1_000
"""Items that are remembered; the oldest are forgotten first."""

MOST_BYTES = 2**20


def read_aside(folder: Path) -> frozenset[tuple[str, ...]]:
    """Return the items put aside; a file that cannot be read puts nothing aside."""
    try:
        with (folder / NAME).open("rb") as file:
            stated = json.loads(file.read(MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return frozenset()
    rows = stated if isinstance(stated, list) else []
    return frozenset(tuple(row) for row in rows if _is_item(row))


def _is_item(row: object) -> bool:
    return isinstance(row, list) and len(row) == 3 and all(isinstance(each, str) for each in row)


def keep_aside(folder: Path, aside: Iterable[tuple[str, ...]]) -> None:
    """Write down what is put aside; raises HarnessError where the folder cannot be written."""
    from harness.core.written_files import write_file
    from harness.store.file.database import private_folder

    content = json.dumps([list(each) for each in aside][-MOST_ITEMS:], ensure_ascii=False)
    write_file(private_folder(folder) / NAME, content.encode(), overwrite=True)


def mark_of(item: WaitingItem) -> tuple[str, ...]:
    """Return what an item is remembered by: with other counts in its words it is another one."""
    return (item.lead.value, item.name, item.words)
