"""Opening the file that a corpus was read from, with the person's editor or the system's program."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from textual.app import App, SuspendNotSupported

from corpora.files.decode import Original, original
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring

if TYPE_CHECKING:
    from harness.store.corpora.examination import Examination

_PLUS = frozenset(
    {
        "vi",
        "vim",
        "nvim",
        "view",
        "nano",
        "pico",
        "emacs",
        "emacsclient",
        "joe",
        "kak",
        "micro",
        "mg",
    }
)
"""Editors that take ``+LINE`` before the file."""

_COLON = frozenset({"hx", "helix", "subl", "zed"})
"""Editors that take ``FILE:LINE``."""

_GOTO = frozenset({"code", "codium", "code-insiders", "cursor"})
"""Editors that take ``--goto FILE:LINE``."""


def editor_command(
    path: Path, line: int | None, environment: Mapping[str, str] = os.environ
) -> list[str] | None:
    """Return the command of the person's editor ($VISUAL, else $EDITOR); None where they named none.

    ``line`` is 1-based and left out for an editor of which it is not known how to say it.
    """
    named = environment.get("VISUAL") or environment.get("EDITOR")
    try:
        words = shlex.split(named or "")
    except ValueError:
        return None
    if not words:
        return None
    program = Path(words[0]).stem.lower()
    if line is not None and program in _PLUS:
        return [*words, f"+{line}", str(path)]
    if line is not None and program in _COLON:
        return [*words, f"{path}:{line}"]
    if line is not None and program in _GOTO:
        return [*words, "--goto", f"{path}:{line}"]
    return [*words, str(path)]


def system_command(path: Path, platform: str = sys.platform) -> list[str] | None:
    """Return the command by which the desktop opens a file; None where there is no desktop."""
    match platform:
        case "darwin":
            return ["open", str(path)]
        case "win32":
            return ["cmd", "/c", "start", "", str(path)]
        case _:
            opener = shutil.which("xdg-open")
            return None if opener is None else [opener, str(path)]


SOON = 3.0
"""Seconds within which the system's program says that it cannot open a file."""


def open_original(app: App[Any], found: Examination, place: int | None) -> None:
    """Open the first file of a corpus at an entry's line; says so where it is gone or has changed.

    An editor of the terminal gets the terminal until it ends. The file is read in a thread: it may be large,
    or are on another machine.
    """
    if not found.files:
        _say(app, "Nobody noted where this corpus was read from.", "warning")
        return
    look = partial(_look, app, found, place)
    app.run_worker(look, thread=True, exclusive=True, group="original")


def _look(app: App[Any], found: Examination, place: int | None) -> None:
    path = found.files[0]
    if not path.is_file():
        _say(app, f"The file is gone: {path}", "error")
        return
    now = original(found.files, found.sha256)
    line = None
    if now is Original.UNCHANGED and place is not None and place < len(found.lines):
        line = found.lines[place]
    if now is Original.CHANGED:
        _say(app, "The file has changed since the corpus was read from it.", "warning")
    command = editor_command(path, line)
    if command is None:
        _open_with_system(app, path)
    else:
        bring(app, _edit, app, command)


def _edit(app: App[Any], command: Sequence[str]) -> None:
    try:
        with app.suspend():
            ended = subprocess.run(command, check=False).returncode  # noqa: S603  the person's own editor
    except SuspendNotSupported:
        _say(app, "This terminal cannot be handed to an editor.", "error")
    except OSError as error:
        _not_started(app, command, error)
    else:
        if ended:
            _say(app, f"{shlex.join(command[:1])} ended with {ended}.", "warning")


def _open_with_system(app: App[Any], path: Path) -> None:
    command = system_command(path)
    if command is None:
        _say(app, f"Set EDITOR to open it from here: {path}", "warning")
        return
    quiet = subprocess.DEVNULL
    try:
        started = subprocess.Popen(  # noqa: S603  the system's own program, a file as its argument
            command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
        ended = started.wait(SOON)
    except OSError as error:
        _not_started(app, command, error)
        return
    except subprocess.TimeoutExpired:
        Thread(target=started.wait, daemon=True).start()  # nothing of it is left once it ends
        ended = 0
    if ended:
        name = Path(command[0]).name
        message = f"{name} ended with {ended}: nothing here opens {path}. Set EDITOR to do so."
        _say(app, message, "error")
    else:
        _say(app, f"Opened: {path}", "information")


def _not_started(app: App[Any], command: Sequence[str], error: OSError) -> None:
    _say(app, f"{shlex.join(command[:1])} cannot be started: {error.strerror}.", "error")


def _say(app: App[Any], words: str, severity: str) -> None:
    app.notify(plain(words), severity=severity, markup=False)  # type: ignore[arg-type]


WORDS = {
    Original.UNCHANGED: "unchanged since it was read",
    Original.CHANGED: "changed since it was read",
    Original.GONE: "gone, or not readable",
    Original.UNKNOWN: "nobody noted where it was read from",
}
"""What has become of a file, in words."""
