"""``rosetta runs``: the runs of the store, one file for each of its commands."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import TabledCommands

RUN_COMMANDS = {
    "list": "List all runs, newest first.",
    "show": "Show all scores of a run, its note and its tags.",
    "note": "Write a note beside a run.",
    "tag": "Give a run tags, or take them away.",
    "export": "Write a run to a file.",
    "import": "Take run cards and test reports into the list of runs.",
    "verify": "Check a card's seal, and compute its numbers again.",
    "delete": "Delete runs; for a week they can be brought back.",
    "undelete": "Bring back a deleted run.",
}
"""Name → what it does; the command of that name is in the module of that name (``import_`` for import)."""

_BUILT_IN = frozenset({"import", "list"})


class RunCommands(TabledCommands):
    """Finds the command of a name in the module of that name."""

    table = RUN_COMMANDS

    def place(self, name: str) -> tuple[str, str]:
        """Return where the command of this name is."""
        called = f"{name}_" if name in _BUILT_IN else name
        return f"rosetta_tui.commands.runs.{called}", called


@click.group(cls=RunCommands)
def runs() -> None:
    """List, show, note, export, import, verify and delete runs."""
