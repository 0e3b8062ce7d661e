"""Notices when everything fails the same way, so that a run does not go on for nothing."""

from __future__ import annotations

import re

from harness.core.failures import ErrorClass

_CHANGING = re.compile(r"\S*\d\S*")
"""Request numbers, times and amounts, which differ between messages that say the same."""

SAME_FAILURES = 10
"""Entries in a row that may fail the same way before the run stops."""

HOPELESS_FAILURES = 3
"""The same for failures that no later entry can escape: a wrong key, no permission."""


_OF_ONE_ENTRY = frozenset(
    {ErrorClass.MISSING, ErrorClass.NUMBERING, ErrorClass.EMPTY, ErrorClass.NO_SOURCE}
)
"""Failures that say nothing about the next entry."""


class Streak:
    """Counts entries that failed the same way since the last one that did not."""

    def __init__(self) -> None:
        self._failure: tuple[ErrorClass, str] | None = None
        self._count = 0

    def note(self, error_class: ErrorClass | None, message: str | None) -> str | None:
        """Take one entry's outcome; gives the reason to stop where there is one."""
        if error_class in _OF_ONE_ENTRY:
            return None
        if error_class is None:
            self._failure, self._count = None, 0
            return None
        failure = (error_class, _CHANGING.sub("#", message or ""))
        self._count = self._count + 1 if failure == self._failure else 1
        self._failure = failure
        hopeless = error_class in {ErrorClass.AUTH, ErrorClass.OFFLINE}
        if self._count < (HOPELESS_FAILURES if hopeless else SAME_FAILURES):
            return None
        return f"{self._count} entries in a row failed the same way ({error_class}): {message}"
