"""What could not be saved and what to do about it: a banner, never a box in the way."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from review.session.words.catalogue import Words
from review.session.words.troubles import Trouble
from rosetta_tui.review.rating.parts.render import told

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
