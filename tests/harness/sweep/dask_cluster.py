"""A real Dask cluster on this machine: a scheduler and workers as programs of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]
_QUIET = {
    "DASK_DISTRIBUTED__DASHBOARD__LINK": "",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
}


class DaskCluster:
    """A scheduler and its workers; workers can be killed and started at any time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._scheduler = self._program("scheduler", "--no-dashboard", "--port", "0", "--host", "127.0.0.1")  # fmt: skip
        self.address = self._said(self._scheduler, r"Scheduler at:\s+(tcp://\S+)")
        self.workers: list[subprocess.Popen[str]] = []

    def worker(self, environment: Mapping[str, str] | None = None, *more: str) -> subprocess.Popen[str]:  # fmt: skip
        """Start a worker of one thread, and wait until the scheduler knows it."""
        found = self._program(
            "worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1",
            "--local-directory", str(self._folder), *more, environment=environment,
        )  # fmt: skip
        self._said(found, r"(Registered to):")
        self.workers.append(found)
        return found

    def end(self, worker: subprocess.Popen[str]) -> None:
        """Kill a worker."""
        self.workers.remove(worker)
        self._end(worker)

    def end_scheduler(self) -> None:
        self._end(self._scheduler)

    def close(self) -> None:
        for each in (*self.workers, self._scheduler):
            self._end(each)

    def _program(self, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "dask", *arguments],
            cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, **_QUIET, "PYTHONPATH": str(ROOT), **(environment or {})},
        )  # fmt: skip

    @staticmethod
    def _said(program: subprocess.Popen[str], pattern: str) -> str:
        """Read what a program logs as far as a line; what it logs afterwards goes nowhere."""
        log = program.stderr
        assert log is not None
        for line in log:
            if found := re.search(pattern, line):
                drain = threading.Thread(
                    target=lambda: deque(log, maxlen=0), name=f"log-{program.pid}", daemon=True
                )
                drain.start()
                return found[1]
        raise AssertionError(f"it ended: {program.wait()}")

    @staticmethod
    def _end(program: subprocess.Popen[str]) -> None:
        program.kill()
        program.wait()
        for each in threading.enumerate():
            if each.name == f"log-{program.pid}":
                each.join()
        if program.stderr is not None:
            program.stderr.close()


@contextmanager
def dask_cluster(folder: Path, workers: int = 2) -> Iterator[DaskCluster]:
    """Start a scheduler with some workers, until the block ends."""
    cluster = DaskCluster(folder)
    try:
        for _ in range(workers):
            cluster.worker()
        yield cluster
    finally:
        cluster.close()
