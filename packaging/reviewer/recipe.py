"""What the bundle of the reviewer holds, the same for all systems.

PyInstaller collects every plugin of Qt and whatever those link to. Here the plugins that the window needs
are named, and of the libraries only those stay that something kept needs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import icu

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # a build reads our packages from where they are
NAME = "rosetta-review"
TITLE = "Rosetta Review"
IDENTIFIER = "org.rosetta-tui.review"
SUFFIX = ".rosetta-batch"
MIME = "application/vnd.rosetta-batch"

SCRIPT = HERE / "start.py"
RUNTIME_HOOK = HERE / "without_network.py"
CONTENTS = "contents.json"
"""What a build was made of, in its work folder."""

HIDDEN = ("review.desktop.program.program",)
"""Modules that are imported by a name made at run time, or that must not be missing."""

DENIED = (
    "PySide6.QtNetwork", "PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets", "PySide6.QtQml", "PySide6.QtQuick",
    "PySide6.QtSql", "PySide6.QtSvg", "PySide6.QtTest", "PySide6.QtXml",
    "_asyncio", "_hashlib", "_ssl", "asyncio", "http", "ssl", "urllib.request", "ftplib", "imaplib",
    "nntplib", "poplib", "smtplib", "socketserver", "telnetlib", "webbrowser", "xmlrpc",
    "aiohttp", "certifi", "httpcore", "httpx", "httpx_aiohttp", "huggingface_hub", "requests", "urllib3",
    "click", "lxml", "numpy", "pandas", "rich", "sacrebleu", "scipy", "sqlite_utils", "textual",
    "IPython", "_pytest", "hypothesis", "mypy", "pytest", "setuptools", "pip",
    "_tkinter", "bdb", "curses", "distutils", "doctest", "ensurepip", "idlelib", "lib2to3", "pdb", "pydoc",
    "readline", "sqlite3.dbapi2.test", "test", "tkinter", "turtle", "unittest", "venv",
    "multiprocessing", "review.calibration", "review.office", "review.verdict", "rosetta_tui", "scoring",
    "cffi", "pycparser",
)  # fmt: skip
"""Modules that must not be in the bundle: network code first of all, then what only costs room."""

DENIED_LIBRARIES = (
    "libQt6Network", "Qt6Network", "QtNetwork", "libQt6Qml", "Qt6Qml", "libQt6Quick", "Qt6Quick",
    "libQt6VirtualKeyboard", "Qt6VirtualKeyboard", "libssl", "libcrypto", "libcurl", "libgtk", "libsoup",
    "opengl32sw",
)  # fmt: skip
"""Beginnings of names of shared libraries that must not be in the bundle."""

BINDINGS = frozenset({"QtCore", "QtGui", "QtWidgets", "QtDBus"})
"""Modules of PySide6 that the window uses."""

PLUGINS = {
    "linux": frozenset({
        "platforms/libqxcb", "platforms/libqoffscreen",
        "platforminputcontexts/libcomposeplatforminputcontextplugin",
        "platforminputcontexts/libibusplatforminputcontextplugin",
        "platforms/libqwayland", "platforms/libqwayland-generic",
        "wayland-shell-integration/libxdg-shell",
        "wayland-decoration-client/libbradient",
    }),
    "win32": frozenset({
        "platforms/qwindows", "platforms/qoffscreen", "styles/qmodernwindowsstyle",
    }),
    "darwin": frozenset({
        "platforms/libqcocoa", "platforms/libqoffscreen", "styles/libqmacstyle",
    }),
}  # fmt: skip
"""Plugins of Qt, without suffix: windows, the picture-less platform of the check, input methods."""

PACKAGES = ("corpora", "harness", "review")
"""Our packages of which the data files go along."""

DATA_LEFT_OUT = (
    "review/office/", "review/verdict/", "review/calibration/", "review/community/", "harness/", "corpora/samples/",
    "corpora/languages/shipped/",
)  # fmt: skip
DATA_SUFFIXES = frozenset({".mo", ".pot", ".ttf", ".txt", ".toml", ".md", ".qss"})
DATA_KEPT = frozenset({"harness/sealed/phrase_words.txt"})
"""Files of folders that are left out otherwise."""


MAY_BE_ABSENT = frozenset({"sqlite_utils", "msgpack", "winreg", "fcntl", "pwd", "_winapi", "msvcrt"})
"""Modules that ours name and the bundle lacks: of another system, or for the store that only runs need."""

_ABSENT = re.compile(r"^(?:missing|excluded) module named '?([\w.]+)'? - imported by (.*)$", re.MULTILINE)


class BundledFile(NamedTuple):
    """One file of PyInstaller's table of contents."""

    name: str
    """Path inside the bundle."""
    source: str
    kind: str
    """PyInstaller's type code: BINARY, EXTENSION, DATA, SYMLINK …"""


def version() -> str:
    """Return the program's version."""
    from harness.core.version import VERSION

    return VERSION


def analysis_options() -> dict[str, Any]:
    """Return what PyInstaller's Analysis is called with."""
    return {
        "scripts": [str(SCRIPT)],
        "pathex": [str(ROOT)],
        "datas": datas(),
        "hiddenimports": list(HIDDEN),
        "excludes": list(DENIED),
        "runtime_hooks": [str(RUNTIME_HOOK)],
        "optimize": 2,
    }


def datas() -> list[tuple[str, str]]:
    """Return the data files of our packages, as PyInstaller wants them: file, folder in the bundle."""
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            left_out = name.startswith(DATA_LEFT_OUT) and name not in DATA_KEPT
            if path.suffix in DATA_SUFFIXES and not left_out:
                found.append((str(path), str(PurePosixPath(name).parent)))
    return found


