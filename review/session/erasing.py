"""Deleting everything of a reviewer from a computer: answers, reviews, settings and the laptop's keys.

Every file is overwritten before it is deleted. What a disk keeps of it in places that no program can reach
(a flash disk moves what is written) is beyond this. An organisation's keys, runs and catalogues that lie in
the same folder stay.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.core.failures import HarnessError, KeyStoreError
from harness.core.storage_problems import StorageProblem
from harness.sealed.keys import SERVICE, Role, forget_entry, key_files, key_pointer
from review.log.laptop import FILE_NAME, Laptop
from review.log.own_file import FILE_NAME as PRESENCE
from review.log.table import NotSaved, saying
from review.session.words.catalogue import Words
from review.session.words.troubles import Trouble, trouble

BEGUN: Final = f"{FILE_NAME}.deleting"
"""The name that the answers' file takes first: whoever finds it finishes the deletion."""

_PIECE = 2**20
"""Bytes that are overwritten at once."""
_JOURNALS = ("-journal", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class UndeletedItem:
    """Something that could not be deleted."""

    name: str
    """Path, or the name of the entry in the operating system's keyring."""
    detail: str
    """Why, in one technical line."""
    in_keyring: bool = False


def erase_everything(laptop: Laptop) -> tuple[UndeletedItem, ...]:
    """Delete everything of the reviewers on this computer, and give what could not be deleted.

    Raises NotSaved (``StorageProblem.BUSY``) where another program has the file open: then nothing was changed.
    Afterwards the laptop is closed; what remains, ``finish_erasing`` tries to delete once more.
    """
    folder = laptop.path.parent
    presence = laptop.close_alone()
    try:
        remains = [*_begin(folder), *_erase_rest(folder)]
        remains += [] if remains else _erased([folder / BEGUN])
    finally:
        presence.close()
    _leave(folder)
    return tuple(remains)


def finish_erasing(folder: Path) -> tuple[UndeletedItem, ...]:
    """Finish a deletion that was cut off or left something; call it before the laptop's file is opened.

    Where none was begun, nothing happens; answers that were given since are not touched. Raises NotSaved
    where the folder does not let itself be looked into.
    """
    with saying(folder / BEGUN):
        if not (folder / BEGUN).exists():
            return ()
        begun_anew = (folder / FILE_NAME).exists()
    remains = [] if begun_anew else _erase_rest(folder)
    remains += _erased([folder / BEGUN])
    _leave(folder)
    return tuple(remains)


def open_laptop(folder: Path) -> Laptop:
    """Open the laptop's file after finishing a deletion that was cut off; raises as ``Laptop.open`` does."""
    finish_erasing(folder)
    return Laptop.open(folder)


def why_not_erased(words: Words, error: HarnessError) -> Trouble:
    """Return why nothing was deleted."""
    if isinstance(error, NotSaved) and error.problem is StorageProblem.BUSY:
        message = words(
            "Nothing was deleted: the program is open in another window. "
            "Close that window, then try again."
        )
        return Trouble(message, error.detail)
    return trouble(words, error)


def _begin(folder: Path) -> list[UndeletedItem]:
    """Overwrite the answers under a name that nobody opens; it stays, empty, until all else is deleted."""
    file, begun = folder / FILE_NAME, folder / BEGUN
    try:
        file.replace(begun)
        _overwrite(begun)
    except FileNotFoundError:
        return [UndeletedItem(str(file), "moved to another place")]
    except OSError:
        renamed = os.path.exists(begun)  # noqa: PTH110  where one may not look, that of a Path fails
        return _erased([begun if renamed else file])
    return []


def _erase_rest(folder: Path) -> list[UndeletedItem]:
    journals = [folder / f"{FILE_NAME}{ending}" for ending in _JOURNALS]
    return [*_erase_keys(folder), *_erased(journals)]


def _erase_keys(folder: Path) -> list[UndeletedItem]:
    """Delete the laptop's keys; the name of an entry that the keyring keeps is kept too, to try again."""
    pointer = key_pointer(folder, Role.LAPTOP)
    files = [path for path in key_files(folder, Role.LAPTOP) if path != pointer]
    try:
        forget_entry(folder, Role.LAPTOP)
    except KeyStoreError as error:
        return [UndeletedItem(SERVICE, str(error), in_keyring=True), *_erased(files)]
    return _erased([*files, pointer])


def _erased(paths: Iterable[Path]) -> list[UndeletedItem]:
    """Erase files, and give those that could not be deleted."""
    remains = []
    for path in paths:
        try:
            with contextlib.suppress(OSError):  # what may not be written may yet be deleted
                _overwrite(path)
            path.unlink(missing_ok=True)
        except OSError as error:
            remains.append(UndeletedItem(str(path), error.strerror or type(error).__name__))
    return remains


def _overwrite(path: Path) -> None:
    """Write zeros over a file, wait until the disk has them, and leave the file empty."""
    with path.open("r+b") as file:
        left = os.fstat(file.fileno()).st_size
        while left > 0:
            left -= file.write(bytes(min(left, _PIECE)))
        file.flush()
        os.fsync(file.fileno())
        file.truncate(0)
        os.fsync(file.fileno())


def _leave(folder: Path) -> None:
    """Remove the empty files and folders that hold nothing of others."""
    with contextlib.suppress(OSError):  # a program that was started meanwhile holds them, rightly
        for name in (PRESENCE, f"{PRESENCE}-journal"):
            (folder / name).unlink(missing_ok=True)
    for empty in (folder / "locks", folder):
        with contextlib.suppress(OSError):
            empty.rmdir()
