"""``rosetta vault compare``: Write how two runs over secret entries differ, for their submitters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE, telling_ledger
from rosetta_tui.request.vault import out_of_vault
from rosetta_tui.show.text import plain
from scoring.core.metric_rows import short_title

with when_used():
    from harness.core import failures, written_files
    from harness.release import ledger, releasing
    from harness.run import vault_opening
    from harness.store import runs
    from harness.store.file import database


@click.command("compare")
@click.argument("first", metavar="RUN")
@click.argument("second", metavar="RUN")
@click.option("-o", "--output", required=True, type=FILE)
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
@out_of_vault
def compare_(
    first: str,
    second: str,
    output: Path,
    *,
    overwrite: bool,
    **vault: Any,
) -> None:
    """Show whether the second of two RUNs over secret entries is better, and write that to a signed file.

    Better, worse or cannot be told apart, by a paired test: one-sided at 5 %, corrected for all runs of the submitters
    that were released. Both runs must have been released before (rosetta runs export --submitter); each submitter has as
    many comparisons as answers. Runs from a vault need --vault and --purpose; its log records both runs.
    """
    if output.exists() and not overwrite:
        raise failures.UsageError(
            f"{output.name} is there already. Choose another name, or add --overwrite."
        )
    with database.opened() as connection:
        stored_runs = [runs.find_run(connection, name) for name in (first, second)]
        asked, known = telling_ledger(vault)

        def open_texts() -> None:
            for run in stored_runs:
                vault_opening.open_again(connection, run, asked, "compare")

        with ledger.anchored(known, asked.folder if asked else None):
            data = releasing.release_difference(connection, (first, second), known, open_texts)
    written_files.write_file(output, data, overwrite=overwrite)
    released = json.loads(data)
    click.echo(plain(f"{released['second'][:8]} against {released['first'][:8]} by {short_title(released['metric'])}: {released['verdict']}"))  # fmt: skip
    if (least := released["smallest_difference"]) is not None:
        click.echo(f"Differences below {least:g} points of chrF++ cannot be told apart by these entries.", err=True)  # fmt: skip
    click.echo(plain(f"Written: {output}"), err=True)
