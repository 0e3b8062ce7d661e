"""The four segments of a corpus (benchmark-specification §2.3), which lists of runs name without an entry available."""

from __future__ import annotations

from enum import StrEnum


class Segment(StrEnum):
    """The partition of the corpus that an entry belongs to (§2.3)."""

    DEVELOPMENT = "development"
    DIAGNOSTIC = "diagnostic"
    GOLD_STANDARD = "gold_standard"
    HELD_OUT = "held_out"

    @property
    def secret(self) -> bool:
        """True where neither source nor reference may leave the governance organisation."""
        return self in {Segment.GOLD_STANDARD, Segment.HELD_OUT}


SEGMENT_NAMES = {
    "dev": Segment.DEVELOPMENT,
    "sealed": Segment.GOLD_STANDARD,
    "holdout": Segment.HELD_OUT,
}
"""What the reference implementation calls segments in the sets of its contests."""
