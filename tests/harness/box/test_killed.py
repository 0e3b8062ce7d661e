"""A program that is killed takes its boxes along."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.box.making import needs_engine

ROOT = Path(__file__).parents[3]


def descendants(number: int) -> list[int]:
    tasks = Path(f"/proc/{number}/task")
    found = []
    for children in tasks.glob("*/children"):
        for child in map(int, children.read_text("ascii").split()):
            found += [child, *descendants(child)]
    return found


def method_of(number: int) -> list[int]:
    """Return the processes under one once a method and its child are among them."""
    while True:
        found = descendants(number)
        running = [each for each in found if _runs_methods(each)]
        if len(running) > 1:
            return found
        select.select([], [], [], 0.02)


def _runs_methods(number: int) -> bool:
    try:
        said = Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return False
    return said.endswith(b"\0/box/run/runner.py\0") and b"bwrap" not in said


@needs_engine
@pytest.mark.skipif(sys.platform != "linux", reason="it lists processes as Linux does")
def test_boxes_end_with_the_program(tmp_path: Path) -> None:
    program = [sys.executable, "-P", "-m", "tests.harness.box.killed", str(tmp_path)]
    with subprocess.Popen(
        program, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"begins\n"
        handles = [os.pidfd_open(each) for each in method_of(running.pid)]
        running.kill()
    try:
        for handle in handles:
            assert select.select([handle], [], [], 60)[0], (
                "a process of the box outlived the program"
            )
    finally:
        for handle in handles:
            os.close(handle)
