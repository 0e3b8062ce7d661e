"""A new screen is one folder: a key and the palette lead there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOM = '''"""A garden."""

from rosetta_tui.toolkit.places import Place

PLACE = Place("garden", "Garden", "Rest a while", "rosetta_tui.garden.screen", "Garden", key="f9")
'''

SCREEN = '''"""The garden."""

from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Static


class Garden(Screen[None]):
    TITLE = "Garden"
    CSS_PATH = "garden.tcss"
    BINDINGS = [Binding("q", "app.home", "Back", id="back")]

    def __init__(self, store_path):
        super().__init__()
        self._store_path = store_path

    def compose(self):
        yield Static(f"Here grows {self._store_path.name}")
'''

PROGRAM = """
import asyncio
import sys
from pathlib import Path

import rosetta_tui

rosetta_tui.__path__.append(sys.argv[1])

from harness.store.file.database import open_store
from tests.tui.screens import App, settle, text

path = Path(sys.argv[2])
open_store(path).close()


async def look():
    app = App(None, path)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await pilot.press("f9")
        await settle(pilot)
        print("by key:", "Here grows rosetta.sqlite" in text(app), app.screen.styles.padding.top)
        await pilot.press("q")
        await settle(pilot)
        print("away:", "Here grows" not in text(app))
        await pilot.press("ctrl+p", *"garden")
        for _ in range(1000):
            await pilot.pause()
            if "Go to: Garden" in text(app):
                break
        print("in the palette:", "Rest a while" in text(app))
        await pilot.press("enter", "enter")
        for _ in range(100):
            await settle(pilot)
            if app.screen.TITLE == "Garden":
                break
        print("by name:", "Here grows rosetta.sqlite" in text(app))


asyncio.run(look())
"""


def test_one_folder_is_enough(tmp_path: Path) -> None:
    """In a process of its own: keys are read when the app is imported."""
    garden = tmp_path / "garden"
    garden.mkdir()
    (garden / "__init__.py").write_text(ROOM, "utf-8")
    (garden / "screen.py").write_text(SCREEN, "utf-8")
    (garden / "garden.tcss").write_text("Garden { padding: 3; }", "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(tmp_path / "rosetta.sqlite")],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "ROSETTA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "by key: True 3", "away: True", "in the palette: True", "by name: True"
    ], done.stderr  # fmt: skip
