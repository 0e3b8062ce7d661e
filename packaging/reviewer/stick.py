"""What lies on a stick: the page to begin with, the programs, a sample, the licences, and the checksums."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

import own_folder
import pictures
import sample
import start_here
from own_folder import CHECKSUMS

_HOW = (
    "# To check, here on the stick. Linux: sha256sum -c CHECKSUMS.txt   Mac: shasum -a 256 -c CHECKSUMS.txt   "
    "Windows: certutil -hashfile FILE SHA256\n"
)


def lay_out(folder: Path, programs: Mapping[str, Path], licences: str, work: Path) -> Path:
    """Make the folder that is copied to a stick; ``programs`` are archives by system."""
    own_folder.make(folder)
    there = [system for system in start_here.ARCHIVES if system in programs]
    for system in there:
        shutil.copyfile(programs[system], folder / start_here.ARCHIVES[system])
    made = sample.write(folder)
    drawn = pictures.draw(folder / sample.FILE, made, work)
    page = start_here.page(there, made, drawn)
    (folder / start_here.FILE).write_text(page, encoding="utf-8")
    (folder / "LICENCES.txt").write_text(licences, encoding="utf-8")
    (folder / CHECKSUMS).write_text(checksums(folder), encoding="ascii")
    return folder


def checksums(folder: Path) -> str:
    """Give the SHA-256 of every file, in the form that sha256sum and shasum check."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
        if path.name != CHECKSUMS
    ]
    return _HOW + "".join(lines)
