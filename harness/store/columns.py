"""The entries of a corpus, and what a run made of them, as columns in memory.

A column is read when it is first asked for, and then only from the rows that are new. Texts stay in the store: a search
is kept as the rows that it found. Those that are stored encrypted are opened in memory, and nothing of it is kept.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.core.failures import ErrorClass, StoreError
from harness.core.query import Cancelled, QueryField, QueryType, fold, never
from harness.store.results import sort_columns
from harness.store.sqlite.sealing import CorpusSeal, SealedKind, has_key, plain
from harness.store.sqlite.trouble import little_endian_positions
from scoring.core.inventory import row_of, typed_name
from scoring.core.metric import StatisticsError
from scoring.core.specification import TRANSLATIONS, KeptColumns

if TYPE_CHECKING:
    from harness.core.query import Mask, Numbers
    from scoring.core.scorer import Scorer

Places = npt.NDArray[np.uint32]
Column = npt.NDArray[np.floating[Any]]
"""Numbers in the smallest type that holds them to the last digit."""

CANCEL_STEPS = 5_000  # SQLite's steps between two looks whether an answer is still wanted
_MOST_SEARCHES = 32  # searches whose rows are kept
_GAP = 16  # numbers of texts between two own ones that are searched along rather than left out


class _Source(NamedTuple):
    """Where the store has a field: SQL over a row ``r`` of results or ``e`` of entries."""

    sql: str
    field: QueryField


_NUMBER, _WORD, _TEXT = QueryType.NUMBER, QueryType.WORD, QueryType.TEXT
ID = "CAST(e.entry_id AS TEXT)"
TAGS = ("segment", "provenance", "register", "context", "variety", "orthography")
OF_ENTRIES = {
    "source": _Source("s.body", QueryField(_TEXT, "text of the source")),
    "reference": _Source("f.body", QueryField(_TEXT, "text of the reference")),
    "len": _Source("length(s.body)", QueryField(_NUMBER, "characters of the source")),
    "difficulty": _Source("e.difficulty", QueryField(_NUMBER, "difficulty, 1 to 5")),
    **{
        name: _Source(f"e.{name}" if place < 3 else f"json_extract(e.rest, '$.{name}')", QueryField(_WORD, name))
        for place, name in enumerate(TAGS)
    },
    "id": _Source(ID, QueryField(_WORD, "id of the entry")),
}
OF_RESULTS = {
    "output": _Source("t.body", QueryField(_TEXT, "text of the output")),
    "outlen": _Source("length(t.body)", QueryField(_NUMBER, "characters of the output")),
    "error": _Source("r.error_class", QueryField(_WORD, "how the entry failed", tuple(ErrorClass), closed=True)),
    "tokens": _Source("r.prompt_tokens + r.completion_tokens", QueryField(_NUMBER, "tokens of prompt and answer")),
    "cost": _Source("r.cost_usd", QueryField(_NUMBER, "US dollars")),
    "seconds": _Source("r.latency_seconds", QueryField(_NUMBER, "seconds until the answer")),
    "attempts": _Source("r.attempts", QueryField(_NUMBER, "how often it was tried")),
    "cached": _Source(
        "iif(r.cached, 'yes', 'no')", QueryField(_WORD, "whether the answer was cached", ("no", "yes"), closed=True)
    ),
}
_HIDDEN = {
    "exact column": "r.exact",
    "source number": "e.source",
    "reference number": "e.reference",
    "output number": "r.output",
}
"""Columns that are no fields of their own → SQL."""
_JOINS = {
    "s.body": " JOIN texts s ON s.id = e.source",
    "f.body": " JOIN texts f ON f.id = e.reference",
    "t.body": " LEFT JOIN texts t ON t.id = r.output",
}
_RESERVED = frozenset({"length", *OF_ENTRIES, *OF_RESULTS})  # names of parts and tags, by which no metric goes


def entry_field(metric: str) -> str:
    """Return the field that has a metric's values of entries."""
    return metric if (name := typed_name(metric)) in _RESERVED else name


class TextSearch(NamedTuple):
    """Where a text is looked for instead of reading values: SQL that is true where it is found."""

    sql: str
    text: str


class ReadColumn(NamedTuple):
    """The values of one field, in the order of the places, NaN where there is none."""

    values: Column
    last: int
    """Row of the results up to which it was read; WHOLE where it says something of the entries, which never change."""


WHOLE = sys.maxsize


