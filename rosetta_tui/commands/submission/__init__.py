"""``rosetta submission``: Hand in a method for secret texts, and run what others handed in."""

from __future__ import annotations

import click

from harness.store.sqlite.database import home
from harness.submission import FOLDER, UNPACKED
from rosetta_tui.commands.naming import FiledCommands, when_used

with when_used():
    from harness.submission import desk


class SubmissionCommands(FiledCommands):
    """The commands about submissions, one file each."""

    folder = "submission"
    order = ("demo", "pack", "check", "run", "show", "tell")


@click.group(cls=SubmissionCommands)
def submission() -> None:
    """Submit a method to the organisation that keeps the secret texts; there, rehearse it, run it, and report the result."""
    if any((home() / FOLDER).glob(f"*/{UNPACKED}")):  # else help would load what it has no need of
        desk.remove_leftovers(home())
