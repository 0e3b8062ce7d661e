"""Which engine makes boxes on this computer."""

from __future__ import annotations

from collections.abc import Sequence

from harness.box.bubblewrap import Bubblewrap
from harness.box.engine import BoxEngine
from harness.core.failures import HarnessError


def engines() -> Sequence[BoxEngine]:
    """Return the engines that this program knows, the one that it prefers first."""
    return (Bubblewrap(),)


def find_engine(among: Sequence[BoxEngine] | None = None) -> BoxEngine:
    """Return the first engine that works on this computer; HarnessError says what to install where there is none."""
    lacking = []
    for engine in engines() if among is None else among:
        missing = engine.lacking()
        if missing is None:
            return engine
        lacking.append(missing)
    raise HarnessError(f"No box can be made on this computer. {'; '.join(lacking)}.")
