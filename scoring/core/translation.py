"""What a metric looks at: one entry with what a method made of it, and what annotators found in that.

The ``fst`` annotation is what a morphological analyser says of the words of both texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from corpora.model.entry import Entry
from corpora.text.alike import alike


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
    """As it is in the text."""
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


@dataclass(frozen=True, slots=True)
class Translation:
    """An entry and its output. A failed entry has the empty output and stays in every denominator (M2)."""

    entry: Entry
    output: str
    annotations: Mapping[str, Any] = field(default_factory=dict)
    """What annotators found, by annotator id: ``fst`` an FstAnnotation, ``embeddings`` the cosine of
    −1–1, ``comet`` the score; a missing id means that there is nothing for this translation."""
    raw: str | None = None
    """The method's first answer, before its own gates and repairs; None where it is the output."""

    def alike(self, source_language: str, target_language: str) -> Translation:
        """Return it with all its texts in the one form that metrics read (``corpora.text.alike``).

        Languages are shortest tags. Where no text changes it is the same object.
        """
        entry = alike_entry(self.entry, source_language, target_language)
        output = alike(self.output, target_language)
        raw = None if self.raw is None else alike(self.raw, target_language)
        if entry is self.entry and output == self.output and raw == self.raw:
            return self
        return replace(self, entry=entry, output=output, raw=raw)

    def given(self, field: str) -> Any:
        """Return a field of the entry's record that only its task knows; None where it has none."""
        return (self.entry.model_extra or {}).get(field)


def alike_entry(entry: Entry, source_language: str, target_language: str) -> Entry:
    """Return an entry with source, reference, variants and gold analysis in the form of ``corpora.text.alike``."""
    source, reference = (
        alike(entry.source, source_language),
        alike(entry.reference, target_language),
    )
    same = source == entry.source and reference == entry.reference
    if same and not entry.variants and entry.morphological_analysis is None:
        return entry
    read = {
        "source": source,
        "reference": reference,
        "variants": tuple(alike(each, target_language) for each in entry.variants),
    }
    if entry.morphological_analysis is not None:
        read["morphological_analysis"] = alike(entry.morphological_analysis, target_language)
    changed = {name: text for name, text in read.items() if text != getattr(entry, name)}
    return entry.model_copy(update=changed) if changed else entry
