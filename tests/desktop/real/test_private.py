"""What the program asks of the operating system in a whole session: no network, and no file anywhere else."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.desktop.real.bus import Bus
from tests.desktop.real.display import Display
from tests.desktop.real.programs import program
from tests.desktop.real.reader import Reader
from tests.desktop.real.stage import Stage, stage
from tests.desktop.real.window import Window, window
from tests.review.session.scenes import batch_of, item_id, items_of

CALLS = "execve,socket,connect,sendto,sendmsg,bind,open,openat,creat,rename,renameat,renameat2,mkdir,mkdirat,symlink,link,linkat,unlink,unlinkat,truncate"
_WRITES = re.compile(
    r'open(?:at)?\((?:AT_FDCWD, )?"([^"]*)", [^)]*(?:O_WRONLY|O_RDWR|O_CREAT)[^=]*= \d'
)
_MAKES = re.compile(
    r'(?:creat|mkdir|mkdirat|rename\w*|symlink|link\w*|truncate)\((?:AT_FDCWD, )?"([^"]*)"[^=]*= 0'
)
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
    with window(
        display, scene.home, scene.file, environment=environment, guard=0.0, before=before
    ) as shown:
        shown.press("Return")
        shown.sees(item_id(1))
        yield Traced(scene, shown, trace)


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


def test_where_no_message_bus_runs_none_is_started(display: Display, tmp_path: Path) -> None:
    """Qt would have one started, which outlives the program and leaves files at home."""
    with traced(display, tmp_path) as watched:
        watched.shown.press("1")
        watched.shown.sees(item_id(2))
        watched.assert_private()
