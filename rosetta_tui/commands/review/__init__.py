"""``rosetta review``: Let speakers rate outputs; read the verdict."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import FiledCommands


class ReviewCommands(FiledCommands):
    """The commands about reviews, one file each."""

    folder = "review"
    order = (
        "open",
        "create",
        "bundle",
        "plan",
        "import",
        "serve",
        "enrol",
        "status",
        "adjudicate",
        "gate",
        "verify",
        "attach",
        "export",
        "page",
        "variants",
        "withdraw",
    )


@click.group(cls=ReviewCommands)
def review() -> None:
    """Collect ratings of outputs by bilingual speakers offline, and show the verdict that anyone can recompute."""
