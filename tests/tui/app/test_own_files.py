"""The app over a store that can only be read, the exit code of a run, and packages over our own."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import site
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path

import pytest

from harness.core.run_state import RunState
from harness.core.version import VERSION
from harness.events.control import Control
from harness.events.kinds import Finished
from rosetta_tui.app.showing import exit_code
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.own_files import changed_files
from tests.harness.store.file.locked_stick import made, stick
from tests.tui.screens import App, at_rest, notices, press, text
from tests.wheels import build_wheel

__all__ = ["made", "stick"]


async def test_runs_are_seen_and_opened_and_nothing_is_changed(stick: Path) -> None:
    before = {path.name: path.read_bytes() for path in stick.iterdir()}
    app = App(None, stick / "rosetta.sqlite")
    async with at_rest(app, (120, 36), notifications=True) as (_, pilot):
        assert "2 runs · can only be read here" in text(app)
        assert "noted last" in text(app)
        assert "cannot be read" not in text(app)
        await press(pilot, "delete")
        said = " ".join(notices(app))
        assert "it can only be read here, so nothing was changed" in said
        await press(pilot, "enter")
        assert isinstance(app.screen, LiveScreen)
        assert "Complete." in text(app)
        await pilot.press("q")
    assert {path.name: path.read_bytes() for path in stick.iterdir()} == before


STOPPED = Finished("0f3b8c1e", RunState.STOPPED, 3, 0, 9, 1.0)
HALTED = Finished("0f3b8c1e", RunState.STOPPED, 3, 0, 9, 1.0, reason="The budget is used up.")
COMPLETE = Finished("0f3b8c1e", RunState.COMPLETE, 9, 0, 9, 1.0, card_hash="ab")


@pytest.mark.parametrize(
    ("finished", "wish", "interrupted", "code"),
    [
        (COMPLETE, Control.stop, False, 0), (COMPLETE, Control.drain, True, 0),
        (STOPPED, Control.drain, False, 130), (STOPPED, Control.stop, False, 130),
        (STOPPED, Control.pause, False, 1), (HALTED, Control.drain, False, 1),
        (HALTED, Control.drain, True, 130),
    ],
)  # fmt: skip
def test_each_end_has_its_code(
    finished: Finished, wish: Callable[[Control], None], interrupted: bool, code: int
) -> None:
    control = Control()
    wish(control)
    assert exit_code(finished, control, interrupted) == code


BROKEN = "import no_such_thing_at_all\n"
START = "import sys; from rosetta_tui.cli import main; main(sys.argv[1:])"
HARMLESS = "__version__ = '0.2.1'\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def foreign_wheel(folder: Path, name: str, content: str) -> Path:
    """Make a wheel of another project whose package has one of our names."""
    path = folder / f"{name}-0.2.1-py3-none-any.whl"
    about = f"{name}-0.2.1.dist-info"
    files = {
        f"{name}/__init__.py": content,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.2.1\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = {
        each: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        for each, text in files.items()
    }
    record = [f"{each},sha256={digest},{len(files[each])}" for each, digest in digests.items()]
    with zipfile.ZipFile(path, "w") as made:
        for each, text in files.items():
            made.writestr(each, text)
        made.writestr(f"{about}/RECORD", "\n".join([*record, f"{about}/RECORD,,"]))
    return path


def unpacked(wheel: Path, into: Path) -> Path:
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(into)
    return into


def called(
    place: Path, home: Path, *arguments: str, python: str = sys.executable, code: str = START
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": str(place), "ROSETTA_HOME": str(home)},
        cwd=home.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_from_its_sources_nothing_is_recorded_and_nothing_claimed() -> None:
    assert changed_files() is None


@pytest.mark.costly("starts the program from an installed wheel")
def test_files_written_over_by_another_package_are_named(wheel: Path, tmp_path: Path) -> None:
    place, home = unpacked(wheel, tmp_path / "site"), tmp_path / "home"
    assert found_in(place, home)[0] == "ok"

    unpacked(foreign_wheel(tmp_path, "scoring", HARMLESS), place)
    health, words, mend = found_in(place, home)
    assert health == "broken"
    assert words == (
        "another package (scoring 0.2.1) has written over files of Rosetta: scoring/__init__.py. "
        "Put Rosetta into an environment of its own:"
    )
    assert mend[0] == "python -m venv rosetta-alone"
    assert f"rosetta_tui-{VERSION}-py3-none-any.whl" in mend[1]

    (place / "corpora" / "files" / "problems.py").unlink()
    failed = called(place, home, "runs", "show", "last")
    assert failed.returncode == 1
    assert failed.stderr.startswith("error: another package (scoring 0.2.1) has written over")
    assert "corpora/files/problems.py" in failed.stderr
    assert "Traceback" not in failed.stderr

    [ours] = distributions(path=[str(place)], name="rosetta-tui")
    [begun] = [each.value for each in ours.entry_points if each.name == "rosetta-review"]
    module, _, function = begun.partition(":")
    code = f"import sys; sys.argv[0] = 'rosetta-review'; from {module} import {function}; sys.exit({function}())"
    failed = called(place, home, "review", "status", code=code)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.startswith("error: another package (scoring 0.2.1) has written over")


LOOK = """
import json
from rosetta_tui.own_files import own_files
[found] = own_files()
print(json.dumps([found.health, found.words, found.mend]))
"""


def found_in(place: Path, home: Path) -> tuple[str, str, list[str]]:
    ran = called(place, home, code=LOOK)
    health, words, mend = json.loads(ran.stdout)
    return health, words, mend


@pytest.mark.thorough
def test_a_package_of_the_index_over_ours_is_said_at_start(wheel: Path, tmp_path: Path) -> None:
    """pip writes over files of another package without a word; so it does here."""
    made = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
    python = made / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    where = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    place, home = Path(where.stdout.strip()), tmp_path / "home"
    (place / "needed.pth").write_text("\n".join(site.getsitepackages()))
    for each in (wheel, foreign_wheel(tmp_path, "corpora", BROKEN)):
        subprocess.run(
            [
                sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps",
                "--disable-pip-version-check", "--quiet", str(each),
            ],
            check=True, capture_output=True,
        )  # fmt: skip
    for arguments in (("doctor",), ("corpus", "check", "x.tsv"), ("runs", "list")):
        failed = called(place, home, *arguments, python=str(python))
        assert (failed.returncode, failed.stdout) == (1, "")
        assert failed.stderr.startswith(
            "error: another package (corpora 0.2.1) has written over files of Rosetta: "
            "corpora/__init__.py. Put Rosetta into an environment of its own:\n"
            "  python -m venv rosetta-alone\n"
        )
        assert wheel.name in failed.stderr, "what it was installed from is named"
    assert called(place, home, "--help", python=str(python)).returncode == 0
