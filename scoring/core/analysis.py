"""What a morphological analyser says of the words of a text: the ``fst`` annotation of a translation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Acceptance(StrEnum):
    """The form of a word in which the analyser accepted it (METRICS §2)."""

    AS_WRITTEN = "as written"
    LOWER_CASED = "lower-cased"
    NORMALISED = "normalised"
    """After the language card's replacements (macron → circumflex)."""


@dataclass(frozen=True, slots=True)
class WordAnalysis:
    """One word and its verdict."""

    word: str
    """As it stands in the text."""
    accepted: Acceptance | None
    """None: rejected in every form."""
    analyses: tuple[str, ...] = ()
    """Analyser strings such as ``wâpamêw+V+TA+Ind+1Sg+3SgO``, sorted, each once, without flag diacritics;
    empty for a rejected word and for an acceptor, which has no analyses."""


@dataclass(frozen=True, slots=True)
class FstAnnotation:
    """The words of an output and of its reference, in order; numbers and placeholders are none."""

    output: tuple[WordAnalysis, ...]
    reference: tuple[WordAnalysis, ...]
