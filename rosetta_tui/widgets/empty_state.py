"""What to do first, where there is nothing yet."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from rosetta_tui.text import show


class EmptyState(Static):
    """Stands in the place of an empty list of runs."""

    def on_mount(self) -> None:
        """Say it."""
        self.update(
            Content.assemble(
                ("No runs yet.\n\n", "bold"),
                ("D", "bold $mark"),
                "  runs the demo: Esperanto, no key, no network, under a minute.\n\n",
                ("Or from a shell:\n\n", "$quiet"),
                *_command("rosetta demo", "the same"),
                *_command("rosetta run CORPUS --method chat …", "your corpus, your model"),
                *_command("rosetta score CORPUS OUTPUTS", "outputs made elsewhere"),
                *_command("rosetta corpus check CORPUS", "is the corpus fit?"),
            )
        )


def _command(command: str, use: str) -> tuple[Content, Content]:
    return show(f"  {command:<37}"), Content.styled(f"{use}\n", "$quiet")
