"""A person's own words beside a run: a note and tags, at home only.

They lie beside the run's card and never in it, because a sealed card does not change (DESIGN C4), and no
export holds them.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from harness.failures import UsageError
from harness.store.texts import storable

MOST_NOTE = 10_000
"""Characters of the longest note."""

MOST_TAG = 40
"""Characters of the longest tag."""

MOST_TAGS = 30
"""Tags of one run."""


def set_note(connection: sqlite3.Connection, run: int, note: str) -> None:
    """Put a note beside a run in place of the one that was there; an empty one takes it away."""
    words = storable(note).strip()
    if len(words) > MOST_NOTE:
        raise UsageError(
            f"The note has {len(words):,} characters; at most {MOST_NOTE:,} are kept. Shorten it."
        )
    if words:
        connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (run, words))
    else:
        connection.execute("DELETE FROM notes WHERE run = ?", (run,))


def set_tags(connection: sqlite3.Connection, run: int, tags: Iterable[str]) -> tuple[str, ...]:
    """Give a run these tags in place of those that it had; gives them as they are kept."""
    with _transaction(connection):
        return _replace(connection, run, map(tidy_tag, tags))


def change_tags(
    connection: sqlite3.Connection, run: int, add: Iterable[str] = (), remove: Iterable[str] = ()
) -> tuple[str, ...]:
    """Add tags to a run's and take others away, whatever another process does meanwhile; gives them all."""
    added, removed = set(map(tidy_tag, add)), set(map(tidy_tag, remove))
    with _transaction(connection):
        rows = connection.execute("SELECT tag FROM tags WHERE run = ?", (run,))
        return _replace(connection, run, ({row[0] for row in rows} | added) - removed)


def tidy_tag(tag: str) -> str:
    """Give a tag as it is kept: one word in NFC; raises UsageError for what is none."""
    word = unicodedata.normalize("NFC", storable(tag).strip().lstrip("#"))
    if not word or len(word) > MOST_TAG or any(_parts(letter) for letter in word):
        raise UsageError(
            f"A tag is one word of at most {MOST_TAG} characters, without spaces and commas, such as "
            "`baseline` or `2026-11`. Write each tag for itself."
        )
    return word


def _parts(letter: str) -> bool:
    return letter == "," or letter.isspace() or unicodedata.category(letter) in {"Cc", "Cs"}


def _replace(connection: sqlite3.Connection, run: int, tags: Iterable[str]) -> tuple[str, ...]:
    wanted = tuple(sorted(set(tags)))
    if len(wanted) > MOST_TAGS:
        raise UsageError(f"A run has at most {MOST_TAGS} tags; these are {len(wanted)}.")
    connection.execute("DELETE FROM tags WHERE run = ?", (run,))
    connection.executemany("INSERT INTO tags VALUES (?, ?)", [(run, tag) for tag in wanted])
    return wanted


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def note_of(connection: sqlite3.Connection, run: int) -> str:
    """Give a run's note, empty where it has none."""
    row = connection.execute("SELECT words FROM notes WHERE run = ?", (run,)).fetchone()
    return "" if row is None else str(row[0])


def tags_of(connection: sqlite3.Connection, run: int) -> tuple[str, ...]:
    """Give a run's tags in order."""
    return tags_by_run(connection, run).get(run, ())


def tags_by_run(
    connection: sqlite3.Connection, only: int | None = None
) -> dict[int, tuple[str, ...]]:
    """Give the tags of every run that has any, in order."""
    found: dict[int, tuple[str, ...]] = {}
    rows = connection.execute(
        "SELECT run, tag FROM tags WHERE ? IS NULL OR run = ? ORDER BY run, tag", (only, only)
    )
    for run, tag in rows:
        found[run] = (*found.get(run, ()), tag)
    return found
