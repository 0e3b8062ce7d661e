"""The program as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from harness.core.run_state import RunState
from harness.store.file.database import open_store
from harness.store.results import read_outcome
from harness.store.run_list import list_runs
from harness.store.runs import find_run

ROOT = Path(__file__).parents[3]


START = "from rosetta_tui.cli import main; main()"


class Rosetta:
    """The command line with a data folder of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = home / "rosetta.sqlite"
        self.environment = {
            name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")
        } | {"ROSETTA_HOME": str(home), "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8"}

    def start(self, *arguments: object, **more: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", START, *map(str, arguments)],
            cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more,
        )  # fmt: skip

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, problems = process.communicate(timeout=600)
        return process.returncode, out, problems

    def done(self) -> tuple[RunState, int]:
        with closing(open_store(self.store)) as connection:
            run = find_run(connection, "last")
            return run.state, read_outcome(connection, run.id).done

    def count(self) -> int:
        with closing(open_store(self.store)) as connection:
            return len(list_runs(connection))


def read_until(stream: IO[str] | None, beginning: str, times: int = 1) -> list[str]:
    """Read lines until some begin like this."""
    assert stream is not None
    lines: list[str] = []
    while sum(line.startswith(beginning) for line in lines) < times:
        line = stream.readline()
        assert line, lines
        lines.append(line)
    return lines
