"""``rosetta corpus open``: Open the app at the corpora in the making, or at one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosetta_tui.commands.naming import when_used

with when_used():
    from rosetta_tui.app import launch
    from rosetta_tui.project import list_screen, screen

if TYPE_CHECKING:
    from textual.screen import Screen


@click.command("open")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
def open_(folder: Path | None) -> None:
    """Show the corpus in FOLDER on the screen: what it still needs, its sentences, its speakers, its costs. Without FOLDER: all that are known here.

    No sentence is shown. `progress` says the same in a shell.
    """

    def screens(store_path: Path) -> Iterator[Screen[None]]:
        yield list_screen.ProjectsScreen(store_path)
        if folder is not None:
            yield screen.ProjectScreen(store_path, folder.absolute())

    launch.open_app(screens)
