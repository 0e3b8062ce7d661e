"""A report of what a screen shows: made in a thread, then written to the file that a person names."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from textual.content import Content
from textual.screen import Screen

from harness.core.storage import write_file
from harness.store.sqlite.database import opened
from harness.store.sweeps import find_sweep
from rosetta_tui.html.leaderboard_page import leaderboard_page
from rosetta_tui.html.run_page import run_page
from rosetta_tui.html.sweep_page import sweep_page
from rosetta_tui.settings.actions import absolute, ask_setting
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.choose import confirm, exports_folder, free_path
from rosetta_tui.toolkit.messages import ReportAsked

_TITLE = "Report"
_ABOUT = "One page of HTML that holds all that it shows: any browser opens it, and it fetches nothing."


def ask_report(screen: Screen[object], store: Path, asked: ReportAsked) -> None:
    """Make the page that is asked for, ask where to, and write it; what may not leave is refused in words."""

    def made() -> str:
        with opened(store) as connection:
            return page_of(connection, asked)

    def place(page: str) -> None:
        proposed = free_path(exports_folder(screen, store.parent), asked.file, "html")

        def write(path: Path, *, overwrite: bool) -> None:
            def done(_: None) -> None:
                screen.notify(f"Report written: {plain(str(path))}", markup=False)

            def work() -> None:
                write_file(path, page.encode(), overwrite=overwrite)

            in_thread(screen, "report", work, done, telling(screen, _TITLE))

        def given(typed: str) -> None:
            path = absolute(typed)
            if not path.exists():
                write(path, overwrite=False)
                return
            question = Content.assemble(show(path.name, "bold"), " is there already.")
            confirm(screen.app, question, "Replace it", lambda: write(path, overwrite=True))

        ask_setting(screen, "Where the report is written", _ABOUT, _trouble, given, now=str(proposed), files=(".html",))

    screen.notify("Making the report …", timeout=2, markup=False)
    in_thread(screen, "report", made, place, telling(screen, _TITLE), asks=True)


def page_of(connection: sqlite3.Connection, asked: ReportAsked) -> str:
    """Return the page; raises HarnessError or UsageError in words where there is none."""
    match asked.of:
        case "run":
            return run_page(connection, asked.name)
        case "sweep":
            return sweep_page(connection, find_sweep(connection, asked.name))
        case "leaderboard":
            return leaderboard_page(connection, None, asked.name, best=asked.best)


def _trouble(typed: str) -> str | None:
    """Return what is wrong with a path; None where nothing is."""
    path = absolute(typed)
    try:
        if not typed or path.is_dir():
            return "Give the name of a file."
        return None if path.parent.is_dir() else "There is no such folder. Choose another."
    except (OSError, ValueError) as error:
        return f"That path cannot be used: {error}"
