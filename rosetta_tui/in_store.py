"""Work for a screen in a thread, in the store above all: what it gives is taken only where it is still wanted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from textual.widget import Widget
from textual.worker import Worker, get_current_worker

from rosetta_tui.text import plain

if TYPE_CHECKING:
    import sqlite3

Found = TypeVar("Found")

COVERED = "Something else came on top meanwhile. Press the key again."

Work = Callable[["sqlite3.Connection"], Found]
"""Reads or changes the store; called in a thread."""


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
    """Do ``work`` in a thread, then ``then`` with what it gives, or ``cannot`` with the words of what is wrong.

    Neither is done for a screen, or a part of one, that is left. ``asks``: ``then`` opens another screen, so it
    is not done over one that came on top meanwhile, which is said. Where ``exclusive``, newer work of the group takes the
    place of older. ``unwanted`` is given what nobody takes, in order to close it.
    """
    app = screen.app

    def bring(worker: Worker[Any], found: Found) -> None:
        wanted = _wanted(screen, worker)
        if wanted and (screen.screen.is_active or not asks):
            then(found)
            return
        if wanted:
            screen.notify(COVERED, markup=False)
        if unwanted is not None:
            unwanted(found)

    def say(worker: Worker[Any], why: str) -> None:
        if _wanted(screen, worker):
            cannot(why)

    def run() -> None:
        from corpora.problems import CorpusError
        from harness.failures import HarnessError

        worker = get_current_worker()
        try:
            found = work()
        except (CorpusError, HarnessError) as error:
            app.call_from_thread(say, worker, str(error))
        else:
            app.call_from_thread(bring, worker, found)

    return screen.run_worker(run, thread=True, exclusive=exclusive, group=group, description=group)


def in_store(
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
    """Do ``work`` with a connection of its own to the store; the rest is as ``in_thread`` does it."""

    def with_store() -> Found:
        from harness.store.database import opened

        with opened(path) as store:
            return work(store)

    return in_thread(screen, group, with_store, then, cannot, asks=asks, exclusive=exclusive)


def telling(screen: Widget, title: str) -> Callable[[str], None]:
    """Give a way to say what is wrong beside a screen that stays as it is."""

    def tell(why: str) -> None:
        screen.notify(plain(why), title=title, severity="error", markup=False)

    return tell


def _wanted(screen: Widget, worker: Worker[Any]) -> bool:
    """Tell whether the screen is there and nothing newer was asked for."""
    return screen.is_attached and not worker.is_cancelled
