"""``rosetta runs export``: Write a run to a file."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import click

from harness.core.failures import UsageError
from harness.core.written_files import PRIVATE, PUBLISHED, write_file
from harness.store.file.database import opened
from harness.store.notes import attached_to
from harness.store.runs import find_run, read_card
from rosetta_tui.show.card_fields import review_of
from rosetta_tui.show.text import plain


@click.command()
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
    from harness.card.exporting import ExportForm, export_run

    if str(output) == "-" and sys.stdout.isatty():
        raise UsageError(
            "Outputs may hold characters that act on a terminal. Give a file, or pipe: … -o - | less"
        )
    with opened() as connection:
        number = find_run(connection, run).id
        data = export_run(connection, number, ExportForm(form))
        beside = _certificate_files(connection, number, output) if form == "card" else {}
    if str(output) == "-":
        click.echo(data, nl=False)
        return
    for path, content in {output: data, **beside}.items():
        mode = PUBLISHED if path in beside else PRIVATE
        write_file(path, content, overwrite=overwrite, mode=mode)
        click.echo(f"Written: {plain(str(path))}", err=True)


def _certificate_files(
    connection: sqlite3.Connection, number: int, output: Path
) -> dict[Path, bytes]:
    """Return the certificate that speaks for a run and its signature, by the paths beside its card."""
    beside = attached_to(connection, number)
    review = review_of(read_card(connection, number) or {}, beside)
    if review is None or review.suspended:
        return {}
    chosen = next(each for each in beside if each.sha256 == review.certificate.sha256)
    return {
        output.with_suffix(".certificate.json"): chosen.certificate,
        output.with_suffix(".certificate.sig"): chosen.signature,
    }
