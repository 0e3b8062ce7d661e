"""The first frame waits for nothing that it does not show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.ranked import play, ranked_corpus

pytestmark = pytest.mark.every_python

HEAVY = ("sacrebleu", "httpx", "keyring", "sqlite_utils", "pydantic", "numpy", "regex", "rapidfuzz")
"""Libraries of which none may be loaded when home stands on the screen for the first time."""

CHILD = """
import asyncio, sys
from pathlib import Path

import pytest
from rosetta_tui.app import launch
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.home.screen import HomeScreen

# what is read after the first frame does not count
HomeScreen.action_read = HomeScreen._look_at_reviews = lambda self: None

async def main():
    app = RosettaApp(Path(sys.argv[1]), launch.follow, lambda: None)
    async with app.run_test(size=(120, 36)):
        assert isinstance(app.screen, HomeScreen)
        print(*sorted(name for name in sys.modules if "." not in name))

asyncio.run(main())
"""


def test_home_loads_no_heavy_library(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "s.sqlite")],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    loaded = set(done.stdout.split())
    assert "textual" in loaded
    assert loaded.isdisjoint(HEAVY), loaded & set(HEAVY)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of the system")
def test_it_says_that_it_is_preparing_before_the_first_frame(tmp_path: Path) -> None:
    """What is said stands on the person's own screen until the app takes it over, and is gone when it leaves."""
    import pty

    ours, theirs = pty.openpty()
    program = "from rosetta_tui.cli import main; main([])"
    started = subprocess.Popen(
        [sys.executable, "-P", "-c", program], stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, "ROSETTA_HOME": str(tmp_path), "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    said = b""
    try:
        while b"\x1b[?1049h" not in said:
            said += os.read(ours, 4096)
    finally:
        started.kill()
        started.wait()
        os.close(ours)
    before = said.partition(b"\x1b[?1049h")[0].decode()
    assert before.startswith("preparing …\r")
    assert before.removeprefix("preparing …\r").startswith("\x1b[K")


LISTS = """
import sys
from pathlib import Path

from harness.leaderboard.ranking import leaderboards
from harness.store.file.database import opened
from rosetta_tui.leaderboard.rows import LeaderboardRows, ordered
from rosetta_tui.leaderboard.screen import LeaderboardScreen

with opened(Path(sys.argv[1])) as store:
    (board,) = leaderboards(store)
rows = LeaderboardRows(board, ordered(board, "chrf"), frozenset())
print(len([rows.cells(place) for place in range(rows.count)]))
print(*sorted(name for name in sys.modules if "." not in name))
"""


def test_a_leaderboard_of_own_runs_loads_no_heavy_library(tmp_path: Path) -> None:
    """Its groups do, which are worked out beside it once the ranks stand there."""
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    for right, model in ((40, "a"), (30, "b")):
        play(path, corpus, right, model)
    done = subprocess.run(
        [sys.executable, "-P", "-c", LISTS, str(path)],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    rows, loaded = done.stdout.splitlines()
    assert rows == "2"
    assert set(loaded.split()).isdisjoint({*HEAVY, "cryptography"})
