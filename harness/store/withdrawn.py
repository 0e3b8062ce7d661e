"""Which stored corpora and runs cannot be used, because consent for something in them was withdrawn (DESIGN §6)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from corpora.files.json_types import JsonObject
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawals, Withdrawn, opened_before, standing
from harness.core.failures import StoreError, UsageError
from harness.store.sqlite.database import home
from harness.store.sqlite.trouble import stored_object, unpack_positions

if TYPE_CHECKING:
    from harness.consent.notice import SignedNotice


def withdrawn_runs(connection: sqlite3.Connection, run: int | None = None) -> dict[int, SignedNotice]:
    """Return the runs that cannot be used, by the store's number, each with the notice; ``run`` looks at one alone.

    Raises StoreError where nobody knows what was withdrawn.
    """
    now = now_standing()
    if not now:
        return {}
    rows = connection.execute(
        "SELECT u.id, u.corpus, u.setup, u.positions, c.sha256, c.dataset FROM runs u"
        " JOIN corpora c ON c.id = u.corpus WHERE ? IS NULL OR u.id = ?",
        (run, run),
    ).fetchall()
    signed_notices = {}
    for number, corpus, setup, positions, sha256, dataset in rows:
        ids = _ids(connection, corpus, unpack_positions(positions))
        notice = now.of_run(_facts(sha256, dataset), stored_object(setup), ids)
        if notice is not None:
            signed_notices[number] = notice
    return signed_notices


def withdrawn_names(connection: sqlite3.Connection, dataset: str | None = None) -> list[str]:
    """Return how the runs that cannot be used are called, of all corpora or of those with this id; deleted ones too."""
    numbers = sorted(withdrawn_runs(connection))
    query = "SELECT run_id, dataset_id FROM runs WHERE id = ?"
    rows = [connection.execute(query, (number,)).fetchone() for number in numbers]
    return [run_id[:8] for run_id, corpus in rows if dataset in (None, corpus)]


def refuse_withdrawn_run(connection: sqlite3.Connection, run: int, name: str) -> None:
    """Raise Withdrawn where a run cannot be used."""
    for notice in withdrawn_runs(connection, run).values():
        raise Withdrawn(f"Run {name}", notice)


def withdrawn_corpora(connection: sqlite3.Connection) -> dict[int, SignedNotice]:
    """Return the stored corpora that cannot be used, whole or because entries of them were withdrawn, by number."""
    now = now_standing()
    if not now:
        return {}
    signed_notices = {}
    for number, sha256, dataset in connection.execute("SELECT id, sha256, dataset FROM corpora"):
        notice = now.of_run(_facts(sha256, dataset), {}, _ids(connection, number, None))
        if notice is not None:
            signed_notices[number] = notice
    return signed_notices


def withdrawn_of_vault(connection: sqlite3.Connection, vault: str, corpus: str) -> SignedNotice | None:
    """Return the notice by which a whole corpus of a vault was taken back, by the numbers of both.

    None where it was not, or where this computer never opened it and so does not know what it is.
    """
    now = now_standing()
    if not now:
        return None
    query = (
        "SELECT sha256, dataset FROM corpora"
        " WHERE json_valid(dataset) AND instr(json_extract(dataset, '$.opened_from'), ?) = 1"
    )
    rows = connection.execute(query, (f"{vault}/{corpus}/",)).fetchall()
    known = [_facts(*row) for row in rows]
    if (before := opened_before(home(), vault, corpus)) is not None:
        known.append(before)
    return next(filter(None, map(now.of_corpus, known)), None)


def entry_ids_of_run(connection: sqlite3.Connection, run_id: str) -> list[object] | None:
    """Return the ids of the entries of a run by its whole id; None where the store does not have it."""
    query = "SELECT corpus, positions FROM runs WHERE run_id = ? AND imported IS NULL"
    row = connection.execute(query, (run_id,)).fetchone()
    return None if row is None else list(_ids(connection, row[0], unpack_positions(row[1])))


def known_run(connection: sqlite3.Connection, run_id: str) -> tuple[CorpusFacts, JsonObject] | None:
    """Return by what the corpus of a run is known, and the run's set-up; None where the store does not have it."""
    row = connection.execute(
        "SELECT c.sha256, c.dataset, u.setup FROM runs u JOIN corpora c ON c.id = u.corpus WHERE u.run_id = ?",
        (run_id,),
    ).fetchone()
    return None if row is None else (_facts(row[0], row[1]), stored_object(row[2]))


def now_standing() -> Withdrawals:
    """Return what holds in the data folder; raises StoreError where nobody knows what was withdrawn."""
    try:
        return standing(home())
    except UsageError as error:
        raise StoreError(str(error)) from None


def _facts(sha256: str, dataset: str) -> CorpusFacts:
    stored = stored_object(dataset)
    words = (stored.get(name) for name in ("id", "source_language", "target_language"))
    id_, source, target = (word if isinstance(word, str) else None for word in words)
    return CorpusFacts(sha256, id_ or "", source, target)


def _ids(connection: sqlite3.Connection, corpus: int, positions: Sequence[int] | None) -> Iterator[object]:
    """Yield the ids of a corpus's entries, or of those at some places; read only where somebody asks."""
    wanted = None if positions is None else frozenset(positions)
    rows = connection.execute("SELECT position, entry_id FROM entries WHERE corpus = ?", (corpus,))
    return (entry_id for position, entry_id in rows if wanted is None or position in wanted)
