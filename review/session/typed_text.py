"""What a person typed or pasted, in the form in which it is kept; the same for every face."""

from __future__ import annotations

import unicodedata

from corpora.text.visible import plain


def harmless(text: str) -> str:
    """Leave out every character that acts on a screen; blanks of all kinds become spaces."""
    kept = (
        character if character == "\n" or plain(character) == character else _blank(character)
        for character in text.replace("\r\n", "\n")
    )
    return "".join(kept)


def as_kept(text: str) -> str:
    """Compose the letters, so that the same word is the same text, and take the blanks around it away."""
    return unicodedata.normalize("NFC", text).strip()


def _blank(character: str) -> str:
    return " " if character == "\t" or unicodedata.category(character) == "Zs" else ""
