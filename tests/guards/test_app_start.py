"""The first frame waits for nothing that it does not show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = ("sacrebleu", "httpx", "keyring", "sqlite_utils", "pydantic", "numpy", "regex", "rapidfuzz")
"""Libraries of which none may be loaded when home stands on the screen for the first time."""

CHILD = """
import asyncio, sys
from pathlib import Path
from rosetta_tui.app import RosettaApp
from rosetta_tui.screens.home import HomeScreen

HomeScreen.action_read = lambda self: None  # what is read after the first frame does not count

async def main():
    app = RosettaApp(Path(sys.argv[1]), lambda run_id: None, lambda: None)
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
