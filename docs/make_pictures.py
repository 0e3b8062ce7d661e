"""Draws the pictures of the README from the bundled demo: ``python -P docs/make_pictures.py``."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import tempfile
from pathlib import Path

from PySide6.QtWidgets import QApplication

from review.desktop import look as fonts
from review.desktop.frame.work import AppContext, Work
from review.desktop.item import item_page
from review.desktop.look import SIZES, Look, Theme
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import Rating
from review.session.session import Session
from review.session.view import Phase
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.commands.report import report
from rosetta_tui.commands.review import review
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.review.rating.pages.item_page import ItemPage
from rosetta_tui.review.rating.pages.welcome import AskPage
from rosetta_tui.review.rating.sitting import TerminalOpening
from rosetta_tui.review.rating.visit import ReviewApp
from rosetta_tui.session.run_sources import WatchedRun
from rosetta_tui.session.trials import begin_demo

PICTURES = Path(__file__).parent / "pictures"
SIZE = (124, 34)
SHOWN_AFTER = 52
"""Entries that are done when the picture is taken."""
REVIEW_SIZE = (100, 24)
WINDOW_SIZE = (1024, 600)
REPORT_SIZE = (860, 1040)
ANSWERED = 13
"""Items that are answered when the picture is taken."""


def without_web_fonts(svg: str) -> str:
    """Leave out the fonts that the picture would load from elsewhere."""
    return re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)


async def draw(path: Path) -> str:
    """Run the demo and draw its live screen."""
    engine = begin_demo(path)
    engine.start()
    app = RosettaApp(path, lambda _: engine.events, lambda: None, WatchedRun(engine.events, engine.control))
    async with app.run_test(size=SIZE) as pilot:
        while not (isinstance(app.screen, LiveScreen) and app.screen.live.done >= SHOWN_AFTER):
            await pilot.pause(0.1)
        await pilot.press("F")
        await pilot.pause(0.5)
        picture = app.export_screenshot(title="rosetta demo")
    engine.result()
    return without_web_fonts(picture)


def answer(home: Path, opening: TerminalOpening) -> Session:
    """Make a review of the finished demo, and answer its first items as one reviewer."""
    create = ["create", "last", "--seed", "1", "--organisation", "Language House"]
    review.main([*create, "-o", str(home / "stick")], standalone_mode=False)
    batch = opening.open(opening.choices()[0])
    opening.accept(batch)
    [cards] = (home / "review-cards").iterdir()
    code = opening.reviewer(batch, re.findall(r'class="code">.*?<dd>(.+?)</dd>', cards.read_text("utf-8"))[0])
    session = opening.session(batch, code, Face.DESKTOP, guard=0)
    view = session.agree(share_corrections=True)
    while view.phase is Phase.TRAINING or view.done < ANSWERED:
        if view.item is None or view.lesson is not None:
            view = session.go_on()
        else:
            session.painted(view.item.id)
            view = session.rate(view.item.id, Rating.EXCELLENT)
    return session


async def draw_review(opening: TerminalOpening) -> str:
    """Draw the item that comes next, in a terminal."""
    app = ReviewApp(opening)
    async with app.run_test(size=REVIEW_SIZE) as pilot:
        while not isinstance(app.screen, ItemPage):
            known = ("1",) if isinstance(app.screen, AskPage) else ()  # the person whose card was used before
            await pilot.press(*known, "enter")
            await pilot.pause(0.3)
        await pilot.pause(0.5)
        picture = app.export_screenshot(title="rosetta review open")
    return without_web_fonts(picture)


def draw_window(opening: TerminalOpening, session: Session, path: Path) -> None:
    """Draw it in the window."""
    app = QApplication([])
    fonts.load()
    look, work = Look(Theme.LIGHT, SIZES[1], lambda *_: None), Work()
    look.apply(app)
    page = item_page.ItemPage(AppContext(opening, work, look), session)
    page.resize(*WINDOW_SIZE)
    page.draw(session.view)
    page.show()
    page.begin()
    app.processEvents()
    page.grab().save(str(path))
    work.finish()


def draw_report(home: Path, path: Path) -> None:
    """Draw the first screen of the page of the demo's run, as Chromium shows it."""
    page = home / "run.html"
    report.main(["run", "last", "-o", str(page)], standalone_mode=False)
    size = ",".join(map(str, REPORT_SIZE))
    shown = [f"--window-size={size}", f"--screenshot={path}", "--hide-scrollbars", page.as_uri()]
    profile = f"--user-data-dir={home / 'chromium'}"
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", profile, *shown], check=True)  # noqa: S603, S607  # fmt: skip


def main() -> None:
    """Draw everything."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        os.environ["ROSETTA_HOME"] = home
        os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        pictures = {"live": asyncio.run(draw(Path(home) / "rosetta.sqlite"))}
        draw_report(Path(home), PICTURES / "report.png")
        with Laptop.open(Path(home) / "laptop") as laptop:
            opening = TerminalOpening(laptop, places=[Path(home) / "stick"], language="en")
            session = answer(Path(home), opening)
            pictures["review"] = asyncio.run(draw_review(opening))
            draw_window(opening, session, PICTURES / "window.png")
    for name, picture in pictures.items():
        (PICTURES / f"{name}.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    main()
