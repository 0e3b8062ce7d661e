"""Qt's own words, from the same catalogue as all others.

Qt ships words for few languages and for none of those that this program is for. No word keeps the sign
that makes Alt and a letter mean it: community keyboards type letters with that key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QTranslator

from review.session.words.catalogue import Words, msgid

QT_WORDS: Final = (
    # the menus of a text, and of a box in which one types
    msgid("Undo"),
    msgid("Redo"),
    msgid("Cut"),
    msgid("Copy"),
    msgid("Paste"),
    msgid("Delete"),
    msgid("Select All"),
    # a key, as that menu names it
    msgid("Ctrl"),
    # the menu of a bar that scrolls
    msgid("Scroll here"),
    msgid("Top"),
    msgid("Bottom"),
    msgid("Page up"),
    msgid("Page down"),
    msgid("Scroll up"),
    msgid("Scroll down"),
    # what a screen reader says of a button
    msgid("Press"),
    msgid("Triggers the action"),
    msgid("SetFocus"),
    msgid("Sets the focus"),
    msgid("Toggle"),
    msgid("Toggles the state"),
)
"""Words of Qt that can be met in this program, without their Alt letters; a test knows that these are all."""

_DIRECTION: Final = "QT_LAYOUT_DIRECTION"
"""By this word Qt asks a translator from which side one reads."""


class QtWords(QTranslator):
    """Asks the catalogue that ``words`` gives, anew each time."""

    def __init__(self, words: Callable[[], Words], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words = words

    def isEmpty(self) -> bool:
        """Be taken for a translator that has words."""
        return False

    def translate(
        self,
        context: str,  # noqa: ARG002  the same word is said in the same way everywhere
        sourceText: str,  # noqa: N803  Qt's own name of it
        disambiguation: str | None = None,  # noqa: ARG002  as above
        n: int = -1,  # noqa: ARG002  Qt puts the number in
    ) -> str:
        """Say a word of Qt in the reviewer's language, in English where the catalogue lacks it."""
        words = self._words()
        if sourceText == _DIRECTION:
            return words.direction.upper()
        return words(without_mnemonic(sourceText)) if sourceText else ""


def without_mnemonic(text: str) -> str:
    """Take out the sign that marks the letter for Alt; a doubled one stands for itself and stays."""
    return "&&".join(part.replace("&", "") for part in text.split("&&"))
