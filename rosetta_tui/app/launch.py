"""Opens the app on Home, or on a run that has just begun; starts a run that needs no terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core.failures import HarnessError, StoreError, UsageError
from harness.core.storage import private_folder
from harness.store.live_runs import is_held, log_file
from harness.store.sqlite.database import bring_up_to_date, default_path
from rosetta_tui.session.run_sources import Watched, WatchedRun, look_ahead

ESCAPE_MILLISECONDS = "10"  # how long a terminal may take over the rest of an escape sequence
SWITCH_SECONDS = 0.0005  # how long a working thread may hold up the one that answers keys

if TYPE_CHECKING:
    from harness.run.following import Follower
    from rosetta_tui.app.app import Begin, Screens
    from rosetta_tui.app.repeating import RepeatsEngine
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


# ---- A run that outlives its terminal is a stored run that another process resumes ----

_PROGRAM = [sys.executable, "-P", "-c", "from rosetta_tui.cli import main; main()"]
_LOOK_SECONDS = 0.05


def run_detached(path: Path, run_id: str, words: Iterable[str] = (), *, secret: bool) -> Path:
    """Resume a stored run in a separate process, with more ``words``; return its log once that process holds the run.

    The log of a ``secret`` one is the empty file, for the code of a plug-in may print texts. HarnessError with its last
    words where it ended before.
    """
    log = Path(os.devnull) if secret else log_file(path, run_id)
    if not secret:
        private_folder(log.parent)
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as lines, _without_hang_up():
        process = subprocess.Popen(  # noqa: S603  our own program, without a shell
            [*_PROGRAM, "resume", run_id, "--plain", *words],
            stdin=subprocess.DEVNULL, stdout=lines, stderr=lines, **_OWN_SESSION,
        )  # fmt: skip
    while process.poll() is None and not is_held(path, run_id):
        time.sleep(_LOOK_SECONDS)
    if process.returncode:
        last = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
        raise HarnessError("".join(last).removeprefix("error: ") or f"Its process ended at once. Its log is {log}.")
    process.returncode = 0  # it is left to itself: nobody here waits for its end
    return log


_OWN_SESSION: dict[str, Any] = {"start_new_session": True}
if sys.platform == "win32":
    _OWN_SESSION = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}


@contextmanager
def _without_hang_up() -> Iterator[None]:
    """Ignore SIGHUP here and in what is begun here, as ``nohup`` does."""
    if sys.platform == "win32":
        yield
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def _run(path: Path, engine: Engine | None, at: Watched | Screens | None = None) -> None:
    # Textual reads it once, when it is imported
    os.environ.setdefault("ESCDELAY", ESCAPE_MILLISECONDS)
    from rosetta_tui.app.app import RosettaApp

    engines: list[Engine | RepeatsEngine] = [] if engine is None else [engine]

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
        app.notices.close()
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
