"""Opening a corpus file to look at it; nothing of it is stored."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

from textual import on
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Static

from corpora.files.decode import Original, original
from corpora.files.problems import CorpusError, Problem
from harness import api
from harness.core.failures import StoreError
from harness.store.corpora import listing
from harness.store.sqlite.database import opened
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import AnsweringScreen, bring, in_thread
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.form.file_choice import FileChoice


@dataclass(frozen=True, slots=True)
class OpenedCorpus:
    """What a screen needs of it; its texts are in memory alone."""

    sha256: str
    connection: sqlite3.Connection  # a store in memory with this corpus only; the screen closes it
    examination: listing.Examination

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection to a thread; StoreError where it is closed meanwhile, or fails otherwise."""
        try:
            yield self.connection
        except sqlite3.Error as error:
            raise StoreError("The corpus cannot be read any more; open its file again.") from error


def open_corpus(asked: api.CorpusRequest) -> OpenedCorpus:
    """Read a corpus through the door, and look at it; raises CorpusError with everything that is wrong with it."""
    corpus = api.open_corpus(asked)
    connection, _ = listing.hold_in_memory(corpus)
    return OpenedCorpus(corpus.sha256, connection, listing.examine(corpus))


def summary_of(path: Path, sha256: str, looked_at: OpenedCorpus | None) -> listing.CorpusSummary | None:
    """Return the line of a corpus, with the runs that used it; None where it is neither stored nor opened."""
    with opened(path) as store:
        stored = next(iter(listing.list_corpora(store, sha256)), None)
    if looked_at is None:
        return stored
    own = listing.list_corpora(looked_at.connection, sha256)[0]
    runs = () if stored is None else stored.runs
    return replace(own, files=looked_at.examination.files, runs=runs)


SUFFIXES = (
    ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".tab", ".txt", ".tmx", ".xlf", ".xliff", ".xlsx",
    ".po", ".arb",
)  # fmt: skip

FIELDS = {
    "reference": "second file, where sources and references are two aligned text files",
    "source_language": "tag of the sources' language, such as en",
    "target_language": "tag of the references' language, such as crk",
    "source_column": "column of the sources in a table, by name or number",
    "reference_column": "column of the references, or several: ref1,ref2",
}
"""What a file may not say itself, and what to type."""


Found = OpenedCorpus | tuple[Problem, ...]  # a corpus, or everything that is wrong with its file


class OpenCorpusScreen(AnsweringScreen[Found | None]):
    """Gives the corpus, or everything that is wrong with its file; None where nothing was opened."""

    CSS_PATH = "corpus.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("ctrl+o", "open", "Open", priority=True),
    ]

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog -wide", id="opening"):
            yield Static(Content.styled("Open a corpus file", "bold"))
            yield Static(id="trouble")
            yield FileChoice("path of the file", SUFFIXES, id="file")
            yield Static("Only where the file does not say it itself:", classes="hint")
            for name, words in FIELDS.items():
                yield Input(placeholder=words, id=name)
            with Horizontal(classes="answers"):
                yield Button("Open (enter)", id="open")
                yield Button("Back (esc)", id="back")

    def on_mount(self) -> None:
        self.query_one("#trouble").display = False
        self.query_one("#file", FileChoice).input.focus()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_open()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "open":
            self.action_open()
        else:
            self.action_leave()

    def action_open(self) -> None:
        path = self.query_one("#file", FileChoice).path
        given = {name: self.query_one(f"#{name}", Input).value.strip() for name in FIELDS}
        if path is None:
            self._say("Type the path of a corpus file, or choose one from the list.")
        else:
            self._say("Reading …", "$quiet")
            read = partial(_read, path, given)

            def opened_file(found: Found) -> None:
                if isinstance(found, tuple) and len(found) == 1:
                    self._say(plain(f"{found[0].message} {found[0].mend}"))
                else:
                    self.answer(found)

            in_thread(self, "open", read, opened_file, self._say, unwanted=_close)

    def _say(self, words: str, style: str = "$bad") -> None:
        line = self.query_one("#trouble", Static)
        line.display = True
        line.update(show(words, style))

    def action_leave(self) -> None:
        self.dismiss(None)


def _read(path: Path, given: dict[str, str]) -> Found:
    second = given["reference"]
    request = api.CorpusRequest(
        path,
        (Path(second).expanduser(),) if second else (),
        source_language=given["source_language"] or None,
        target_language=given["target_language"] or None,
        source_column=given["source_column"] or None,
        reference_column=given["reference_column"] or None,
    )
    try:
        return open_corpus(request)
    except CorpusError as error:
        return error.problems


def _close(found: Found) -> None:
    if isinstance(found, OpenedCorpus):
        found.connection.close()


# ---- Opening the file that a corpus was read from, with the person's editor or the system's
# program.

_PLUS = frozenset({
    "vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "joe", "kak", "micro",
    "mg",
})  # fmt: skip
"""Editors that take ``+LINE`` before the file."""

_COLON = frozenset({"hx", "helix", "subl", "zed"})  # editors that take `FILE:LINE`
_GOTO = frozenset({"code", "codium", "code-insiders", "cursor"})  # editors with `--goto FILE:LINE`


def editor_command(path: Path, line: int | None, environment: Mapping[str, str] = os.environ) -> list[str] | None:
    """Return the command of the person's editor ($VISUAL, else $EDITOR), at a 1-based ``line`` where known; None if unset."""
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


SOON = 3.0  # seconds within which the system's program says that it cannot open a file


def open_original(app: App[Any], found: listing.Examination, place: int | None) -> None:
    """Open the first file of a corpus at an entry's line, or say that it is gone or changed; reads it in a thread."""
    if not found.files:
        _say(app, "Nobody noted where this corpus was read from.", "warning")
        return
    look = partial(_look, app, found, place)
    app.run_worker(look, thread=True, exclusive=True, group="original")


def _look(app: App[Any], found: listing.Examination, place: int | None) -> None:
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
