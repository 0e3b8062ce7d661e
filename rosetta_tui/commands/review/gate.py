"""``rosetta review gate``: the verdict in words, and its certificate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosetta_tui.text import json_text, plain

if TYPE_CHECKING:
    from review.files.keys import Identity
    from review.office.certifying import Issued
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
    from review.verdict.reasons import OUTCOMES, finding_words
    from review.verdict.verdict import Outcome

    about = run_of(review.key, run)
    verdict = reading.verdict
    yield f"{review.name} · run {run[:8]} · {about.dataset_id} {about.language_pair}"
    yield f" Verdict    {str(verdict.outcome).upper().replace('_', '-'):<12} {_found(reading)}".rstrip()
    yield f"            {OUTCOMES[verdict.outcome]}"
    for place, finding in enumerate(verdict.findings):
        yield f" {'Why' if not place else '':<10} {finding_words(finding)}"
    if verdict.outcome is Outcome.INSUFFICIENT:
        return
    yield from _open_ends(review, reading)
    yield from _agreement(reading)
    yield from _strata(reading)
    yield f" Policy     {reading.policy.status} · {review.policy_sha256[:16]}…"
    yield from _advice(reading)


def _found(reading: Reading) -> str:
    from review.verdict.certificate_text import percent
    from review.verdict.verdict import Outcome

    verdict, numbers = reading.verdict, reading.verdict.numbers
    if verdict.outcome is Outcome.INSUFFICIENT:
        return ""
    people = f"{len(numbers.reviewers)} reviewers, {numbers.items} items"
    return (
        f"needed: lower bound ≥ {percent(str(verdict.level))}   found: {percent(str(numbers.lower))} "
        f"to {percent(str(numbers.upper))} (share {percent(str(numbers.share))}, {people}; "
        f"look {verdict.look})"
    )


def _open_ends(review: Review, reading: Reading) -> Iterator[str]:
    """Say what would settle it, and which entries split the panel."""
    from review.verdict.settle import settling

    settle = settling(reading.verdict, reading.policy)
    if settle is not None:
        yield f"            {settle.words()}"
    split = [str(review.key.items[item].entry) for item in reading.verdict.numbers.split]
    if split:
        shown = ", ".join(split[:12]) + (f" and {len(split) - 12} more" if len(split) > 12 else "")
        yield f" Split      entries {shown}: rosetta review adjudicate {review.name}"


def _agreement(reading: Reading) -> Iterator[str]:
    from review.verdict.certificate import agreement_json
    from review.verdict.certificate_text import measure

    said = agreement_json(reading.agreement)
    names = {"alpha": "alpha", "ac2": "AC2", "exact": "same", "within_one": "within one step"}
    parts = (
        f"{title} {measure(said[name], share=name in {'exact', 'within_one'})}"
        for name, title in names.items()
    )
    yield f" Agreement  {' · '.join(parts)}"


def _strata(reading: Reading) -> Iterator[str]:
    def dots(share: object) -> str:
        full = round(5 * float(str(share)))
        return "●" * full + "○" * (5 - full)

    shown = (
        f"{stratum or '?'} {dots(found.share) if found.share is not None else 'not rated'} ({found.items})"
        for stratum, found in reading.verdict.numbers.strata.items()
    )
    yield f" Strata     {'   '.join(shown)}"


def _advice(reading: Reading) -> Iterator[str]:
    """Give private advice, which no file and no certificate holds."""
    from review.verdict.careless import carelessness
    from review.verdict.reasons import care_words

    care = carelessness(reading.panel, reading.policy.careless)
    words = [care_words(who, care.reviewers[who]) for who in care.advised]
    yield from (f" For you    {each}" for each in words if each)


def _issue(
    office: Office, review: Review, run: str, identity: Identity, folder: Path, overwrite: bool
) -> None:
    from review.office.certifying import issue

    name = _name(review.name, run)
    _refuse_taken(folder, name, overwrite)
    issued = issue(office, review, run, identity)
    for path in _write(issued, folder, name):
        click.echo(f"Written: {plain(str(path))}", err=True)
    click.echo(
        plain(
            f"Certificate {issued.certificate.sha256[:16]}… says {issued.certificate.outcome}. The evidence holds "
            "who rated what by pseudonym, and no text: give it to those who are to check it. "
            f"A run's tier is lifted by: rosetta review attach {name}.certificate.json"
        ),
        err=True,
    )


def _name(review: str, run: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', review).strip('-') or 'review'}-{run[:8]}"


def _refuse_taken(folder: Path, name: str, overwrite: bool) -> None:
    """Look for files that are there before a certificate is issued that could not be written."""
    from harness.failures import UsageError

    taken = sorted(path.name for path in folder.glob(f"{name}.*")) if folder.is_dir() else []
    if taken and not overwrite:
        raise UsageError(
            f"{taken[0]} is there already. Name another folder with -o, or add --overwrite."
        )


def _write(issued: Issued, folder: Path, name: str) -> Sequence[Path]:
    """Write a certificate in its forms, its signature and its evidence."""
    from harness.card.exporting import write_file
    from review.verdict.certificate_html import certificate_html
    from review.verdict.certificate_text import certificate_text
    from review.verdict.evidence_file import EVIDENCE_SUFFIX, pack_evidence

    certificate, data = issued.certificate, issued.certificate.as_bytes()
    files = {
        ".certificate.json": data,
        ".certificate.sig": issued.signature,
        ".certificate.txt": certificate_text(certificate).encode(),
        ".certificate.html": certificate_html(certificate).encode(),
        EVIDENCE_SUFFIX: pack_evidence(data, issued.signature, issued.evidence),
    }
    folder.mkdir(parents=True, exist_ok=True)
    paths = {suffix: folder / f"{name}{suffix}" for suffix in files}
    for suffix, content in files.items():
        write_file(paths[suffix], content, overwrite=True)
    return list(paths.values())
