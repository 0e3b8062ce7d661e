"""What installed packages state and offer.

It is read without ``importlib.metadata``, which costs as much as two starts of a bare interpreter.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def version(package: str) -> str:
    """Return the version of an installed package; ModuleNotFoundError where it is not installed."""
    if (number := installed(package)) is None:
        raise ModuleNotFoundError(f"{package} is not installed", name=package)
    return number


def installed(package: str) -> str | None:
    """Return the version of an installed package; None where it is not installed."""
    return next(stated(package, "Version"), None)


def stated(package: str, field: str) -> Iterator[str]:
    """Yield the values of a field of a package's metadata, in order; none where it is not installed."""
    header = (stated_file(package, "METADATA") or "").partition("\n\n")[0]
    return (line[len(field) + 2 :].strip() for line in header.splitlines() if line.startswith(f"{field}: "))


def stated_file(package: str, name: str) -> str | None:
    """Return a file that an installer wrote about a package; None where it is not installed, or has no such file."""
    known = _plain(package)
    for place in sys.path:
        try:
            folder = _folders(place, os.stat(place or ".").st_mtime_ns).get(known)  # noqa: PTH116  as cheap as can be
        except OSError:  # no folder of packages
            continue
        if folder is not None:
            named = "PKG-INFO" if name == "METADATA" and folder.suffix == ".egg-info" else name
            file = folder if folder.is_file() else folder / named
            return file.read_text("utf-8", errors="replace") if file.is_file() else None
    return None


@lru_cache(maxsize=64)
def _folders(place: str, _: int) -> Mapping[str, Path]:
    """Return package → what its installer left in a folder of packages, as it is at the time of its last change."""
    infos = (name for name in os.listdir(place or ".") if name.endswith((".dist-info", ".egg-info")))  # noqa: PTH208
    return {_plain(re.split(r"-|\.egg-info$", name, maxsplit=1)[0]): Path(place, name) for name in infos}


def _plain(package: str) -> str:
    return re.sub(r"[-_.]+", "_", package).lower()


def offered(group: str) -> list[EntryPoint]:
    """Return the entry points of a group; nothing of theirs is imported."""
    if next(files_naming(group), None) is None:
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415  most computers have nothing of a group

    return list(entry_points(group=group))


def files_naming(group: str) -> Iterator[Path]:
    """Yield the files in which installed packages may offer something, those included that cannot be read."""
    for place in map(Path, sys.path):
        if place.is_file():  # an archive
            yield place
        for file in place.glob("*.*-info/entry_points.txt"):
            try:
                named = group in file.read_text(encoding="utf-8", errors="replace")
            except OSError:
                named = True
            if named:
                yield file
