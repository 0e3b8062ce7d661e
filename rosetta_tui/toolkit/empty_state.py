"""What to do, where there is nothing yet."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class EmptyState(Static):
    """Stands in the place of an empty list."""

    def __init__(self, title: str, words: str | Content = "") -> None:
        """Say in ``title`` what there is not, and in ``words`` of ours what to do about it."""
        super().__init__()
        self.say(title, words)

    def say(self, title: str, words: str | Content = "") -> None:
        """Say something else; text from outside comes as what ``rosetta_tui.show.text.show`` gives."""
        told = words if isinstance(words, Content) else Content(words)
        self.update(Content.assemble((f"{title}\n\n", "bold"), told))
