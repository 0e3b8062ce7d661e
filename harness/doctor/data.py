"""The data folder, the store in it, and what the settings name."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

from harness.core.failures import UsageError
from harness.core.storage import StorageProblem, storage_problem
from harness.doctor.finding import Finding, Health
from harness.endpoint.endpoints import chat_endpoint, checked_url, presets
from harness.settings import read_settings, settings_path
from harness.store.sqlite.copies import Locks, examine_locks, upgrade_copy
from harness.store.sqlite.database import SCHEMA_VERSION
from harness.store.sqlite.schema import STEPS, recorded_steps, schema_differences
from harness.store.sqlite.trouble import in_words

_FEW_BYTES = 200 * 2**20
"""Free space below which a run of many entries may not fit."""
_TOO_FEW_BYTES = 20 * 2**20
"""Free space below which nothing should be begun."""
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs"})
"""File systems on which SQLite cannot lock safely."""


def data(home: Path) -> Iterator[Finding]:
    """Check the folder that holds everything, and the store."""
    if not home.exists():
        words = f"{home} is not there yet. It is made by the first run."
        yield Finding("Data", "folder", Health.OK, words)
        yield _space(next(parent for parent in home.parents if parent.exists()))
        return
    yield _folder(home)
    yield _private(home)
    yield _space(home)
    if (kind := file_system(home)) in _NETWORK:
        words = f"{home} is on a network drive ({kind}), where a store can be damaged. Name a folder here:"
        yield Finding("Data", "drive", Health.BROKEN, words, (_name_folder(),))
    locks = examine_locks(home)  # from a second process as well
    if locks in _LOCKS_WORDS:
        yield Finding("Data", "locks", Health.BROKEN, _LOCKS_WORDS[locks].format(home), (_name_folder(),))
    elif locks is Locks.WORK:
        yield Finding("Data", "locks", Health.OK, "a second process respects the first one's lock")
    yield from _store(home / "rosetta.sqlite")


_LOCKS_WORDS = {
    Locks.MISSING: "locks do not work in {}, so no store can be kept there. Name a folder on a disk of this machine:",
    Locks.IGNORED: (
        "two programs can lock one file in {} at once, so they damage the store when both write. Name a folder on a "
        "disk of this machine:"
    ),
}


def _name_folder() -> str:
    if os.name == "nt":
        return "setx ROSETTA_HOME %LOCALAPPDATA%\\rosetta"
    return "export ROSETTA_HOME=~/rosetta"


def _folder(home: Path) -> Finding:
    if not home.is_dir():
        words = f"{home} is no folder. Move it away, or name another:"
        return Finding("Data", "folder", Health.BROKEN, words, (_name_folder(),))
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        words = f"{home} cannot be written by you. Allow it, or name another:"
        mend = (f'chmod u+rwx "{home}"', _name_folder())
        return Finding("Data", "folder", Health.BROKEN, words, mend)
    return Finding("Data", "folder", Health.OK, f"{home} can be read and written")


def _private(home: Path) -> Finding:
    """Check whether others of this computer can look into the folder or the store."""
    if os.name == "nt":
        words = "who may look into it is Windows' business; in your own user folder, only you"
        return Finding("Data", "privacy", Health.UNKNOWN, words)
    store = home / "rosetta.sqlite"
    open_ = [path for path in (home, store) if path.exists() and _mode(path) & 0o077]
    if home in open_:
        mend = (f'chmod 700 "{home}"', *([f'chmod 600 "{store}"'] if store in open_ else []))
        words = f"others of this computer may look into {home} (mode {_mode(home):o}):"
        health = Health.BROKEN if store in open_ else Health.MISSING
        return Finding("Data", "privacy", health, words, mend)
    return Finding("Data", "privacy", Health.OK, "only you can look into it")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _space(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    health = Health.OK if free >= _FEW_BYTES else Health.MISSING
    health = Health.BROKEN if free < _TOO_FEW_BYTES else health
    words = f"{_size(free)} free on the drive of {folder}"
    words += "" if health is Health.OK else ". Make room: a run of 10,000 entries takes about 20 MB"
    return Finding("Data", "free space", health, words)


def _size(count: int) -> str:
    return f"{count / 10**9:,.1f} GB" if count >= 10**9 else f"{count / 10**6:,.1f} MB"


def file_system(folder: Path) -> str | None:
    """Name the file system that a folder is on, None where this system does not tell."""
    if sys.platform != "linux":
        return None
    best, kind = "", None
    with Path("/proc/self/mounts").open(encoding="utf-8", errors="replace") as mounts:
        for line in mounts:
            _, point, named, *_ = line.split(" ")
            there = point.encode().decode("unicode_escape")
            if folder.resolve().is_relative_to(there) and len(there) >= len(best):
                best, kind = there, named
    return kind


# The store


def _store(path: Path) -> Iterator[Finding]:
    if not path.exists():
        words = f"{path.name} is not there yet. It is made by the first run:"
        yield Finding("Data", "store", Health.OK, words, ("rosetta demo",))
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as store:
            yield from _examined(store, path)
    except sqlite3.Error as error:
        damaged = storage_problem(error) in {StorageProblem.DAMAGED, StorageProblem.NOT_OURS}
        mend = _away(path) if damaged else ()
        yield Finding("Data", "store", Health.BROKEN, str(in_words(error, path)), mend)


def _away(path: Path, *between: str) -> tuple[str, ...]:
    """Return the lines that copy a store away with the two files next to it, and let a new one begin.

    The newest rows may be in a file next to it alone, so a copy of one file would lose them; a folder
    that is there holds an earlier copy.
    """
    folders = (path.with_name(f"damaged-{number}") for number in count(1))
    folder = next(folder for folder in folders if not folder.exists())
    files = [f"{path}{end}" for end in ("", "-wal", "-shm")]
    if os.name == "nt":
        away = f'xcopy /i "{path}*" "{folder}"'
        quoted = [f'"{file}"' for file in files]
        gone = f"del {' '.join(quoted)}"
    else:
        into = shlex.quote(str(folder))
        away = f"mkdir -p {into} && cp -p {shlex.quote(str(path))}* {into}/"
        gone = f"rm -f {shlex.join(files)}"
    return (away, *between, gone, "rosetta doctor")


def _examined(store: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    number = store.execute("PRAGMA user_version").fetchone()[0]
    if number > SCHEMA_VERSION:
        words = (
            f"{path} was written by a newer Rosetta (its version is {number}, this program knows "
            f"{SCHEMA_VERSION}). Install the newer one."
        )
        yield Finding("Data", "store", Health.BROKEN, words)
        return
    wrong = [str(row[0]) for row in store.execute("PRAGMA integrity_check(3)")]
    if wrong != ["ok"]:
        words = (
            f"{path} is damaged ({len(wrong)} faults or more). Copy all of its files away, write the runs "
            "that can still be read to files, then put a copy of yours in its place, or begin again:"
        )
        mend = _away(path, "rosetta runs list", "rosetta runs export last -o last-run.json")
        yield Finding("Data", "store", Health.BROKEN, words, mend)
        return
    if lost := len(store.execute("PRAGMA foreign_key_check").fetchall()):
        words = f"{path}: {lost:,} rows belong to nothing. Put a copy of yours in its place."
        yield Finding("Data", "store", Health.BROKEN, words)
        return
    applied = STEPS if number == SCHEMA_VERSION else recorded_steps(store)
    if differences := schema_differences(store, applied):
        words = (
            f"{path} is not in the form of store version {number}: {'; '.join(differences)}. No released version "
            "of Rosetta made it. Use the one that did, or put a copy of yours in its place, or begin with a new store:"
        )
        yield Finding("Data", "store", Health.BROKEN, words, _away(path))
        return
    if number < SCHEMA_VERSION:
        held = f"version {number}, made version {SCHEMA_VERSION} by the next command that opens it"
    else:
        runs, corpora = (
            store.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608  two constants
            for table in ("runs", "corpora")
        )
        held = f"{runs:,} run{'s' * (runs != 1)} on {corpora:,} corp{'ora' if corpora != 1 else 'us'}"
    yield Finding("Data", "store", Health.OK, f"sound: {held}, {_size(path.stat().st_size)}")
    for copy in path.parent.glob(upgrade_copy(path, 0).name.replace("0", "*")):
        words = (
            f"{copy} is the store as it was before an upgrade that was stopped or failed. The upgrade that ends "
            "deletes it; once your runs are all there, you can."
        )
        yield Finding("Data", "copy", Health.UNKNOWN, words)


# What the settings name


def settings(home: Path) -> Iterator[Finding]:
    try:
        now = read_settings(home)
    except UsageError as error:
        yield Finding("Settings", "file", Health.BROKEN, str(error))
        return
    path = settings_path(home)
    words = f"{path} can be read" if path.exists() else "nothing is chosen; the program's own hold"
    yield Finding("Settings", "file", Health.OK, words)
    if now.prices is not None:
        from harness.endpoint.budget import Prices

        yield _tried("prices", lambda: Prices(now.prices), f"{now.prices} can be read")
    for name, folder in [("exports", now.exports), *(("languages", f) for f in now.language_folders)]:
        if folder is not None and not folder.is_dir():
            words = f"{folder} is not there. Make it, or choose another in the settings:"
            yield Finding("Settings", name, Health.BROKEN, words, (f'mkdir -p "{folder}"',))
    for name, url in now.endpoints.items():
        yield _endpoint(name, url)
    if now.endpoint:
        try:
            chat = chat_endpoint(now.url_of(now.endpoint))
            yield Finding("Settings", "default endpoint", Health.OK, f"{chat.name} ({chat.url})")
        except UsageError as error:
            yield Finding("Settings", "default endpoint", Health.BROKEN, str(error))


def _tried(name: str, reading: Callable[[], object], right: str) -> Finding:
    try:
        reading()
    except UsageError as error:
        return Finding("Settings", name, Health.BROKEN, str(error))
    return Finding("Settings", name, Health.OK, right)


def _endpoint(name: str, url: str) -> Finding:
    tried = _tried(name, lambda: checked_url(url), f"{url} (not asked: nothing is sent)")
    if tried.health is Health.OK and name in presets("chat"):
        words = f"{name} is the name of a shipped endpoint too; yours is asked. Rename it to tell them apart."
        return Finding("Settings", name, Health.MISSING, words)
    return tried
