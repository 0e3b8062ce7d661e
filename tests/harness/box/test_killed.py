"""A program that is killed takes its boxes along."""

from __future__ import annotations

import asyncio
import os
import platform
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness.core.failures import ErrorClass
from tests.harness.box.making import SMALL, boxed, entry, needs_engine

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


TAKES_OVER = """
import os, time
FOR_EVER = bytes.fromhex("bf01000000" "31f6" "b89d000000" "0f05" "b822000000" "0f05" "ebf7")
def translate(texts):
    if texts == ["saluton"]:
        return texts
    where = int(open("/proc/1/syscall").read().split()[-1], 16)
    os.pwrite(os.open("/proc/1/mem", os.O_RDWR), FOR_EVER, where)
    if os.fork() == 0:
        os._exit(os.fork() and 0)
    time.sleep(1000)
"""
"""Has the first process call prctl(PR_SET_PDEATHSIG, 0), then pause() for ever, as soon as it hears of an orphan's end."""


@needs_engine
@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="its code is for x86_64"
)
def test_a_box_ends_whose_first_process_was_taken_over(tmp_path: Path) -> None:
    calls: Any = None  # nothing is called
    limits = SMALL.model_copy(update={"entry_seconds": 2.0})
    method = boxed(tmp_path, TAKES_OVER, limits)

    async def ask() -> tuple[list[int], ErrorClass | None]:
        try:
            await method.translate([entry("saluton")], calls)
            handles = []
            for each in descendants(os.getpid()):
                with suppress(ProcessLookupError):  # of another test, and gone since
                    handles.append(os.pidfd_open(each))
            [output] = await method.translate([entry("ĝis")], calls)
        finally:
            await method.close_box()
        return handles, output.error_class

    handles, error = asyncio.run(ask())
    try:
        assert error is ErrorClass.TIMEOUT
        assert len(handles) >= 3  # bubblewrap outside, the first process, and the method
        for handle in handles:
            ended = bool(select.select([handle], [], [], 10)[0])
            if not ended:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            assert ended, "a process of the box outlived it"
    finally:
        for handle in handles:
            os.close(handle)
