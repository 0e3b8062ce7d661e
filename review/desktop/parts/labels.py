"""Every line of words in the window: text from anywhere is shown as it stands, and nothing in it acts.

A label of Qt guesses by itself whether a text is markup, and makes a shortcut of a sign in the name of a box.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget


class Line(QLabel):
    """Plain text that is broken to the width there is; ``role`` is one of the look's."""

    def __init__(
        self, text: str = "", role: str = "", *, wraps: bool = True, selectable: bool = False
    ) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wraps)
        self.setProperty("role", role)
        if selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setText(text)

    def as_narrow_as_needed(self) -> Line:
        """Let no word widen the page; gives itself."""
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        return self

    def name_of(self, box: QWidget) -> Line:
        """Be the name of a box or pane, for those who hear the page; gives itself."""
        text = self.text()
        self.setBuddy(box)
        self.setText(text)
        return self

    def setText(self, text: str) -> None:
        """Show a text; in a name a single ``&`` would make a shortcut of the letter behind it."""
        super().setText(text if self.buddy() is None else text.replace("&", "&&"))
