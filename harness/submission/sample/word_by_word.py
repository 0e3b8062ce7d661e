"""Translates word by word from a table; the standard library is all that it needs."""

import re
from pathlib import Path


class WordByWord:
    """A method for the box: made once with its options, then asked for lists of texts."""

    def __init__(self, options: dict[str, str]) -> None:
        table = Path(options.get("words") or Path(__file__).with_name("words.tsv"))
        rows = (line.split("\t") for line in table.read_text("utf-8").splitlines() if "\t" in line)
        self._words = {row[0].lower(): row[1] for row in rows}

    def translate(self, texts: list[str]) -> list[str]:
        """Replace each word that the table has; everything else stays as it is."""
        return [re.sub(r"\w+", lambda match: self._word(match[0]), text) for text in texts]

    def _word(self, word: str) -> str:
        known = self._words.get(word.lower(), word)
        return known.capitalize() if word[0].isupper() else known
