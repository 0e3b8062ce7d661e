"""Driving the app and reading what stands on its screen."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
from textual import _wait  # how long it looks whether an app is idle is settled nowhere else
from textual._compositor import Compositor  # a fifth of an app's time goes into frames
from textual._context import visible_screen_stack  # what a modal screen lets shine through
from textual.app import App as TextualApp
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.events import Key
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.worker import WorkerCancelled

from harness.run.events import Control, EventQueue
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.entry.pane import EntryPane
from rosetta_tui.session.run_sources import Followed, WatchedRun
from rosetta_tui.toolkit.textual_inside import TerminalApp, busy
from tests.tui.scenes import Scene

AnyApp = TypeVar("AnyApp", bound=TextualApp[Any])

IDLE_SECONDS = 0.001
"""Time after which a quiet app counts as idle; Textual takes twenty times as long, three times over every key."""


class Watched:
    """A queue in the place of another process's run; there is nothing to let go of."""

    def __init__(self, queue: EventQueue) -> None:
        self.drain = queue.drain

    def close(self) -> None:
        pass


class Driving(Pilot[None]):
    """Presses keys and waits until each has acted to its end, however busy the machine is."""

    async def press(self, *keys: str) -> None:
        await super().press(*keys)
        await acted(self.app)


_PARSED: dict[tuple[Any, ...], list[RuleSet]] = {}
_PARSE = Stylesheet._parse_rules  # every app parses the same styles again


def _parse_once(sheet: Stylesheet, css: str, **given: Any) -> list[RuleSet]:
    """Parse each style once a process, not once an app."""
    # what a style means depends on the variables of its theme
    key = (css, *given.values(), *sorted(sheet._variables.items()))
    if key not in _PARSED:
        _PARSED[key] = _PARSE(sheet, css, **given)
    return _PARSED[key]


def _paint_nothing(compositor: Compositor, *_: object, screen_stack: list[Any] | None = None) -> None:
    """Paint no frame of a headless app, which reaches nobody; ``drawn`` renders what a test reads."""
    visible_screen_stack.set(screen_stack or [])
    compositor._dirty_regions.clear()  # as painting does


QUICK_ROUNDS = 50
"""Rounds of the event loop before a wait for the app's widgets leaves the processor to threads."""


async def _wait_for_widgets(pilot: Pilot[Any], timeout: float = 600.0) -> bool:
    """Wait until every widget of the screen waits for its next message; return False where the app broke.

    Textual sends each widget a message for this: two thirds of all messages in a test.
    """
    app, end = pilot.app, time.monotonic() + timeout
    rounds = itertools.count()
    while app._exception is None:  # of an app that broke, nothing comes any more
        if not app.screen_stack:
            return False
        is_sized = app._resize_event is None  # a new size waits for a timer
        if is_sized and all(map(_waits, [app, *app.screen.walk_children(with_self=True)])):
            return True
        assert time.monotonic() < end, "The widgets of the screen never come to rest."
        await asyncio.sleep(0 if next(rounds) < QUICK_ROUNDS else 0.001)
    return False


def _waits(pump: MessagePump) -> bool:
    queue: Any = pump._message_queue  # no public way to ask whether a message is being handled
    ended = pump._closed or not pump._running  # an ended widget takes no message
    return queue.empty() and bool(ended or queue.ready_event._waiters)  # a resting one waits here


@contextmanager
def soon_idle() -> Iterator[None]:
    """Let Textual see at once that an app has come to rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_wait, "SLEEP_GRANULARITY", IDLE_SECONDS)
        patch.setattr(_wait, "SLEEP_IDLE", IDLE_SECONDS / 2)
        patch.setattr(Pilot, "_wait_for_screen", _wait_for_widgets)  # a third of all processor time
        patch.setattr(Compositor, "render_update", _paint_nothing)
        patch.setattr(Stylesheet, "_parse_rules", _parse_once)  # a third of an app's start
        patch.setattr(RuleSet, "__hash__", object.__hash__)  # the same, without a call; 8 %
        yield


async def burst(app: TextualApp[Any], *keys: str) -> None:
    """Type faster than the app acts: no key waits for the one before, as in a paste or over a slow line."""
    for key in keys:
        event = Key(key, key if len(key) == 1 else "\r" if key == "enter" else None)
        event.set_sender(app)
        app.post_message(event)
    await acted(app)


async def acted(app: TextualApp[Any]) -> None:
    """Wait until every key that was typed has acted."""
    assert isinstance(app, TerminalApp)
    while app.is_running and app._exception is None:  # of an app that broke, nothing comes any more
        if not (app.message_queue_size or app.typed_ahead):
            return
        await asyncio.sleep(0)


class App(RosettaApp):
    """The app over a scene; a demo gives the scene's own queue."""

    def __init__(self, made: Scene | None, path: Path | None = None, *, watch: bool = False) -> None:
        self.control = Control()
        self.queue = made.queue if made else EventQueue()
        self.followed: list[str] = []
        session = WatchedRun(self.queue, self.control)
        super().__init__(
            (made.path if made else path) or Path(), self._follow_run, lambda _: session, session if watch else None
        )

    @asynccontextmanager
    async def run_test(self, **wishes: Any) -> AsyncIterator[Pilot[Any]]:
        with soon_idle():
            async with super().run_test(**wishes) as pilot:
                yield Driving(pilot.app)

    def _follow_run(self, run_id: str) -> Followed:
        self.followed.append(run_id)
        return Watched(self.queue)


