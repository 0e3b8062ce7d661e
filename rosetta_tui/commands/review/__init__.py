"""``rosetta review``: the community review, one file for each of its commands."""

from __future__ import annotations

import click

from rosetta_tui.commands.naming import TabledCommands

REVIEW_COMMANDS = {
    "open": "Rate a batch, in the terminal.",
    "create": "Make a batch for reviewers from one run or several.",
    "plan": "Say how many people and items give what chance of a verdict.",
    "import": "Take ratings back; any file, any order, any number of times.",
    "enrol": "Accept the laptop that an unknown set of ratings came from.",
    "status": "Show who has rated how much.",
    "adjudicate": "Decide about flagged and split items, blind to system and reviewer.",
    "second": "Ask people once more about what split the panel.",
    "gate": "Read the verdict and issue its certificate.",
    "verify": "Recompute a certificate's verdict.",
    "attach": "Attach a certificate to its run.",
    "export": "Write results for the governance organisation and researchers.",
    "page": "Write the result as a page for the speakers themselves.",
    "variants": "Offer suggested wordings as variants of the corpus.",
    "withdraw": "Take back what a reviewer gave.",
}
"""Name → what it does; the command of that name is in the module of that name (``import_`` for import)."""


class ReviewCommands(TabledCommands):
    """Finds the command of a name in the module of that name."""

    table = REVIEW_COMMANDS

    def place(self, name: str) -> tuple[str, str]:
        """Return where the command of this name is."""
        module = f"{name}_" if name == "import" else name
        return f"rosetta_tui.commands.review.{module}", f"{name}_"


@click.group(cls=ReviewCommands)
def review() -> None:
    """Let bilingual speakers rate outputs offline, and read the verdict that anyone can recompute."""
