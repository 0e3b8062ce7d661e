"""A store as the version before sealing left it, and how it is taken over when it is killed at some moment.

Run as a program of one thread, because it forks: ``python written_before.py FOLDER COUNT`` kills a process that takes such a
store over at about so many places, spread over the whole, and prints how often, what was lost and what could be read.
"""

import io
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgpack

from corpora.model.entry import Entry, Segment
from harness.core.failures import ErrorClass
from harness.method.method import Attempt, Result
from harness.store.annotations import AnnotationRow, keep_annotations, read_annotations
from harness.store.corpora import entries as stored_entries
from harness.store.corpora.entries import read_dataset, shown_entries
from harness.store.corpora.secrecy import note_secrets
from harness.store.results import add_results, read_attempts, read_results
from harness.store.sqlite import take_over
from harness.store.sqlite.database import open_store
from harness.store.sqlite.sealing import DIGEST_KEY, digest_key, forget_keys
from tests.harness.store.stored_rows import make_run, result

CANARY = "kanario"
NAME = "rosetta.sqlite"


def entries(count: int = 12) -> list[Entry]:
    """Make entries of which every second is secret, with a canary in every field of these."""
    return [
        Entry(id=n, source=f"open {n}", reference=f"malferma {n}", segment=Segment.DEVELOPMENT)
        if n % 2
        else Entry.model_validate(
            {"id": n, "source": f"{CANARY} {n}", "reference": f"{CANARY} r {n}", "segment": "held_out",
             "variants": [f"{CANARY} v"], "notes": CANARY, "provenance": CANARY, "register": "formal",
             "context": "label", "variety": CANARY}
        )
        for n in range(count)
    ]  # fmt: skip


def rows(made: list[Entry]) -> list[Result]:
    """Make a result of every entry, with words that quote it."""
    said = (Attempt(b"k" * 16, 500, 0.5, error_class=ErrorClass.SERVER, error=f"said {CANARY}"),
            Attempt(None, 200, note=CANARY))  # fmt: skip
    return [
        result(n, each, f"{each.source} out", raw=f"{each.source} raw", trace=said if n % 4 == 0 else ())
        if n % 3
        else result(n, each, None, error_class=ErrorClass.METHOD,
                    error=f"{CANARY} broke" if n % 2 == 0 else "broke")
        for n, each in enumerate(made)
    ]  # fmt: skip


def answer() -> AnnotationRow:
    """Make what a judge said of the first entry."""
    return AnnotationRow(0, "judge", "maker", {"score": 0.5, "reason": CANARY})


def _filled(path: Path, made: list[Entry]) -> bytes:
    """Fill a store, nothing sealed; gives the key of its digests."""
    with closing(open_store(path)) as store:
        number = make_run(store, made)
        store.execute("BEGIN")
        add_results(store, number, rows(made))
        keep_annotations(store, number, [answer()])
        note_secrets(store, 1, made)
        dataset = read_dataset(store, 1).model_copy(update={"transmission": "local-only"})
        entry = Entry(id=1, source=f"{CANARY} l", reference=CANARY)
        stored_entries.insert_corpus(store, "1" * 64, dataset, [entry], partial=False)
        store.execute("INSERT INTO texts (digest, body) VALUES (1, ?)", (f"head {CANARY}",))
        reply = "INSERT INTO replies SELECT ?, max(id), NULL, max(id), ?, 0, 0 FROM texts"
        store.execute(reply, (b"k" * 16, msgpack.packb([])))
        store.execute("INSERT INTO makers VALUES (1, 'm')")
        store.execute("INSERT INTO findings VALUES (1, ?, x'00')", (CANARY,))
        said = msgpack.packb([CANARY])
        store.execute("INSERT INTO row_words VALUES (?, 0, ?, NULL)", (number, said))
        store.execute("COMMIT")
        return digest_key(path.parent)


