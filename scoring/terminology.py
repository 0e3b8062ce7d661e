"""Prescribed terms: source phrases with the renderings that count as right (scoring-specification §2.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from corpora.words import folded, words


@dataclass(frozen=True, slots=True)
class Term:
    """One line of the coaching dictionary."""

    source: tuple[str, ...]
    """Words of the source phrase, folded."""
    renderings: tuple[str, ...]
    """Target phrases as the dictionary writes them, best first."""


class Terminology:
    """Finds prescribed terms in a source text."""

    def __init__(self, pairs: Iterable[tuple[str, tuple[str, ...]]], sha256: str = "") -> None:
        """Take (source phrase, renderings) pairs; ``sha256`` names the file they come from."""
        self.sha256 = sha256
        self.terms = tuple(
            Term(tuple(folded(word.text) for word in words(phrase)), renderings)
            for phrase, renderings in pairs
        )

    def __len__(self) -> int:
        return len(self.terms)
