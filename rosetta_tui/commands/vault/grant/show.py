"""``rosetta vault grant show``: Show what a request asks for, who answered, and who is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from harness.sealed.strict_records import about_file
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.grant.answering import (
    read_file,
)
from rosetta_tui.commands.vault.sharing import FILE, vault_at
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.vault import folder, ledger
    from harness.vault.grants import grants
    from harness.vault.grants import messages as granted
    from rosetta_tui.vault import messages


@click.command("show")
@click.argument("vault", type=FILE)
@click.argument("request", type=FILE, required=False, metavar="NAME.rosetta-request")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show_(vault: Path, request: Path | None, *, as_json: bool) -> None:
    """Show the request in a file, or all requests in the log of VAULT. Everything is checked; no key is needed.

    VAULT may be a copy of the vault. Then the answers shown are those that the copy's log has.
    """
    made = vault_at(vault)
    if request is None:
        state = made.read()
        grants_found = list(state.grants.values())
    else:
        with about_file(request):
            asked, state = grants.read_asked(made, read_file(request))
        grants_found = [grants.grant_in(state, asked)]
    lines = [line for grant in grants_found for line in _lines(grant, state)]
    print_form(
        "vault-grants",
        [_told(grant, state) for grant in grants_found],
        lines or ["Nobody has asked for a grant yet: `rosetta run --ask`."],
        as_json=as_json,
    )


def _lines(grant: ledger.Grant, state: folder.VaultState) -> Iterator[str]:
    yield from granted.request_lines(grant.request, state, compared=not grant.used)
    yield from (f"  {line}" for line in messages.standing_lines(grant, state))


def _told(grant: ledger.Grant, state: folder.VaultState) -> dict[str, Any]:
    request, names = grant.request, {key: keeper.name for key, keeper in state.keepers.items()}
    return {
        "grant": grant.id,
        "by": names.get(request.by),
        "corpus": request.name,
        "entries": {str(segment): count for segment, count in request.entries.items()},
        "purpose": request.purpose,
        "run": None if request.run is None else request.run.model_dump(mode="json"),
        "machine": request.machine,
        "asked": request.asked,
        "expires": request.expires,
        "needed": state.threshold,
        "used": grant.used or None,
        "answers": [
            {
                "by": names.get(key),
                "allowed": answer.allowed,
                "reason": answer.reason or None,
                "when": answer.when,
                "keeper_still": key in names,
            }
            for key, answer in grant.answers.items()
        ],
    }