def written_before(path: Path, count: int = 12) -> None:
    """Make a store of the version before, with texts of secret entries in its rows, its cache and its free pages."""
    made = entries(count)
    with patch.object(stored_entries, "is_on_disk", return_value=False):
        key = _filled(path, made)
    (path.parent / DIGEST_KEY).write_bytes(key)
    (path.parent / "computer.key").unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("PRAGMA secure_delete = OFF")
        for each in ("entries", "results", "annotations"):
            raw.execute(f"ALTER TABLE {each} DROP COLUMN sealed")
        raw.execute("DROP TABLE corpus_keys")
        raw.execute("DELETE FROM _sqlite_migrations WHERE name LIKE 'm013%'")
        gone = [(f"{CANARY} gone " * 400,)] * 8
        raw.executemany("INSERT INTO texts (digest, body) VALUES (2, ?)", gone)
        raw.execute("DELETE FROM texts WHERE digest = 2")
        raw.execute("PRAGMA user_version = 12")
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    forget_keys()


def readable(folder: Path) -> list[str]:
    """Name the files that hold a canary."""
    found = (each for each in folder.rglob("*") if each.is_file())
    return [each.name for each in found if CANARY.encode() in each.read_bytes()]


def lost(path: Path, count: int = 12) -> list[str]:
    """Open a store and say what is not there of what was."""
    made, found = entries(count), []
    with closing(open_store(path)) as store:
        if shown_entries(store, 1) != dict(enumerate(made)):
            found.append("entries")
        if [*read_results(store, 1)] != [replace(row, trace=()) for row in rows(made)]:
            found.append("results")
        if any(read_attempts(store, 1, n) != [*row.trace] for n, row in enumerate(rows(made))):
            found.append("attempts")
        if [each.value for each in read_annotations(store, 1)] != [answer().value]:
            found.append("annotations")
        if shown_entries(store, 2)[0].source != f"{CANARY} l":
            found.append("terms")
    return found


@contextmanager
def counting(step: Callable[[], None]) -> Iterator[None]:
    """Call ``step`` before every statement and every few steps within one."""
    real = sqlite3.connect

    def connect(*given: Any, **named: Any) -> sqlite3.Connection:
        made: sqlite3.Connection = real(*given, **named)
        made.set_progress_handler(step, 60)
        made.set_trace_callback(lambda _: step())
        return made

    with patch.object(sqlite3, "connect", connect):
        yield


def steps(act: Callable[[], object]) -> int:
    """Do an act; gives its steps."""
    places = [0]

    def step() -> None:
        places[0] += 1

    with counting(step):
        act()
    return places[0]


def killed(act: Callable[[], object], place: int) -> bool:
    """Do an act in a process that is ended at a place; False where it has fewer."""
    child = os.fork()
    if child == 0:
        left = [place]

        def step() -> None:
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)

        with counting(step):
            act()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def main(folder: Path, count: int) -> dict[str, Any]:
    """Kill and look; gives how often, and all that is wrong."""
    os.environ["SQLITE_TMPDIR"] = tempfile.tempdir = str(folder / "temporary")
    (folder / "temporary").mkdir()
    sys.stderr = io.StringIO()  # what is said of every one
    take_over.STEP = 4
    whole = folder / "whole" / NAME
    written_before(whole)
    shutil.copytree(whole.parent, folder / "counted")
    places = steps(lambda: open_store(folder / "counted" / NAME).close())
    told: dict[str, Any] = {"kills": 0, "lost": [], "readable": [], "places": places}
    for number in range(count):
        here = folder / str(number)
        shutil.copytree(whole.parent, here)
        place, opens = number * places // count, partial(open_store, here / NAME)
        told["kills"] += killed(opens, place) + killed(opens, number % 40)
        try:
            told["lost"] += [f"{each} at {place}" for each in lost(here / NAME)]
        except Exception as error:  # noqa: BLE001  told with its place
            told["lost"].append(f"at {place}: {error!r}")
        told["readable"] += [f"{each} at {place}" for each in readable(here)]
        forget_keys()
        shutil.rmtree(here)
    told["readable"] += readable(folder / "temporary")
    return told


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
