"""``rosetta open``: Open the app at a vault, a submission or a corpus in the making."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosetta_tui.commands.naming import when_used

if TYPE_CHECKING:
    from textual.screen import Screen

with when_used():
    from harness.project import state
    from rosetta_tui.app import launch
    from rosetta_tui.commands.submission import store
    from rosetta_tui.project import list_screen
    from rosetta_tui.project import screen as project_screen
    from rosetta_tui.request import look
    from rosetta_tui.submission import screen as submission_screen
    from rosetta_tui.vault import screen as vault_screen


@click.command("open")
@click.argument("place", metavar="FOLDER|FILE|NUMBER")
def open_(place: str) -> None:
    """Show on the screen what is in PLACE: the folder of a vault or of a corpus in the making, or a submission.

    A vault: what it holds, who opens it, its log, requests and budgets; no key is needed, and no text is opened. A
    corpus: what it still needs, its sentences, its speakers, its costs. A submission, by its file or number: its steps
    up to the certificate, its parts, its claim, its README; a file is imported, and nothing in it is run.
    """
    folder = Path(place).absolute()
    is_vault, is_project = look.is_vault(folder), state.is_project(folder)
    number = "" if is_vault or is_project else store.kept(place).number

    def screens(store_path: Path) -> Iterator[Screen[None]]:
        """Yield the list that it is in, then the place itself."""
        if is_vault:
            yield vault_screen.VaultsScreen(store_path)
            yield vault_screen.VaultScreen(store_path, folder)
        elif is_project:
            yield list_screen.ProjectsScreen(store_path)
            yield project_screen.ProjectScreen(store_path, folder)
        else:
            yield submission_screen.SubmissionsScreen(store_path)
            yield submission_screen.SubmissionScreen(store_path, number)

    launch.open_app(screens)
