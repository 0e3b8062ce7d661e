"""``rosetta vault revoke``: Remove a keeper, and seal the texts again."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.consent.sharing import own_register, write_out
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
    from harness.consent import notice


@click.command("revoke")
@changing
@together
@threshold
@click.option("--notice", "notice_file", type=FILE, metavar="FILE", help="Write a signed notice of this, for those who have older copies (rosetta consent take).")  # fmt: skip
@click.argument("name", metavar="KEEPER")
@purpose
def revoke_(
    vault: Path,
    key: Path | None,
    others: tuple[Path, ...],
    threshold: int | None,
    name: str,
    purpose: str,
    *,
    shares: bool,
    notice_file: Path | None,
    clock_was_wrong: bool,
) -> None:
    """Remove KEEPER (a name as the list shows it) from VAULT: every text is sealed again, under keys that they do not have.

    An earlier copy of the vault still opens for them; nothing can undo that. Where several keepers open VAULT
    together, that many have to come together for this too, and those who stay get new shares.
    """
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    identity, opening = acting(made, key, others, shares=shares)
    before = made.read()
    state = made.revoke(name, purpose, identity, opening, threshold)
    if notice_file is not None:
        [gone] = [keeper for key_, keeper in before.keepers.items() if key_ not in state.keepers]
        about = notice.KeeperWithdrawal(
            vault=state.head.vault, signing_key=gone.signing_key, name=gone.name
        )
        by = state.keepers.get(identity.public.signing_key)
        write_out(own_register().say(about, purpose, by.name if by else "a keeper"), notice_file)
    seal_stored(before, state, identity, opening)
    if state.split is not None:
        click.echo(plain(f"{name} has no share of this vault any more."))
        dealt_anew(state, sealed=True)
        return
    left = ", ".join(keeper.name for keeper in state.keepers.values())
    click.echo(plain(f"{name} cannot open this vault any more. It opens for: {left}."))
    click.echo("Copies from before still open for them: bring copies up to date (rosetta vault export).", err=True)  # fmt: skip
