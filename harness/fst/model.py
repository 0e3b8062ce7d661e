"""The file of a morphological analyser: found, and read, or told for what else it is. No library is loaded for it."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from corpora.files.decode import open_regular
from corpora.files.installed import installed
from corpora.languages.tags import SHIPPED, CardNames
from harness.core.failures import HarnessError

if TYPE_CHECKING:
    from corpora.languages.cards import LanguageCard


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
    """An analyser that cannot be used; the message names the file and the fix."""

    def __init__(self, status: FstStatus, message: str) -> None:
        self.status = status
        super().__init__(message)


MOST_BYTES = 256 * 2**20
"""Largest file, also when unpacked; the largest analysers that are published have some 100 MB."""

_FOREIGN = (
    (b"version https://git-lfs", "is only a Git LFS pointer: fetch the file itself with “git lfs pull”"),
    (b"PK\x03\x04", "is a zip archive: unpack it, and copy the acceptor or analyser that it holds"),
    (b"##foma-net", "is a foma network: convert it to HFST's optimized-lookup format"),
    (b"<", "is a web page or XML, not an analyser: download the file itself"),
)  # fmt: skip


# ---- The engines that read such files.

BUILTIN, BUILTIN_VERSION = "builtin", "1"
"""The version is raised where results could change."""
NATIVE_ENGINES = ("hfst-optimized-lookup", "hfst", "pyhfst")
"""Packages whose engine may be taken instead, for a comparison."""


def installed_engines() -> dict[str, str]:
    """Return the engines of this machine with their versions, the one that reads analysers first."""
    others = {name: installed(name) for name in NATIVE_ENGINES}
    return {BUILTIN: BUILTIN_VERSION} | {name: number for name, number in others.items() if number is not None}


# ---- Reading a file.


class Model(NamedTuple):
    """An analyser file as it was found, not yet checked."""

    name: str
    """File name, without its folder."""
    content: bytes
    """Unpacked."""
    sha256: str
    """Over the file as it is on the disk."""

    def invalid(self, problem: str) -> AnalyserError:
        return AnalyserError(FstStatus.MODEL_INVALID, f"Analyser {self.name} {problem}.")


def read_model(path: Path) -> Model:
    """Read a file, unpacking ``.gz``; AnalyserError where it cannot be an analyser."""
    try:
        with open_regular(path) as file:
            stored = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise AnalyserError(
            FstStatus.NOT_CONFIGURED, f"Analyser {path.name} does not exist: copy it there, or name another file."
        ) from None
    except OSError as error:
        raise Model(path.name, b"", "").invalid(f"cannot be read ({error.strerror})") from None
    if len(stored) > MOST_BYTES:
        raise Model(path.name, b"", "").invalid(f"is larger than {MOST_BYTES >> 20} MB")
    sha256 = hashlib.sha256(stored).hexdigest()
    content = stored
    if stored.startswith(b"\x1f\x8b"):
        content = _unpacked(stored, Model(path.name, b"", sha256))
    model = Model(path.name, content, sha256)
    if not content:
        raise model.invalid("is empty: copy it again")
    for beginning, problem in _FOREIGN:
        if content.startswith(beginning):
            raise model.invalid(problem)
    return model


def _unpacked(stored: bytes, model: Model) -> bytes:
    """Unpack with a limit, so that a small file cannot fill the memory."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(stored)) as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise model.invalid("is a damaged gzip file: copy it again") from None
    if len(content) > MOST_BYTES:
        raise model.invalid(f"is larger than {MOST_BYTES >> 20} MB when unpacked")
    return content


# ---- Finding the file of a language: a user's own files first, then those that ship.

NamedCard: TypeAlias = "LanguageCard | CardNames"


def find_analyser(card: NamedCard | None, tag: str, folders: Sequence[Path] = ()) -> Path | None:
    """Find an analyser by the names that the card lists, then by ``<tag>.hfstol``; None where none is.

    ``folders`` are those that hold a user's language files. Their subfolders named after the language (its
    tag or an alias) are searched for all names, they themselves only for names that tell the language:
    ``analyser-gt-desc.hfstol`` there might be any language's. What ships in the wheel comes last.
    """
    for place, wanted in _places(card, tag, folders):
        for name in wanted if place.is_dir() else ():
            for candidate in (place / name, place / f"{name}.gz"):
                if candidate.is_file():
                    return candidate
    return None


def passed_over(card: NamedCard | None, tag: str, folders: Sequence[Path]) -> list[Path]:
    """List what is in the language's own subfolders under an analyser's ending and is not found there.

    It has another name, or the name belongs to a folder or to a link that leads nowhere.
    """
    paths = []
    for place, wanted in dict(_places(card, tag, folders)).items():
        if place not in folders and place.parent != SHIPPED and place.is_dir():
            right = {*wanted, *(f"{name}.gz" for name in wanted)}
            paths += [
                path
                for path in sorted(place.iterdir())
                if path.name.endswith((".hfstol", ".hfstol.gz")) and not (path.name in right and path.is_file())
            ]
    return paths


def _places(card: NamedCard | None, tag: str, folders: Sequence[Path]) -> Iterator[tuple[Path, list[str]]]:
    """Yield the folders that are searched, in order, with the names that count in each."""
    # All names of the language: the whole tag, its language part, and what the card adds. A corpus may call its
    # language anything, so what is no name of a file is left out.
    whole = tag.replace("_", "-")
    called = [whole, whole.split("-")[0].lower(), *((card.tag, *card.aliases) if card else ())]
    tags = [name for name in dict.fromkeys(called) if name.replace("-", "").isalnum()]
    names = [*(card.analysers if card else ()), *(f"{name}.hfstol" for name in tags)]
    telling = [name for name in names if set(tags) & set(re.split(r"[-_.]", name))]
    for folder in (*folders, SHIPPED):
        yield from ((folder / name, names) for name in tags)
        yield folder, telling
