"""What can be wrong with a file that travelled; faces say it in their own language by ``problem``."""

from __future__ import annotations

from enum import StrEnum

from harness.core.failures import UsageError


class FileProblem(StrEnum):
    """Why a file is not taken."""

    NOT_OURS = "not_ours"
    """Another program's file, or another kind of ours."""
    CUT_SHORT = "cut_short"
    DAMAGED = "damaged"
    """Its bytes, or its signature, are not those that were written."""
    REPACKED = "repacked"
    """Another program unpacked it and packed it again."""
    TOO_LARGE = "too_large"
    NEWER = "newer"
    """A newer version of this program wrote it."""
    LOCKED = "locked"
    """It needs a passphrase or key that was not given."""
    WRONG_KEY = "wrong_key"
    """The passphrase or key that was given does not open it."""
    INVALID = "invalid"
    """Whole and signed, but its content contradicts itself or its form."""


class FileError(UsageError):
    """A file that travels cannot be made or taken; the message says why and what to do."""

    def __init__(self, problem: FileProblem, message: str) -> None:
        self.problem = problem
        super().__init__(message)
