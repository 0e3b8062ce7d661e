"""Work for a screen in a thread, in the store above all: what it gives is taken only where it is still wanted.

``bring`` is the one way from a worker's thread to a screen.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from pathlib import Path
from typing import Any, Generic, TypeVar

from textual.app import App
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.worker import Worker, get_current_worker

from corpora.files.problems import CorpusError
from harness.core.failures import HarnessError
from harness.store.sqlite.database import opened
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.textual_inside import OPENS_A_SCREEN, built, still_mounted

Answer = TypeVar("Answer")


class AnsweringScreen(ModalScreen[Answer], Generic[Answer]):
    """Goes with its answer as soon as no other screen is on top, because only the top one can be dismissed."""

    _answers: tuple[Answer, ...] = ()  # the answer that waits for that

    def answer(self, answer: Answer) -> None:
        """Dismiss with an answer, now or when back on top."""
        self._answers = (answer,)
        if self.is_active:
            self.on_screen_resume()

    def on_screen_resume(self) -> None:
        if self._answers and self.is_active:
            self.dismiss(self._answers[0])


Found = TypeVar("Found")

COVERED = "Something else came on top meanwhile. Press the key again."

Work = Callable[["sqlite3.Connection"], Found]  # reads or changes the store; called in a thread


def bring(screen: Widget | App[Any], take: Callable[..., object], *found: Any) -> bool:
    """Call ``take(*found)`` in the app's own thread; called in the thread of a worker.

    It is called when the screen, or the part of one, has been built, and only where it is there as a whole and the
    worker was not cancelled; returns whether it was. Blocks until then.
    """
    worker = get_current_worker()

    async def taken() -> bool:
        await built(screen)
        if worker.is_cancelled or not still_mounted(screen):
            return False
        done = take(*found)
        if isawaitable(done):
            await done
        return True

    try:
        call: Callable[[], bool | Awaitable[bool]] = taken
        return screen.app.call_from_thread(call)
    except RuntimeError:
        # what Textual raises where a screen is no part of an app, or the app is not running
        if screen.is_attached:
            raise
        return False


def in_thread(
    screen: Widget,
    group: str,
    work: Callable[[], Found],
    then: Callable[[Found], object],
    cannot: Callable[[str], object],
    *,
    asks: bool = False,
    exclusive: bool = True,
    unwanted: Callable[[Found], object] | None = None,
) -> Worker[None]:
    """Run ``work`` in a thread, then ``then`` with its result, or ``cannot`` with the words of what is wrong.

    Neither is done for a screen, or a part of one, that is left. ``asks``: ``then`` opens another screen, so it
    is not done over one that came on top meanwhile, which is said; keys typed until then act on the new one. Where ``exclusive``, newer work of the group takes the
    place of older. ``unwanted`` is given what nobody takes, in order to close it.
    """

    def take(found: Found) -> object:
        if screen.screen.is_active or not asks:
            return then(found)
        screen.notify(COVERED, markup=False)
        return None if unwanted is None else unwanted(found)

    def run() -> None:
        try:
            result = work()
        except (CorpusError, HarnessError) as error:
            bring(screen, cannot, str(error))
        else:
            if not bring(screen, take, result) and unwanted is not None:
                unwanted(result)

    name = OPENS_A_SCREEN if asks else ""
    return screen.run_worker(run, name, thread=True, exclusive=exclusive, group=group, description=group)


def background(
    screen: Widget,
    path: Path,
    group: str,
    work: Work[Found],
    then: Callable[[Found], object],
    cannot: Callable[[str], object],
    *,
    asks: bool = False,
    exclusive: bool = True,
) -> Worker[None]:
    """Run ``work`` with its own connection to the store; the rest is as ``in_thread`` does it."""

    def with_store() -> Found:
        with opened(path) as store:
            return work(store)

    return in_thread(screen, group, with_store, then, cannot, asks=asks, exclusive=exclusive)


def telling(screen: Widget, title: str) -> Callable[[str], None]:
    """Return a way to say what is wrong beside a screen that stays as it is."""

    def tell(why: str) -> None:
        screen.notify(plain(why), title=title, severity="error", markup=False)

    return tell
