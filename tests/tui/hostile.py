"""Texts that would do harm if they were shown as they are."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

ANY_TEXT = st.text(st.characters(codec=None, categories=None))  # lone surrogates included


def acting(text: str) -> list[str]:
    return [
        character
        for character in text
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        and character not in "\u200c\u200d"
    ]
