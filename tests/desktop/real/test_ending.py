"""However the program ends, what was typed is there the next time, and nothing is anywhere else."""

from __future__ import annotations

import contextlib
import random
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from review.log.laptop import FILE_NAME
from review.rating import Rating
from tests.desktop.real.display import Display, program, until
from tests.desktop.real.reader import Bus, Reader
from tests.desktop.real.stage import Stage, stage
from tests.desktop.real.window import Start, Window, window
from tests.review.session.scenes import batch_of, item_id, items_of
from tests.review.thorough import times

TYPED = "half a word that nobody fini"


def drafts(scene: Stage) -> list[str]:
    """Return what was being typed, as it lies on the disk."""
    connection = sqlite3.connect(scene.home / FILE_NAME)
    try:
        return [text for (text,) in connection.execute("SELECT text FROM draft")]
    finally:
        connection.close()


def _writing(start: Start, folder: Path) -> tuple[Stage, Window]:
    """Start, and open the box for a comment."""
    scene = stage(folder).know()
    shown = start(scene, scene.file, guard=0.0)
    shown.know_card()
    until(lambda: len(shown.painted()) > 0, shown.said)
    shown.press("c")
    shown.type("h")
    until(lambda: drafts(scene) == ["h"], shown.said)
    return scene, shown


ENDS: dict[str, Callable[[Window], None]] = {
    "system shuts down": lambda shown: shown.process.terminate(),
    "terminal is closed": lambda shown: shown.process.send_signal(signal.SIGHUP),
    "screen is taken away": lambda shown: shown.display.server.kill(),
}


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ENDS)
def test_typed_text_is_kept(start: Start, tmp_path: Path, ending: str) -> None:
    scene, shown = _writing(start, tmp_path)
    shown.type(TYPED[1:])
    ENDS[ending](shown)
    shown.ended()
    assert drafts(scene) == [TYPED]
    assert "Traceback" not in shown.said()


@pytest.mark.thorough
def test_power_cut_loses_almost_no_typed_text(start: Start, tmp_path: Path) -> None:
    scene, shown = _writing(start, tmp_path)
    text = "and on and on " * 6
    shown.display.type(text, delay=30)
    shown.kill()
    [kept] = drafts(scene)
    assert f"h{text}".startswith(kept)
    assert len(kept) > len(text) // 2


SITTING = 14
"""Keys until a rest was suggested, which one more key leaves."""
KEPT_MB, SLACK_MB = 0.005, 3.0
"""What the session itself remembers of each rating, and what any program's memory goes up and down."""


@pytest.mark.costly("programs that are killed")
def test_kill_loses_no_rating_that_was_shown_done(display: Display, tmp_path: Path) -> None:
    kills, in_all = times(4, 200), 0
    draw = random.Random(7)
    for kill in range(kills):
        if kill % 40 == 0:  # as many as a person could not rate meanwhile
            scene = stage(tmp_path / str(kill), batch_of(items_of(1500))).know()
        in_all += _killed_while_rating(display, scene, draw.randrange(1, 6), draw.uniform(0, 0.05))
    print(f"\n{kills} kills, {in_all} ratings whose successor was painted, none lost")
    assert in_all >= kills


def _killed_while_rating(display: Display, scene: Stage, items: int, seconds: float) -> int:
    """Rate as fast as keys come, kill so long after some items, look; gives those that another one followed on the screen."""
    before = scene.state().judgements.keys()
    with window(display, scene.home, scene.file, guard=0.0) as shown:
        _begin(shown)
        with _pressing(display, "3", "Return"):  # which leaves a rest and means nothing elsewhere
            until(lambda: len(set(shown.painted())) > items, shown.said)
            end = time.monotonic() + seconds
            until(lambda: time.monotonic() > end, "the moment")
            shown.kill()
        painted = shown.painted()
    followed = set(painted) - {painted[-1]}  # an item may be painted anew
    rated = scene.state().judgements
    assert followed <= rated.keys(), "a rating was shown as done, and is not on the disk"
    assert before <= rated.keys()
    assert {each.rating for each in rated.values()} <= {Rating.ACCEPTABLE}
    return len(followed)


def _begin(shown: Window) -> None:
    shown.know_card()
    until(lambda: len(shown.painted()) > 0, shown.said)


@contextlib.contextmanager
def _pressing(display: Display, *keys: str) -> Iterator[None]:
    command = [program("xdotool"), "key", "--delay", "15", *keys * 10_000]  # until it is killed
    with subprocess.Popen(command, env=display.environment, stderr=subprocess.DEVNULL) as pressing:
        yield
        pressing.kill()
        pressing.wait()
        display.do("xdotool", "keyup", *keys)  # one may be down for ever


