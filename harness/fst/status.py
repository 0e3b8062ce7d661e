"""How it stands with the morphological analyser of a language."""

from __future__ import annotations

from enum import StrEnum

from harness.core.failures import HarnessError


class FstStatus(StrEnum):
    """What became of the attempt to use an analyser; shown as it is, and never taken for a value of 0."""

    NOT_CONFIGURED = "not_configured"
    """No analyser file was found or named."""
    OK = "ok"
    MODEL_INVALID = "model_invalid"
    """The file is damaged, or is of another kind."""
    ENGINE_ERROR = "engine_error"
    """The file is sound, and the engine that was to read it is missing or failed."""


class AnalyserError(HarnessError):
    """An analyser that cannot be used; the message names the file and the mend."""

    def __init__(self, status: FstStatus, message: str) -> None:
        self.status = status
        super().__init__(message)
