"""The modules of ``packaging/reviewer``, which are scripts and no package, and commands of the installer."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
REVIEWER = ROOT / "packaging" / "reviewer"


def part(name: str) -> ModuleType:
    """Import one of them, as a build does."""
    sys.path.insert(0, str(REVIEWER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(REVIEWER))


def around(home: Path) -> dict[str, str]:
    """Return what stands around a command of the installer."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def do(home: Path, *command: str | Path) -> str:
    done = subprocess.run(command, env=around(home), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
