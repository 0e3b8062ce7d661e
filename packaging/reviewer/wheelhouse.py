"""Gathers the wheels of the full program, so that it can be installed where there is no network.

    python packaging/reviewer/wheelhouse.py [--out FOLDER]

What is gathered is what ``requirements.lock`` names for this platform and this Python, Qt for the reviewer's
window as the bundle has it, and our own wheel.
"""

from __future__ import annotations

import argparse
import hashlib
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import own_folder
from own_folder import CHECKSUMS

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
WINDOW_LOCK = ROOT / "packaging" / "requirements-bundle.lock"
WINDOW = ("pyside6-essentials", "shiboken6")
INSTALL = "INSTALL.txt"
SCRIPT = {"win32": "install.cmd"}.get(sys.platform, "install.sh")

_SHELL = """#!/bin/sh
# Installs Rosetta TUI into a folder, without network: install.sh [FOLDER]; PYTHON names another Python.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
folder=${{1:-$HOME/rosetta}}
"${{PYTHON:-python{python}}}" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --find-links "$here" "$here"/*.whl
echo "Done. Start it with: $folder/bin/rosetta"
"""

_BATCH = """@echo off
rem Installs Rosetta TUI into a folder, without network: install.cmd [FOLDER]
setlocal
set "FOLDER=%~1"
if "%FOLDER%"=="" set "FOLDER=%USERPROFILE%\\rosetta"
py -{python} -m venv "%FOLDER%" || exit /b 1
for %%W in ("%~dp0*.whl") do "%FOLDER%\\Scripts\\python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps "%%W" || exit /b 1
echo Done. Start it with: "%FOLDER%\\Scripts\\rosetta"
"""

_WORDS = """Rosetta TUI {version} without network

For: {system}, Python {python}. For another system or Python, run "make wheelhouse" there.
Python {python} itself must be on the computer; these are the {count} packages that the program is made of.

Install:    {command}
            It makes a folder "rosetta" in your home and changes nothing else. Another folder: {command} FOLDER
Start:      {start}
Remove:     delete that folder.
Check:      {check}
By hand:    python -m pip install --no-index --find-links . rosetta-tui
"""


def main() -> int:
    """Gather the wheels and write how to install them."""
    parser = argparse.ArgumentParser(description="Gather the wheels of the full program.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "wheelhouse")
    folder = own_folder.make(parser.parse_args().out.resolve())
    gather(folder)
    write_words(folder)
    total = sum(each.stat().st_size for each in folder.iterdir())
    print(f"{folder}: {len(wheels(folder))} wheels, {total / 1e6:.1f} MB")
    return 0


def gather(folder: Path) -> None:
    """Fetch the locked wheels, make those that exist as source only, and build our own."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    locked = [*pip, "wheel", "--quiet", "--no-deps", "--require-hashes", "--wheel-dir", str(folder)]
    with tempfile.TemporaryDirectory() as scratch:
        window = Path(scratch) / "window.lock"
        window.write_text(window_lock())
        subprocess.run([*locked, "-r", str(LOCK), "-r", str(window)], check=True)
    ours = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(ours, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def window_lock() -> str:
    """Return the lines of the bundle's lock that are about Qt, with their hashes."""
    blocks = re.split(r"^(?=\S)", WINDOW_LOCK.read_text("utf-8"), flags=re.MULTILINE)
    return "".join(each for each in blocks if each.partition("==")[0] in WINDOW)


def write_words(folder: Path) -> None:
    """Write the script, the page that explains it, and the checksums."""
    python = sysconfig.get_python_version()
    windows = sys.platform == "win32"
    (folder / SCRIPT).write_text(
        (_BATCH if windows else _SHELL).format(python=python), newline="\r\n" if windows else "\n"
    )
    (folder / SCRIPT).chmod(0o755)
    words = _WORDS.format(
        version=_version(folder),
        system=f"{platform.system()} {platform.machine()}",
        python=python,
        count=len(wheels(folder)),
        command=SCRIPT if windows else f"./{SCRIPT}",
        start=r"%USERPROFILE%\rosetta\Scripts\rosetta" if windows else "~/rosetta/bin/rosetta",
        check="certutil -hashfile FILE SHA256" if windows else f"sha256sum -c {CHECKSUMS}",
    )
    (folder / INSTALL).write_text(words, encoding="utf-8")
    lines = (
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
        if path.name != CHECKSUMS
    )
    (folder / CHECKSUMS).write_text("".join(lines), encoding="ascii")


def wheels(folder: Path) -> list[Path]:
    """Return the wheels that were gathered."""
    return sorted(folder.glob("*.whl"))


def _version(folder: Path) -> str:
    [ours] = folder.glob("rosetta_tui-*.whl")
    return ours.name.split("-")[1]


if __name__ == "__main__":
    sys.exit(main())
