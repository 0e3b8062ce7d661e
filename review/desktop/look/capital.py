"""Words of the program as they stand on a button: with a capital at their beginning, where the script has one."""

from __future__ import annotations


def capital(words: str) -> str:
    """Return words with their first letter as a capital; ``title`` would keep apart what is one letter, as ǆ."""
    return words[:1].title() + words[1:]
