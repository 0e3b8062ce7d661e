"""``rosetta vault enrol``: Let one more person open a vault."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import (
    FILE,
    acting,
    changing,
    dealt_anew,
    purpose,
    seal_stored,
    threshold,
    vault_at,
)
from rosetta_tui.request.vault import together
from rosetta_tui.show.text import plain

with when_used():
    from harness.consent import withdrawals_in_force
    from harness.core import user_file
    from harness.store.file import database
    from harness.vault import keepers


@click.command("enrol")
@changing
@together
@threshold
@click.argument("card", type=FILE, metavar="NAME.rosetta-keeper")
@click.option("--words", prompt="Their six words, as they read them to you by telephone", metavar="SIX WORDS", help="What they read to you by telephone from their own computer; asked for if you leave it out.")  # fmt: skip
@purpose
def enrol_(
    vault: Path,
    key: Path | None,
    others: tuple[Path, ...],
    threshold: int | None,
    card: Path,
    words: str,
    purpose: str,
    *,
    shares: bool,
    clock_was_wrong: bool,
) -> None:
    """Make the person whose card this is a keeper of VAULT: from now on they can open all of it, alone. No text is opened.

    Where several keepers open VAULT together, that many have to come together for this too, and all keepers get new
    shares.

    The new keeper reads you the six words of their key by telephone, from their own computer. If those are not the
    words of the card, it is not theirs, and nothing is done.
    """
    new = keepers.read_card(user_file.read_bytes(card, "the card of a keeper"))
    keepers.check_words(new, words)
    if (
        signed_notice := withdrawals_in_force.standing(database.home()).of_key(new.signing_key)
    ) is not None:
        raise withdrawals_in_force.Withdrawn(f"The card of {new.name}", signed_notice)
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    identity, opening = acting(made, key, others, shares=shares)
    before = made.read()
    state = made.enrol(new, purpose, identity, opening, threshold)
    seal_stored(before, state, identity, opening)
    if state.split is not None:
        dealt_anew(state, sealed=False)
        return
    click.echo(plain(f"{new.name} can open this vault now."))
