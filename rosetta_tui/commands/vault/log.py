"""``rosetta vault log``: Show who did what with a vault, and why."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE, vault_at
from rosetta_tui.show.json_forms import print_form

with when_used():
    from rosetta_tui.vault import messages


@click.command("log")
@click.argument("vault", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def log_(vault: Path, *, as_json: bool) -> None:
    """Show the log of VAULT, the oldest line first. Its chain and every signature are checked; no key is needed."""
    acts = messages.logged_acts(vault_at(vault).read())
    lines = [
        f"{act.when}  {act.by}: {act.words}"
        + (f" ({act.purpose})" if act.purpose else "")
        + (" [the clock of an earlier line was wrong]" if act.clock_set_back else "")
        for act in acts
    ]
    print_form("vault-log", [asdict(act) for act in acts], lines, as_json=as_json)
