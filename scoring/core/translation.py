"""What a metric looks at: one entry together with what a method made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from corpora.model.entry import Entry


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
