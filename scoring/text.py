"""The forms in which texts are compared (METRICS §0). Stored text stays as received."""

from __future__ import annotations

from unicodedata import normalize


def nfc(text: str) -> str:
    """Compose letters and marks, so that one spelling has one form."""
    return normalize("NFC", text)


def comparison_form(text: str) -> str:
    """Give NFC with outer white space stripped and inner runs of it folded to one space.

    Case and punctuation stay: they are part of a translation.
    """
    return " ".join(normalize("NFC", text).split())
