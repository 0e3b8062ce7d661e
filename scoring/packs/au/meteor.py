"""METEOR as nltk computes it, with the stems of English, and with WordNet where it is on this machine.

Loads nltk, so it is imported where METEOR is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import nltk.corpus
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score

_LONGEST_STEMMED = 60
"""Letters of a word that is stemmed."""


def meteor(reference: Sequence[str], output: Sequence[str], *, english: bool) -> float:
    """Return METEOR of words as they are compared, 0–1; stems and synonyms count in English alone."""
    score = single_meteor_score(
        reference,
        output,
        preprocess=str,
        stemmer=cast("Any", SimpleNamespace(stem=_english_stem if english else str)),
        wordnet=(wordnet() if english else None) or cast("Any", SimpleNamespace(synsets=lambda _: ())),
    )
    return float(score)


@cache
def wordnet() -> Any | None:
    """Return nltk's WordNet where it is on this machine and can be read; it is never fetched."""
    corpus = cast("Any", nltk.corpus.wordnet)
    try:
        corpus.ensure_loaded()
    except Exception:  # noqa: BLE001  nltk raises what it likes where a file of it is missing or damaged
        return None
    return corpus


def _english_stem(word: str) -> str:
    """Remove English endings; a word longer than any stays as it is."""
    return str(_stemmer().stem(word)) if len(word) <= _LONGEST_STEMMED else word


@cache
def _stemmer() -> Any:
    return cast("Any", PorterStemmer)()
