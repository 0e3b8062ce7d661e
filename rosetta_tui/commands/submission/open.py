"""``rosetta submission open``: Open the app at the submissions, or at one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.submission.sharing import NAMED, kept

with when_used():
    from rosetta_tui.app import launch
    from rosetta_tui.submission import list_screen, screen

if TYPE_CHECKING:
    from textual.screen import Screen


@click.command("open")
@click.argument("submission", required=False, metavar=f"[{NAMED}]")
def open_(submission: str | None) -> None:
    """Show a submission on the screen: its steps up to the certificate, its parts, its claim, its README, the report to its maker.

    A FILE is imported, as by `show`, which says the same steps in a shell; nothing in it is run. Without one: all
    submissions that this computer took in.
    """
    submission_kept = None if submission is None else kept(submission)

    def screens(store_path: Path) -> Iterator[Screen[None]]:
        yield list_screen.SubmissionsScreen(store_path)
        if submission_kept is not None:
            yield screen.SubmissionScreen(store_path, submission_kept.number)

    launch.open_app(screens)
