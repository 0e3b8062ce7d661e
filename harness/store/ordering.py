"""The entries of a run in any order and selection, from columns that are read once and kept in memory.

Sorting a hundred thousand entries by a column in memory takes milliseconds, where a query has to read every
row again. Texts stay in the store: they are kept as their ranks. Those that are stored encrypted are ranked and searched in
memory, and nothing of it is kept.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from harness.core.failures import StoreError
from harness.core.storage import storable
from harness.store.results import sort_columns
from harness.store.sqlite.sealing import CorpusSeal, SealedKind, has_key, plain
from harness.store.sqlite.trouble import little_endian_positions

Places = npt.NDArray[np.uint32]
Column = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
_STORED = ("headline", "exact", "second", "tokens", "cost", "latency", "output", "failed")
_READ_RESULTS = """
    SELECT rowid, position, {headline}, exact, {second}, prompt_tokens + completion_tokens, cost_usd,
           latency_seconds, output, error_class IS NOT NULL
    FROM results WHERE run = ? AND rowid > ?
"""

SORTS = (
    "position", "id", "state", "headline", "exact", "second", "third", "tokens", "cost",
    "latency", "difficulty", "source", "output",
)  # fmt: skip
"""What entries can be sorted by; ``scoring.core.specification`` says what the first values are of a task."""

FILTERS = ("all", "done", "failed", "waiting", "not exact", "exact")
"""What entries can be narrowed to."""

CANCEL_STEPS = 5_000  # SQLite's steps between two looks whether a search is still wanted


class Cancelled(Exception):  # noqa: N818  nothing went wrong
    """Nobody wants the answer any more."""


def never() -> bool:
    """Return False: nobody cancels."""
    return False


class Ordering:
    """One run's entries as columns; knows what is new in the store whenever it is asked.

    May be asked from any thread, with a connection of that thread's own.
    """

    def __init__(self, run: int) -> None:
        self._run = run
        self._lock = threading.RLock()
        self._places: Places = np.zeros(0, np.uint32)
        """The run's entries by their place in the corpus, ascending; all columns are in this order."""
        self._corpus = 0
        self._entries: dict[str, Column] = {}
        self._results: dict[str, Column] = {}
        self._done: Mask = np.zeros(0, np.bool_)
        self._last_row = 0
        self._sealed = False
        self._ranks: dict[str, Column] = {}
        self._search: tuple[str, Mask] | None = None

    def prepare(self, connection: sqlite3.Connection) -> None:
        """Read everything that any order needs, so that the first wish is answered as quickly as the next."""
        self.catch_up(connection)
        for sort in ("id", "source", "output"):
            with self._lock:
                self._column(connection, sort)

    def catch_up(self, connection: sqlite3.Connection) -> None:
        """Read what is new in the store."""
        with self._lock:
            if not self._entries:
                row = connection.execute("SELECT corpus, positions FROM runs WHERE id = ?", (self._run,)).fetchone()
                if row is None:
                    raise StoreError("The run has been deleted.")
                self._corpus = row[0]
                self._places = np.sort(np.frombuffer(little_endian_positions(row[1]), "<u4"))
                rows = _matrix(
                    connection.execute(
                        "SELECT position, difficulty, source FROM entries WHERE corpus = ? ORDER BY position",
                        (self._corpus,),
                    ),
                    3,
                )
                chosen = np.isin(rows[:, 0].astype(np.uint32), self._places, assume_unique=True)
                self._entries = {"difficulty": rows[chosen, 1], "source text": rows[chosen, 2]}
                self._forget_results()
            sealed, count = connection.execute(
                "SELECT run_card IS NOT NULL, (SELECT count(*) FROM results WHERE run = ?1) FROM runs WHERE id = ?1",
                (self._run,),
            ).fetchone()
            if bool(sealed) is not self._sealed:
                self._sealed = bool(sealed)
                self._forget_results()  # all scores may have changed at the seal
            if count != self._done.sum():
                self._read_results(connection)
            if count != self._done.sum():  # rows are gone: failed entries are asked for again
                self._forget_results()
                self._read_results(connection)

    def positions(
        self,
        connection: sqlite3.Connection,
        *,
        sort: str = "position",
        descending: bool = False,
        narrow: str = "all",
        search: str = "",
        cancelled: Callable[[], bool] = never,
    ) -> Places:
        """Return the places of the entries in the order and selection of a screen.

        ``sort`` is one of SORTS, ``narrow`` one of FILTERS; ``search`` looks for a piece of text in id,
        source, reference and output, without regard to case. Entries without a value come last, equal ones
        in the order of the corpus. Raises Cancelled as soon as ``cancelled`` says so.
        """
        with self._lock:
            self.catch_up(connection)
            failed, exact = self._results["failed"] == 1, self._results["exact"]
            masks: Mapping[str, Callable[[], Mask]] = {
                "all": lambda: np.ones(len(self._places), np.bool_),
                "done": lambda: self._done & ~failed,
                "failed": lambda: failed,
                "waiting": lambda: ~self._done,
                "not exact": lambda: exact == 0,
                "exact": lambda: exact == 1,
            }
            narrowed = masks[narrow]()
            chosen = np.flatnonzero(narrowed)
            if search:
                chosen = chosen[self._found(connection, search, cancelled)[chosen]]
            if sort == "position":
                return self._places[chosen[::-1] if descending else chosen]
            values = self._column(connection, sort)[chosen]
            order = np.argsort(-values if descending else values, kind="stable")
            return self._places[chosen[order]]

    # Selections

    def _found(self, connection: sqlite3.Connection, search: str, cancelled: Callable[[], bool]) -> Mask:
        if self._search is None or self._search[0] != search:
            mask = np.zeros(len(self._places), np.bool_)
            mask[self._index(self._look_for(connection, search, cancelled))] = True
            self._search = (search, mask)
        return self._search[1]

    def _look_for(self, connection: sqlite3.Connection, search: str, cancelled: Callable[[], bool]) -> Places:
        folded = storable(search.casefold())
        connection.create_function("folds", 1, lambda text: folded in text.casefold())
        source, reference, output = "s.body", "f.body", "t.body"
        if has_key(connection, self._corpus):
            CorpusSeal(connection, self._corpus).in_queries()
            source, reference = (
                plain(body, "e", SealedKind.ENTRY, name)
                for body, name in ((source, "source"), (reference, "reference"))
            )
            output = plain(output, "r", SealedKind.RESULT, "output")
        connection.set_progress_handler(lambda: int(cancelled()), CANCEL_STEPS)
        try:
            rows = connection.execute(
                "SELECT e.position FROM entries e"
                " JOIN texts s ON s.id = e.source JOIN texts f ON f.id = e.reference"
                " LEFT JOIN results r ON r.run = ? AND r.position = e.position"
                " LEFT JOIN texts t ON t.id = r.output"
                f" WHERE e.corpus = ? AND (CAST(e.entry_id AS TEXT) = ? OR folds({source})"
                f" OR folds({reference}) OR folds(coalesce({output}, '')))",
                (self._run, self._corpus, storable(search)),
            ).fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                raise Cancelled from None
            raise
        finally:
            connection.set_progress_handler(None, 0)
        return np.array([row[0] for row in rows], np.uint32)

    # Columns

    def _column(self, connection: sqlite3.Connection, sort: str) -> Column:
        """Return the values to sort by, NaN where there is none."""
        if sort == "id":
            # Rank ids as SQLite compares them: numbers first, then texts by their bytes.
            if "id" not in self._ranks:
                places = _numbers(
                    connection.execute(
                        "SELECT position FROM entries WHERE corpus = ? ORDER BY entry_id", (self._corpus,)
                    )
                )
                index = self._index(places.astype(np.uint32))
                self._ranks["id"] = np.empty(len(self._places))
                self._ranks["id"][index] = np.arange(len(index))
            return self._ranks["id"]
        if sort in {"source", "output"}:
            # Rank texts as SQLite compares them: by their bytes; equal texts have one id, and one rank.
            if sort not in self._ranks and has_key(connection, self._corpus):
                self._ranks[sort] = self._rank_opened(connection, sort)
            if sort not in self._ranks:
                ids = (self._entries if sort == "source" else self._results)[f"{sort} text"]
                # Rank of each id among ids in order, NaN where there is none.
                ordered = self._sorted_texts(connection, sort)
                by_id = np.argsort(ordered)
                known = ~np.isnan(ids)
                ranks = np.full(len(ids), np.nan)
                ranks[known] = by_id[np.searchsorted(ordered[by_id], ids[known].astype(np.int64))]
                self._ranks[sort] = ranks
            return self._ranks[sort]
        if sort == "third":
            # Read the value that only few tasks have whenever it is asked for.
            query = f"SELECT position, {sort_columns(connection)['third']} FROM results WHERE run = ?"
            rows = _matrix(connection.execute(query, (self._run,)), 2)
            values = np.full(len(self._places), np.nan)
            values[self._index(rows[:, 0].astype(np.uint32))] = rows[:, 1]
            return values
        if sort == "state":
            return np.where(self._done, 1.0 - self._results["failed"], 2.0)
        return self._entries[sort] if sort in self._entries else self._results[sort]

    def _rank_opened(self, connection: sqlite3.Connection, name: str) -> Column:
        """Rank the texts of a corpus of which some are stored encrypted; equal texts have one rank."""
        CorpusSeal(connection, self._corpus).in_queries()
        source = plain("s.body", "e", SealedKind.ENTRY, "source")
        output = plain("t.body", "r", SealedKind.RESULT, "output")
        query = (
            f"SELECT e.position, {source} FROM entries e JOIN texts s ON s.id = e.source WHERE e.corpus = ?"
            if name == "source"
            else f"SELECT r.position, {output} FROM results r LEFT JOIN texts t ON t.id = r.output WHERE r.run = ?"
        )
        key = self._corpus if name == "source" else self._run
        texts = {place: text for place, text in connection.execute(query, (key,)) if text is not None}
        ordered = {text: rank for rank, text in enumerate(sorted({*texts.values()}))}
        places = (int(place) for place in self._places)
        ranks = (ordered[texts[place]] if place in texts else np.nan for place in places)
        return np.fromiter(ranks, np.float64, len(self._places))

    def _sorted_texts(self, connection: sqlite3.Connection, name: str) -> npt.NDArray[np.int64]:
        wanted, key = (
            ("SELECT source FROM entries WHERE corpus = ?", self._corpus)
            if name == "source"
            else ("SELECT output FROM results WHERE run = ?", self._run)
        )
        rows = connection.execute(f"SELECT id FROM texts WHERE id IN ({wanted}) ORDER BY body", (key,))
        return _numbers(rows)

    def _forget_results(self) -> None:
        size = len(self._places)
        self._results = {"output text" if name == "output" else name: np.full(size, np.nan) for name in _STORED}
        self._done = np.zeros(size, np.bool_)
        self._last_row = 0
        self._ranks.pop("output", None)
        self._search = None

    def _read_results(self, connection: sqlite3.Connection) -> None:
        query = _READ_RESULTS.format_map(sort_columns(connection))
        values = _matrix(connection.execute(query, (self._run, self._last_row)), 10)
        if not len(values):
            return
        index = self._index(values[:, 1].astype(np.uint32))
        for number, name in enumerate(self._results, 2):
            self._results[name][index] = values[:, number]
        self._done[index] = True
        self._last_row = int(values[:, 0].max())
        self._ranks.pop("output", None)
        self._search = None

    def _index(self, places: Places) -> npt.NDArray[np.intp]:
        """Return where places stand among the run's; those of other entries are left out."""
        index = np.searchsorted(self._places, places)
        inside = index < len(self._places)
        known: npt.NDArray[np.intp] = index[inside][self._places[index[inside]] == places[inside]]
        return known


