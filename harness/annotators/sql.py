"""What predicted SQL queries give, beside the reference queries: run in a process of their own, read-only.

A record names its SQLite file as ``database``, by a path relative to the folder of its corpus. What a query may do and
how much it may take is in ``sql_sandbox``; from here its process is ended when a query does not come to an end.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from pydantic import BaseModel, ConfigDict

from corpora.files.json_types import JsonObject
from corpora.files.problems import shown
from corpora.model.entry import Entry
from harness.annotators.annotator import Find, Search
from harness.core.failures import HarnessError, UsageError
from scoring.core.setup import Translation
from scoring.packs.au.structured import unfenced

_ROOT = Path(__file__).parents[2]
PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from harness.annotators.sql_sandbox import main; main()"
_START_SECONDS = 60.0
"""That the process may take to start on a busy machine."""
QUERY_SECONDS = 1.5
"""On the clock, for each of the two queries; the process itself stops a query earlier where it can."""
MOST_LETTERS = 20_000
"""Of a longer query nothing is run."""
_HEADER = b"SQLite format 3\x00"


class SqlFacts(BaseModel):
    """Which databases the queries ran on, and in which SQLite."""

    model_config = ConfigDict(frozen=True)

    databases: int
    sha256: str
    """Over the SHA-256 of each file, in order."""
    sqlite: str


class SqlRunner:
    """Runs the queries of translations; the annotation is ``{"exec": 0, 1 or None, "why": …, "tables": …, "rows": …}``.

    ``exec`` is None where the reference query has no result itself; ``tables`` are the columns of each table, ``rows``
    the first rows of both results where they differ. A record without ``database`` has no annotation.
    """

    id = "sql"
    slow = False

    def __init__(self, folder: Path, entries: Sequence[Entry]) -> None:
        """Check every database; UsageError names the record whose one cannot be used."""
        self._folder = folder.resolve()
        self._databases: dict[str, Path] = {}
        for entry in entries:
            name = database_of(entry)
            if name is not None and name not in self._databases:
                # Where a record's database lies; UsageError where it may not be opened.
                try:
                    path = (self._folder / name).resolve()
                    inside = path.is_relative_to(self._folder)
                    header = b""
                    if inside and path.is_file():
                        with path.open("rb") as opened:
                            header = opened.read(len(_HEADER))
                except (OSError, ValueError):  # a NUL in the name, a folder that may not be read
                    inside, header = True, b""
                if not inside:
                    why = "lies outside the corpus's folder"
                    raise _wrong(entry, why, "Put the file beside the corpus")
                if header != _HEADER:
                    why = "is no SQLite file in the corpus's folder"
                    raise _wrong(entry, why, "Name one that is")
                self._databases[name] = path
        files, total = sorted(set(self._databases.values())), hashlib.sha256()
        for file in files:
            with file.open("rb") as opened:
                total.update(hashlib.file_digest(opened, "sha256").digest())
        self.facts = SqlFacts(databases=len(files), sha256=total.hexdigest(), sqlite=sqlite3.sqlite_version)
        self._sandbox = Sandbox()

    def annotate(self, translations: Sequence[Translation]) -> list[JsonObject | None]:
        outcomes: list[JsonObject | None] = []
        for translation in translations:
            database = self._databases.get(database_of(translation.entry) or "")
            query, wanted = unfenced(translation.output), translation.entry.reference
            outcomes.append(None if database is None else self._sandbox.ask(database, wanted, query))
        return outcomes

    def close(self) -> None:
        self._sandbox.close()


def database_of(entry: Entry) -> str | None:
    """Return the name of a record's database; UsageError where it is no text."""
    named = (entry.model_extra or {}).get("database")
    if named is None:
        return None
    if not isinstance(named, str) or not named.strip():
        raise _wrong(entry, "is no path", "Write a path relative to the corpus's folder")
    return named


def _wrong(entry: Entry, what: str, mend: str) -> UsageError:
    """Return what is wrong with a record's database; its name may be a text of a secret entry and is not quoted."""
    return UsageError(f"Entry {shown(entry.id)}: `database` {what}. {mend}.")


class Sandbox:
    """The process of ``sql_sandbox``, started when it is first needed, and again after it had to be ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, database: Path, wanted: str, given: str) -> JsonObject:
        """Return what two queries make of each other; HarnessError where no process can be started."""
        if len(wanted) > MOST_LETTERS:
            return _none(f"the reference query is longer than {MOST_LETTERS:,} letters")
        if not given:
            return _wrong_answer("there is no query")
        if len(given) > MOST_LETTERS:
            return _wrong_answer(f"the query is longer than {MOST_LETTERS:,} letters")
        asked = {"database": str(database), "wanted": wanted, "given": given}
        with self._lock:
            process = self._running()
            first = self._exchange(process, asked)
            if "wanted" not in first:
                return _none(f"the reference query {first['ended']}")
            second = self._exchange(process, None)
            return _wrong_answer(f"the query {second['ended']}") if "ended" in second else second

    def close(self) -> None:
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        self._process = subprocess.Popen(  # noqa: S603  our own program, without a shell
            [sys.executable, "-I", "-S", "-c", PROGRAM, str(_ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},
            cwd=_ROOT.anchor,
        )
        if "ready" not in self._exchange(self._process, None, _START_SECONDS):
            raise HarnessError(
                "The process in which predicted SQL runs does not start. Leave au.text2sql_score and "
                "au.sql_set_match out of --metrics, or look whether this machine has memory left."
            )
        return self._process

    def _exchange(
        self, process: subprocess.Popen[bytes], asked: Mapping[str, str] | None, seconds: float | None = None
    ) -> JsonObject:
        """Write a request and read one line; ``ended`` says why there is none, and that the process is gone."""
        stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        watch = _Watch(process, QUERY_SECONDS if seconds is None else seconds)
        try:
            if asked is not None:
                stdin.write(json.dumps(asked).encode() + b"\n")
                stdin.flush()
            line = stdout.readline()
        except OSError:
            line = b""
        overrun = watch.stop()
        if line.endswith(b"\n") and not overrun:
            answer: JsonObject = json.loads(line)
            return answer
        self._end()
        return {"ended": "takes too long" if overrun else "ends the process it runs in"}

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in filter(None, (process.stdin, process.stdout)):
            with suppress(OSError):  # what was written last does not reach a process that is gone
                pipe.close()


class _Watch:
    """Ends a process that does not answer in time."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._process = process
        self._lock = threading.Lock()
        self._stopped = self._overrun = False
        self._timer = threading.Timer(seconds, self._fire)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> bool:
        """Stop watching; True if the process was ended."""
        with self._lock:
            self._stopped = True
        self._timer.cancel()
        return self._overrun

    def _fire(self) -> None:
        with self._lock:
            if not self._stopped:
                self._overrun = True
                self._process.kill()


def _wrong_answer(why: str) -> JsonObject:
    return {"exec": 0, "why": why, "tables": {}}


def _none(why: str) -> JsonObject:
    return {"exec": None, "why": why, "tables": {}}


def find(search: Search) -> Find | None:
    """Make the annotator where records name databases; UsageError where one cannot be used."""
    if all(database_of(entry) is None for entry in search.entries):
        return None
    if search.folder is None:
        return Find(None, None, dict.fromkeys(_READERS, _NO_FOLDER))
    runner = SqlRunner(search.folder, search.entries)
    return Find(runner, runner.facts)


_READERS = ("au.text2sql_score", "au.sql_set_match")
_NO_FOLDER = "it is not known where the corpus lies, beside which its databases are: name its file again"
