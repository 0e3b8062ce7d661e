"""The licences of everything in the bundle, in one text; a part without a licence stops the build."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import NamedTuple

import recipe

TEXTS = recipe.HERE / "licences"
_QT = {"pyside6_essentials", "shiboken6"}
_OURS = recipe.ROOT
_LICENCE = re.compile(r"(?:LICEN[CS]E|COPYING|NOTICE|COPYRIGHT)[^/]*", re.IGNORECASE)
_LIBRARY = re.compile(r"(lib.+?)(?:-[0-9a-f]{8})?\.(?:so|dylib|dll)", re.IGNORECASE)
_LINE = "=" * 100

_INTRODUCTION = """Licences of what is in this program

Rosetta Review is free: you may use it, copy it and pass it on. It is made of parts by many people. Each part has its own
licence, and each of them lets you do this. This file names the parts and gives the licences.

Qt, PySide6 and Shiboken are used under the GNU Lesser General Public License, version 3. They are separate files in the
folder _internal/PySide6 and _internal/shiboken6 and may be replaced by changed versions of the same interface. Their
source is at https://download.qt.io and https://code.qt.io under the version numbers given below.
"""


class LicensedPart(NamedTuple):
    """Somebody's work inside the bundle."""

    name: str
    licence: str
    """The whole text."""


class LicenceError(Exception):
    """For a part no licence is known."""


def licences(contents: dict[str, list[list[str]]], work: Path) -> str:
    """Return the text for what a build wrote down as its contents in its ``work`` folder."""
    named = {Path(source) for kind in ("modules", "files") for _, source in contents[kind]}
    sources = {each for each in named if not each.is_relative_to(work)}  # made of parts named here
    parts = [*_our_parts(), *_qt_parts(), *_python(), *_others(sources)]
    together: dict[str, list[str]] = {}
    for part in parts:
        together.setdefault(part.licence.strip(), []).append(part.name)
    pieces = [_INTRODUCTION.strip()]
    pieces += [f"{_LINE}\n{', '.join(dict.fromkeys(names))}\n{_LINE}\n\n{text}" for text, names in together.items()]
    return "\n\n".join(pieces) + "\n"


def _our_parts() -> Iterator[LicensedPart]:
    yield LicensedPart(f"Rosetta Review {recipe.version()}", _read(recipe.ROOT / "LICENSE"))
    for path in sorted((recipe.ROOT / "review" / "desktop" / "fonts").glob("*OFL*")):
        yield LicensedPart(f"Font {path.name.partition('-')[0]}", _read(path))


def _qt_parts() -> Iterator[LicensedPart]:
    for name in sorted(_QT):
        version = next(each.version for each in _installed() if _normal(each) == name)
        yield LicensedPart(f"{name} {version} with Qt {version}", _read(TEXTS / "LGPL-3.0.txt"))
    yield LicensedPart("GNU General Public License, which the LGPL builds on", _read(TEXTS / "GPL-3.0.txt"))
    yield LicensedPart("Work of others inside Qt", _read(TEXTS / "inside-qt.txt"))


def _python() -> Iterator[LicensedPart]:
    folder = Path(sysconfig.get_path("stdlib"))
    found = [each for each in (folder / "LICENSE.txt", folder.parent / "LICENSE.txt") if each.is_file()]
    if not found:
        raise LicenceError(f"Python's licence is not in {folder}.")
    yield LicensedPart(f"Python {sysconfig.get_python_version()}", _read(found[0]))
    [builder] = [each for each in _installed() if _normal(each) == "pyinstaller"]
    yield LicensedPart("Starter of the program, by PyInstaller", _texts(builder))


def _others(sources: Iterable[Path]) -> Iterator[LicensedPart]:
    """Yield the parts that are neither ours nor Qt's nor Python's."""
    owners = _owners()
    standard = Path(sysconfig.get_path("stdlib")).resolve()
    seen: dict[str, LicensedPart] = {}
    for source in sorted(sources):
        path = source.resolve()
        owner = owners.get(path)
        if owner is not None and _normal(owner) in _QT:
            continue
        if owner is not None:
            part = LicensedPart(f"{owner.name} {owner.version}", _texts(owner))
        elif _is_known(path, standard):
            continue
        else:
            part = _library(path)
        seen.setdefault(part.name, part)
    yield from seen.values()


def _is_known(path: Path, standard: Path) -> bool:
    """Tell whether a file is ours, Python's, or made by this build out of such."""
    python = path.name.startswith(("libpython", "python3"))
    return python or path.is_relative_to(standard) or path.is_relative_to(_OURS)


def _library(path: Path) -> LicensedPart:
    """Return the licence of a library that came from the system."""
    match = _LIBRARY.match(path.name)
    name = match[1] if match else path.name
    own = TEXTS / f"{name}.txt"
    if own.is_file():
        return LicensedPart(name, _read(own))
    package = _debian_package(path)
    text = Path(f"/usr/share/doc/{package}/copyright")
    if not package or not text.is_file():
        raise LicenceError(f"No licence is known for {path}. Put its text into {own}.")
    return LicensedPart(name, _read(text))


def _debian_package(path: Path) -> str:
    """Return the package that a file of the system belongs to; /lib may be a link to /usr/lib."""
    for name in (str(path), str(path).removeprefix("/usr")):
        try:
            done = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return ""
        if done.returncode == 0:
            return done.stdout.partition(":")[0]
    return ""


@cache
def _installed() -> Sequence[Distribution]:
    return tuple(distributions())


@cache
def _owners() -> dict[Path, Distribution]:
    """Return each installed file → what it belongs to."""
    return {Path(str(each.locate_file(file))).resolve(): each for each in _installed() for file in each.files or ()}


def _texts(owner: Distribution) -> str:
    """Return the licence files of a distribution; raises LicenceError where it has none."""
    files = [each for each in owner.files or () if _LICENCE.fullmatch(each.name)]
    if not files:
        raise LicenceError(f"{owner.name} {owner.version} came without the text of its licence.")
    return "\n\n".join(_read(Path(str(owner.locate_file(each)))) for each in sorted(files))


def _normal(owner: Distribution) -> str:
    return re.sub(r"[-_.]+", "_", owner.name).lower()


def _read(path: Path) -> str:
    return path.read_text("utf-8", errors="replace")
