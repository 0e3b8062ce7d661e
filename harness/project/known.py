"""The folders in which this computer saw corpora in the making: a small file for each in the data folder, with no text of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.written_files import private_folder, write_file

FOLDER: Final = "projects"

_WHERE: TypeAdapter[str] = TypeAdapter(str)


def remember(home: Path, number: str, folder: Path) -> None:
    """Record where a project is, by its number; one that was moved is found at its new place. UsageError where that cannot be stored."""
    path = home / FOLDER / f"{number}.json"
    where = str(folder.resolve())
    if where in _said(path):
        return
    try:
        private_folder(path.parent)
    except OSError as error:
        raise UsageError(
            f"This computer cannot keep in {home} where {folder} lies ({error.strerror}). Name another data folder in ROSETTA_HOME."
        ) from None
    write_file(path, canonical_bytes(where), overwrite=True)


def known_folders(home: Path) -> list[Path]:
    """Return the folders in which this computer saw projects, also those that are not there now."""
    files = sorted((home / FOLDER).glob("*.json"))
    return list(dict.fromkeys(Path(where) for path in files for where in _said(path)))


def forget(home: Path, folder: Path) -> None:
    """Forget a folder; nothing in it is touched."""
    for path in (home / FOLDER).glob("*.json"):
        if str(folder.resolve()) in _said(path):
            path.unlink(missing_ok=True)


def _said(path: Path) -> Iterator[str]:
    """Yield the folder that a file names; what is damaged of it is written again when its project is seen."""
    with suppress(ValidationError, OSError):
        yield _WHERE.validate_json(path.read_bytes())
