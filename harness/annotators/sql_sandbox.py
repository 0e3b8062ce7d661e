"""The process in which predicted queries run: read-only, without a way out, within limits.

A line of JSON asks, ``{"database": path, "wanted": query, "given": query}``; two lines answer: when the wanted query
is done, and what both make of each other. Everything that a query can ask of SQLite passes an authorizer that lets
reading through and nothing else; the file is opened read-only, and this process may write no file at all.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from corpora.files.json_types import JsonObject
from scoring.packs.au.structured import is_ordered, same_result, without_distinct

try:
    import resource

    _system: ModuleType | None = resource
except ImportError:  # Windows sets no such limits; SQLite's own hold there
    _system = None

MOST_ROWS = 10_000
"""Of a longer result nothing is compared."""
MOST_BYTES = 32 * 2**20
"""Of all values of a result together."""
CPU_SECONDS = 0.8
"""That one query may take of a processor."""
_SHOWN_ROWS, _SHOWN_COLUMNS, _SHOWN_LETTERS = 5, 8, 60
"""What is shown to people of a result."""
_OPCODES = 5_000
"""Steps of SQLite's machine between two looks at the clock."""
_HEAP = 128 * 2**20
_ADDRESS_SPACE = 2**30
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
_FORBIDDEN_FUNCTIONS = frozenset(
    {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "zipfile", "fsdir"}
)
"""Functions that reach beyond the database where a build of SQLite has them."""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

Result = list[tuple[Any, ...]]


class RefusedError(Exception):
    """A query did not give a result that can be compared; says why."""


def main() -> None:
    _limit_process()
    _say({"ready": sqlite3.sqlite_version})
    for line in sys.stdin.buffer:
        for answer in answers(json.loads(line)):
            _say(answer)


def answers(asked: Mapping[str, str]) -> Iterator[JsonObject]:
    """Yield first whether the wanted query has a result, then what the given one is worth next to it."""
    database = Path(asked["database"])
    try:
        tables, wanted = _tables(database), _result(database, asked["wanted"])
    except RefusedError as error:
        yield {"wanted": False}
        yield {"exec": None, "why": f"the reference query {error}", "tables": {}}
        return
    yield {"wanted": True}
    try:
        given = _result(database, asked["given"])
    except RefusedError as error:
        yield {"exec": 0, "why": f"the query {error}", "tables": tables}
        return
    same = same_result(wanted, given, ordered=is_ordered(asked["wanted"]))
    why = "" if same else f"{len(given)} rows; the reference query has {len(wanted)}"
    if not same and len(given) == len(wanted):
        why = "other rows than those of the reference query"
    rows = {} if same else {"given": _first(given), "wanted": _first(wanted)}
    yield {"exec": int(same), "why": why, "tables": tables, "rows": rows}


def _first(rows: Result) -> list[str]:
    return [" | ".join(map(_cell, row[:_SHOWN_COLUMNS])) for row in rows[:_SHOWN_ROWS]]


def _cell(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return "NULL" if value is None else str(value)[:_SHOWN_LETTERS]


def _say(answer: JsonObject) -> None:
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
    sys.stdout.buffer.flush()


def _limit_process() -> None:
    """Allow no file to be written and little memory, where the system has such limits."""
    for name, most in (("RLIMIT_FSIZE", 0), ("RLIMIT_CORE", 0), ("RLIMIT_AS", _ADDRESS_SPACE)):
        with suppress(AttributeError, ValueError, OSError):  # macOS knows RLIMIT_AS by name only
            if _system is not None:
                _system.setrlimit(getattr(_system, name), (most, most))


def connected(database: Path) -> sqlite3.Connection:
    """Open a database read-only, with SQLite's own limits set."""
    connection = sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
    connection.text_factory = lambda content: content.decode(errors="replace")
    connection.execute(f"PRAGMA hard_heap_limit={_HEAP}").close()
    connection.execute("PRAGMA temp_store=MEMORY").close()
    for limit, most in _LIMITS.items():
        connection.setlimit(limit, most)
    return connection


def _tables(database: Path) -> dict[str, list[str]]:
    """Return the columns of each table, by lower-case names."""
    try:
        connection = connected(database)
        try:
            rows = connection.execute(
                "SELECT lower(m.name), lower(c.name) FROM sqlite_master m, pragma_table_info(m.name) c "
                "WHERE m.type IN ('table', 'view')"
            ).fetchall()
        finally:
            connection.close()
    except (sqlite3.Error, MemoryError) as error:
        raise RefusedError(f"cannot run: the database cannot be read ({error})") from None
    tables: dict[str, list[str]] = {}
    for table, column in rows:
        tables.setdefault(str(table), []).append(str(column))
    return tables


def _result(database: Path, query: str) -> Result:
    """Run a query; RefusedError says why it has no result."""
    connection = connected(database)
    try:
        connection.set_authorizer(_authorize)
        end = time.process_time() + CPU_SECONDS
        connection.set_progress_handler(lambda: time.process_time() > end, _OPCODES)
        return _rows(connection, without_distinct(query))
    except sqlite3.OperationalError as error:
        if str(error) == "interrupted":
            raise RefusedError("takes too long") from None
        raise RefusedError(f"fails: {error}") from None
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise RefusedError(f"fails: {error}") from None
    except (MemoryError, OverflowError):
        raise RefusedError("takes too much memory") from None
    finally:
        connection.set_progress_handler(None, 0)
        connection.close()


def _rows(connection: sqlite3.Connection, query: str) -> Result:
    rows: Result = []
    size = 0
    for row in connection.execute(query):
        rows.append(row)
        size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if len(rows) > MOST_ROWS or size > MOST_BYTES:
            raise RefusedError(f"gives more than {MOST_ROWS:,} rows or {MOST_BYTES // 2**20} MB")
    return rows


def _authorize(action: int, _: str | None, name: str | None, __: str | None, ___: str | None) -> int:
    """Allow reading; a function's name is the second argument."""
    harmless = action != sqlite3.SQLITE_FUNCTION or str(name).lower() not in _FORBIDDEN_FUNCTIONS
    return sqlite3.SQLITE_OK if action in _ALLOWED and harmless else sqlite3.SQLITE_DENY
