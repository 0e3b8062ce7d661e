"""The reviewer's bundle as a build left it, run as on a computer that has nothing for it."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.desktop.real.programs import program

ROOT = Path(__file__).parents[3]
NO_FONTS = "<?xml version='1.0'?><!DOCTYPE fontconfig SYSTEM 'fonts.dtd'><fontconfig/>"


@dataclass(frozen=True)
class Bundle:
    """A built program and a home for it."""

    dist: Path
    """Where the build put everything."""
    home: Path

    @property
    def folder(self) -> Path:
        return self.dist / "reviewer" / "rosetta-review"

    @property
    def file(self) -> Path:
        return self.folder / "rosetta-review"

    def environment(self, **more: str) -> dict[str, str]:
        """Return a home, and nothing of this computer: no path, no fonts, no screen."""
        fonts = self.home / "fonts.conf"
        fonts.write_text(NO_FONTS)
        alone = {
            "HOME": str(self.home),
            "ROSETTA_HOME": str(self.home / "data"),
            "PATH": "/nonexistent",
            "FONTCONFIG_FILE": str(fonts),
        }
        return alone | more

    def run(self, *arguments: object, file: Path | None = None, **more: str) -> str:
        """Run it without any network until it ends; gives what it printed."""
        alone = [program("unshare"), "--user", "--map-root-user", "--net"]
        if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
            pytest.skip("this computer lets nobody leave its network")
        done = subprocess.run(
            [*alone, str(file or self.file), *map(str, arguments)],
            env=self.environment(**more), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


def built(home: Path) -> Bundle:
    """Return what ``make reviewer-bundle`` built, or the place that ROSETTA_BUNDLE names; skips without."""
    dist = Path(os.environ.get("ROSETTA_BUNDLE") or ROOT / "dist")
    home.mkdir(exist_ok=True)
    bundle = Bundle(dist, home)
    if shutil.which(str(bundle.file)) is None:
        pytest.skip("no bundle was built: make reviewer-bundle builds one")
    return bundle
