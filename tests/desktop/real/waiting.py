"""Waiting for something to come true: with a deadline, and with words when it never does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

SECONDS = 30.0
"""The longest wait for anything; two busy cores share many tests."""
_PAUSE = 0.01

Found = TypeVar("Found")


def until(
    look: Callable[[], Found | None], what: str | Callable[[], str], seconds: float = SECONDS
) -> Found:
    """Return what ``look`` finds as soon as it is true; AssertionError with ``what`` where it never is."""
    end = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > end:
            raise AssertionError(f"never: {what if isinstance(what, str) else what()}")
        time.sleep(_PAUSE)
    return found
