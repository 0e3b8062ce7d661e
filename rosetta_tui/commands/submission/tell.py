"""``rosetta submission tell``: Write the report of a submission's last run to its maker."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.submission.disclosure import require_free, tell_of
from rosetta_tui.commands.submission.sharing import FILE, NAMED, SUBMITTER, kept
from rosetta_tui.request.vault import by_grant, out_of_vault, vault_request

with when_used():
    from harness.run import vault_opening
    from harness.store import runs
    from harness.submission import desk as desks


@click.command()
@click.argument("submission", metavar=NAMED)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Default: a file beside the submission in the data folder.")  # fmt: skip
@SUBMITTER
@by_grant
@out_of_vault
def tell(submission: str, output: Path | None, submitter: str | None, **vault: Any) -> None:
    """Write the released card of the last run over secret entries, or the refusal, if the budget held it back before.

    The same run gives the same file again, and counts once. The scores of a run from a vault need --vault and
    --purpose, or a grant to seal it. If there is nothing to tell yet, no file is written, and the exit code is 1.
    """
    require_free(output)
    submitted = kept(submission)
    if vault["ask"] is not None and submitted.judged.what is desks.SubmissionEvent.REFUSED:
        raise click.UsageError("A refusal opens no text, so nobody is asked. Leave --ask out.")

    def open_texts(connection: sqlite3.Connection, run: runs.Run) -> None:
        vault_opening.open_again(connection, run, vault_request(vault), "seal")

    if not tell_of(submitted, output, submitter, vault, open_texts):
        raise click.exceptions.Exit(1)
