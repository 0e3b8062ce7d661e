"""How often a repeated test repeats itself: seldom by default, as often as is claimed on demand."""

from __future__ import annotations

import os


def times(quick: int, thorough: int) -> int:
    """Return ``quick``, or ``thorough`` where the environment says ROSETTA_THOROUGH=1."""
    return thorough if os.environ.get("ROSETTA_THOROUGH") == "1" else quick
