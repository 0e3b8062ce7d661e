"""One thing that was examined, and how it stands with it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    OK = "ok"
    MISSING = "missing"
    """It is not here, and something would be better with it."""
    BROKEN = "broken"
    """It is here and does not work, or nothing works without it."""
    UNKNOWN = "unknown"
    """It cannot be found out."""


@dataclass(frozen=True, slots=True)
class Finding:
    area: str
    name: str
    health: Health
    words: str
    """What it is, or what is wrong with it."""
    mend: tuple[str, ...] = ()
    """Lines for a shell, each to be copied as it stands; without any, ``words`` say what to do."""
