"""What a widget says of itself, in the reviewer's language: it asks the translator that the program gave to Qt.

A button is made in many places; none of them has to hand it the words for "Key 1".

Words of the program as they stand on a button: with a capital at their beginning, where the script has one.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication


def capital(words: str) -> str:
    """Return words with their first letter as a capital; ``title`` would keep apart what is one letter, as ǆ."""
    return words[:1].title() + words[1:]


def said(text: str, **facts: str) -> str:
    """Say a text of the catalogue (marked with ``msgid``); ``{name}`` in it becomes the fact of that name."""
    words = QCoreApplication.translate("", text)
    for name, fact in facts.items():
        words = words.replace(f"{{{name}}}", fact)
    return words
