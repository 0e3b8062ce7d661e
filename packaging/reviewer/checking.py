"""Tries the built program as a stranger's computer would: no Python, no paths, no fonts, no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import recipe
import sample

SECONDS = 120
"""How long a program may take that a build has just written."""

_NO_FONTS = '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>'


class CheckError(Exception):
    """The built program does not do what it must."""


def check(folder: Path, work: Path) -> dict[str, object]:
    """Start the program in an empty environment; gives what it said, raises CheckError where it failed."""
    program = executable(folder)
    version = run(program, ["--version"], work)
    if recipe.version() not in version:
        raise CheckError(f"--version said {version!r} and not {recipe.version()}.")
    review = work / sample.FILE
    sample.write(work)
    said = run(program, ["--check", str(review)], work)
    return {"version": version, "check": said, "without network": bool(_alone())}


def executable(folder: Path) -> Path:
    """Return the program's file."""
    if sys.platform == "darwin":
        return folder / "Contents" / "MacOS" / recipe.NAME
    return folder / (f"{recipe.NAME}.exe" if sys.platform == "win32" else recipe.NAME)


def run(program: Path, arguments: list[str], work: Path) -> str:
    """Run the program with nothing around it; gives what it printed, raises CheckError where it failed."""
    with empty_environment(work) as environment:
        done = subprocess.run(
            [*_alone(), str(program), *arguments],
            env=environment, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    if done.returncode:
        raise CheckError(f"{program.name} {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip()


@contextmanager
def empty_environment(work: Path) -> Iterator[Mapping[str, str]]:
    """Yield an environment with its own home, no path, no fonts, and no screen."""
    with tempfile.TemporaryDirectory(dir=work) as home:
        fonts = Path(home) / "fonts.conf"
        fonts.write_text(_NO_FONTS)
        environment = {
            "HOME": home,
            "ROSETTA_HOME": str(Path(home) / "data"),
            "PATH": "/nonexistent",
            "FONTCONFIG_FILE": str(fonts),
            "QT_QPA_PLATFORM": "offscreen",
        }
        if sys.platform == "win32":  # without it no program starts
            environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        yield environment


def _alone() -> list[str]:
    """Return what runs a program without any network, where this system can."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    alone = [unshare, "--user", "--map-root-user", "--net"]
    tried = subprocess.run([*alone, "true"], capture_output=True, check=False)
    return alone if tried.returncode == 0 else []
