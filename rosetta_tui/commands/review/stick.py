"""Filling a stick: the program for reviewers, and the page that says how to start it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path
from typing import TypeVar

import click

from harness.core.failures import UsageError
from harness.core.storage import StorageProblem
from harness.core.version import VERSION
from harness.sealed.stick import (
    ARCHIVES,
    PAGE_SUFFIX,
    READABLE,
    START_HERE,
    StickError,
    files_named,
    read_file,
    write_file,
)
from review.browser.page import is_review_page
from review.office.making.reviewer_programs import Copied, copy_program, programs_to_copy, systems_on, write_starters
from rosetta_tui.html.stick_pages import start_here_page
from rosetta_tui.show.text import plain

Result = TypeVar("Result")
_OURS = 'name="generator" content="rosetta-tui '
_MOST_PAGE = 5_000_000
"""Bytes of the largest page of ours; one with pictures has about 1 MB."""


def fill_stick(folder: Path, home: Path, pages: Collection[str] = ()) -> None:
    """Copy the programs that a stick lacks, and write the page; each file is named once it is whole.

    ``pages`` are the names of the reviews' own pages that will be written there; those that are there are named, too.

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
    there = (path.name for path in files_named(folder, PAGE_SUFFIX) if is_review_page(path))
    systems, named = systems_on(folder), sorted({*pages, *there})
    if not _names_all(page or "", systems, named):
        write_file(folder / START_HERE, start_here_page(systems, pages=named).encode(), READABLE)
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


def _names_all(page: str, systems: Collection[str], pages: Iterable[str]) -> bool:
    """Return whether a page is of this version and names these, such as one with pictures of ``make reviewer-bundle``."""
    named = [system for system, name in ARCHIVES.items() if name in page]
    return f"{_OURS}{VERSION}" in page and named == list(systems) and all(f'"{name}"' in page for name in pages)


def _say_written(path: Path) -> None:
    click.echo(plain(f"Written: {path}"), err=True)


def with_progress(name: str, size: int, copy: Callable[[Copied], Result]) -> Result:
    """Return what a copy returns; on a terminal a bar shows how far it is."""
    if not sys.stderr.isatty():
        return copy(lambda _: None)
    with click.progressbar(length=size, label=plain(f"Copying {name}"), file=sys.stderr) as bar:
        return copy(bar.update)
