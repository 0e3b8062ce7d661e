"""What goes wrong on a laptop, done for real: each begins a trouble, and mends it at the end of its block."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from review.log.laptop import FILE_NAME

Cause = Callable[[Path], AbstractContextManager[None]]


def mounted(folder: Path, kibibytes: int) -> None:
    """Lay a small file system over a folder; skips where that is not allowed."""
    if sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only the system's administrator can mount a small disk")
    command = ["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "none", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let a small disk be mounted")


def pulled(folder: Path) -> None:
    """Take a file system away, whatever is open on it."""
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def moved(home: Path) -> Iterator[None]:
    """Somebody puts the file somewhere else."""
    away = home.with_name("elsewhere")
    (home / FILE_NAME).rename(away)
    try:
        yield
    finally:
        away.rename(home / FILE_NAME)


@contextmanager
def removed(home: Path) -> Iterator[None]:
    """Somebody deletes the file while it is open, and takes it back out of the wastebasket."""
    basket = home.with_name("wastebasket")
    basket.hardlink_to(home / FILE_NAME)
    (home / FILE_NAME).unlink()
    try:
        yield
    finally:
        basket.rename(home / FILE_NAME)


@contextmanager
def gone(home: Path) -> Iterator[None]:
    """The whole folder goes away, as with the disk that it lies on."""
    away = home.with_name("unplugged")
    home.rename(away)
    try:
        yield
    finally:
        away.rename(home)


@contextmanager
def read_only(home: Path) -> Iterator[None]:
    """Somebody without the right to write there uses the program."""
    if sys.platform == "win32" or os.geteuid() != 0:
        pytest.skip("only the system's administrator can give rights up and take them back")
    before = home.stat().st_mode
    home.chmod(0o555)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        home.chmod(before)


@contextmanager
def full(home: Path) -> Iterator[None]:
    """The disk is full to the last byte; wants the folder ``mounted``."""
    if not os.path.ismount(home):
        pytest.skip("only the system's administrator can mount a small disk")
    ballast = home / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (65536, 512):
            try:
                while file.write(bytes(size)):
                    pass
            except OSError:
                continue
    try:
        yield
    finally:
        ballast.unlink()
