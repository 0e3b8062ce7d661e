"""All benchmarks into one table: ``python -m benchmarks FILE TIMES NAME …`` writes it to a file, a row as soon as it is known.

It ends whatever a script does: nobody is asked anything, each script has a limit of time, and one that fails or is stopped
is a row that says so. Scripts that are run several times show the least and the most of each number.
"""

from __future__ import annotations

import ast
import os
import platform
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIMIT_SECONDS = 1800.0
"""For one script, once."""
LIBRARIES = ("numpy", "sacrebleu", "rapidfuzz", "hfst", "textual", "httpx", "aiohttp", "pydantic")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def main(file: Path, times: int, names: Sequence[str]) -> int:
    """Run the scripts and write the table; gives 1 where a script failed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    failed = 0
    with file.open("w", encoding="utf-8") as table:
        for row in (*_machine(times), "", "| script | what is measured | result | minutes |", "|---|---|---|---|"):
            print(row, file=table, flush=True)
        for name in names:
            began = time.monotonic()
            runs = [_run(name) for _ in range(times)]
            failed += sum(not good for good, _ in runs)
            result = "<br>".join(_with_spread([lines for _, lines in runs])).replace("|", "\\|")
            row = f"| `{name}` | {_subject(name)} | {result} | {(time.monotonic() - began) / 60:.1f} |"
            print(row, file=table, flush=True)
            print(row, flush=True)
    return int(failed > 0)


def _machine(times: int) -> Iterator[str]:
    """Yield where and when it was measured, and with what."""
    info = Path("/proc/cpuinfo")
    models = re.findall(r"^model name\s*: (.*)$", info.read_text(), re.MULTILINE) if info.exists() else []
    load = f", load {os.getloadavg()[0]:.1f} at the beginning" if hasattr(os, "getloadavg") else ""
    yield f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} × {(models or [platform.processor()])[0]}{load}; "
    yield f"each script {times} ×, where numbers differ the least and the most of them."
    versions = {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version}
    for library in LIBRARIES:
        try:
            versions[library] = version(library)
        except PackageNotFoundError:
            versions[library] = "not installed"
    yield f"{platform.platform()}; {', '.join(f'{name} {number}' for name, number in versions.items())}."


def _subject(name: str) -> str:
    """Return in one line what a script measures, and what not: how its file begins."""
    text = (Path(__file__).parent / f"{name}.py").read_text("utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0].replace("\n", " ")


def _run(name: str) -> tuple[bool, list[str]]:
    """Run a script; gives whether it ended well, and its lines, with why it did not."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", f"benchmarks.{name}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with all that it started
        output, _ = process.communicate()
        return False, [*output.splitlines(), f"STOPPED after {LIMIT_SECONDS:.0f} s"]
    finally:
        if process.poll() is None:  # this program itself is to end
            os.killpg(process.pid, signal.SIGKILL)
    lines = [line for line in output.splitlines() if line.strip()]
    return process.returncode == 0, lines if process.returncode == 0 else [f"FAILED: {' '.join(lines[-1:])}"]


def _with_spread(runs: Sequence[Sequence[str]]) -> Iterator[str]:
    """Merge the lines of several runs, each number as its least and most; lines that differ otherwise stand one after the other."""
    for lines in (
        zip(*runs, strict=True) if len({len(run) for run in runs}) == 1 else [(line,) for run in runs for line in run]
    ):
        if len({_NUMBER.sub("", line) for line in lines}) > 1:
            yield from lines
            continue
        columns = iter(zip(*(_NUMBER.findall(line) for line in lines), strict=True))
        yield _NUMBER.sub(lambda _: _least_and_most(next(columns)), lines[0])  # noqa: B023


def _least_and_most(numbers: Sequence[str]) -> str:
    ordered = sorted(numbers, key=lambda number: float(number.replace(",", "")))
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]}–{ordered[-1]}"


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
