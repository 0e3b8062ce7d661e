"""A laptop's and an office's file as the version before sealed words left them, and how they are taken over when killed.

Both hold a secret review (``hidden``) and an open one (``plain``), each with comments, better wordings, drafts, decisions
about flags, and one person who took their comments back; whatever was typed has a canary in it, free pages too. Run as a
program of one thread, because it forks: ``python open_words.py FOLDER COUNT`` kills a process that takes such files over at
about so many places, spread over the whole, and prints how often, what was lost and what could be read.
"""

import gzip
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from harness.core.failures import HarnessError
from harness.sealed.chain import check_chain
from harness.store.sqlite.sealing import forget_keys
from review.log.event import Event
from review.log.laptop import FILE_NAME, Laptop
from review.log.payloads import Consent
from review.log.table import read_events
from review.office.store.database import FILE
from review.office.store.store import Office
from tests.harness.store.sqlite.written_before import CANARY, killed, steps

GOLDEN = Path(__file__).parent / "golden_open_words"
HIDDEN = f"{CANARY} hidden"


def older(folder: Path) -> Path:
    """Lay the files of before and their keys into a folder; gives it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (FILE, FILE_NAME):
        (folder / name).write_bytes(gzip.decompress((GOLDEN / f"{name}.gz").read_bytes()))
    for key in GOLDEN.glob("*.key"):
        shutil.copy(key, folder)
    return folder


def raw(path: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query, values).fetchall()


def told_before(path: Path) -> list[Event]:
    with closing(sqlite3.connect(path)) as connection:
        return list(read_events(connection))


def secret_batch(path: Path) -> str:
    return str(raw(path, "SELECT batch FROM event WHERE batch IS NOT NULL ORDER BY rowid")[0][0])


def readable(folder: Path) -> list[str]:
    """Name the files in which something of the secret review, or of what was freed, can be read."""
    marks = (HIDDEN.encode(), f"{CANARY} freed".encode())
    files = [each for each in folder.rglob("*") if each.is_file()]
    return [each.name for each in files if any(mark in each.read_bytes() for mark in marks)]


def office_of(folder: Path) -> list[Event]:
    with Office.open(folder) as office:
        told = [office.events(office.review(name)) for name in ("hidden", "plain")]
        assert all(check_chain(each).whole for each in told)
        return [*told[0], *told[1]]


def laptop_of(folder: Path) -> tuple[list[Event], list[str | None]]:
    with Laptop.open(folder) as laptop:
        events = list(laptop.events())
        laptop.require_open(events)
        assert check_chain(events).whole
        agreed = [e.payload for e in events if isinstance(e.payload, Consent)]
        people = sorted({(each.batch, each.reviewer) for each in agreed})
        return events, [each.text for place in people for each in laptop.drafts(*place)]


def everything(folder: Path) -> tuple[list[Event], list[Event], list[str | None]]:
    return office_of(folder), *laptop_of(folder)


def main(folder: Path, count: int) -> dict[str, Any]:
    """Kill and look; gives how often, and all that is wrong."""
    os.environ["SQLITE_TMPDIR"] = tempfile.tempdir = str(folder / "temporary")
    (folder / "temporary").mkdir()
    whole = everything(older(folder / "whole"))
    told: dict[str, Any] = {"kills": 0, "lost": [], "readable": []}
    for opens in (Office.open, Laptop.open):
        counted = older(folder / f"counted {opens.__qualname__}")
        places = steps(lambda: opens(counted).close())  # noqa: B023  done at once
        for number in range(count):
            here, place = older(folder / "here"), number * places // count
            told["kills"] += killed(partial(opens, here), place)
            try:
                if everything(here) != whole:
                    told["lost"].append(f"{opens.__qualname__} at {place}")
            except HarnessError as error:
                told["lost"].append(f"{opens.__qualname__} at {place}: {error}")
            told["readable"] += [f"{each} at {place}" for each in readable(here)]
            forget_keys()
            shutil.rmtree(here)
    told["readable"] += readable(folder / "temporary")
    return told


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
