"""A list of words of the target language, which a check may hold an output against."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from corpora.text.words import folded, words
from harness.core.failures import UsageError
from harness.core.user_file import read_text


@dataclass(frozen=True, slots=True)
class WordList:
    """The words of a file, in the form for comparison."""

    words: frozenset[str]
    sha256: str
    """Hash of the file's bytes."""


def read_word_list(path: Path) -> WordList:
    """Read a list of words in UTF-8, one a line; lines that begin with # are remarks."""
    text, sha256 = read_text(path, "the word list")
    found = frozenset(
        folded(word.text)
        for line in text.splitlines()
        if not line.startswith("#")
        for word in words(line)
    )
    if not found:
        raise UsageError(f"{path}: the word list is empty. Give one word a line.")
    return WordList(found, sha256)
