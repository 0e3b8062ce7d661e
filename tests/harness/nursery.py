"""Runs in processes of their own, forked from one that has loaded everything: begun in milliseconds."""

import importlib
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import Any

from tests.harness.process import ROOT, main

LATE = ("harness.endpoint.transport",)
"""What a run loads only on its way."""


class Nursery:
    """Begins one run after the other; arguments are those of ``tests.harness.process``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def begin(self, *arguments: object) -> int:
        """Begin a run and give the id of its process."""
        assert self._process.stdin is not None
        print(json.dumps([str(each) for each in arguments]), file=self._process.stdin, flush=True)
        return int(self._answer())

    def end(self) -> tuple[int, str]:
        """Wait until the run ends; give its exit code, below zero where a signal killed it, and its words."""
        code, said = self._answer()
        return code, said

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


@contextmanager
def nursery() -> Iterator[Nursery]:
    """Keep a nursery until the block ends."""
    command = [sys.executable, "-m", "tests.harness.nursery"]
    # with further threads a fork would not be safe
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes) as process:
        yield Nursery(process)


def _nurse() -> None:
    """Fork a run for every line until there are no more."""
    for name in LATE:
        importlib.import_module(name)
    for line in sys.stdin:
        with TemporaryFile("w+", encoding="utf-8") as said:
            run = os.fork()
            if not run:
                _live(said.fileno(), json.loads(line))
            print(run, flush=True)
            _, status = os.waitpid(run, 0)
            said.seek(0)
            print(json.dumps([os.waitstatus_to_exitcode(status), said.read()]), flush=True)


def _live(said: int, arguments: list[str]) -> None:
    """Be the run, and end with it."""
    os.dup2(said, 1)
    os.dup2(said, 2)
    code = 1
    try:
        main(*arguments)
        code = 0
    except BaseException:  # noqa: BLE001  the process ends here, whatever it is
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _nurse()
