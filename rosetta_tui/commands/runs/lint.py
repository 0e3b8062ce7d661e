"""``rosetta runs lint``: Point out what in a run's outputs somebody ought to look at."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.store.file.database import opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.vault import out_of_vault, vault_request
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.card import exporting
    from harness.lint import linting, subject
    from harness.run import vault_opening
    from harness.store import runs
    from rosetta_tui.report import lint as report_lint

if TYPE_CHECKING:
    from harness.lint.subject import LintSubject
    from harness.vault.request import VaultRequest


@click.command()
@click.argument("names", metavar="RUN|CARD…", nargs=-1, required=True)
@out_of_vault
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def lint(names: tuple[str, ...], *, as_json: bool, **given: Any) -> None:
    """Find what the rules of legitimacy ask about (benchmark-specification §9.2–9.3).

    Give runs of the list, or files of cards. A finding names entries by their id and says what it does not prove. It
    is no verdict, so the exit code is 0 with findings as well. A run with secret entries has no JSON. One out of a
    vault is opened with it (--vault and --purpose).
    """
    asked = vault_request(given, "look")
    with opened() as connection:
        lint_reports = [
            linting.lint(_subject(connection, name, asked, as_json=as_json)) for name in names
        ]
    rows = [lint_report.model_dump(mode="json") for lint_report in lint_reports]
    print_form("runs-lint", rows, report_lint.lint_lines(lint_reports), as_json=as_json)


def _subject(
    connection: sqlite3.Connection, name: str, asked: VaultRequest | None, *, as_json: bool
) -> LintSubject:
    if (path := Path(name)).suffix == ".json" or path.is_file():
        return subject.filed_subject(connection, path)
    run = runs.find_run(connection, name)
    if as_json:
        exporting.refuse_to_leave(connection, [run])
    vault_opening.open_again(connection, run, asked, "look")
    return subject.stored_subject(connection, run)
