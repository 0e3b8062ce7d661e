"""``rosetta vault refresh``: Deal the shares of a vault anew."""

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
from rosetta_tui.request.typed_shares import together


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
    cards: bool,
    anew: bool,
    clock_was_wrong: bool,
) -> None:
    """Deal the shares of VAULT anew to the same keepers: after a printed page was lost or seen, for example.

    As many keepers as open it come together for that. A share of before goes with none of the new ones. As many
    shares of before as were needed still open it together, unless all texts are sealed anew (--anew).
    """
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    identity, opening = acting(made, key, others, cards=cards)
    before = made.read()
    state = made.refresh(purpose, identity, opening, threshold, anew=anew)
    dealt_anew(state, anew=anew)
    seal_stored(before, state, identity, opening)
