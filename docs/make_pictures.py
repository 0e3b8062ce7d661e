"""Draws the pictures of the README from the bundled demo: ``python -P docs/make_pictures.py``."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from pathlib import Path

from rosetta_tui.app import RosettaApp
from rosetta_tui.demonstration import begin_demo
from rosetta_tui.screens.live import LiveScreen
from rosetta_tui.session import Session

PICTURES = Path(__file__).parent / "pictures"
SIZE = (124, 34)
SHOWN_AFTER = 52
"""Entries that are done when the picture is taken."""


def without_web_fonts(svg: str) -> str:
    """Leave out the fonts that the picture would load from elsewhere."""
    return re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)


async def draw(path: Path) -> str:
    """Run the demo and draw its live screen."""
    engine = begin_demo(path)
    engine.start()
    app = RosettaApp(
        path, lambda _: engine.events, lambda: None, Session(engine.events, engine.control)
    )
    async with app.run_test(size=SIZE) as pilot:
        while not (isinstance(app.screen, LiveScreen) and app.screen.live.done >= SHOWN_AFTER):
            await pilot.pause(0.1)
        await pilot.press("F")
        await pilot.pause(0.5)
        picture = app.export_screenshot(title="rosetta demo")
        engine.control.stop()
    engine.result()
    return without_web_fonts(picture)


def main() -> None:
    """Draw everything."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        os.environ["ROSETTA_HOME"] = home
        picture = asyncio.run(draw(Path(home) / "rosetta.sqlite"))
    (PICTURES / "live.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    main()
