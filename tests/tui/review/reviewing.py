"""The review mode over a real laptop's file and a folder that stands for a stick, driven by keys."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from review.files.batch import Batch
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import Relation
from review.session.session import Session
from rosetta_tui.review.rating.pages.item_page import ItemPage
from rosetta_tui.review.rating.sitting import TerminalOpening
from rosetta_tui.review.rating.visit import ReviewApp
from rosetta_tui.toolkit.textual_inside import busy
from tests.review.session.scenes import CODE, asked_sharing, write_file
from tests.tui.screens import PATIENCE, AnyApp, soon_idle, text, until

SMALL = (80, 24)


class Doors(TerminalOpening):
    """An opening whose session takes keys at once, and can be looked at."""

    guard = 0.0
    begun: Session | None = None

    def sticks(self) -> list[Path]:
        """No stick of the machine that the tests run on."""
        return []

    def session(self, batch: Batch, reviewer: str, face: Face, *, guard: float = 0.0) -> Session:
        self.begun = super().session(batch, reviewer, face, guard=self.guard)
        return self.begun


class Reviewing(ReviewApp):
    """The app of one reviewer, on a laptop and with a stick of its own."""

    def __init__(
        self, folder: Path, *batches: Batch, known: bool = True, language: str = "en", guard: float = 0.0, **wishes: Any
    ) -> None:
        self.stick = folder / "stick"
        self.batches = batches
        for batch in batches:
            write_file(batch, self.stick)
        self.laptop = Laptop.open(folder / "home", busy_seconds=0.05)
        self.doors = Doors(self.laptop, places=[self.stick], language=language, **wishes)
        self.doors.guard = guard
        if known:
            for batch in batches:
                self.doors.accept(batch)
        super().__init__(self.doors)

    def agree(self) -> None:
        """Let the person be known, and agree."""
        for batch in self.batches:
            person = self.doors.reviewer(batch, CODE)
            session = TerminalOpening.session(self.doors, batch, person, Face.TERMINAL)
            session.agree(share_corrections=False)
            asked_sharing(self.laptop, person)
            session.relate(Relation.NEITHER)

    @property
    def session(self) -> Session:
        assert self.doors.begun is not None
        return self.doors.begun

    @asynccontextmanager
    async def run_test(self, **wishes: Any) -> AsyncIterator[Pilot[Any]]:
        with soon_idle():
            async with super().run_test(**wishes) as pilot:
                try:
                    yield pilot
                finally:
                    self.laptop.close()


async def settle(pilot: Pilot[Any]) -> None:
    """Wait until no work is under way and what is shown was painted."""
    app = pilot.app
    for _ in range(PATIENCE):
        await pilot.pause()
        if not app.is_running:
            return
        if not _working(app) and not busy(app, app.screen) and _painted(app):
            return
        await pilot.pause(0.01)
    raise AssertionError(f"The page does not come to rest:\n{text(app)}")


def _working(app: App[Any]) -> bool:
    """Tell whether the session, the drafts or the sticks are at work; the sitting itself always is."""
    sitting = {"sit", "sit_from_home"}
    return any(worker.name not in sitting and not worker.is_finished for worker in app.workers)


def _painted(app: App[Any]) -> bool:
    screen = app.screen
    if not isinstance(screen, ItemPage) or screen.view.item is None:
        return not screen.query("BlankScreen") and type(screen).__name__ not in {"BlankScreen", "Screen"}
    return screen.sitting.session.time.runs


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys as a person does: each when the page has come to rest."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def see(app: App[Any], *words: str) -> None:
    """Fail unless all of these words are on the screen."""
    shown = text(app)
    assert [each for each in words if each not in shown] == [], shown


def fill(app: App[Any], words: str) -> None:
    """Put words into the box of the page, as if they had been typed."""
    app.screen.query_one(Input).value = words


async def write(pilot: Pilot[Any], words: str) -> None:
    """Type a text."""
    for character in words:
        await pilot.press(character)
    await settle(pilot)


async def begin(pilot: Pilot[Any]) -> None:
    """Open the newest review, whose person is known here and has agreed."""
    await settle(pilot)
    app = pilot.app
    if isinstance(app, Reviewing):
        app.agree()
    await press(pilot, "enter", "1", "enter")


@asynccontextmanager
async def started(app: AnyApp, size: tuple[int, int] = SMALL) -> AsyncIterator[Pilot[Any]]:
    """Run an app on a terminal of ``size`` columns and lines; its first page has come to rest."""
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot


@asynccontextmanager
async def begun(app: AnyApp, size: tuple[int, int] = SMALL) -> AsyncIterator[tuple[AnyApp, Pilot[Any]]]:
    """Run an app on a terminal of ``size`` columns and lines; the block begins at the first sentence."""
    async with app.run_test(size=size) as pilot:
        await begin(pilot)
        yield app, pilot


__all__ = ["Reviewing", "begin", "fill", "press", "see", "settle", "text", "until", "write"]
