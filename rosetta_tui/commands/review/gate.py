"""``rosetta review gate``: the verdict in words, and its certificate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosetta_tui.text import json_text, plain

if TYPE_CHECKING:
    from review.files.keys import Identity
    from review.office.store import Office, Review
    from review.verdict.certificate import Reading


@click.command("gate")
@click.argument("review", default="last")
@click.option("--run", "run_id", help="Only this run of the review (its id or the beginning).")
@click.option("--issue", is_flag=True, help="Issue a signed certificate with its evidence.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder for the files of --issue.",
)
@click.option("--overwrite", is_flag=True, help="Overwrite files that are there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def gate_(
    review: str, run_id: str | None, issue: bool, output: Path, overwrite: bool, as_json: bool
) -> None:
    """Read the verdict of REVIEW (its name, the beginning of it, or `last`): go, no-go, discuss, insufficient.

    Each look at new ratings is written down; from the second on the gate asks to be surer. With too few
    ratings no numbers are shown, so that is no look.
    """
    from harness.store.database import home
    from review.files.keys import Identity, Role
    from review.office.certifying import look
    from review.office.store import Office

    with Office.open(home()) as office:
        found = office.review(review)
        identity = Identity.load(home(), Role.ORGANISATION)
        runs = _chosen(found, run_id)
        if issue:
            for run in runs:
                _issue(office, found, run, identity, output, overwrite)
        readings = {run: look(office, found, run, identity.public.signing_key) for run in runs}
    if as_json:
        click.echo(json_text([_json(run, reading) for run, reading in readings.items()]))
        return
    for run, reading in readings.items():
        for line in _lines(found, run, reading):
            click.echo(plain(line))


def _chosen(review: Review, run_id: str | None) -> list[str]:
    from harness.failures import UsageError

    every = [run.run_id for run in review.key.runs]
    found = [run for run in every if run_id is None or run.startswith(run_id.lower())]
    if not found or (run_id is not None and len(found) > 1):
        raise UsageError(f"Name one of the runs of review {review.name!r}: {', '.join(every)}.")
    return found


def _json(run: str, reading: Reading) -> dict[str, Any]:
    from review.verdict.certificate import agreement_json, without_names
    from review.verdict.verdict import Outcome

    verdict = without_names(reading.verdict)
    if reading.verdict.outcome is Outcome.INSUFFICIENT:
        return {
            "run_id": run,
            "outcome": verdict["outcome"],
            "findings": verdict["findings"],
        }
    return {"run_id": run, **verdict, "agreement": agreement_json(reading.agreement)}


def _lines(review: Review, run: str, reading: Reading) -> Iterator[str]:
    from review.verdict.panels import run_of
    from rosetta_tui.review.gate_words import verdict_lines

    about = run_of(review.key, run)
    yield f"{review.name} · run {run[:8]} · {about.dataset_id} {about.language_pair}"
    yield from (f" {told.about:<10} {told.words}" for told in verdict_lines(review, reading))


def _issue(
    office: Office, review: Review, run: str, identity: Identity, folder: Path, overwrite: bool
) -> None:
    from harness.failures import UsageError
    from review.office.certifying import issue
    from review.verdict.evidence_file import EvidenceFile
    from rosetta_tui.review.certificate_files import file_name, taken_names, write_certificate
    from rosetta_tui.review.out_folder import make_folder

    name = file_name(review.name, run)
    taken = taken_names(folder, name)
    if taken and not overwrite:
        raise UsageError(
            f"{taken[0]} is there already. Name another folder with -o, or add --overwrite."
        )
    make_folder(folder)
    issued = issue(office, review, run, identity)
    presented = EvidenceFile(issued.certificate.as_bytes(), issued.signature, issued.evidence)
    for path in write_certificate(presented, folder, name):
        click.echo(f"Written: {plain(str(path))}", err=True)
    outcome = issued.certificate.outcome
    lift = f" A run's tier is lifted by: rosetta review attach {name}.certificate.json"
    click.echo(
        plain(
            f"Certificate {issued.certificate.sha256[:16]}… says {outcome}. The evidence holds who rated what by "
            "pseudonym, and no text: give it to those who are to check it."
            + (lift if outcome == "go" else "")
        ),
        err=True,
    )
