"""A process of this program's own: what it imports, which places it knows, and that it ends with the program."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import pytest

from harness.box import own_process
from harness.box.boxed import BoxedMethod, boxed_method
from harness.box.code import BoxedCode
from harness.box.engine import Inside
from harness.box.failures import BoxStage
from harness.box.inside.runner import SITE
from harness.box.own_process import OwnProcess
from tests.harness.box.making import SMALL, asked, needs_engine, run_as_nobody, setup, written


@pytest.fixture(autouse=True)
def outside_of_a_box(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried here is the process itself, also where an ordinary user's would run in a box."""
    monkeypatch.setattr(own_process, "shut_off", lambda: False)


PLANTED = "raise SystemExit('this must not be imported')\n"
LOOKS = """
import json, sys
from importlib.util import find_spec
import pytest
def translate(texts):
    return [json.dumps([find_spec(name) is not None, *sys.path]) for name in texts]
"""


def _method(
    folder: Path, code: str, requirements: Path | None = None, wheels: Path | None = None
) -> BoxedMethod:
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
    monkeypatch.setattr("harness.box.own_process.files", lambda _: inside)
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
@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root becomes another user"
)
def test_in_a_box_it_reads_what_it_was_told_of_alone() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # others do not reach pytest's own
        Path(name).chmod(0o777)
        in_a_box, found = run_as_nobody("tests.harness.box.engine_as_nobody", name)
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
        subprocess.run(each, input=told, capture_output=True, text=True, check=False)
        for each in (argv, orphaned)
    )
    assert '"inside"' in ours.stdout
    assert (others.returncode, others.stdout) == (1, "")
    assert others.stderr == "The program that asks is gone.\n"
