"""Draws the pictures of the README from the bundled demo: ``python -P docs/make_pictures.py``."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from pathlib import Path

from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import Rating
from review.session.view import Phase
from rosetta_tui.app import RosettaApp
from rosetta_tui.commands.review import review
from rosetta_tui.demonstration import begin_demo
from rosetta_tui.review.app import ReviewApp
from rosetta_tui.review.item_page import ItemPage
from rosetta_tui.review.opening import Opening
from rosetta_tui.screens.live import LiveScreen
from rosetta_tui.session import Session

PICTURES = Path(__file__).parent / "pictures"
SIZE = (124, 34)
SHOWN_AFTER = 52
"""Entries that are done when the picture is taken."""
REVIEW_SIZE = (100, 24)
ANSWERED = 13
"""Items that are answered when the picture is taken."""


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
    engine.result()
    return without_web_fonts(picture)


async def draw_review(home: Path) -> str:
    """Make a review of the finished demo, answer its first items as one reviewer, and draw the next."""
    review.main(
        [
            "create",
            "last",
            "--seed",
            "1",
            "--organisation",
            "Language House",
            "-o",
            str(home / "stick"),
        ],
        standalone_mode=False,
    )
    laptop = Laptop.open(home / "laptop")
    opening = Opening(laptop, places=[home / "stick"], language="en")
    batch = opening.open(opening.choices()[0])
    opening.accept(batch)
    code = opening.reviewer(batch, next(iter(batch.manifest.orders)))
    session = opening.session(batch, code, Face.TERMINAL, guard=0)
    view = session.agree(share_corrections=True)
    while view.phase is Phase.TRAINING or view.done < ANSWERED:
        if view.item is None or view.lesson is not None:
            view = session.go_on()
        else:
            session.painted(view.item.id)
            view = session.rate(view.item.id, Rating.EXCELLENT)
    app = ReviewApp(opening)
    async with app.run_test(size=REVIEW_SIZE) as pilot:
        while not isinstance(app.screen, ItemPage):
            await pilot.press("enter")
            await pilot.pause(0.3)
        await pilot.pause(0.5)
        picture = app.export_screenshot(title="rosetta review open")
    laptop.close()
    return without_web_fonts(picture)


def main() -> None:
    """Draw everything."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        os.environ["ROSETTA_HOME"] = home
        os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
        pictures = {
            "live": asyncio.run(draw(Path(home) / "rosetta.sqlite")),
            "review": asyncio.run(draw_review(Path(home))),
        }
    for name, picture in pictures.items():
        (PICTURES / f"{name}.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    main()
