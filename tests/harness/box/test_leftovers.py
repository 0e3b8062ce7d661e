"""What an engine without a namespace for processes leaves: played by one that starts Python alone, without a wall.

A program that is killed takes its boxes along.
"""

import asyncio
import errno
import json
import os
import platform
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from harness.box import boxed as boxed_module
from harness.box import engines
from harness.box.boxed import BoxedMethod, boxed_method
from harness.box.engine import BoxedCode, BoxFailure, BoxStage, Inside, Launch, Limits, WhoseFault, laid_in, starts
from harness.box.engines import OwnProcess
from harness.box.inside.runner import SITE
from harness.core.failures import ErrorClass
from tests.harness.box.making import (
    SMALL,
    asked,
    boxed,
    descendants,
    entry,
    needs_engine,
    new_since,
    require_ended,
    run_as_nobody,
    setup,
    written,
)
from tests.harness.sealed.refusals import refuses

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no engine")

NO_CALLS: Any = None
"""Nothing is called."""
UPPER = "def translate(texts):\n    return [text.upper() for text in texts]\n"


class Unwalled:
    """Starts the first program of a box as it is; ``stuck`` leaves its folder as one that is still written to."""

    name = "unwalled"

    def __init__(self, argv: Sequence[str] = (), end: Sequence[str] = (), *, stuck: bool = False) -> None:
        self._argv, self._end, self._stuck = argv, end, stuck

    def lacking(self) -> None:
        return None

    @contextmanager
    def launch(self, inside: Inside, limits: Limits) -> Iterator[Launch]:
        places = {place: str(source) for source, place in laid_in(inside)}
        *python, runner = starts()
        argv = self._argv or [*python, f"{places['/box/run']}/{Path(runner).name}"]
        yield Launch(argv, places, limits=limits.by_file(), end=self._end)
        if self._stuck:
            raise OSError(errno.ENOTEMPTY, "Directory not empty")


def unwalled(folder: Path, code: str, engine: Unwalled, limits: Limits = SMALL) -> BoxedMethod:
    kept = BoxedCode(written(folder, code), "method:translate")
    return boxed_method(kept, limits, engine, None, setup(), open_data=True)


FORKS = """
import os, signal
def translate(texts):
    child = os.fork()
    if child == 0:
        while True:
            signal.pause()
    if texts == ["leave"]:
        with open({note!r}, "w") as note:
            note.write(str(child))
        os._exit(0)
    return [str(child)]
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="it waits for processes as Linux does")
def test_a_child_ends_with_its_box(tmp_path: Path) -> None:
    method = unwalled(tmp_path, FORKS.format(note=""), Unwalled())

    async def ask() -> int:
        [output] = await method.translate([entry("a")], NO_CALLS)
        handle = os.pidfd_open(int(output.text or ""))
        await method.close_box()
        return handle

    require_ended(asyncio.run(ask()))


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="it waits for processes as Linux does")
def test_child_left_by_the_first_process_ends_with_its_box(tmp_path: Path) -> None:
    """It holds the pipe on, so that the box is ended by its time alone."""
    note = tmp_path / "note"
    limits = replace(SMALL, entry_seconds=1.0)
    method = unwalled(tmp_path / "code", FORKS.format(note=str(note)), Unwalled(), limits)
    [[output]] = asked(method, ["leave"])
    assert output.text is None
    with suppress(ProcessLookupError):
        require_ended(os.pidfd_open(int(note.read_text("ascii"))))


def test_ending_has_time_and_may_leave_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not cut off with the waiting for the last process, which is over at once here."""
    monkeypatch.setattr(boxed_module, "_LAST_SECONDS", 0.5)  # else a test waits as long
    done = tmp_path / "done"
    late = "import select, sys; select.select([], [], [], 1.0); open(sys.argv[1], 'w')"
    slow = [sys.executable, "-I", "-c", late, str(done)]
    asked(unwalled(tmp_path / "code", UPPER, Unwalled(end=slow)), ["a"])
    assert done.exists()
    [[output]] = asked(unwalled(tmp_path, UPPER, Unwalled(stuck=True)), ["a"])
    assert output.text == "A"


def test_an_engine_that_hears_nothing_is_ended_as_the_custodians(tmp_path: Path) -> None:
    """What it is told is longer than a pipe holds."""
    limits = replace(SMALL, load_seconds=0.2, all_seconds=5.0)
    engine = Unwalled([sys.executable, "-I", "-c", "import signal; signal.pause()"])
    long = {"long": "x" * (1 << 20)}
    code = BoxedCode(written(tmp_path, UPPER), "method:translate", options=long)
    method = boxed_method(code, limits, engine, None, setup())
    error = refuses(BoxFailure, "", asked, method, ["a"])
    assert (error.stage, error.fault) == (BoxStage.ENGINE, WhoseFault.CUSTODIAN)


# A program that is killed takes its boxes along

