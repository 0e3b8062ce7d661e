"""Signatures: everything that a value depends on, in sacreBLEU's ``key:value|…`` form."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

ENGINE = "rosetta-1"
"""Which code takes the statistics; changes whenever an integer could."""


def own_signature(parts: str) -> str:
    """Sign a value whose definition is our own."""
    return f"{parts}|norm:NFC|engine:{ENGINE}"


def sacrebleu_signature(parts: str) -> str:
    """Sign a value that equals sacreBLEU's: its own signature, then normal form and engine."""
    return f"{parts}|version:{_sacrebleu_version()}|norm:NFC|engine:{ENGINE}"


@cache
def _sacrebleu_version() -> str:
    return version("sacrebleu")
