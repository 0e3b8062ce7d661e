"""``rosetta review gate``: Read the verdict and issue its certificate.
``rosetta review export``: Write results for the governance organisation and researchers.
``rosetta review page``: Write the result as a page for the speakers themselves.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from harness.core.failures import HarnessError, UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from harness.sealed import keys
    from harness.store.sqlite import database
    from review.office.making import second_look
    from review.office.results import certifying, progress, results
    from review.office.store import store
    from review.verdict.certificate import certificate as certificates
    from review.verdict.certificate import certify
    from review.verdict.certificate import evidence as certificate_evidence
    from review.verdict.gate import panel
    from review.verdict.gate import verdict as gate_verdict
    from rosetta_tui.review.organiser import export_files
    from rosetta_tui.review.organiser import service as organiser_desk
    from rosetta_tui.review.organiser.words import gate, imported, plan
    from rosetta_tui.show import clipboard


@click.command("gate")
@click.argument("review", default="last")
@click.option("--run", "run_id", help="Only this run of the review (its id or the beginning).")
@click.option("--issue", is_flag=True, help="Issue a signed certificate with its evidence, and attach a go to the run.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Folder for the files of --issue."
)
@click.option("--overwrite", is_flag=True, help="Overwrite files that are there.")
@click.option("--anyway", is_flag=True, help="Look even if several laptops speak for one person, who is then not counted.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def gate_(
    review: str, run_id: str | None, issue: bool, output: Path | None, overwrite: bool, anyway: bool, as_json: bool
) -> None:
    """Read the verdict of REVIEW (its name, the beginning of it, or `last`): go, no-go, discuss, insufficient.

    Each look at new ratings is written down; from the second look on, the gate demands more certainty. With too few
    ratings no numbers are shown, so that is no look. While several laptops speak for one person, a new look is
    refused.
    """
    if output is not None and not issue:
        raise UsageError("-o goes with --issue: without it nothing is written.")
    with store.Office.open(database.home()) as office:
        reviewed = office.review(review)
        identity = keys.Identity.load(database.home(), keys.Role.ORGANISATION)
        runs = results.runs_of(reviewed, run_id)
        results.refuse_withdrawn(reviewed)
        evidence = certifying.review_evidence(office, reviewed, identity.public.signing_key)
        _say_who_waits(reviewed, evidence, runs, anyway=anyway)
        for line in plan.not_shown_words(progress.progress(office, reviewed)):
            click.echo(plain(line), err=True)
        if undecided := second_look.undecided_words(office, reviewed):
            click.echo(plain(f"LOOK: {undecided}"), err=True)
        issued: list[Path] = []
        if issue:
            for made, paths in export_files.issue_files(
                office, reviewed, runs, evidence, identity, output or Path(), overwrite=overwrite
            ):
                _tell(made, paths)
                issued.append(paths[0])
                evidence = made.evidence
        for run in runs:
            evidence = certifying.record_look(office, reviewed, run, evidence)
        readings = {run: certify.read_verdict(evidence, run) for run in runs}
    for path in issued:
        _attach(path, identity.public.signing_key)
    document = [
        _inside_json(run, reading) if reviewed.secret else _json(reviewed, run, reading)
        for run, reading in readings.items()
    ]
    lines = (line for run, reading in readings.items() for line in _lines(reviewed, run, reading))
    print_form("review-gate", document, lines, as_json=as_json)


def _say_who_waits(
    review: store.Review, evidence: certificate_evidence.Evidence, runs: Sequence[str], *, anyway: bool
) -> None:
    """Show who is not counted; UsageError where a look would be spent without them, unless ``anyway``."""
    people = {who for _, who in evidence.voices.waiting}
    words = imported.waiting_words(len(people), len(review.key.orders), review.name)
    if words and not anyway and any(certifying.seen(evidence, run) is None for run in runs):
        raise UsageError(f"{words}. Nothing was examined; --anyway looks without them.")
    if words:
        click.echo(plain(f"LOOK: {words}"), err=True)


def _inside_json(run: str, reading: certify.EvidenceReading) -> dict[str, Any]:
    """Return the outcome alone: numbers over secret entries leave as a coarse certificate."""
    why = "entries of this review are secret: numbers leave in steps, as a coarse certificate (rosetta review gate --issue)"
    return {
        "run_id": run,
        "outcome": str(reading.verdict.outcome),
        "findings": [],
        "harm_decisions": [],
        "withheld": why,
    }


def _json(review: store.Review, run: str, reading: certify.EvidenceReading) -> dict[str, Any]:
    verdict = certify.without_names(reading.verdict).model_dump(mode="json")
    harm = [certified_decision.model_dump(mode="json") for certified_decision in reading.harm]
    if reading.verdict.outcome is gate_verdict.GateOutcome.INSUFFICIENT:
        return {"run_id": run, "outcome": verdict["outcome"], "findings": verdict["findings"], "harm_decisions": harm}
    return {
        "run_id": run,
        **verdict,
        "harm_decisions": harm,
        "relations": reading.relations.model_dump(),
        "looks": reading.looks.model_dump(),
        "alike": [asdict(pair) for pair in gate.alike(review, reading)],
        "agreement": certify.agreement_record(reading.agreement).model_dump(mode="json"),
    }


def _lines(review: store.Review, run: str, reading: certify.EvidenceReading) -> Iterator[str]:
    about = panel.run_of(review.key, run)
    yield f"{review.name} · run {run[:8]} · {about.dataset_id} {about.language_pair}"
    for verdict_line in gate.verdict_lines(review, reading):
        first, *rest = wrapped(verdict_line.words)
        yield f" {verdict_line.about:<15} {first}"
        yield from (f"{'':17}{line}" for line in rest)


_WIDEST = 100
"""Columns of a line that is read at ease."""


def wrapped(words: str) -> list[str]:
    """Break a sentence for the terminal it is read on; in a file it stays on its line."""
    if not sys.stdout.isatty():
        return [words]
    width = min(shutil.get_terminal_size().columns, _WIDEST) - 17
    more = "    " if words.startswith("  ") else ""
    return textwrap.wrap(words, max(width, 20), subsequent_indent=more, break_on_hyphens=False) or [""]


_COARSE = (
    "The certificate says {}. Its entries are secret, so what was written is coarse: numbers in steps, for everybody to have. The "
    "exact one and the evidence stay here, with every single rating; rosetta review verify compares one with the other, and "
    "rosetta review export --inside writes them for who must check them inside."
)


def _tell(made: certificate_evidence.EvidenceFile, paths: Sequence[Path]) -> None:
    """Show what was written, what it says, and what may be done with it."""
    for path in paths:
        click.echo(f"Written: {plain(str(path))}", err=True)
    certificate = certificates.read_certificate(made.certificate, "the certificate")
    outcome = certificate.outcome
    if made.coarse is not None:
        click.echo(_COARSE.format(outcome), err=True)
        return
    click.echo(
        plain(
            f"Certificate {certificate.sha256[:16]}… says {outcome}. The evidence holds who rated what by "
            "pseudonym, and no text: give it to those who are to check it."
        ),
        err=True,
    )


def _attach(path: Path, trusted: str) -> None:
    """Attach a certificate that was issued now to its run, as ``rosetta review attach`` does; print why not where it is a go that cannot be."""
    issued = certifying.present(path, None, database.home())
    try:
        with database.opened() as connection:
            lines = gate.standing_lines(certifying.attach(connection, issued, trusted))
    except HarnessError as error:
        is_go = certificates.read_certificate(issued.certificate, "it").outcome == "go"
        lines = (
            [f"{error} Later: {clipboard.command_line(['rosetta', 'review', 'attach', str(path)])}"] if is_go else []
        )
    for line in lines:
        click.echo(plain(line), err=True)


# ---- Write results for the governance organisation and researchers ----


@click.command("export")
@click.argument("review", metavar="[REVIEW]", default="last")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Folder for the sealed file. Default: this one.")  # fmt: skip
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), help="Instead: the ratings as a table.")
@click.option("--comments", is_flag=True, help="With --csv: what people wrote, too.")
@click.option("--mtme", type=click.Path(path_type=Path), help="Instead: a folder as in the metrics shared tasks.")
@click.option("--corpus", type=click.Path(path_type=Path), metavar="FILE", help="Instead: the translations that were asked for, as a corpus (.jsonl or .json).")  # fmt: skip
@click.option("--inside", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="Instead: the certificates with their evidence, to check them here. It holds every single rating: for secret entries it must not leave.")  # fmt: skip
@click.option("--language", metavar="TAG", help="Language of the page for the speakers in the sealed file.")
@click.option("--allow-secret", is_flag=True, help="With --corpus: write sentences readable that were handed out sealed.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Overwrite files that are there.")
def export_(
    review: str,
    output: Path | None,
    csv_file: Path | None,
    comments: bool,
    mtme: Path | None,
    corpus: Path | None,
    inside: Path | None,
    language: str | None,
    *,
    overwrite: bool,
    allow_secret: bool,
) -> None:
    """Write everything of REVIEW into one file, signed, and sealed for the review's recipients.

    It holds ratings with comments, answer key, policy, run cards, certificates with their evidence, and the page for
    the speakers. With --csv or --mtme instead: tables for researchers, with letters for people. With --corpus
    instead: what speakers translated, as a corpus, from those who agreed to its use. With --inside instead: the
    certificates with their evidence, which for a review with secret entries no other command writes. Writing ratings
    out is a look at them: it is written down, and counts at the gate.
    """
    if sum(option is not None for option in (csv_file, mtme, corpus, inside)) > 1:
        raise UsageError("Choose one of --csv, --mtme, --corpus and --inside.")
    for path in filter(None, (output, csv_file, mtme, corpus, inside)):
        if path.name.startswith("--"):
            raise UsageError(f"{path} is an option, and the one before it wants the name of a file or folder, such as ratings.csv. (A file of that name: ./{path})")  # fmt: skip
    if output is not None and (csv_file or mtme or corpus or inside):
        raise UsageError(
            "-o is for the sealed file: --csv, --mtme, --corpus and --inside each name a place of their own."
        )
    if corpus is not None:
        with store.Office.open(database.home()) as office:
            _export_tell(
                export_files.write_corpus(
                    office, office.review(review), corpus, overwrite=overwrite, allow_secret=allow_secret
                )
            )
        return
    desk = organiser_desk.OrganiserService(database.home(), database.default_path())
    if csv_file is not None:
        output = csv_file.parent
        export = desk.export(review, "comments" if comments else "csv", name=csv_file.name)
    elif mtme is not None:
        output = mtme
        export = desk.export(review, "mtme")
    elif inside is not None:
        output = inside
        export = desk.export(review, "inside")
    else:
        export = desk.export(review, "sealed", language=language)
    _export_tell(export.notes)
    written = export_files.write_export(export, output or Path(), overwrite=overwrite)
    _export_tell([f"Written: {written[0] if len(written) == 1 else f'{len(written)} files.'}"])


def _export_tell(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(plain(line), err=True)


# ---- Write the result as a page for the speakers themselves ----


@click.command("page")
@click.argument("review", metavar="[REVIEW]", default="last")
@click.option("--run", "run_id", help="Which run, in a review of several (the beginning of its id).")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: REVIEW-page.html.")
@click.option("--language", metavar="TAG", help="Default: the language of the review.")
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
def page_(review: str, run_id: str | None, output: Path | None, language: str | None, overwrite: bool) -> None:
    """Write what people said in plain words, from the newest certificate of REVIEW.

    Nobody can be recognised on it: with fewer than five people it shows the result alone.
    """
    with store.Office.open(database.home()) as office:
        reviewed = office.review(review)
        path = output or Path(f"{reviewed.name}-page.html")
        words = export_files.page_words(reviewed, language, database.home())
        export = export_files.page(office, reviewed, results.one_run(reviewed, run_id), path.name, words)
    (written,) = export_files.write_export(export, path.parent, overwrite=overwrite)
    for note in export.notes:
        click.echo(plain(note), err=True)
    click.echo(f"Written: {plain(str(written))}", err=True)
