"""How a page becomes a file: the options that every report has, and the file that is never overwritten unasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from harness.core.written_files import write_file
from rosetta_tui.show.text import plain

Command = TypeVar("Command", bound=Callable[..., Any])


def to_file(default: str) -> Callable[[Command], Command]:
    """Add the options of where a page is written; ``default`` is how its file is called without them."""

    def added(command: Command) -> Command:
        path = click.Path(dir_okay=False, path_type=Path)
        command = click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")(command)  # fmt: skip
        return click.option("-o", "--output", type=path, help=f"Default: {default}.")(command)

    return added


def written(page: str, path: Path, *, overwrite: bool) -> None:
    """Write a page and say where; UsageError where a file of that name is there."""
    write_file(path, page.encode("utf-8"), overwrite=overwrite)
    click.echo(f"Written: {plain(str(path))}", err=True)
