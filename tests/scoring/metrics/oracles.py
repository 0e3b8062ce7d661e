"""What sacreBLEU counts in each entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unicodedata import normalize

from sacrebleu.metrics.base import Metric


def sacrebleu_counts(
    oracle: Metric, outputs: Sequence[str], streams: Sequence[Sequence[str | None]]
) -> list[tuple[int, ...]]:
    """Return what sacreBLEU sums up of composed texts; ``streams`` has one list for each place of a reference."""
    given = [normalize("NFC", text) for text in outputs]
    wanted: Any = [[text and normalize("NFC", text) for text in stream] for stream in streams]
    rows = oracle._extract_corpus_statistics(given, wanted)  # its public ways sum the entries up
    return [tuple(row) for row in rows]
