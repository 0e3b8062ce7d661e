"""A file, typed or chosen: what matches the beginning of a path is listed below it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import show

MOST_READ = 5_000  # names of a folder that are examined
MOST_SHOWN = 30  # names that are listed


class FileChoice(Vertical):
    """An input for a path, and below it the folders and files that begin as what was typed."""

    DEFAULT_CSS = """
    FileChoice { height: auto; }
    FileChoice > OptionList { height: auto; max-height: 8; margin: 0; }
    """
    input = getters.query_one(Input)

    def __init__(self, placeholder: str, suffixes: Sequence[str], *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._placeholder = placeholder
        self._suffixes = tuple(suffixes)  # endings listed, in lower case
        self._listed: list[str] = []

    def compose(self) -> ComposeResult:
        yield Input(placeholder=self._placeholder)
        yield OptionList()

    def on_mount(self) -> None:
        self._list("")

    @property
    def path(self) -> Path | None:
        """The path that is there, None where there is none."""
        typed = self.input.value.strip()
        return _expanded(typed) if typed else None

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._list(event.value)

    @work(thread=True, exclusive=True, group="files")
    def _list(self, typed: str) -> None:
        files = list(matching(typed, self._suffixes))
        if not get_current_worker().is_cancelled:
            bring(self, self._show, files)

    def _show(self, found: list[str]) -> None:
        self._listed = found
        names = self.query_one(OptionList)
        names.clear_options()
        # The last part of each, with the sign of a folder: the parts before are in the input.
        parts = [(os.path.basename(path.rstrip(os.sep)), path.endswith(os.sep)) for path in found]  # noqa: PTH119
        names.add_options([Option(show(name + os.sep * is_folder)) for name, is_folder in parts])
        names.display = bool(found)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        field = self.input
        field.value = self._listed[event.option_index]
        field.focus()
        field.cursor_position = len(field.value)

    def on_key(self, event: events.Key) -> None:
        names = self.query_one(OptionList)
        if event.key == "down" and self.input.has_focus and self._listed:
            names.focus()
            names.highlighted = 0
            event.prevent_default().stop()
        elif event.key == "up" and names.has_focus and names.highlighted == 0:
            self.input.focus()
            event.prevent_default().stop()


def matching(typed: str, suffixes: Sequence[str]) -> Iterator[str]:
    """Yield visible paths that begin as typed, folders with a slash: MOST_SHOWN of the first MOST_READ names."""
    head, beginning = os.path.split(typed)
    folder = _expanded(head) if head else Path.cwd()
    try:
        with os.scandir(folder) as names:
            read = sorted(islice(names, MOST_READ), key=lambda entry: entry.name.casefold())
    except (OSError, ValueError):
        return
    fitting = (
        _listed(head, entry)
        for entry in read
        if entry.name.casefold().startswith(beginning.casefold())
        and (beginning.startswith(".") or not entry.name.startswith("."))
        and (_is_folder(entry) or entry.name.lower().endswith(tuple(suffixes)))
    )
    yield from (name for name in islice(fitting, MOST_SHOWN) if name != typed)


def _listed(head: str, entry: os.DirEntry[str]) -> str:
    path = os.path.join(head, entry.name)  # noqa: PTH118  keeps ./ and ~ as they were typed
    return path + os.sep if _is_folder(entry) else path


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _expanded(typed: str) -> Path:
    try:
        return Path(typed).expanduser()
    except RuntimeError:
        return Path(typed)
