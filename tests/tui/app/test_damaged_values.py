"""Damaged values and files that others changed are said where they stand; faults are told without a text."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Never

import pytest

from corpora.model.entry import Segment
from harness.core.failures import RunState
from harness.core.query import parse
from harness.core.version import VERSION
from harness.method.options import MethodOptions
from harness.run import following
from harness.run.events import Control, Finished
from harness.run.following import Follower
from harness.setup.plan import Plan
from harness.store.run_list import list_runs
from harness.store.runs import set_live
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import Live
from rosetta_tui import cli
from rosetta_tui.app.display import exit_code
from rosetta_tui.cli import _run  # ``main`` ends the process
from rosetta_tui.commands import rosetta
from rosetta_tui.corpus.screen import CorpusScreen
from rosetta_tui.entry import page as entry_page
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.own_files import changed_files
from rosetta_tui.show.crash import crash_text
from rosetta_tui.toolkit.messages import RunsCompared
from rosetta_tui.toolkit.pages import Pages, readable
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.harness.sealed.refusals import refuses
from tests.harness.store.sqlite.locked_stick import made, stick
from tests.review.thorough import first
from tests.tui.runs.made import stopped
from tests.tui.scenes import HOSTILE, PAIRS, acting, entries_of, scene, sealed
from tests.tui.screens import App, at_rest, notices, press, settle, showing, text
from tests.wheels import build_wheel

HURT = {
    "trace": "UPDATE results SET trace = x'c1'", "text": "UPDATE texts SET body = CAST(x'ff00ff' AS TEXT)",
    "rest": "UPDATE entries SET rest = '{'", "dataset": "UPDATE corpora SET dataset = '{'",
    "statistics": "UPDATE results SET statistics = x'c1'", "kind": "UPDATE results SET error_class = 'none'",
}  # fmt: skip


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("damaged") / "rosetta.sqlite"
    for words in ("ENTRY NUMBER 3", "ENTRY NUMBER 4"):
        options = MethodOptions(**LANGUAGES, text=words)
        run_corpus(store, corpus(8), Plan(method="constant", options=options))
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store


@pytest.fixture
def path(two_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    return Path(shutil.copy(two_runs, tmp_path))


def hurt(path: Path, name: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute(HURT[name])


def runs_of(path: Path) -> tuple[str, ...]:
    with closing(sqlite3.connect(path)) as store:
        return tuple(run.run_id for run in list_runs(store))


class Following(App):
    """The app as it is started: a run that is not complete is followed in the store."""

    def _follow_run(self, run_id: str) -> Follower:
        self.follower = Follower(self.store_path, run_id)
        return self.follower


@pytest.mark.parametrize("damage", first(1, ["rest", "dataset", "text", "statistics"]))
async def test_stopped_run_of_a_damaged_store_opens_nothing(tmp_path: Path, damage: str) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=15)
    async with at_rest(Following(made), (120, 36)) as (app, pilot):
        made.store.execute(HURT[damage])
        await press(pilot, "enter")
        assert isinstance(app.screen, HomeScreen)
        [said] = notices(app)
        assert "damaged" in said


async def test_watched_damage_breaks_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    made, now = scene(tmp_path / "s.sqlite", total=20, stored=15), time.time()
    monkeypatch.setattr(time, "time", lambda: now)  # the heartbeat never gets old, however long this takes
    set_live(made.store, made.number, RunState.RUNNING, Live(at=now))
    app = Following(made)
    async with at_rest(app, (120, 36)) as (_, pilot):
        await press(pilot, "enter")
        assert isinstance(app.screen, LiveScreen)
        assert not app.screen.live.over
        made.store.execute("UPDATE runs SET live = '{'")
        await settle(pilot)
        assert app.screen.live.failed is not None
        assert "it is damaged" in app.screen.live.failed.message
        assert "it is damaged" in " ".join(text(app).split())
        await press(pilot, "down", "q")
        assert isinstance(app.screen, HomeScreen)


@pytest.mark.thorough
async def test_a_process_that_is_gone_is_said_and_what_followed_it_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    made = scene(tmp_path / "s.sqlite", total=10, stored=5)
    async with at_rest(Following(made), (120, 36)) as (app, pilot):
        await press(pilot, "enter")
        assert isinstance(app.screen, LiveScreen)
        await press(pilot, "space")
        assert f"The process that ran {made.run_id[:8]} is gone." in notices(app)[-1]
        set_live(made.store, made.number, RunState.RUNNING, Live(at=time.time() - 3600))
        await settle(pilot)
        assert "The process that ran it is gone." in " ".join(text(app).split())
        app.follower._connection.execute("SELECT 1")  # a follower tells nobody whether it is open
        await press(pilot, "q")
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            app.follower._connection.execute("SELECT 1")  # and not that it was let go


PLACES = [
    ("run", "trace"), ("corpus", "text"), ("compare", "kind"), ("run", "rest"), ("run", "text"), ("run", "kind"),
    ("corpus", "rest"), ("compare", "text"), ("compare", "rest"), ("run", "dataset"),
]  # fmt: skip


@pytest.mark.parametrize(("where", "damage"), first(2, PLACES))
async def test_damaged_value_is_said_and_screens_go_on(path: Path, where: str, damage: str) -> None:
    app, seen = App(None, path), ""
    ids = runs_of(path)
    async with at_rest(app, (120, 36)) as (_, pilot):
        hurt(path, damage)
        if where == "compare":
            app.post_message(RunsCompared(ids))
        else:
            await pilot.press("enter" if where == "run" else "b")
        for key in ("enter", "enter", "right", "v", "y", "q"):
            for _ in range(2):
                await settle(pilot)
            seen += text(app) + "".join(notices(app))
            await pilot.press(key)
    assert "cannot be r" in seen or "it is damaged" in seen


def test_one_damaged_row_hides_no_other() -> None:
    asked: list[Sequence[int]] = []

    def read(places: Sequence[int]) -> dict[int, str]:
        asked.append(places)
        if 3 in places:
            raise sqlite3.OperationalError("Could not decode to UTF-8")
        return {place: f"row {place}" for place in places if place != 4}

    pages = Pages(read)
    pages.load([1, 2, 3, 4])
    assert [pages.get(place) for place in (1, 2, 3, 4)] == ["row 1", "row 2", None, None]
    not_there = [4]  # it may come yet
    assert asked == [[1, 2, 3, 4], [1], [2], [3], [4], not_there]
    pages.forget()
    assert pages.get(1) == "row 1"
    assert asked[6:] == [[1]]


def test_what_a_busy_store_did_not_give_is_read_again() -> None:
    asked: list[Sequence[int]] = []

    def read(places: Sequence[int]) -> dict[int, str]:
        asked.append(places)
        if len(asked) == 1:
            raise sqlite3.OperationalError("database is locked")
        return {place: f"row {place}" for place in places}

    pages = Pages(read)
    pages.load(range(40))
    assert [pages.get(place) for place in range(40)] == [None] * 40
    assert len(asked) == 1
    pages.load(range(40))
    assert [pages.get(place) for place in (0, 39)] == ["row 0", "row 39"]
    assert len(asked) == 2


def test_a_fault_of_the_program_is_no_damage() -> None:
    connection = sqlite3.connect(":memory:")
    connection.close()
    with pytest.raises(sqlite3.ProgrammingError):
        readable(lambda: connection.execute("SELECT 1"))


# What another process does to a store or a file while a screen over it stands open


def make_newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 99")


def sha256_of(path: Path) -> str:
    with closing(open_store(path)) as store:
        return str(store.execute("SELECT sha256 FROM corpora").fetchone()[0])


async def test_newer_store_of_a_corpus_is_said(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    screen = CorpusScreen(made.path, sha256_of(made.path))
    async with showing(App(made), screen, (80, 24)) as (app, pilot):
        make_newer(made.path)
        before = screen.table.order
        for act in (screen.action_runs, screen.examine_again):
            act()
            await settle(pilot)
        for order in (before.by("source"), replace(before, where=parse("a"))):
            screen.table.wish(order)
            await settle(pilot)
            assert screen.table.order == before
        screen.table.wish(before.by("source"))
        screen.table.wish(replace(before, where=parse("b")))
        await settle(pilot)
        assert screen.table.order == before
        said = notices(app)
        assert len(said) == 5
        assert all("newer version of Rosetta" in each for each in said)
        assert app.screen is screen


async def test_damaged_store_is_said_on_every_screen(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (120, 40)) as (app, pilot):
        made.store.execute("UPDATE runs SET plan = '{}'")
        await press(pilot, "R")
        [said] = notices(app)
        assert "damaged" in said, "failed entries would be asked again"
        made.store.execute("UPDATE runs SET plan = '{', opening = '{'")
        for place in ("corpora", "leaderboard", "plots", "new_run"):
            await app.action_place(place)
            await settle(pilot)
            await press(pilot, "down")
            assert place == "new_run" or "damaged" in " ".join(text(app).split()), place


def test_damaged_store_is_said_by_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    sealed(tmp_path / "rosetta.sqlite").store.execute("UPDATE runs SET plan = '{', opening = '{'")
    for words in (["compare", "last", "last"], ["leaderboard"]):
        assert _run(words) in {1, 2}  # what the program does before its process ends
        assert "fault of the program" not in capfd.readouterr().err


# A store that can only be read, the exit code of a run, packages over our own, faults told without a text

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
def test_each_end_has_its_code(finished: Finished, wish: Callable[[Control], None], interrupted: bool, code: int) -> None:  # fmt: skip
    control = Control()
    wish(control)
    assert exit_code(finished, control, interrupted) == code


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
        "Put Rosetta into its own environment:"
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


# A fault of the program is told without a word of what it was working on

SECRET = PAIRS[0][0]


def fail_on_an_entry(facts: Any) -> Never:  # type: ignore[misc]
    source = facts.entry.source
    try:
        int(source)  # its message quotes the text
    except ValueError as error:
        raise KeyError(source + HOSTILE[3]) from error


async def test_a_crash_on_a_secret_entry_prints_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = {"segment": Segment.GOLD_STANDARD}
    secret = [entry.model_copy(update=gold) for entry in entries_of(PAIRS, 8)]
    made = scene(tmp_path / "s.sqlite", total=8, stored=8, entries=secret)
    monkeypatch.setattr(entry_page, "texts", fail_on_an_entry)
    made.play([made.started(), *made.scored(8), made.progress(8)])
    app = App(made, watch=True)
    with pytest.raises(KeyError):
        async with at_rest(app, (120, 40)) as (_, pilot):
            await press(pilot, "enter")
    words = capsys.readouterr().err
    assert "fail_on_an_entry" in words
    assert "KeyError (its message is left out" in words
    assert "ValueError" in words
    assert not any(part in words for texts in PAIRS for part in texts)
    assert app.return_code == 1


def test_crash_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(**_: Any) -> Never:
        raise ValueError(SECRET + HOSTILE[4])

    monkeypatch.setattr(rosetta, "main", fail)
    left = refuses(SystemExit, "", cli.main, ["runs", "list"])
    assert left.code == 1
    words = capsys.readouterr().err
    assert "in fail" in words
    assert SECRET not in words
    assert acting(words.replace("\n", "")) == []


def test_the_message_of_a_database_is_kept() -> None:
    store = sqlite3.connect(":memory:")
    caught = refuses(sqlite3.Error, "", store.execute, "SELECT * FROM absent")
    store.close()
    assert "OperationalError: no such table: absent" in crash_text(caught)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("arguments", [["corpus", "--help"], ["--help"], ["--version"]])
def test_output_that_cannot_be_written_is_said_in_one_line(arguments: list[str]) -> None:
    program = f"from rosetta_tui.cli import main; main({arguments})"
    reading, closed = os.pipe()
    os.close(reading)
    with Path("/dev/full").open("w") as full, os.fdopen(closed, "w") as pipe:
        for stdout, said in ((full, "error: No space left on device. Make room there, and do it again.\n"), (pipe, "")):
            shown = subprocess.run(
                [sys.executable, "-P", "-c", program], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
            )  # fmt: skip
            assert (shown.returncode, shown.stderr) == (1, said)
