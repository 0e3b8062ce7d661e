"""A run that this process has under way, as the app is handed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from harness.control import Control
    from harness.listening import EventSource


class Session(NamedTuple):
    """A run's events, and the means to steer it."""

    source: EventSource
    control: Control