class EntryColumns:
    """The entries of one run, or of a corpus without one; knows what is new in the store whenever it is asked.

    May be asked from any thread, with a connection of that thread's own.
    """

    def __init__(
        self, run: int = 0, corpus: int = 0, *, kept: KeptColumns = TRANSLATIONS, scorer: Scorer | None = None
    ) -> None:
        """``corpus``: for rows without a run; ``scorer``: computes further metrics from stored statistics."""
        self.run, self.corpus, self.kept, self._scorer = run, corpus, kept, scorer
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None  # of whoever asks, as long as the lock is held
        self.places: Places = np.zeros(0, np.uint32)
        """The entries by their place in the corpus, ascending; all columns are in this order."""
        self.columns: dict[str, ReadColumn] = {}
        self.done: Mask = np.zeros(0, np.bool_)
        self.last_row = 0
        self._version: object = None  # of what was read; None before the first look
        self.words: dict[str, dict[str, int]] = {}  # field → its words, folded, with their codes
        self.offered: dict[str, list[str]] = {}  # field → the same words as they are written

    @property
    def connection(self) -> sqlite3.Connection:
        """The store, while it is asked."""
        if self._connection is None:
            raise ValueError("columns are read inside of `asked`")
        return self._connection

    @property
    def count(self) -> int:
        """Return how many entries there are."""
        return len(self.places)

    @cached_property
    def metrics(self) -> dict[str, str]:
        """Names of the metrics that entries have → their ids."""
        ids = [*self.kept.ids, *(self._scorer.ids if self._scorer else ())] if self.run else []
        of_entries = [id_ for id_ in ids if (row := row_of(id_)) is None or row.level == "both"]
        return {entry_field(id_): id_ for id_ in of_entries}

    @contextmanager
    def asked(self, connection: sqlite3.Connection, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Read with this connection, after a look at what is new."""
        with self._lock:
            self._connection = connection
            if cancelled is not never:
                connection.set_progress_handler(lambda: int(cancelled()), CANCEL_STEPS)
            try:
                self._catch_up(connection)
                yield
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                    raise Cancelled from None
                raise
            finally:
                connection.set_progress_handler(None, 0)
                self._connection = None

    # Which entries there are, and which are done

    def _catch_up(self, connection: sqlite3.Connection) -> None:
        row = (self.corpus, b"", "")
        if self.run:
            query = (
                "SELECT corpus, CASE WHEN ?2 THEN positions END, (run_card IS NOT NULL) || '.' ||"
                " (SELECT count(*) FROM stretches WHERE run = ?1) FROM runs WHERE id = ?1"
            )
            row = connection.execute(query, (self.run, self._version is None)).fetchone()
        if row is None:
            raise StoreError("The run has been deleted.")
        self.corpus, packed, version = row
        if self._version is None:
            query = "SELECT position FROM entries WHERE corpus = ? ORDER BY position"
            own = np.frombuffer(little_endian_positions(packed), "<u4") if self.run else None
            there = read_numbers(connection.execute(query, (self.corpus,))) if own is None else np.sort(own)
            self.places = there.astype(np.uint32)
        if version != self._version:  # all scores may have changed at the seal, a resumed run asks again what failed
            self.columns = {key: column for key, column in self.columns.items() if column.last == WHOLE}
            self._version, self.last_row, self.done = version, 0, np.zeros(self.count, np.bool_)
        if self.run:
            query = f"SELECT r.rowid, r.position {_new_rows(self.last_row)}"
            for rows in _blocks(connection.execute(query, {"of": self.run, "after": self.last_row})):
                self.last_row = max(self.last_row, int(rows[:, 0].max()))
                self.done[self.index(rows[:, 1])[0]] = True

    def index(self, places: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], Mask]:
        """Return where places stand among the entries, without those of others, and which are none of others."""
        index = np.searchsorted(self.places, places)
        known = index < self.count
        known[known] = self.places[index[known]] == places[known]
        return index[known], known

    @cached_property
    def stored(self) -> dict[str, str]:
        """Ids of the metrics that are kept in columns of the store → the columns."""
        kept = self.kept
        right = {kept.right: "exact"} if kept.perfect == 1.0 else {}
        columns = right | {kept.headline: "headline", kept.second: "second", kept.third: "third"}
        return {id_: column for id_, column in columns.items() if id_}

    def sql(self, name: str) -> str:
        """Return where the store has a field; a text that is stored encrypted is opened."""
        if name in self.metrics:
            column = self.stored[self.metrics[name]]
            return f"r.{sort_columns(self.connection).get(column, column)}"
        sql = _HIDDEN.get(name) or (OF_ENTRIES.get(name) or OF_RESULTS[name]).sql
        if ".body" in sql and has_key(self.connection, self.corpus):
            CorpusSeal(self.connection, self.corpus).in_queries()
            where = {"s": ("e", SealedKind.ENTRY, "source"), "f": ("e", SealedKind.ENTRY, "reference")}
            letter = sql[sql.index(".body") - 1]
            body = f"{letter}.body"
            sql = sql.replace(body, plain(body, *where.get(letter, ("r", SealedKind.RESULT, "output"))))
        return sql

    def column(self, name: str, search: TextSearch | None = None) -> Column:
        """Return the values of a field, or 1 for where a text was found; reads only rows that are new."""
        key = name if search is None else self._key(name, search)
        column, end = self._known(key), WHOLE if self.is_of_entries(name) else self.last_row
        if column.last < end and search is None and self.metrics.get(name, "") not in {"", *self.stored}:
            return self._computed(name, column.last)
        if column.last < end:
            values = column.values
            for block in self._read(name, search, column.last):
                values = self.filled(values, block[:, 0], block[:, 1])
            self._keep(key, ReadColumn(values, end))
        return self._known(key).values

    def _known(self, key: str) -> ReadColumn:
        return self.columns.get(key) or ReadColumn(self.nothing, 0)

    @property
    def nothing(self) -> Column:
        """Return a new column without any value."""
        return np.full(self.count, np.nan, np.float16)

    def filled(self, values: Column, places: npt.NDArray[Any], new: Numbers) -> Column:
        """Write values at their places into a column; return it, or a wider copy where its type is too small for them."""
        with np.errstate(over="ignore"):
            exact = (k for k in (np.float16, np.float32) if np.array_equal(new.astype(k), new, equal_nan=True))
            values = values.astype(np.promote_types(values.dtype, next(exact, np.float64)), copy=False)
        index, known = self.index(places)
        values[index] = new[known]
        return values

    def _keep(self, key: str, column: ReadColumn) -> None:
        self.columns[key] = column
        searches = [key for key in self.columns if "(" in key]
        for search in searches[:-_MOST_SEARCHES]:
            del self.columns[search]

    def text_search(self, name: str, folded: str) -> TextSearch:
        """Return the search of a field for a folded piece of text."""
        return TextSearch(has_text(self.sql(name), folded), folded)

    def search_texts(self, names: Sequence[str], folded: str) -> None:
        """Search the texts of several fields at once, each text once, where nothing of the search is known.

        The texts of a corpus and a run stand one after another in the store, so that a few ranges of their numbers have
        all: 1, 2, 4 and 90 are 1 to 4 and 90. What is encrypted is opened row by row instead.
        """
        keys = {name: self._key(name, self.text_search(name, folded)) for name in names}
        if has_key(self.connection, self.corpus) or any(key in self.columns for key in keys.values()):
            return
        numbers = {name: np.nan_to_num(self.column(f"{name} number")).astype(np.int64) for name in names}
        marks = np.zeros(max((int(one.max(initial=0)) for one in numbers.values()), default=0) + 1, np.bool_)
        for one in numbers.values():
            marks[one] = True
        own = np.flatnonzero(marks)
        breaks = np.flatnonzero(np.diff(own) > _GAP)
        firsts, lasts = own[np.append(0, breaks + 1)[: len(own)]], own[np.append(breaks, len(own) - 1)[: len(own)]]
        ranges = np.column_stack([firsts, lasts]).tolist()
        query = (
            "SELECT t.id FROM json_each(:ranges) r CROSS JOIN texts t"
            f" ON t.id BETWEEN r.value ->> 0 AND r.value ->> 1 WHERE {has_text('t.body', folded)}"
        )
        given = {"ranges": json.dumps(ranges), "text": folded, "like": _like(folded)}
        marks[:] = False
        marks[read_numbers(self.connection.execute(query, given))] = True
        for name, key in keys.items():
            mask = np.where(marks[numbers[name]], np.float16(1), np.float16(np.nan))
            self._keep(key, ReadColumn(mask, WHOLE if self.is_of_entries(name) else self.last_row))

    @staticmethod
    def _key(name: str, search: TextSearch) -> str:
        return f"{name} {search.sql} {search.text}"

    def _read(self, name: str, search: TextSearch | None, after: int) -> Iterator[Numbers]:
        """Read the places and values of a field from the rows of results after one, or from all entries."""
        if search is not None:
            return _blocks(self.rows_of(name, "1", after, search))
        cursor, source = self.rows_of(name, self.sql(name), after), OF_ENTRIES.get(name) or OF_RESULTS.get(name)
        if source is not None and source.field.kind is _WORD:
            return _blocks(cursor, partial(self._coded, name, self.words.setdefault(name, {})))
        return _blocks(cursor)

    def rows_of(self, name: str, sql: str, after: int = 0, search: TextSearch | None = None) -> sqlite3.Cursor:
        """Select place and value of a field's rows, with a search only of those where the text is found."""
        of_entries, needed = self.is_of_entries(name), sql if search is None else search.sql
        text = "" if search is None else search.text
        given = {"of": self.corpus if of_entries else self.run, "after": after, "text": text, "like": _like(text)}
        joins = "".join(join for body, join in _JOINS.items() if body in needed)
        condition = "" if search is None else f" AND {search.sql}"
        if of_entries:
            query = f"SELECT e.position, {sql} FROM entries e{joins} WHERE e.corpus = :of{condition}"
        else:
            query = f"SELECT r.position, {sql} {_new_rows(after, joins)}{condition}"
        return self.connection.execute(query, given)

    @staticmethod
    def is_of_entries(name: str) -> bool:
        """Return whether a field says something of entries, and not of what a run made of them."""
        return name in OF_ENTRIES or _HIDDEN.get(name, "").startswith("e.")

    def _coded(self, name: str, words: dict[str, int], word: object) -> float | None:
        """Return the number that stands for a word of a field."""
        if word is None:
            return None
        folded = fold(str(word))
        if folded not in words:
            words[folded] = len(words)
            self.offered.setdefault(name, []).append(str(word))
        return words[folded]

    def _computed(self, name: str, after: int) -> Column:
        """Compute a metric of the rows after one from their statistics, and with it all others that no column has."""
        others = {other: id_ for other, id_ in self.metrics.items() if id_ not in self.stored}
        values = {other: self._known(other).values for other in others}
        query = f"SELECT r.position, r.statistics {_new_rows(after)}"
        rows = self.connection.execute(query, {"of": self.run, "after": after})
        while chunk := rows.fetchmany(_CHUNK):
            places = np.array([place for place, _ in chunk], np.float64)
            with suppress(StatisticsError):  # which leaves them without a value
                if self._scorer is not None:
                    computed = self._scorer.unpack_table([p for _, p in chunk], {*others.values()}).entry_values()
                    for other, id_ in others.items():
                        values[other] = self.filled(values[other], places, computed[id_])
        self.columns |= {other: ReadColumn(column, self.last_row) for other, column in values.items()}
        return values[name]


_CHUNK = 2_000
"""Rows that are made into numbers at once: other threads, which draw, get their turn between."""


def _new_rows(after: int, joins: str = "") -> str:
    """Return SQL for the results ``:of`` a run behind a row: all by the index of the run, new ones by their numbers alone."""
    return f"FROM results r{joins} WHERE {'+' if after else ''}r.run = :of AND r.rowid > :after"


@cache
def _capitals() -> dict[str, str]:
    """Return the letters outside of ASCII that are the same as another one where case does not count."""
    folded = ((letter, letter.casefold()) for letter in map(chr, range(128, 0x1F000)))
    letters = {letter: small for letter, small in folded if small != letter and len(small) == 1 and not small.isascii()}
    return letters | {"ß": "ss", "ẞ": "ss"}


def _like(text: str) -> str:
    """Return what LIKE takes to find a text anywhere."""
    return "%" + re.sub(r"([%_\\])", r"\\\1", text) + "%"


_PIECE = re.compile(r"[ !-~]{1,200}", re.ASCII)


def has_text(body: str, folded: str) -> str:
    """Return SQL that is true of a text which has ``:text``, a folded piece, whatever the case of its letters.

    SQLite lowers ASCII alone, so that other capitals of the piece are replaced first. LIKE takes half as long as that,
    but reads no text behind a NUL.
    """
    capitals = {letter: form for letter, form in _capitals().items() if form in folded}
    sql = f"lower({body})"
    for letter, form in capitals.items():
        sql = f"replace({sql}, char({ord(letter)}), '{form}')"
    if capitals or not _PIECE.fullmatch(folded):
        return f"instr({sql}, :text)"
    return f"({body} LIKE :like ESCAPE '\\' OR (instr({body}, char(0)) AND instr({sql}, :text)))"


def _blocks(rows: sqlite3.Cursor, coded: Callable[[object], float | None] | None = None) -> Iterator[Numbers]:
    """Yield rows of two numbers, NaN where there is none; ``coded`` makes a number of what is none."""
    while chunk := rows.fetchmany(_CHUNK):
        yield np.array(chunk if coded is None else [(place, coded(value)) for place, value in chunk], np.float64)


def read_numbers(rows: sqlite3.Cursor) -> npt.NDArray[np.int64]:
    """Read rows of one whole number each."""
    chunks = [np.empty(0, np.int64)]
    while chunk := rows.fetchmany(_CHUNK):
        chunks.append(np.array([row[0] for row in chunk], np.int64))
    return np.concatenate(chunks)
