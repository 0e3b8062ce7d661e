"""Where a run stands, as the store keeps it and as events tell it."""

from __future__ import annotations

from enum import StrEnum


class RunState(StrEnum):
    """Where a run stands. Only a complete run has a sealed card."""

    RUNNING = "running"
    PAUSED = "paused"
    DRAINING = "draining"
    """No new entries are started; those under way are finished and stored."""
    STOPPED = "stopped"
    """Cut short with everything stored; ``rosetta resume`` continues."""
    COMPLETE = "complete"
