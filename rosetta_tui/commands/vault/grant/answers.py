"""``rosetta vault grant answer``: Allow a request, as one of the keepers, or refuse it and say why.
``rosetta vault grant show``: Show what a request asks for, who answered, and who is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from harness.sealed.strict_records import about_file
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import (
    ANSWER,
    FILE,
    KEY,
    REQUEST,
    grants_at,
    keeper,
    read_file,
    vault_at,
    write_new,
)
from rosetta_tui.request.vault import refuse_existing
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from harness.vault import folder, grant_log
    from harness.vault.grants import files, grants
    from rosetta_tui.vault import messages


@click.command("answer")
@click.argument("vault", type=FILE)
@REQUEST
@ANSWER
@click.option("--refuse", metavar="WHY", help="Refuse it. The log keeps WHY, so name nobody and quote no text.")
@KEY
@click.option("--yes", is_flag=True, help="Allow it without a question.")
def answer_(
    vault: Path, request: Path, answer: Path | None, refuse: str | None, key: Path | None, *, yes: bool
) -> None:
    """Show what the request asks for, allow it once, or refuse it, and write your answer. VAULT may be a copy on the stick.

    Where you allow it, your share of the vault's key is opened with your keys and sealed for this one request: only
    the computer that asked can open it, once. When a refusal is imported, the log records it with WHY. Until the
    grant is used, it also takes back what you allowed before. The vault is not changed here.
    """
    if refuse is not None and yes:
        raise click.UsageError("--yes allows it. Leave --yes or --refuse out.")
    made, data = grants_at(vault), read_file(request)
    with about_file(request):
        asked, state = grants.read_asked(made.vault, data)
        identity = keeper(key)
        answer = answer or _beside(request, state, identity.public.signing_key)
        refuse_existing(answer)
        for line in files.request_lines(asked, state):
            click.echo(plain(line))
        if refuse is not None:
            given = made.answer(data, identity, allowed=False, reason=refuse)
    if refuse is None:
        if not yes:
            click.confirm("Do you allow this?", abort=True)
        given = made.answer(data, identity, allowed=True)
    write_new(answer, given)
    words = (
        "Nobody else can open anything with it, and it cannot be used again"
        if refuse is None
        else "The log will have it with your reason"
    )
    click.echo(plain(f"Written: {answer}. It goes back to anyone who asked. {words}."))


def _beside(request: Path, state: folder.VaultState, key: str) -> Path:
    """Return the name of an answer next to its request: who answers is in it."""
    name = state.keepers[key].name if key in state.keepers else "answer"
    safe = re.sub(r"[^\w-]+", "-", name)
    return request.with_name(f"{request.stem}-{safe}{files.ANSWER_SUFFIX}")


# ---- Show what a request asks for, who answered, and who is missing ----


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
        lines or ["Nobody has asked for a grant yet: `rosetta run --vault FOLDER` asks."],
        as_json=as_json,
    )


def _lines(grant: grant_log.Grant, state: folder.VaultState) -> Iterator[str]:
    yield from files.request_lines(grant.request, state, compared=not grant.used)
    yield from (f"  {line}" for line in messages.standing_lines(grant, state))


def _told(grant: grant_log.Grant, state: folder.VaultState) -> dict[str, Any]:
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
