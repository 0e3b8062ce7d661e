"""What was found here of cards that others made: their scores computed again from their outputs, their set-up run again.

It is next to the card and never in it: a card says of itself what it likes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from harness.store.file.database import has_table
from harness.store.file.trouble import stored_json
from harness.store.signed_records import KeptRecord, records_by_run
from harness.store.withdrawn import now_standing


@dataclass(frozen=True, slots=True)
class Recount:
    """What scoring a card's outputs again gave."""

    pinned: bool
    """Whether sources and references of its rows were held against the corpus file that the card names."""
    differences: tuple[str, ...] = ()
    """In words, what the card states and its outputs do not give; empty where all is as stated."""

    @property
    def counts(self) -> bool:
        """Return whether the card's scores may stand without the word stated."""
        return self.pinned and not self.differences


@dataclass(frozen=True, slots=True)
class CheckedHere:
    """All that was found here of the card of one run."""

    reproduced: frozenset[str] = frozenset()
    """Hashes of cards that somebody reproduced whose key is believed here."""
    recount: Recount | None = None
    """None where nobody scored it again, and for runs of this store, which were scored here."""
    records: tuple[KeptRecord, ...] = ()
    """What people signed about it after its verdict."""

    @property
    def counts(self) -> bool:
        """Return whether its outputs were scored again here with its corpus, and gave what the card states."""
        return self.recount is not None and self.recount.counts


UNCHECKED = CheckedHere()


def checked_here(connection: sqlite3.Connection, only: int | None = None) -> dict[int, CheckedHere]:
    """Return what was found of the cards of all runs, or of one, by the store's number; runs without are left out."""
    again, counted = reproduced_cards(connection, only), recounts(connection, only)
    signed = records_by_run(connection, only)
    return {
        run: CheckedHere(again.get(run, frozenset()), counted.get(run), signed.get(run, ()))
        for run in (*again, *counted, *signed)
    }


def keep_reproduction(
    connection: sqlite3.Connection, run: int, signer: str, card: str, file: bytes
) -> None:
    """Store the signed record of a reproduction beside a run, instead of an earlier one of the same key."""
    connection.execute(
        "INSERT OR REPLACE INTO reproductions VALUES (?, ?, ?, ?)", (run, signer, card, file)
    )


def detach_reproductions(connection: sqlite3.Connection, run: int) -> int:
    """Remove all records of reproductions of a run; return how many there were."""
    return connection.execute("DELETE FROM reproductions WHERE run = ?", (run,)).rowcount


def reproduced_cards(
    connection: sqlite3.Connection, only: int | None = None
) -> dict[int, frozenset[str]]:
    """Return by run the hashes of its cards that somebody reproduced whose key is believed here; an older store has none."""
    if not has_table(connection, "reproductions"):
        return {}
    rows = connection.execute(
        "SELECT run, signer, card FROM reproductions WHERE ? IS NULL OR run = ?", (only, only)
    )
    cards: dict[int, frozenset[str]] = {}
    standing = now_standing()
    for run, signer, card in rows:
        if standing.of_key(str(signer)) is None:
            cards[run] = cards.get(run, frozenset()) | {str(card)}
    return cards


def reproduction_files(connection: sqlite3.Connection, run: int) -> list[tuple[str, bytes]]:
    """Return the signed records beside a run, each behind the key that was trusted when it was attached."""
    if not has_table(connection, "reproductions"):
        return []
    query = "SELECT signer, file FROM reproductions WHERE run = ? ORDER BY signer"
    return [(str(signer), bytes(file)) for signer, file in connection.execute(query, (run,))]


def keep_recount(
    connection: sqlite3.Connection, run: int, *, pinned: bool, differences: Collection[str]
) -> None:
    """Store what scoring a card again gave, instead of what an earlier time gave."""
    words = json.dumps(list(differences), ensure_ascii=False)
    connection.execute("INSERT OR REPLACE INTO recounts VALUES (?, ?, ?)", (run, pinned, words))


def recounts(connection: sqlite3.Connection, only: int | None = None) -> dict[int, Recount]:
    """Return by run what scoring its card again gave; an older store has none."""
    if not has_table(connection, "recounts"):
        return {}
    rows = connection.execute(
        "SELECT run, pinned, differences FROM recounts WHERE ? IS NULL OR run = ?", (only, only)
    )
    return {run: Recount(bool(pinned), _words(words)) for run, pinned, words in rows}


def _words(told: object) -> tuple[str, ...]:
    json = stored_json(told)
    return tuple(map(str, json)) if isinstance(json, list) else (str(json),)
