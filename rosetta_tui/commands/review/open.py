"""``rosetta review open``: Rate a batch, in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used

with when_used():
    from review.session import erasing
    from review.session.words import catalogue
    from rosetta_tui.review.rating import sitting
    from rosetta_tui.review.rating.lines import face


@click.command("open")
@click.argument("places", nargs=-1, metavar="[FILE|FOLDER]...", type=click.Path(path_type=Path))
@click.option("--lines", is_flag=True, help="Plain lines, for screen readers and braille displays.")
@click.option("--reviewer", metavar="CODE", help="The code on your card; asked for without it.")
@click.option("--language", metavar="TAG", help="Language of the program, such as en, fr or crk.")
@click.option(
    "--draw-anyway",
    is_flag=True,
    help="Rate texts that a terminal may draw wrongly; it is recorded with each rating.",
)
def open_(
    places: tuple[Path, ...],
    lines: bool,
    reviewer: str | None,
    language: str | None,
    draw_anyway: bool,
) -> int:
    """Rate the sentences in FILE, or those found on sticks and on this computer.

    Where FILE is not there, it is looked for in the same way. Nothing is sent over a network. The secret words of a sealed file are asked for when it is opened.
    """
    with erasing.open_laptop(home()) as laptop:
        opening = sitting.TerminalOpening(
            laptop,
            places=[place for place in places if place.exists()] or None,
            missing=[place for place in places if not place.exists()],
            language=catalogue.checked_tag(language) if language else None,
            code=reviewer,
            draw_anyway=draw_anyway,
        )
        if lines or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return face.run_lines(opening)
        from rosetta_tui.review.rating.visit import run_review

        return run_review(opening)
