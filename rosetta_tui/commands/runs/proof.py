"""``rosetta runs proof``: Prove that one row is on a signed card, without showing the others."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.card import exporting, reading
    from harness.card.signing import row_proof, signed_run
    from harness.core import written_files
    from harness.store import runs
    from harness.store.file import database


@click.command()
@click.argument("run")
@click.argument("entry")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Where to write it.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
def proof(run: str, entry: str, output: Path, *, overwrite: bool) -> None:
    """Write a file that proves that the row of ENTRY (its id) is on the card of RUN.

    It holds this one row with its texts, and hashes that tell nothing of the others. Anyone who has it checks it with
    `rosetta runs verify FILE --card CARD`. If the card is not signed yet, it is signed for this.
    """
    with database.opened() as connection:
        number = runs.find_run(connection, run).id
        data = exporting.export_run(connection, number, exporting.ExportForm.CARD)
        card = reading.parse_object(data, run)
        if not card.get("results"):
            raise UsageError(
                "The card of this run has no rows: of a run with secret entries none leaves this machine, and some "
                "cards from elsewhere came without."
            )
        kept = signed_run.kept_seals(connection, number, card)
        if not kept:
            signer = signed_run.own_signer(database.home())
            kept = [signed_run.sign_run(connection, number, data, signer, datetime.now(UTC))]
        made = row_proof.prove_row(kept[0], card["results"], entry)
    written_files.write_file(output, made.data(), overwrite=overwrite)
    click.echo(f"Written: {plain(str(output))}", err=True)
