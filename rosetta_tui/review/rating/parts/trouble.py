"""What could not be saved and what to do about it: a banner, never a box in the way."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from review.session.troubles import Trouble
from review.session.words import Words
from rosetta_tui.review.told import told

NO_TROUBLE = Trouble("", "")


class TroubleLine(Static):
    """Hidden until something is wrong; the item and every typed word stay where they are."""

    def tell(self, words: Words, said: str, detail: str = "") -> None:
        """Say what is wrong, with one technical line to copy; nothing said hides the banner."""
        self.display = bool(said)
        lines = [told(said, "bold $bad")]
        if detail:
            lines.append(told(words("For whoever helps: {detail}", detail=detail), "$quiet"))
        self.update(Content("\n").join(lines))
