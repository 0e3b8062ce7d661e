"""``rosetta review import``: Take ratings back; any file, any order, any number of times."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from harness.core.failures import UsageError
from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from harness.sealed import keys as sealed_keys
    from harness.sealed import sealing
    from review.office.intake import file_report, importing
    from review.office.store import arrivals, store
    from rosetta_tui.review.organiser.words import imported

_FILE = click.Path(path_type=Path, exists=True)


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=_FILE, metavar="FILE|FOLDER...")
@click.option("--identity", type=click.Path(path_type=Path), help="The recovery key, or another age identity.")  # fmt: skip
@click.option("--enrol", is_flag=True, help="Ask about each laptop that is unknown, and take those that you vouch for.")  # fmt: skip
@click.option(
    "--yes", is_flag=True, help="With --enrol: vouch for all of them, without a question."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def import_(
    paths: Sequence[Path], identity: Path | None, enrol: bool, yes: bool, as_json: bool
) -> None:
    """Import ratings from FILES, or from all files of ratings in FOLDERS.

    Files are known by their first bytes, whatever they are called; a zip or a saved mail is opened. Hidden and deleted
    files are passed over. Each file is taken whole or not at all, as many times as you like: what is here already is not taken twice. Files of
    laptops that nobody has vouched for wait until `rosetta review enrol`. The exit code is 1 if a file was refused,
    or if no file was taken at all.
    """
    if yes and not enrol:
        raise UsageError("--yes goes with --enrol: it answers the question about each laptop.")
    if enrol and not yes and not answering():
        raise UsageError(
            "--enrol asks about each unknown laptop on a terminal, after its six words. Without one, compare the words "
            "first and add --yes, or leave --enrol out: the files wait."
        )
    search = importing.find_ratings(paths)
    for line in imported.skipped_lines(search.skipped):
        click.echo(plain(line), err=as_json or not search.files)
    if not search.files:
        raise UsageError(
            "There is no file of ratings (NAME.rosetta-ratings) in these folders. A speaker writes one by “Hand over your answers” "
            "(x while rating); give the folder or stick that it went to."
        )
    identities = sealed_keys.opening_identities(home(), identity)
    with store.Office.open(home()) as office:
        file_reports = importing.import_files(office, identities, search.files)
        reports = list(_told(file_reports, as_json, waiting=not yes))
        if enrol:
            taken = list(_told(_enrolled(office, identities, reports, yes), as_json))
            keys = {file_report.signing_key for file_report in taken}
            reports = [
                report for report in reports if not _waits(report) or report.signing_key not in keys
            ]
            reports += taken
    if as_json:
        click.echo(form_text("review-import", [report_json(report) for report in reports]))
    outcomes = {report.outcome for report in reports}
    if file_report.FileOutcome.REFUSED in outcomes or file_report.FileOutcome.TAKEN not in outcomes:
        sys.exit(1)


def answering() -> bool:
    """Return whether a person can answer."""
    return sys.stdin.isatty()


def _told(
    reports: Iterable[file_report.FileReport], as_json: bool, *, waiting: bool = True
) -> Iterator[file_report.FileReport]:
    """Show each report when it comes; without ``waiting`` not that of a laptop that is vouched for in the next step."""
    for report in reports:
        if not as_json and (waiting or not _waits(report)):
            for line in imported.report_lines(report):
                click.echo(plain(line))
        yield report


def _waits(report: file_report.FileReport) -> bool:
    return report.outcome is file_report.FileOutcome.SET_ASIDE


def _enrolled(
    office: store.Office,
    identities: Sequence[sealing.AgeIdentity],
    reports: Sequence[file_report.FileReport],
    yes: bool,
) -> Iterator[file_report.FileReport]:
    """Prompt about each laptop whose files were set aside just now, and import those of the ones vouched for."""
    waiting = {report.signing_key: report for report in reports if _waits(report)}
    for key, last in waiting.items():
        answer = "y" if yes else _ask(last)
        if answer == "q":
            return
        if answer == "y":
            yield from importing.enrol_laptop(
                office, key, arrivals.free_name(office), None, identities
            )


def _ask(report: file_report.FileReport) -> str:
    """Prompt whether the six words are those that the speaker wrote down."""
    click.echo(plain(f"Unknown laptop: {report.name}"), err=True)
    click.echo(f"  the file's six words: {report.phrase}", err=True)
    click.echo(f"  the laptop's own:     {report.laptop_phrase}", err=True)
    return str(
        click.prompt(
            "Did the speaker write down one of these? y take it, n leave it waiting, q stop here",
            type=click.Choice(["y", "n", "q"]),
            default="n",
            show_choices=False,
            err=True,
        )
    )


def report_json(report: file_report.FileReport) -> dict[str, Any]:
    """Return a report as JSON values."""
    values = asdict(report) | {"clocks": [clock.said for clock in report.clocks]}
    del values["problem"]
    return values
