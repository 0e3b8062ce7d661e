"""``rosetta community``: Take things back, agree who owns a method, pass files on a stick, and write all out."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class CommunityCommands(FiledCommands):
    """The commands about what belongs to a community."""

    folder = "community"
    order = (
        "withdraw", "lift", "notices", "propose", "answer", "owners", "take", "profile", "out", "in", "stick", "export",
    )  # fmt: skip


@click.group(cls=CommunityCommands)
def community() -> None:
    """Withdraw consent, agree who owns a method, pass files on between computers, and write all out in open files.

    Consent: `withdraw`, `lift` and `notices`. What is taken back is not opened, listed, exported or claimed from that moment.
    Ownership: the organisation proposes a record about a run that passed the gate (`propose`), the file travels by
    stick, and each side answers on its own computer (`answer`); `owners` shows it. A stick: `out` puts files there, listed
    and signed, `in` takes what is new, and `stick` shows what is there. `take` imports what came from others.
    """