def drawn(app: TextualApp[Any]) -> list[Strip]:
    """Return the screen as it is drawn, line by line, with its colours."""
    visible_screen_stack.set(app._background_screens)  # a modal screen draws those below it
    return app.screen._compositor.render_strips(app.size)  # Textual hands it to terminals alone


def lines(app: TextualApp[Any]) -> list[str]:
    """Return the text of the screen as it is drawn, line by line, with plain spaces."""
    width, height = app.size
    rows = ("".join(segment.text for segment in strip)[:width] for strip in drawn(app)[:height])
    return [row.replace("\u00a0", " ").rstrip() for row in rows]


def notices(app: TextualApp[Any]) -> list[str]:
    """Return what the app has said in passing, the oldest first."""
    return [str(each.message) for each in app._notifications]  # a toast is gone before it is read


def text(app: TextualApp[Any]) -> str:
    """Return the screen as one text."""
    return "\n".join(lines(app))


def stands(app: TextualApp[Any], kind: type[Screen[Any]]) -> bool:
    """Tell whether a screen of this kind is seen; unlike ``isinstance``, mypy concludes nothing from it."""
    return isinstance(app.screen, kind)


def store(home: Path) -> Path:
    """Return the store of a data folder."""
    return home / "rosetta.sqlite"


MOST_ROUNDS = 2_000
"""How often is looked whether there is still work; three times where nothing else runs, more on a busy machine."""


async def settle(pilot: Pilot[Any]) -> None:
    """Wait until the workers are done, and what they brought is drawn, as after a while without a key."""
    await rest(pilot)
    look = getattr(pilot.app.screen, "look", None)
    if look is not None:
        look()
    for pane in pilot.app.screen.query(EntryPane):
        pane.show_below()  # as where the cursor rests
    await rest(pilot)


async def rest(pilot: Pilot[Any]) -> None:
    """Wait until no worker works and no message waits; a busy machine makes an app look idle before that."""
    for _ in range(MOST_ROUNDS):
        await pilot.pause()
        working = not all(worker.is_finished for worker in pilot.app.workers)
        if not working and not busy(pilot.app, pilot.app.screen):
            return
        with suppress(WorkerCancelled):  # newer work took the place of it: the next look waits for that
            await pilot.app.workers.wait_for_complete()


PATIENCE = 1_000
"""How often ``until`` looks; a busy machine takes a while."""


async def until(pilot: Pilot[Any], is_so: Callable[[], bool]) -> None:
    """Wait until something is so, for what a clock, a thread or a program of its own sets off."""
    for _ in range(PATIENCE):
        if is_so():
            return
        await pilot.pause(0.01)
    raise AssertionError(f"It never comes to be:\n{text(pilot.app)}")


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys, and wait until what they bring is drawn."""
    await pilot.press(*keys)
    await settle(pilot)


async def press_in_turn(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys, and wait after each until what it brings is drawn."""
    for key in keys:
        await press(pilot, key)


@asynccontextmanager
async def at_rest(
    app: AnyApp, size: tuple[int, int], *, notifications: bool = False
) -> AsyncIterator[tuple[AnyApp, Pilot[Any]]]:
    """Run an app on a terminal of ``size`` columns and lines; it has come to rest when the block begins."""
    async with app.run_test(size=size, notifications=notifications) as pilot:
        await settle(pilot)
        yield app, pilot


@asynccontextmanager
async def showing(
    app: AnyApp, screen: Screen[Any], size: tuple[int, int], *, notifications: bool = False
) -> AsyncIterator[tuple[AnyApp, Pilot[Any]]]:
    """Run an app on a terminal of ``size`` columns and lines; a screen stands open over its first one."""
    async with at_rest(app, size, notifications=notifications) as (_, pilot):
        app.push_screen(screen)
        await settle(pilot)
        yield app, pilot
