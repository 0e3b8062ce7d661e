"""``rosetta consent export``: Write notices to files, to be carried to others."""

from __future__ import annotations

from pathlib import Path

import click

from harness.core.failures import UsageError
from rosetta_tui.commands.consent.sharing import FILE, write_out
from rosetta_tui.commands.naming import when_used

with when_used():
    from harness.consent import notice, register
    from harness.core import storage
    from harness.store.file import database


@click.command("export")
@click.argument("folder", type=FILE)
@click.argument("number", required=False, metavar="[NOTICE]")
def export_(folder: Path, number: str | None) -> None:
    """Write every notice to FOLDER, each as NUMBER.rosetta-notice, or only the one whose number begins with NOTICE.

    Whatever lifted a notice is written next to it. Files that are there already stay. Others take them in with:
    rosetta consent take
    """
    lines = register.lines_of(database.home())
    chosen = register.held(lines)
    if number is not None:
        chosen = (register.find_held(lines, number),)
    if not chosen:
        raise UsageError("Nothing was withdrawn here, so there is no notice to write.")
    storage.private_folder(folder)
    for held in chosen:
        for signed_notice in filter(None, (held.notice, held.lifted)):
            path = folder / f"{signed_notice.number[:12]}{notice.SUFFIX}"
            if not path.exists():
                write_out(signed_notice, path)
