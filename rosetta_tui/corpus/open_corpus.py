"""Opening a corpus file to look at it; nothing of it is stored."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Static

from corpora.files.problems import CorpusError, Problem
from harness import api
from harness.core.failures import StoreError
from harness.store.corpora.examination import Examination, examine
from harness.store.corpora.listing import CorpusSummary, hold_in_memory, list_corpora
from harness.store.file.database import opened
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import AnsweringScreen, in_thread
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.form.file_choice import FileChoice


@dataclass(frozen=True, slots=True)
class OpenedCorpus:
    """What a screen needs of it; its texts are in memory alone."""

    sha256: str
    connection: sqlite3.Connection
    """A store in memory that holds this corpus only; the screen closes it."""
    examination: Examination

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
    connection, _ = hold_in_memory(corpus)
    return OpenedCorpus(corpus.sha256, connection, examine(corpus))


def summary_of(path: Path, sha256: str, looked_at: OpenedCorpus | None) -> CorpusSummary | None:
    """Return the line of a corpus, None where the store has none of this hash and it was not opened.

    One that was opened and is in the store too names the runs that used it.
    """
    with opened(path) as store:
        stored = next(iter(list_corpora(store, sha256)), None)
    if looked_at is None:
        return stored
    own = list_corpora(looked_at.connection, sha256)[0]
    runs = () if stored is None else stored.runs
    return replace(own, files=looked_at.examination.files, runs=runs)


SUFFIXES = (
    ".json",
    ".jsonl",
    ".ndjson",
    ".csv",
    ".tsv",
    ".tab",
    ".txt",
    ".tmx",
    ".xlf",
    ".xliff",
    ".xlsx",
    ".po",
    ".arb",
)
"""Endings of files that are listed as corpora."""

FIELDS = {
    "reference": "second file, where sources and references are two aligned text files",
    "source_language": "tag of the sources' language, such as en",
    "target_language": "tag of the references' language, such as crk",
    "source_column": "column of the sources in a table, by name or number",
    "reference_column": "column of the references, or several: ref1,ref2",
}
"""What a file may not say itself, and what to type."""


Found = OpenedCorpus | tuple[Problem, ...]
"""A corpus, or everything that is wrong with its file."""


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
        """Answer."""
        if event.button.id == "open":
            self.action_open()
        else:
            self.action_leave()

    def action_open(self) -> None:
        """Read the file."""
        path = self.query_one("#file", FileChoice).path
        given = {name: self.query_one(f"#{name}", Input).value.strip() for name in FIELDS}
        if path is None:
            self._say("Type the path of a corpus file, or choose one from the list.")
        else:
            self._say("Reading …", "$quiet")
            self._open(path, given)

    def _say(self, words: str, style: str = "$bad") -> None:
        line = self.query_one("#trouble", Static)
        line.display = True
        line.update(show(words, style))

    def _open(self, path: Path, given: dict[str, str]) -> None:
        read = partial(_read, path, given)
        in_thread(self, "open", read, self._opened, self._say, unwanted=_close)

    def _opened(self, found: Found) -> None:
        if isinstance(found, tuple) and len(found) == 1:
            self._say(plain(f"{found[0].message} {found[0].mend}"))
        else:
            self.answer(found)

    def action_leave(self) -> None:
        """Open nothing."""
        self.dismiss(None)


def _read(path: Path, given: dict[str, str]) -> Found:
    second = given.pop("reference")
    references = (Path(second).expanduser(),) if second else ()
    options: dict[str, Any] = {name: text or None for name, text in given.items()}
    try:
        return open_corpus(api.CorpusRequest(path, references, **options))
    except CorpusError as error:
        return error.problems


def _close(found: Found) -> None:
    if isinstance(found, OpenedCorpus):
        found.connection.close()
