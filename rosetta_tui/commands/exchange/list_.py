"""``rosetta exchange list``: Show what is on a stick, whose it is, and who took it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from corpora.text.messages import counted
from rosetta_tui.commands.exchange.sharing import STICK, every_kind
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.exchange import import_, records
    from harness.sealed import keys
    from harness.store.file import database


@click.command("list")
@STICK
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(stick: Path, *, as_json: bool) -> None:
    """Show what is in the exchange folder on STICK. Nothing is taken, and nothing is written there."""
    with records.desk(database.home()) as desk:
        folder_look = import_.look(desk, stick, every_kind())
    document = {
        "path": str(folder_look.path),
        "folder": folder_look.folder,
        "computers": [
            {**asdict(machine), "words": keys.key_phrase(machine.key)}
            for machine in folder_look.machines
        ],
        "refused": [{"list": name, "why": why} for name, why in folder_look.refused],
        "unnamed": folder_look.unnamed,
    }
    print_form("exchange-list", document, _lines(folder_look), as_json=as_json)


def _lines(found: import_.FolderLook) -> Iterator[str]:
    yield f"{found.path}:"
    for machine in found.machines:
        whose = (
            "this computer" if machine.own else "known here" if machine.known else "NOT known here"
        )
        yield f"{machine.name} ({whose}), state {machine.state:,}   {keys.key_phrase(machine.key)}"
        for one in machine.lying:
            took = f"taken by {', '.join(one.taken_by)}" if one.taken_by else "taken by nobody yet"
            yield f"  {one.name}: {one.what}, {took}" + (
                "" if one.there else "; GONE from the stick"
            )
    for name, why in found.refused:
        yield f"refused: {name}: {why}"
    if found.unnamed:
        yield f"{counted(found.unnamed, 'file')} that no list names, from an interrupted write or another program"
    if not found.machines:
        yield "Nothing has been put here yet."
