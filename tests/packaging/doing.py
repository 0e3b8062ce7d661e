"""Commands of the installer, and what stands around it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def around(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def do(home: Path, *command: str | Path, check: bool = True) -> str:
    done = subprocess.run(
        command, env=around(home), check=False, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout
