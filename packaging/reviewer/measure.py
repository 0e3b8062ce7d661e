"""Measures a bundle: how large it is, which C library it needs, how soon it is on the screen, what memory it takes.

    python packaging/reviewer/measure.py dist/reviewer/rosetta-review SAMPLE [--starts 5]

measures starts on the screen of DISPLAY: from ``exec`` until the window covers it and holds text, seen from
outside by pictures of the screen.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

GOALS = {"folder_mb": 120, "zip_mb": 50, "cold_start_s": 1.0, "pss_mb": 90}
MB = 1_000_000
_GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)")
_GRID = 320, 240
_COVERED = 0.3
"""Share of the screen that is not as before when the window is there."""
_TEXT_COLOURS = 12
"""Colours of a picture that holds text: letters have soft edges."""
_LONGEST = 30.0


class Start(NamedTuple):
    """One start of the program."""

    seconds: float
    """From ``exec`` until the window was painted."""
    processor: float
    """Seconds of processor time, a second after that."""
    memory: float
    """Proportional set size in MB, a second after that."""


def measure(folder: Path) -> dict[str, object]:
    """Return size, number of files and the newest C library that something in the folder asks for."""
    files = [each for each in folder.rglob("*") if each.is_file() and not each.is_symlink()]
    needed = glibc(files) if sys.platform == "linux" else None
    return {
        "bytes": sum(each.stat().st_size for each in files),
        "files": len(files),
        "glibc": ".".join(map(str, needed)) if needed else None,
    }


def glibc(files: Sequence[Path]) -> tuple[int, int] | None:
    """Return the newest version of glibc's symbols that a file needs; None where there is no ELF file."""
    elves = [str(each) for each in files if _is_elf(each)]
    if not elves:
        return None
    done = subprocess.run(["readelf", "--version-info", "--wide", *elves], capture_output=True, text=True, check=True)
    return max((int(major), int(minor)) for major, minor in _GLIBC.findall(done.stdout))


def say(report: Mapping[str, Any]) -> None:
    """Print what was built, beside what was wanted."""
    print(f"program     {report['version']} · Python {report['python']} · Qt {report['qt']}")
    print(f"folder      {report['bytes'] / MB:.1f} MB in {report['files']} files (goal {GOALS['folder_mb']})")
    for name, size in report["archives"].items():
        print(f"archive     {name} {size / MB:.1f} MB (goal {GOALS['zip_mb']})")
    if report["glibc"]:
        print(f"needs       glibc {report['glibc']} or newer")
    print(f"checked     {report['check']}")


def starts(program: Path, arguments: Sequence[str], count: int, *, cold: bool) -> Iterator[Start]:
    """Start the program some times, each time in a new home."""
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
    from PySide6.QtGui import QGuiApplication

    watcher = QGuiApplication.instance() or QGuiApplication(["measure"])
    for _ in range(count):
        if cold:
            drop_pages(program.parent)
        with tempfile.TemporaryDirectory() as home:
            yield _start(watcher, program, arguments, Path(home))


def drop_pages(folder: Path) -> None:
    """Make the system forget what it read of these files, so that the next start reads the disk."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)


def _start(watcher: Any, program: Path, arguments: Sequence[str], home: Path) -> Start:
    screen = watcher.primaryScreen()
    before = _picture(screen)
    environment = {"DISPLAY": os.environ["DISPLAY"], "HOME": str(home), "ROSETTA_HOME": str(home / "data")}
    begun = time.monotonic()
    process = subprocess.Popen(
        [program, *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not _is_painted(before, _picture(screen)):
            if process.poll() is not None or time.monotonic() - begun > _LONGEST:
                raise RuntimeError(f"{program.name} did not draw its window.")
        seconds = time.monotonic() - begun
        time.sleep(1)
        return Start(seconds, processor_seconds(process.pid), pss(process.pid) / MB)
    finally:
        process.terminate()
        process.wait()
        _until_gone(screen, before)


def _until_gone(screen: Any, before: Sequence[int]) -> None:
    begun = time.monotonic()
    while _share_changed(before, _picture(screen)) > 0.01 and time.monotonic() - begun < _LONGEST:
        time.sleep(0.05)


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process took so far."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def pss(pid: int) -> int:
    """Return the bytes of memory of a process, pages that it shares divided among those that share them."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)[1]) * 1024  # type: ignore[index]


def _picture(screen: Any) -> Sequence[int]:
    """Return the colours of the screen at the points of a grid."""
    image = screen.grabWindow(0).toImage()
    width, height = image.width(), image.height()
    across, down = _GRID
    return [
        image.pixel(x * width // across, y * height // down) for y in range(0, down, 2) for x in range(0, across, 2)
    ]


def _is_painted(before: Sequence[int], now: Sequence[int]) -> bool:
    return _share_changed(before, now) > _COVERED and len(set(now)) > _TEXT_COLOURS


def _share_changed(before: Sequence[int], now: Sequence[int]) -> float:
    return sum(old != new for old, new in zip(before, now, strict=True)) / len(before)


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def main() -> int:
    """Print medians of cold and warm starts and of the memory."""
    parser = argparse.ArgumentParser(description="Measure a built reviewer on the screen of DISPLAY.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("arguments", nargs="*", help="given to the program, such as a review's file")
    parser.add_argument("--starts", type=int, default=5)
    asked = parser.parse_args()
    program = asked.folder / "rosetta-review"
    report = measure(asked.folder)
    for name, cold in (("cold", True), ("warm", False)):
        runs = list(starts(program, asked.arguments, asked.starts, cold=cold))
        report[name] = {
            field: round(statistics.median(getattr(run, field) for run in runs), 3) for field in Start._fields
        }
    print(json.dumps(report, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
