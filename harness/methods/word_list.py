"""A list of words of the target language, which a check may hold an output against."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from corpora.words import folded, words
from harness.failures import UsageError


@dataclass(frozen=True, slots=True)
class WordList:
    """The words of a file, in the form for comparison."""

    words: frozenset[str]
    sha256: str
    """Hash of the file's bytes."""


def read_word_list(path: Path) -> WordList:
    """Read a list of words in UTF-8, one a line; lines that begin with # are remarks."""
    try:
        content = path.read_bytes()
        lines = content.decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: the word list cannot be read ({error}). Give UTF-8.") from error
    found = frozenset(
        folded(word.text) for line in lines if not line.startswith("#") for word in words(line)
    )
    if not found:
        raise UsageError(f"{path}: the word list is empty. Give one word a line.")
    return WordList(found, hashlib.sha256(content).hexdigest())
