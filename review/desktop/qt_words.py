"""Qt's own words, from the same catalogue as all others.

Qt ships words for few languages and for none of those that this program is for. No word keeps the sign
that makes Alt and a letter mean it: community keyboards type letters with that key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QTranslator

from review.session.words import Words, msgid

QT_WORDS: Final = (
    # the menus of a box in which one types, and of a text
    msgid("Undo"),
    msgid("Redo"),
    msgid("Cut"),
    msgid("Copy"),
    msgid("Paste"),
    msgid("Delete"),
    msgid("Select All"),
    # keys, as that menu names them
    msgid("Ctrl"),
    msgid("Shift"),
    msgid("Del"),
    # the menu of a bar that scrolls
    msgid("Scroll here"),
    msgid("Top"),
    msgid("Bottom"),
    msgid("Left edge"),
    msgid("Right edge"),
    msgid("Page up"),
    msgid("Page down"),
    msgid("Page left"),
    msgid("Page right"),
    msgid("Scroll up"),
    msgid("Scroll down"),
    msgid("Scroll left"),
    msgid("Scroll right"),
    # choosing a file or a folder
    msgid("Find Directory"),
    msgid("Look in:"),
    msgid("Back"),
    msgid("Go back"),
    msgid("Forward"),
    msgid("Go forward"),
    msgid("Parent Directory"),
    msgid("Go to the parent directory"),
    msgid("Create New Folder"),
    msgid("Create a New Folder"),
    msgid("New Folder"),
    msgid("List View"),
    msgid("Change to list view mode"),
    msgid("Detail View"),
    msgid("Change to detail view mode"),
    msgid("Sidebar"),
    msgid("List of places and bookmarks"),
    msgid("Recent Places"),
    msgid("Remove"),
    msgid("Files"),
    msgid("File"),
    # Translators: %1 is the ending of a file's name
    msgid("%1 File"),
    msgid("Files of type:"),
    msgid("File name:"),
    msgid("All Files (*)"),
    msgid("All files (*)"),
    msgid("Directories"),
    msgid("Directory:"),
    msgid("Directory"),
    msgid("Computer"),
    msgid("My Computer"),
    msgid("Drive"),
    msgid("Folder"),
    # Translators: of a file
    msgid("Name"),
    # Translators: of a file
    msgid("Size"),
    # Translators: which kind of file
    msgid("Type"),
    msgid("Date Modified"),
    msgid("Rename"),
    msgid("Show "),
    msgid("Show hidden files"),
    msgid("Open"),
    msgid("Choose"),
    msgid("Save"),
    msgid("Cancel"),
    msgid("Close"),
    msgid("OK"),
    msgid("Yes"),
    msgid("No"),
    # Translators: %1 is the name of a file, here and below
    msgid("%1\nFile not found.\nPlease verify the correct file name was given."),
    msgid("%1\nDirectory not found.\nPlease verify the correct directory name was given."),
    # what a screen reader says of a button or a list
    msgid("Press"),
    msgid("Triggers the action"),
    msgid("SetFocus"),
    msgid("Sets the focus"),
    msgid("Toggle"),
    msgid("Toggles the state"),
    msgid("ShowMenu"),
    msgid("Shows the menu"),
    msgid("Increase"),
    msgid("Increment the value"),
    msgid("Decrease"),
    msgid("Decrement the value"),
    msgid("Next Page"),
    msgid("Goes to the next page"),
    msgid("Previous Page"),
    msgid("Goes back a page"),
    msgid("Scroll Left"),
    msgid("Scrolls to the left"),
    msgid("Scroll Right"),
    msgid("Scrolls to the right"),
    msgid("Scroll Up"),
    msgid("Scrolls up"),
    msgid("Scroll Down"),
    msgid("Scrolls down"),
    msgid("Open the combo box selection popup"),
)
"""Words of Qt that can be seen in this program, without their Alt letters."""

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
