"""``rosetta vault refresh``: Give the keepers of a vault new shares of its key."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.vault.sharing import (
    acting,
    changing,
    dealt_anew,
    purpose,
    seal_stored,
    sealing_anew,
    threshold,
    vault_at,
)
from rosetta_tui.request.vault import together


@click.command("refresh")
@changing
@together
@threshold
@sealing_anew
@purpose
def refresh_(
    vault: Path,
    key: Path | None,
    others: tuple[Path, ...],
    threshold: int | None,
    purpose: str,
    *,
    shares: bool,
    anew: bool,
    clock_was_wrong: bool,
) -> None:
    """Deal new shares of VAULT's key to the same keepers, for example after a printed page was lost or seen.

    As many keepers come together for this as it takes to open VAULT. An earlier share does not work together with the
    new ones. But enough earlier shares still open VAULT together, unless all texts are sealed again too (--again).
    """
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    identity, opening = acting(made, key, others, shares=shares)
    before = made.read()
    state = made.refresh(purpose, identity, opening, threshold, anew=anew)
    dealt_anew(state, anew=anew)
    seal_stored(before, state, identity, opening)
