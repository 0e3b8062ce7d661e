"""``rosetta cost``: Work out what a run, a sweep, a language and a programme cost, from a file that you can edit."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from harness.core import storage
    from harness.estimate import framework
    from rosetta_tui.report import cost as report_framework

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("file", metavar="[FILE.toml]", type=_FILE, required=False)
@click.option("--write", type=_FILE, metavar="FILE", help="Write the shipped numbers into a file of your own, to edit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def cost(file: Path | None, write: Path | None, *, as_json: bool) -> None:
    """Work out the costs in FILE.toml, or those of the benchmark specification (§10) where none is given.

    They are for planning: no run and no price table is examined. `rosetta run --estimate` and `rosetta sweep begin --estimate` say what a run or a sweep would take.
    """
    if write is not None:
        if file is not None or as_json:
            raise click.UsageError("--write writes the shipped numbers: give it alone.")
        storage.write_new_file(write, framework.shipped_text().encode())
        click.echo(plain(f"Written: {write}. Edit it, then: rosetta cost {write}"))
        return
    worked_framework = framework.work_out(framework.read_framework(file))
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    value = {
        **worked_framework.model_dump(mode="json"),
        "differing": [worked.name for worked in worked_framework.differing],
    }
    lines = report_framework.framework_lines(worked_framework, width)
    print_form("cost", value, lines, as_json=as_json)
