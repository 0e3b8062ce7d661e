"""``rosetta report released``: Write the page of a released card, the coarse scores of a secret run."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.report.writing import to_file, written

with when_used():
    from harness.store.file import database
    from rosetta_tui.html import released_page


@click.command("released")
@click.argument("card", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@to_file("CARD.html")
def released_(card: Path, output: Path | None, *, overwrite: bool) -> None:
    """Write the page of CARD, a file that `rosetta runs export RUN --submitter NAME` wrote.

    It shows what the file says and nothing else about the run, so it does not count as another answer. A file that
    was changed after it was signed is refused, and so is one whose consent was withdrawn.
    """
    with database.opened() as connection:
        page = released_page.released_page(card.read_bytes(), card.name, connection)
    written(page, output or Path(f"{card.stem}.html"), overwrite=overwrite)
