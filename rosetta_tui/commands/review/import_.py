"""``rosetta review import``: ratings come back, from any stick, in any order."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosetta_tui.text import json_text, plain

if TYPE_CHECKING:
    from review.office.importing import FileReport

_FILE = click.Path(path_type=Path, exists=True)


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=_FILE, metavar="FILE|FOLDER...")
@click.option("--identity", type=click.Path(path_type=Path), help="Recovery key, or another age identity.")  # fmt: skip
@click.option("--enrol", is_flag=True, help="Take laptops that are unknown too: you know where these files are from.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def import_(paths: Sequence[Path], identity: Path | None, enrol: bool, as_json: bool) -> None:
    """Take ratings from FILES, or from all files of ratings in FOLDERS.

    Each file is taken whole or not at all, as often as you like: what is here already is not taken twice.
    Files of laptops that nobody has vouched for wait until `rosetta review enrol`.
    """
    from harness.failures import UsageError
    from harness.store.database import home
    from review.files.keys import opening_identities
    from review.office.importing import Outcome, find_ratings, import_files
    from review.office.store import Office
    from rosetta_tui.review.import_words import report_lines

    files = find_ratings(paths)
    if not files:
        raise UsageError("There is no file of ratings (NAME.rosetta-ratings) in these folders.")
    reports: list[FileReport] = []
    identities = opening_identities(home(), identity)
    with Office.open(home()) as office:
        for report in import_files(office, identities, files, enrol=enrol):
            reports.append(report)
            if not as_json:
                for line in report_lines(report):
                    click.echo(plain(line))
    if as_json:
        click.echo(json_text([report_json(report) for report in reports]))
    if any(report.outcome is Outcome.REFUSED for report in reports):
        sys.exit(1)


def report_json(report: FileReport) -> dict[str, Any]:
    """Give a report as JSON values."""
    return asdict(report) | {"clocks": [clock.said for clock in report.clocks]}
