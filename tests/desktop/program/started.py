"""The reviewer's program in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.harness.process import ROOT

Ran = subprocess.CompletedProcess[str]


def driven(home: Path, *steps: str) -> tuple[Ran, list[dict[str, Any]]]:
    """Run the program by steps; gives what was seen before each and after the last."""
    ran = started(home, "-m", "tests.desktop.program.driven", *steps)
    return ran, [json.loads(line) for line in ran.stdout.splitlines()]


def started(home: Path, *asked: str, **more: str) -> Ran:
    environment = {**os.environ, "ROSETTA_HOME": str(home), "LC_ALL": "C.UTF-8", **more}
    command = [sys.executable, *asked]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False
    )