@pytest.mark.thorough
def test_many_ratings_let_the_program_not_grow(start: Start, tmp_path: Path) -> None:
    ratings = times(80, 2000)
    scene = stage(tmp_path, batch_of(items_of(ratings + 10))).know()
    shown = start(scene, scene.file, guard=0.0)
    _begin(shown)
    _rate(shown, ratings // 3)
    first = _memory(shown)
    _rate(shown, ratings)
    last = _memory(shown)
    print(f"\n{len(shown.painted())} items painted: {first:.1f} MB, then {last:.1f} MB")
    assert last - first < SLACK_MB + KEPT_MB * ratings
    assert len(scene.state().judgements) >= ratings


def _rate(shown: Window, items: int) -> None:
    """Rate until so many items were painted; Return leaves a rest and means nothing elsewhere."""

    def enough() -> bool:
        shown.display.press(*["3"] * SITTING, "Return", delay=40)
        return len(set(shown.painted())) > items

    until(enough, shown.said, seconds=60 + items)


def _memory(shown: Window) -> float:
    """Return what the program alone wrote into memory, in millions of bytes."""
    lines = Path(f"/proc/{shown.process.pid}/smaps_rollup").read_text().splitlines()
    [dirty] = [line.split()[1] for line in lines if line.startswith("Private_Dirty:")]
    return int(dirty) * 1024 / 1e6


# what the program asks of the operating system: no network, and no file anywhere else

CALLS = "execve,socket,connect,sendto,sendmsg,bind,open,openat,creat,rename,renameat,renameat2,mkdir,mkdirat,symlink,link,linkat,unlink,unlinkat,truncate"
_WRITES = re.compile(r'open(?:at)?\((?:AT_FDCWD, )?"([^"]*)", [^)]*(?:O_WRONLY|O_RDWR|O_CREAT)[^=]*= \d')
_MAKES = re.compile(r'(?:creat|mkdir|mkdirat|rename\w*|symlink|link\w*|truncate)\((?:AT_FDCWD, )?"([^"]*)"[^=]*= 0')
_SOCKETS = re.compile(r"\bsocket\((\w+)")
_MEMORY = ("/dev/shm", "/dev/null", "/dev/tty", "/proc/self/", "/memfd:")
"""Nothing there outlives the program, or is on a disk."""


@dataclass(frozen=True)
class Traced:
    """The program under a tracer, from its first instruction."""

    scene: Stage
    shown: Window
    trace: Path

    def assert_private(self) -> None:
        """End the program, and see what it asked of the operating system."""
        self.shown.close()
        lines = self.trace.read_text(errors="replace").splitlines()
        assert len(lines) > 100, "the tracer saw nothing"
        assert {found for line in lines for found in _SOCKETS.findall(line)} <= {"AF_UNIX"}
        assert [line for line in lines if "AF_INET" in line] == []
        assert len([line for line in lines if " execve(" in line]) == 1, "it started a program"
        places = {found for line in lines for found in _WRITES.findall(line) + _MAKES.findall(line)}
        assert places, "the tracer saw no file written"
        own = (str(self.scene.home), str(self.scene.stick), *_MEMORY)
        assert sorted(each for each in places if not each.startswith(own)) == []


@contextlib.contextmanager
def traced(display: Display, folder: Path, **environment: str) -> Iterator[Traced]:
    """Start it with the first of three sentences painted."""
    trace = folder / "trace"
    scene = stage(folder, batch_of(items_of(3))).know()
    before = [program("strace"), "-D", "-f", "-qq", "-e", f"trace={CALLS}", "-o", str(trace)]
    with window(display, scene.home, scene.file, environment=environment, guard=0.0, before=before) as shown:
        shown.know_card()
        shown.sees(item_id(1))
        yield Traced(scene, shown, trace)


@pytest.mark.costly("the program itself, under a tracer")
def test_a_whole_session_touches_no_network_and_no_other_place(
    display: Display, bus: Bus, reader: Reader, tmp_path: Path
) -> None:
    with traced(display, tmp_path, **bus.environment) as watched:
        shown = watched.shown
        shown.press("c")
        reader.find("Your comment", "text")
        shown.type("strange")
        shown.press("Return")
        reader.hear("Your comment is saved.")
        shown.press("1")
        shown.sees(item_id(2))
        shown.press("2")
        shown.sees(item_id(3))
        shown.press("3")
        reader.find("That was the last one. Thank you!")
        shown.press("x")
        reader.find("No stick was found. Put it into this computer, or choose the folder.")
        shown.press("Tab", "Return")
        reader.hear("Saved and checked in a folder")
        assert watched.scene.handed_over()
        shown.press("Return", "q")
        watched.assert_private()


@pytest.mark.thorough
def test_where_no_message_bus_runs_none_is_started(display: Display, tmp_path: Path) -> None:
    """Qt would have one started, which outlives the program and leaves files at home."""
    with traced(display, tmp_path) as watched:
        watched.shown.press("1")
        watched.shown.sees(item_id(2))
        watched.assert_private()
