"""Filling a stick: the program for reviewers, and the page that says how to start it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TypeVar

import click

from harness.core.failures import UsageError
from harness.core.storage import StorageProblem
from harness.core.version import VERSION
from harness.sealed.stick import ARCHIVES, READABLE, START_HERE, StickError, read_file, write_file
from review.office.making.reviewer_programs import Copied, copy_program, programs_to_copy, systems_on, write_starters
from rosetta_tui.html.stick_pages import start_here_page
from rosetta_tui.show.text import plain

Result = TypeVar("Result")
_OURS = 'name="generator" content="rosetta-tui '
_MOST_PAGE = 5_000_000
"""Bytes of the largest page of ours; one with pictures has about 1 MB."""


def fill_stick(folder: Path, home: Path) -> None:
    """Copy the programs that a stick lacks, and write the page; each file is named once it is whole.

    Raises UsageError where they do not fit or another page bears the name of ours, and StickError where a file could not
    be written: those named before are there.
    """
    page = _page_on(folder)
    if page and _OURS not in page:
        raise UsageError(
            f"{folder / START_HERE} is not one that Rosetta wrote. Move it away, or choose another folder with -o."
        )
    for program in programs_to_copy(home, folder):
        copy = partial(copy_program, program, folder)
        _say_written(with_progress(program.path.name, program.size, copy))
    write_starters(folder)
    systems = systems_on(folder)
    if not _names_programs(page or "", systems):
        write_file(folder / START_HERE, start_here_page(systems).encode(), READABLE)
        _say_written(folder / START_HERE)


def _page_on(folder: Path) -> str | None:
    """Return the page that is on a stick, None where there is none. Makes the folder, or raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return read_file(folder / START_HERE, _MOST_PAGE).decode(errors="replace")
    except StickError as error:
        if error.problem is StorageProblem.GONE:
            return None
        raise UsageError(f"{error} Or choose another folder with -o.") from None
    except OSError as error:
        raise UsageError(
            f"{error.filename} cannot be used ({error.strerror}). Choose another folder with -o."
        ) from None


def _names_programs(page: str, systems: Collection[str]) -> bool:
    """Return whether a page is of this version and names these programs, such as one with pictures of ``make reviewer-bundle``."""
    named = [system for system, name in ARCHIVES.items() if name in page]
    return f"{_OURS}{VERSION}" in page and named == list(systems)


def _say_written(path: Path) -> None:
    click.echo(plain(f"Written: {path}"), err=True)


def with_progress(name: str, size: int, copy: Callable[[Copied], Result]) -> Result:
    """Return what a copy returns; on a terminal a bar shows how far it is."""
    if not sys.stderr.isatty():
        return copy(lambda _: None)
    with click.progressbar(length=size, label=plain(f"Copying {name}"), file=sys.stderr) as bar:
        return copy(bar.update)
