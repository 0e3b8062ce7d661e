"""What the program asks of the operating system in a whole session: no network, and no file anywhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.desktop.real.bus import Bus
from tests.desktop.real.display import Display
from tests.desktop.real.programs import program
from tests.desktop.real.reader import Reader
from tests.desktop.real.stage import Stage, stage
from tests.desktop.real.window import Window, window
from tests.review.session.scenes import batch_of, item_id, items_of

CALLS = "socket,connect,sendto,sendmsg,bind,open,openat,creat,rename,renameat,renameat2,mkdir,mkdirat,symlink,link,linkat,unlink,unlinkat,truncate"
_WRITES = re.compile(
    r'open(?:at)?\((?:AT_FDCWD, )?"([^"]*)", [^)]*(?:O_WRONLY|O_RDWR|O_CREAT)[^=]*= \d'
)
_MAKES = re.compile(
    r'(?:creat|mkdir|mkdirat|rename\w*|symlink|link\w*|truncate)\((?:AT_FDCWD, )?"([^"]*)"[^=]*= 0'
)
_MEMORY = ("/dev/shm", "/dev/null", "/dev/tty", "/proc/self/", "/memfd:")
"""Nothing there outlives the program, or is on a disk."""


@pytest.fixture
def traced(display: Display, bus: Bus, tmp_path: Path) -> Iterator[tuple[Stage, Window, Path]]:
    """The program under a tracer, from its first instruction."""
    trace = tmp_path / "trace"
    scene = stage(tmp_path, batch_of(items_of(3))).know()
    before = [program("strace"), "-D", "-f", "-qq", "-e", f"trace={CALLS}", "-o", str(trace)]
    around = bus.environment
    with window(
        display, scene.home, scene.file, environment=around, guard=0.0, before=before
    ) as shown:
        yield scene, shown, trace


def test_a_whole_session_touches_no_network_and_no_other_place(
    traced: tuple[Stage, Window, Path], reader: Reader
) -> None:
    scene, shown, trace = traced
    shown.press("Return")
    shown.sees(item_id(1))
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
    reader.find("Where is your stick? Choose it to save your answers there.")
    shown.press("Return")
    reader.hear("Saved and checked.")
    assert scene.handed_over()
    shown.press("Return", "q")
    shown.close()
    lines = trace.read_text(errors="replace").splitlines()
    assert len(lines) > 100, "the tracer saw nothing"
    assert [line for line in lines if "AF_INET" in line] == []
    families = {found for line in lines for found in re.findall(r"\bsocket\((\w+)", line)}
    assert families <= {"AF_UNIX"}
    places = {found for line in lines for found in _WRITES.findall(line) + _MAKES.findall(line)}
    assert places, "the tracer saw no file written"
    own = (str(scene.home), str(scene.stick), *_MEMORY)
    assert sorted(each for each in places if not each.startswith(own)) == []