def is_denied(module: str) -> bool:
    """Tell whether a module, or a package it is in, must not be in the bundle."""
    return any(module == name or module.startswith(f"{name}.") for name in DENIED)


def is_root(entry: BundledFile, platform: str) -> bool:
    """Tell whether a binary is wanted for itself: an extension module that is used, or a named plugin."""
    plain = _plain(entry.name)
    if "plugins/" in plain:
        return plain.split("plugins/", 1)[1] in PLUGINS[platform]
    if plain.startswith("PySide6/Qt") and "/Qt/" not in plain and entry.kind == "EXTENSION":
        return PurePosixPath(plain).name in BINDINGS
    if entry.kind == "EXTENSION":
        return not is_denied(plain.removeprefix("lib-dynload/").replace("/", "."))
    return PurePosixPath(plain).name.startswith(("libpython", "python3", "vcruntime"))


def _plain(name: str) -> str:
    """Return a path with slashes and without what follows the first dot of its last part."""
    path = PurePosixPath(name.replace("\\", "/"))
    return str(path.with_name(path.name.split(".")[0]))


def trimmed(entries: Sequence[BundledFile], platform: str, needs: Callable[[str], Iterable[str]]) -> list[BundledFile]:
    """Return the roots, and all that they need; ``needs`` gives the files that a binary is linked to."""
    by_file = {Path(entry.source).resolve(): entry for entry in entries if entry.kind != "SYMLINK"}
    kept: dict[Path, BundledFile] = {}
    waiting = [path for path, entry in by_file.items() if is_root(entry, platform)]
    while waiting:
        path = waiting.pop()
        if path in kept or path not in by_file:
            continue
        kept[path] = by_file[path]
        waiting.extend(Path(each).resolve() for each in needs(str(path)))
    files = {entry.name for entry in kept.values()}
    links = [entry for entry in entries if entry.kind == "SYMLINK" and _target(entry) in files]
    return [*kept.values(), *links]


def _target(link: BundledFile) -> str:
    """Return what a link of the bundle points to, as a path inside the bundle."""
    parts: list[str] = []
    for part in (PurePosixPath(link.name).parent / link.source).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return str(PurePosixPath(*parts))


def is_wanted_data(entry: BundledFile) -> bool:
    """Tell whether a data file stays: Qt's own words come from our catalogue, so its files do not."""
    name = entry.name.replace("\\", "/")
    return "/translations/" not in name and not name.startswith(("cryptography-", "PySide6/Qt/resources"))


def analysed(analysis: Any, platform: str, work: Path) -> Any:
    """Trim what PyInstaller's Analysis collected, in place; raises SystemExit over what is denied."""
    from PyInstaller.depend.bindepend import get_imports  # type: ignore[import-untyped]

    def needs(path: str) -> list[str]:
        return [found for _, found in get_imports(path) if found]

    analysis.pure = [each for each in analysis.pure if not is_denied(each[0])]
    binaries = trimmed([BundledFile(*each) for each in analysis.binaries], platform, needs)
    data = [BundledFile(*each) for each in analysis.datas]
    links = [each for each in data if each.kind == "SYMLINK"]
    files = {each.name for each in binaries}
    analysis.datas = [each for each in data if each.kind != "SYMLINK" and is_wanted_data(each)]
    analysis.datas += [each for each in links if _target(each) in files]
    refuse_denied([each[0] for each in analysis.pure], [each.name for each in binaries])
    analysis.binaries = [_smaller(each, work) for each in binaries]
    write_contents(work / CONTENTS, analysis)
    return analysis


def refuse_denied(modules: Iterable[str], files: Iterable[str]) -> None:
    """Stop the build over a module or library that must not be in the bundle."""
    found = [each for each in modules if is_denied(each)]
    found += [each for each in files if PurePosixPath(each).name.startswith(DENIED_LIBRARIES)]
    if found:
        raise SystemExit(f"The bundle must not hold {', '.join(sorted(found))}.")


def refuse_absent(warnings: str, modules: Iterable[str]) -> None:
    """Stop the build where a module of ours imports one that is not there, even inside a function.

    ``warnings`` is what PyInstaller wrote of such imports; a name of a package that is there is no module.
    """
    there = {name.partition(".")[0] for name in modules}
    absent = [
        f"{name}, which {importers} imports"
        for name, importers in _ABSENT.findall(warnings)
        if any(each.strip().startswith(tuple(f"{ours}." for ours in PACKAGES)) for each in importers.split("),"))
        and name.partition(".")[0] not in there | MAY_BE_ABSENT
    ]
    if absent:
        raise SystemExit(f"The bundle lacks {'; '.join(absent)}.")


def write_contents(path: Path, analysis: Any) -> None:
    """Write down what the bundle is made of, for its licences and for anyone who checks it."""
    modules = [(each[0], each[1]) for each in analysis.pure]
    files = [(each[0], each[1]) for each in (*analysis.binaries, *analysis.datas)]
    path.write_text(json.dumps({"modules": sorted(modules), "files": sorted(files)}, indent=1))


def _smaller(entry: BundledFile, work: Path) -> BundledFile:
    """Replace ICU's data by a library with what Qt asks for."""
    if icu.LIBRARY.fullmatch(PurePosixPath(entry.name).name) is None:
        return entry
    return entry._replace(source=str(icu.small_library(Path(entry.source), work)))
