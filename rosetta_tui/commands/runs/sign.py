"""``rosetta runs sign``: Sign the card of a run, which stays here."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.vault import by_grant, out_of_vault, vault_request
from rosetta_tui.show.text import plain

with when_used():
    from harness.card import exporting, load
    from harness.card.signing import sealed_time, signed_run
    from harness.run import vault_opening
    from harness.store import runs
    from harness.store.corpora import entries
    from harness.store.file import database
    from harness.vault import opening


@click.command()
@click.argument("run")
@by_grant
@out_of_vault
def sign(run: str, **vault: Any) -> None:
    """Sign the card of RUN and keep the seal next to it; nothing leaves. `rosetta runs verify RUN` checks it.

    In this way the card and rows of a run with secret entries can be checked on this computer. With --vault the seal
    names the last line of the vault's log, and the next line names the seal.
    """
    asked, home = vault_request(vault), database.home()
    with database.opened() as connection:
        stored_run = runs.find_run(connection, run)
        data = exporting.card_bytes(load.load_card(connection, stored_run.id))
        if asked is None:
            vault_opening.open_again(connection, stored_run, None, "seal")
            signer = signed_run.own_signer(home)
            signed_run.sign_run(connection, stored_run.id, data, signer, datetime.now(UTC))
        else:
            made = opening.vault_at(asked.folder, home, clock_was_wrong=asked.clock_was_wrong)
            dataset = entries.read_dataset(connection, stored_run.corpus)
            if (dataset.opened_from or "").partition("/")[0] != made.read().head.vault:
                raise UsageError(f"This run is not over texts of the vault in {asked.folder}. Leave --vault out.")  # fmt: skip
            signer = opening.keeper_here(home, asked.key)
            vault_opening.open_again(connection, stored_run, asked, "seal")
            sealed_time.sign_vault_run(made, connection, stored_run.id, data, signer)
    whose = (
        "a keeper's key, and the vault's log has it" if asked else f"the key of this {signer.role}"
    )
    click.echo(plain(f"Signed with {whose}. Its six words are: {signer.public.phrase}"), err=True)
