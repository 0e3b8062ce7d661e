"""Signatures: everything that a value depends on, in sacreBLEU's ``key:value|…`` form."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

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
