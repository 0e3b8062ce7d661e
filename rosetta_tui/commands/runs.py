"""``rosetta runs``: the runs of the store, and the way of their cards in and out."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosetta_tui.text import json_text, plain

if TYPE_CHECKING:
    from harness.card.importing import Imported
    from harness.card.verify import Verdict
    from harness.store.runs import Run, RunSummary


@click.group()
def runs() -> None:
    """List, show, export, import, verify and delete runs."""


@contextmanager
def _store() -> Iterator[sqlite3.Connection]:
    from harness.store.database import open_store

    connection = open_store()
    try:
        yield connection
    finally:
        connection.close()


@runs.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """List all runs, newest first."""
    from harness.store.runs import list_runs
    from rosetta_tui.run_facts import runs_now

    with _store() as connection:
        found = runs_now(list_runs(connection))
    if as_json:
        click.echo(json_text([_summary(run) for run in found]))
        return
    if not found:
        click.echo("There are no runs yet. `rosetta demo` makes one: no key, no network.")
        return
    from rosetta_tui.card_text import HEADINGS, run_line, table

    for line in table([HEADINGS, *map(run_line, found)]):
        click.echo(line)
    if any(run.state == "stopped" for run in found):
        click.echo("A stopped run goes on with: rosetta resume RUN", err=True)


def _summary(run: RunSummary) -> dict[str, Any]:
    from rosetta_tui.card_fields import (
        block,
        claimable,
        rescore_of,
        review_of,
        tier_words,
        validated_by,
    )
    from rosetta_tui.run_facts import iso

    card = run.card or {}
    review = review_of(card, run.certificates)
    scores, intervals = block(card, "scores"), block(block(card, "scores"), "confidence_intervals")
    return {
        "run_id": run.run_id,
        "created": iso(run.created),
        "state": run.state,
        "imported": run.imported,
        "unverified": card.get("unverified"),
        "dataset_id": run.dataset_id,
        "language_pair": run.language_pair,
        "method": run.method,
        "model_slug": run.model_slug,
        "condition": run.condition,
        "total": run.total,
        "done": run.done,
        "failed": run.failed,
        "chrf_plus_plus": scores.get("chrf_plus_plus"),
        "composite": scores.get("composite"),
        "confidence_intervals": {
            metric: intervals[metric]
            for metric in ("chrf_plus_plus", "composite")
            if metric in intervals
        },
        "quality_tier": scores.get("quality_tier"),
        "claimable_tier": claimable(card, review) if card else None,
        "tier_in_words": tier_words(card, review) if card else None,
        "verification_tier": validated_by(card, review) if card else None,
        "review": None if review is None else review.certificate.outcome,
        "review_suspended": review is not None and review.suspended,
        "certificate_sha256": None if review is None else review.certificate.sha256,
        "total_cost_usd": block(card, "cost").get("total_cost_usd"),
        "rescore_of": rescore_of(card) or None,
        "run_card_hash": card.get("run_card_hash"),
    }


@runs.command()
@click.argument("run", default="last")
@click.option("--json", "as_json", is_flag=True, help="Print the whole card as JSON.")
def show(run: str, as_json: bool) -> None:
    """Show all scores of RUN (an id, its beginning, or `last`)."""
    from harness.card.load import load_card
    from harness.store.certificates import attached_to
    from harness.store.runs import find_run, read_card
    from rosetta_tui.card_fields import review_of
    from rosetta_tui.card_text import card_text

    with _store() as connection:
        found = find_run(connection, run)
        card = load_card(connection, found.id).as_json()
        head = read_card(connection, found.id) or {}
        beside = attached_to(connection, found.id)
    if as_json:
        click.echo(json_text(card))
        return
    if "unverified" in head:
        card["unverified"] = head["unverified"]
    click.echo(card_text(card, review_of(card, beside)))


@runs.command()
@click.argument("run")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="- is stdout.")
@click.option(
    "--form",
    type=click.Choice(["card", "jsonl", "csv"]),
    default="card",
    show_default=True,
    help="The whole card, or its entries line by line.",
)
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
def export(run: str, output: Path, form: str, overwrite: bool) -> None:
    """Write RUN to a file. Texts of secret segments are never written.

    Beside a card, the certificate of its review is written too where one is attached.
    """
    from harness.card.exporting import ExportForm, export_run, write_file
    from harness.failures import UsageError
    from harness.store.runs import find_run

    if str(output) == "-" and sys.stdout.isatty():
        raise UsageError(
            "Outputs may hold characters that act on a terminal. Give a file, or pipe: … -o - | less"
        )
    with _store() as connection:
        number = find_run(connection, run).id
        data = export_run(connection, number, ExportForm(form))
        beside = _certificate_files(connection, number, output) if form == "card" else {}
    if str(output) == "-":
        click.echo(data, nl=False)
        return
    for path, content in {output: data, **beside}.items():
        write_file(path, content, overwrite=overwrite)
        click.echo(f"Written: {plain(str(path))}", err=True)


def _certificate_files(
    connection: sqlite3.Connection, number: int, output: Path
) -> dict[Path, bytes]:
    """Give the certificate that speaks for a run and its signature, by the paths beside its card."""
    from harness.store.certificates import attached_to
    from harness.store.runs import read_card
    from rosetta_tui.card_fields import review_of

    beside = attached_to(connection, number)
    review = review_of(read_card(connection, number) or {}, beside)
    if review is None or review.suspended:
        return {}
    chosen = next(each for each in beside if each.sha256 == review.certificate.sha256)
    return {
        output.with_suffix(".certificate.json"): chosen.certificate,
        output.with_suffix(".certificate.sig"): chosen.signature,
    }


@runs.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--unverified", is_flag=True, help="Take cards whose seal is absent or broken, marked."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def import_(files: Sequence[Path], unverified: bool, as_json: bool) -> None:
    """Take run cards and test reports from FILES into the list of runs."""
    from harness.card.importing import import_card
    from harness.card.reading import read_card_bytes
    from harness.failures import UsageError

    done: list[dict[str, Any]] = []
    refused = 0
    with _store() as connection:
        for file in files:
            try:
                data = read_card_bytes(file)
                imported = import_card(connection, data, file.name, unverified=unverified)
            except UsageError as error:
                refused += 1
                click.echo(plain(str(error)), err=True)
                continue
            done.append({"file": str(file), **_fields(imported)})
            if not as_json:
                click.echo(_import_words(file, imported))
    if as_json:
        click.echo(json_text(done))
    if refused:
        sys.exit(2)


def _fields(imported: Imported) -> dict[str, Any]:
    return {
        "run_id": imported.run_id,
        "known": imported.known,
        "unverified": imported.unverified,
        "note": imported.note,
    }


def _import_words(file: Path, imported: Imported) -> str:
    outcome = "was there already, nothing to do" if imported.known else "imported"
    parts = [f"{file.name}: run {imported.run_id[:8]} {outcome}."]
    if imported.unverified:
        parts.append(f"UNVERIFIED: {imported.unverified}")
    if imported.note and not imported.known:
        parts.append(imported.note)
    return plain(" ".join(parts))


@runs.command()
@click.argument("names", nargs=-1, required=True, metavar="RUN...")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(names: Sequence[str], yes: bool) -> None:
    """Erase RUNs with all their outputs, and what nothing else needs."""
    from harness.store.deletion import delete_run
    from harness.store.runs import find_run

    with _store() as connection:
        chosen = {run.id: run for run in (find_run(connection, name) for name in names)}
        for run in chosen.values():
            _refuse_under_way(run)
        if not yes:
            _ask(list(chosen.values()))
        for run in chosen.values():
            delete_run(connection, run.id)
            click.echo(f"Deleted: {plain(run.run_id)}", err=True)


def _refuse_under_way(run: Run) -> None:
    from harness.failures import UsageError
    from harness.store.runs import under_way

    if under_way(run):
        raise UsageError(f"Run {run.run_id[:8]} is under way. Stop it first, then delete it.")


def _ask(chosen: Sequence[Run]) -> None:
    from harness.failures import UsageError

    if not sys.stdin.isatty():
        raise UsageError("Deleting asks on a terminal; here, add --yes if you are sure.")
    for run in chosen:
        setup = run.setup
        click.echo(
            plain(f"{run.run_id[:8]}  {run.dataset_id}  {setup.method}  {setup.model_slug}"),
            err=True,
        )
    click.confirm(f"Erase {len(chosen)} run(s) for good?", abort=True, err=True)


@runs.command()
@click.argument("card", metavar="CARD|RUN")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(card: str, as_json: bool) -> None:
    """Check the seal of a card, and compute every number again from its outputs.

    Give the file of a card, or a run of the list. Exit code 1 where something differs.
    """
    verdict = _verdict(card)
    if as_json:
        click.echo(json_text(_verdict_json(verdict)))
    else:
        for line in _verdict_lines(verdict):
            click.echo(plain(line))
    if not verdict.ok:
        sys.exit(1)


def _verdict(card: str) -> Verdict:
    from harness.card.load import read_raw
    from harness.card.reading import read_card_bytes
    from harness.card.verify import verify_card
    from harness.store.runs import find_run

    path = Path(card)
    with _store() as connection:
        if path.is_file():
            return verify_card(read_card_bytes(path), connection, path.name)
        raw = read_raw(connection, find_run(connection, card).id)
        return verify_card(json.dumps(raw).encode(), connection, card)


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    first = verdict.first_difference
    return {
        "ok": verdict.ok,
        "first_difference": None
        if first is None
        else {"path": first.path, "expected": first.expected, "found": first.found},
        "differences": len(verdict.differences),
        "checks": [
            {"name": check.name, "ok": check.ok, "words": check.words} for check in verdict.checks
        ],
    }


_SIGNS = {True: "✓", False: "✗", None: "–"}


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    for check in verdict.checks:
        yield f"{_SIGNS[check.ok]} {check.name}: {check.words}"
    if verdict.first_difference is not None:
        yield f"First difference: {verdict.first_difference}"
    skipped = any(check.ok is None for check in verdict.checks)
    if not verdict.ok:
        yield "This card does not hold."
    elif skipped:
        yield "What could be checked holds; lines with – could not be checked."
    else:
        yield "Everything holds."
