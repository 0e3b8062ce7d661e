"""``rosetta review``: the community review, one file for each of its commands."""

from __future__ import annotations

import importlib

import click

REVIEW_COMMANDS = {
    "open": "Rate a batch, in the terminal.",
    "create": "Make a batch for reviewers from one run or several.",
    "plan": "Say how many people and items give what chance of a verdict.",
    "import": "Take ratings back; any file, any order, any number of times.",
    "enrol": "Accept the laptop that an unknown set of ratings came from.",
    "status": "Show who has rated how much.",
    "adjudicate": "Decide about flagged and split items, blind to system and reviewer.",
    "gate": "Read the verdict and issue its certificate.",
    "verify": "Recompute a certificate's verdict.",
    "attach": "Attach a certificate to its run.",
    "export": "Write results for the governance organisation and researchers.",
    "page": "Write the result as a page for the speakers themselves.",
    "variants": "Offer suggested wordings as variants of the corpus.",
    "withdraw": "Take back what a reviewer gave.",
}
"""Name → what it does; the command of that name is in the module of that name (``import_`` for import)."""


class ReviewCommands(click.Group):
    """Imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Give the names in the order in which a review needs them."""
        return list(REVIEW_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command of this name."""
        if cmd_name not in REVIEW_COMMANDS:
            return None
        name = f"{cmd_name}_" if cmd_name == "import" else cmd_name
        module = importlib.import_module(f"rosetta_tui.commands.review.{name}")
        command = getattr(module, f"{cmd_name}_")
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(REVIEW_COMMANDS.items()))


@click.group(cls=ReviewCommands)
def review() -> None:
    """Let bilingual speakers rate outputs offline, and read the verdict that anyone can recompute."""
