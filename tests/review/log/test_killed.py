"""Programs that are killed, and two at once: what was acknowledged is kept, and the chain stays one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random
from typing import IO

from review.log.chain import check_chain
from review.log.laptop import Laptop
from tests.harness.process import ROOT
from tests.review.thorough import times


def appending(folder: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.review.log.processes", "append", str(folder), str(count)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def acknowledged(stream: IO[str]) -> list[str]:
    """Read the ids of whole lines; a killed program may leave half a line."""
    return [line.split()[0] for line in stream.read().splitlines(keepends=True) if line[-1] == "\n"]


def test_nothing_acknowledged_is_lost_when_the_program_is_killed(tmp_path: Path) -> None:
    """SIGKILL at any moment: after some acknowledgements, and some milliseconds of the next writing."""
    random = Random(4)
    known: list[str] = []
    kills = times(5, 200)
    for _ in range(kills):
        program = appending(tmp_path, 10_000)
        assert program.stdout is not None
        said = [program.stdout.readline() for _ in range(random.randint(1, 60))]
        known += [line.split()[0] for line in said]
        for _ in range(random.randrange(20_000)):
            pass  # so that the signal falls into any part of a commit
        program.kill()
        known += acknowledged(program.stdout)
        program.communicate()
        with Laptop.open(tmp_path) as laptop:
            kept = [event.id for event in laptop.events()]
            report = check_chain(laptop.events())
        assert [event for event in kept if event in set(known)] == known
        assert (report.whole, [chain.forked for chain in report.chains]) == (True, [()])
    print(f"{kills} kills, {len(known)} acknowledged, {len(kept)} kept")


def test_two_programs_write_one_chain(tmp_path: Path) -> None:
    Laptop.open(tmp_path).close()
    programs = [appending(tmp_path, 25) for _ in range(2)]
    said = [program.communicate(timeout=120) for program in programs]
    assert [errors for _, errors in said] == ["", ""]
    seqs = [int(line.split()[1]) for out, _ in said for line in out.splitlines()]
    assert sorted(seqs) == list(range(50))
    with Laptop.open(tmp_path) as laptop:
        [chain] = check_chain(laptop.events()).chains
    assert (chain.events, chain.whole, chain.forked) == (50, True, ())


def test_programs_that_start_at_once_are_one_device(tmp_path: Path) -> None:
    for number in range(times(1, 25)):
        folder = tmp_path / str(number)
        programs = [appending(folder, 5) for _ in range(3)]
        assert [program.communicate(timeout=120)[1] for program in programs] == [""] * 3
        with Laptop.open(folder) as laptop:
            assert [chain.events for chain in check_chain(laptop.events()).chains] == [15]
