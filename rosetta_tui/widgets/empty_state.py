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
                show("    rosetta demo"),
                ("                                  the same\n", "$quiet"),
                show("    rosetta run CORPUS --method chat …"),
                ("            your corpus, your model\n", "$quiet"),
                show("    rosetta score CORPUS OUTPUTS"),
                ("                  outputs made elsewhere\n", "$quiet"),
                show("    rosetta corpus check CORPUS"),
                ("                   is the corpus fit?\n", "$quiet"),
            )
        )
