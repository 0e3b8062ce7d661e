"""Which place of published cards is meant, and opening it: a database and a folder are used alike."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from corpora.text.visible import plain
from harness.core.failures import UsageError
from harness.publish.folder import PublishedFolder
from harness.publish.outgoing import OutgoingCard
from harness.publish.place import DatabasePlace, Place, place_of
from harness.settings import read_settings, settings_path
from harness.store.file.database import home

VARIABLE: Final = "ROSETTA_PUBLISH"
"""Environment variable that may name the place, with a password too."""


def named_place(target: str | None) -> Place:
    """Return the place that the command line, the environment or the settings name; UsageError where none does.

    A password on the command line is refused: every user of the computer sees the calls of all programs.
    """
    text = target or os.environ.get(VARIABLE) or read_settings(home()).publish
    if not text:
        raise UsageError(
            f'Say where to with --to: postgresql://USER@HOST/NAME, or a folder. For good, write publish = "…" into {settings_path(home())}.'
        )
    place = place_of(text)
    if target and isinstance(place, DatabasePlace) and place.password is not None:
        ring = "" if place.is_here else f"in the keyring (rosetta key set {plain(place.host)}), "
        raise UsageError(
            "A password on the command line is seen by everybody on this computer, and stays in the shell's history. Leave it out, and keep it "
            f"{ring}in PGPASSWORD or in pgpass."
        )
    return place


class OpenPlace(Protocol):
    """A place that is open: a database or a folder."""

    def known(self, hashes: Collection[str]) -> set[str]:
        """Return which of these cards are there."""
        ...

    def add(self, cards: Sequence[OutgoingCard]) -> int:
        """Add cards and return how many were new."""
        ...

    def cards(self) -> Iterator[tuple[str, bytes]]:
        """Yield the hash and the bytes of each card."""
        ...

    def changed(self) -> list[str]:
        """Return the hashes of cards of which something beside their bytes was changed."""
        ...


@contextmanager
def opened_place(where: Place, *, to_write: bool) -> Iterator[OpenPlace]:
    """Open a place until the block ends; a database is brought up to date first where cards are to be put there.

    Raises UsageError for a database where its library is not installed; a folder needs none.
    """
    if isinstance(where, DatabasePlace):
        from harness.publish import database

        with database.opened_database(where) as published:
            if to_write:
                published.prepare(to_add=True)
            yield published
    else:
        yield PublishedFolder(where)