ROOT = Path(__file__).parents[3]


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
    program = [sys.executable, "-P", "-m", "tests.harness.box.programs", "killed", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(program, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as running:
        assert running.stdout.readline() == b"begins\n"
        handles = [os.pidfd_open(each) for each in method_of(running.pid)]
        running.kill()
    for handle in handles:
        require_ended(handle)


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
@pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="its code is for x86_64")
def test_a_box_ends_whose_first_process_was_taken_over(tmp_path: Path) -> None:
    limits, before = replace(SMALL, entry_seconds=2.0, restarts=200), descendants()
    method = boxed(tmp_path, TAKES_OVER, limits)

    async def ask() -> tuple[list[int], ErrorClass | None]:
        try:
            while (await method.translate([entry("saluton")], NO_CALLS))[0].text is None:
                pass  # a busy machine may need a second box
            handles = new_since(before)
            [output] = await method.translate([entry("ĝis")], NO_CALLS)
        finally:
            await method.close_box()
        return handles, output.error_class

    handles, error = asyncio.run(ask())
    for handle in handles:
        require_ended(handle)
    assert error is ErrorClass.TIMEOUT
    assert len(handles) >= 3  # bubblewrap outside, the first process, and the method


@pytest.fixture(autouse=True)
def outside_of_a_box(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried here is the process itself, also where an ordinary user's would run in a box."""
    monkeypatch.setattr(engines, "shut_off", lambda: False)


PLANTED = "raise SystemExit('this must not be imported')\n"
LOOKS = """
import json, sys
from importlib.util import find_spec
import pytest
def translate(texts):
    return [json.dumps([find_spec(name) is not None, *sys.path]) for name in texts]
"""


def _method(folder: Path, code: str, requirements: Path | None = None, wheels: Path | None = None) -> BoxedMethod:
    kept = BoxedCode(written(folder, code), "method:translate", requirements, wheels)
    return boxed_method(kept, SMALL, OwnProcess(["pytest"]), None, setup())


def test_what_is_planted_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the place where a box has its wheels, on the path of the environment, and among the user's own packages."""
    site, path, own = (tmp_path / name for name in ("site", "path", "own"))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    places = (site, path, own / "lib" / version / "site-packages")
    for number, place in enumerate(places):
        place.mkdir(parents=True)
        (place / f"planted{number}.py").write_text(PLANTED, "utf-8")
        (place / "pytest.py").write_text(PLANTED, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(path))
    monkeypatch.setenv("PYTHONUSERBASE", str(own))
    inside = tmp_path / "inside"
    shutil.copytree(str(files("harness.box.inside")), inside)
    runner = (inside / "runner.py").read_text("utf-8")
    assert runner.count(f'"{SITE}"') == 1
    (inside / "runner.py").write_text(runner.replace(f'"{SITE}"', repr(str(site))), "utf-8")
    monkeypatch.setattr("harness.box.engines.__file__", str(tmp_path / "engines.py"))
    names = [f"planted{number}" for number in range(len(places))]
    for [output] in asked(_method(tmp_path / "code", LOOKS), *([name] for name in names)):
        found, *looked = json.loads(output.text or "")
        assert not found
        assert not {str(place) for place in places} & {*looked}
        assert str(Path(pytest.__file__).parents[1]) == looked[-1]


def test_no_place_is_taken_that_was_not_given(tmp_path: Path) -> None:
    """Such a process has no place for wheels of its own, so nothing is installed, and nowhere else either."""
    needs, wheels = tmp_path / "requirements.txt", tmp_path / "wheels"
    needs.touch()
    wheels.mkdir()
    method = _method(tmp_path / "code", LOOKS, requirements=needs, wheels=wheels)
    [[output]] = asked(method, ["x"])
    assert output.text is None
    assert method.failure.stage is BoxStage.INSTALL


@needs_engine
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root becomes another user")
def test_in_a_box_it_reads_what_it_was_told_of_alone() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # others do not reach pytest's own
        Path(name).chmod(0o777)
        in_a_box, found = run_as_nobody("engine", name)
    assert in_a_box
    told, other, system, written_to, connected, environment = found
    assert told == "told"
    assert (other, system) == ("FileNotFoundError", "FileNotFoundError")
    assert (written_to, connected) == ("OSError", "PermissionError")
    assert "MALLOC_ARENA_MAX" in environment
    assert "PYTHONPATH" not in environment


TIED = """
import ctypes, signal
signals = ctypes.c_int()
ctypes.CDLL(None).prctl(2, ctypes.byref(signals))  # PR_GET_PDEATHSIG
heard = signal.getsignal(signal.SIGINT)
def translate(texts):
    return [f"{signal.Signals(signals.value).name} {heard.name}"] * len(texts)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with another")
def test_it_is_tied_to_the_program_before_an_engine_is_imported(tmp_path: Path) -> None:
    [[output]] = asked(_method(tmp_path, TIED), ["x"])
    assert output.text == "SIGKILL SIG_IGN"


ANOTHER = "import json, subprocess, sys; sys.exit(subprocess.run(json.loads(sys.argv[1]), env={}).returncode)"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with another")
def test_it_does_not_begin_where_the_program_is_gone(tmp_path: Path) -> None:
    """A program that is killed while the process starts leaves it with another parent, which then waits for no answer."""
    told = json.dumps({"limits": {}, "places": {}, "wheels": False}) + "\n"
    with OwnProcess().launch(Inside(BoxedCode(tmp_path, "method:translate")), SMALL) as launch:
        argv = [*launch.argv]
    orphaned = [sys.executable, "-I", "-c", ANOTHER, json.dumps(argv)]
    ours, others = (
        subprocess.run(each, input=told, capture_output=True, text=True, check=False) for each in (argv, orphaned)
    )
    assert '"inside"' in ours.stdout
    assert (others.returncode, others.stdout) == (1, "")
    assert others.stderr == "The program that asks is gone.\n"
