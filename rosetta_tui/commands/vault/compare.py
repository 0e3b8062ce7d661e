"""``rosetta vault compare``: Tell somebody how two runs over secret entries differ."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE, ledger
from rosetta_tui.show.text import plain

with when_used():
    from harness.compare import comparing
    from harness.core import failures, written_files
    from harness.release import releasing
    from harness.store.file import database


@click.command("compare")
@click.argument("first", metavar="RUN")
@click.argument("second", metavar="RUN")
@click.option("-o", "--output", required=True, type=FILE)
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="By this metric only; may be given several times.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
def compare_(
    first: str, second: str, output: Path, metrics: Sequence[str], *, overwrite: bool
) -> None:
    """Compare two RUNs over secret entries here, and write a signed file with difference, interval and p, in steps.

    Both runs must have been told before (rosetta runs export --submitter), and it counts as an answer to both submitters.
    """
    if output.exists() and not overwrite:
        raise failures.UsageError(
            f"{output.name} is there already. Choose another name, or add --overwrite."
        )
    asked = [comparing.metric_asked(words, "--metric") for words in metrics]
    with database.opened() as connection:
        data = releasing.release_difference(connection, (first, second), ledger(), asked or None)
    written_files.write_file(output, data, overwrite=overwrite)
    if (least := json.loads(data)["smallest_difference"]) is not None:
        click.echo(f"Differences below {least:g} points of chrF++ cannot be told apart by these entries.", err=True)  # fmt: skip
    click.echo(plain(f"Written: {output}"), err=True)
