"""Signatures: everything that a value depends on, in sacreBLEU's ``key:value|…`` form.

Rates: a count of words, terms or entries over another.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

import numpy as np

from scoring.core.metric import FloatArray, Metric
from scoring.core.setup import ScoringSetup

ENGINE = "rosetta-1"
"""Which code takes the statistics; changes whenever an integer could."""


def own_signature(parts: str) -> str:
    """Sign a value whose definition is our own."""
    return f"{parts}|norm:NFC|engine:{ENGINE}"


def sacrebleu_signature(parts: str) -> str:
    """Sign a value that equals sacreBLEU's: its own signature, then normal form and engine."""
    return f"{parts}|version:{_sacrebleu_version()}|norm:NFC|engine:{ENGINE}"


def content_key(sha256: str | None) -> str:
    """Name a file in a signature by its content; ``none`` where there is no such file."""
    return (sha256 or "none")[:12]


def card_key(setup: ScoringSetup) -> str:
    """Name the target's language card in a signature."""
    return content_key(setup.language_card_sha256)


def analyser_key(setup: ScoringSetup) -> str:
    """Name the analyser in a signature; engines agree, so that none is named."""
    return content_key(None if setup.analyser is None else setup.analyser.sha256)


@cache
def _sacrebleu_version() -> str:
    return version("sacrebleu")


class RateMetric(Metric):
    """Statistics (counted, all), value counted / all; null over nothing.

    A wider one keeps numbers of its own behind these two, which do not enter the value.
    """

    width = 2

    def values(self, totals: FloatArray) -> FloatArray:
        return share(totals[:, 0], totals[:, 1])


def share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide place by place; NaN where there is nothing to be a part of."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)


class MatchRate(RateMetric):
    """A rate whose entries are right or wrong: statistics (1 if right, 1), value in 0–1, higher is better.

    Every entry counts in the denominator, a failed one as wrong (DESIGN M2).
    """

    @property
    def signature(self) -> str:
        return own_signature("nrefs:1|case:mixed|punct:yes|space:folded")