_CHUNK = 2_000
"""Rows that are made into numbers at once: other threads, which draw, get their turn between."""


def _matrix(rows: sqlite3.Cursor, width: int) -> Column:
    """Read rows of numbers, NaN where there is none; shape (rows, width)."""
    chunks = [np.empty((0, width))]
    while chunk := rows.fetchmany(_CHUNK):
        chunks.append(np.array(chunk, np.float64))
    return np.concatenate(chunks)


def _numbers(rows: sqlite3.Cursor) -> npt.NDArray[np.int64]:
    """Read rows of one whole number each."""
    chunks = [np.empty(0, np.int64)]
    while chunk := rows.fetchmany(_CHUNK):
        chunks.append(np.array([row[0] for row in chunk], np.int64))
    return np.concatenate(chunks)


def stored_places(connection: sqlite3.Connection, run: int) -> tuple[Places, Places]:
    """Return the places of a run's stored entries, and of those that failed; reads indexes only."""
    queries = (
        "SELECT position FROM results INDEXED BY results_run_position WHERE run = ?",
        "SELECT position FROM results WHERE run = ? AND error_class IS NOT NULL",
    )
    done, failed = (_numbers(connection.execute(query, (run,))) for query in queries)
    return done.astype(np.uint32), failed.astype(np.uint32)
