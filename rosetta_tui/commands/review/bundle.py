"""``rosetta review bundle``: Add and list the program for reviewers, which `review create -o` copies to sticks."""

from __future__ import annotations

from pathlib import Path

import click

from harness.store.file.database import home
from rosetta_tui.commands.naming import NamedCommands, when_used
from rosetta_tui.show.text import plain

with when_used():
    from review.office.making import reviewer_programs
    from rosetta_tui.commands.review import stick

_PATH = click.Path(path_type=Path)


@click.group(cls=NamedCommands)
def bundle() -> None:
    """Add and list the program for reviewers: one archive in the data folder for each system.

    `rosetta review create -o STICK` copies them to the stick. `make reviewer-bundle` packs them in the source of
    Rosetta, on the system that they are for.
    """


@bundle.command("add")
@click.argument("file", type=_PATH)
@click.option(
    "-o",
    "--output",
    "folder",
    type=_PATH,
    metavar="STICK",
    help="Fill a stick, too, that was made before.",
)
def add(file: Path, folder: Path | None) -> None:
    """Add FILE, an archive of the program for reviewers, or replace the one for its system.

    The whole archive is checked, but it is not signed: compare its SHA-256 with the CHECKSUMS.txt of the computer that packed it.
    """
    system = reviewer_programs.recognise_archive(file)
    size = file.stat().st_size
    program = stick.with_progress(
        file.name, size, lambda copied: reviewer_programs.add_program(file, system, home(), copied)
    )
    _say(program)
    if folder is not None:
        stick.fill_stick(folder, home())


@bundle.command("list")
def list_() -> None:
    """List the archives that are there, and the systems that have none."""
    programs = reviewer_programs.list_programs(home())
    for program in programs:
        _say(program)
    there = {program.system for program in programs}
    lacking = [title for system, title in reviewer_programs.TITLES.items() if system not in there]
    if lacking:
        click.echo(f"None for {', '.join(lacking)}: `rosetta review bundle add FILE`.")


def _say(program: reviewer_programs.ReviewerProgram) -> None:
    """Print system, size, hash and place of an archive."""
    title = reviewer_programs.TITLES[program.system]
    size = reviewer_programs.megabytes(program.size)
    click.echo(f"{title:<8}{size:>9}  SHA-256 {program.sha256}")
    click.echo(plain(f"        {program.path}"))
