"""What a metric looks at: one entry together with what a method made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from corpora.entry import Entry


@dataclass(frozen=True, slots=True)
class Translation:
    """An entry and its output. A failed entry has the empty output and stays in every denominator (M2)."""

    entry: Entry
    output: str
    annotations: Mapping[str, Any] = field(default_factory=dict)
    """What annotators found (FST analyses, embeddings, …), by annotator id."""
