"""A folder for files that are handed on."""

from __future__ import annotations

from pathlib import Path

from harness.core.failures import UsageError


def make_folder(folder: Path) -> None:
    """Make a folder where there is none; UsageError where it cannot be made."""

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be made ({error.strerror}). Name another folder."
        ) from None
