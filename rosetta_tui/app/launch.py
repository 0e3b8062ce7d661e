"""Opens the app: on Home, or on a run that has just begun."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.failures import StoreError, UsageError
from harness.store.sqlite.database import bring_up_to_date, default_path
from rosetta_tui.session.run_sources import Watched, WatchedRun, look_ahead

ESCAPE_MILLISECONDS = "10"  # how long a terminal may take over the rest of an escape sequence
SWITCH_SECONDS = 0.0005  # how long a working thread may hold up the one that answers keys

if TYPE_CHECKING:
    from harness.run.following import Follower
    from rosetta_tui.app.app import Begin, Screens
    from rosetta_tui.session.engine import Engine


def open_app(at: Screens | None = None) -> None:
    """Open the app on Home, or on other screens over it; raises UsageError where there is no terminal to open it on."""
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        raise UsageError("The app needs a terminal. `rosetta --help` lists the commands that work without one.")
    _run(default_path(), None, at)


def watch(path: Path, engine: Engine) -> None:
    """Start a run and watch it live until its person leaves."""
    engine.start()
    _run(path, engine)


def watch_other(path: Path, run_id: str, *, complete: bool) -> None:
    """Watch a run that another process has under way, or one that is over, until its person leaves."""
    prefetched_source = look_ahead(path, run_id, partial(follow, path), complete=complete)
    _run(path, None, Watched(prefetched_source, run_id))


def _run(path: Path, engine: Engine | None, at: Watched | Screens | None = None) -> None:
    # Textual reads it once, when it is imported
    os.environ.setdefault("ESCDELAY", ESCAPE_MILLISECONDS)
    from rosetta_tui.app.app import RosettaApp

    engines = [] if engine is None else [engine]

    def start(begin: Begin) -> WatchedRun:
        started = begin(path)
        engines.append(started)
        started.start()
        return WatchedRun(started.events, started.control, started.run_id)

    initial = at if engine is None else WatchedRun(engine.events, engine.control, engine.run_id)
    with suppress(StoreError):  # the app says it where it needs the store
        bring_up_to_date(path)
    sys.setswitchinterval(SWITCH_SECONDS)
    app = RosettaApp(path, partial(follow, path), start, initial)
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[K")  # what was said while it was prepared
        sys.stderr.flush()
    try:
        app.run()
    finally:
        for running in engines:
            running.control.stop()
        for running in engines:
            running.stop()
    if app.return_code:
        sys.exit(app.return_code)


def follow(path: Path, run_id: str) -> Follower:
    """Follow a run that another process has under way."""
    from harness.run.following import Follower  # its libraries, which no other screen needs

    return Follower(path, run_id)
