"""One person's sitting as the screens see it: every word to the session goes through one thread.

A commit waits for the disk, and for another program that holds the file; the screen never does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from harness.core.failures import HarnessError
from review.session.session import Session
from review.session.view import ShownItem, View
from review.session.words.catalogue import Words
from review.session.words.troubles import trouble
from rosetta_tui.review.mis_drawn import mis_drawn

Result = TypeVar("Result")


class OneThread:
    """Does one thing after the other, away from the screen."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="review")

    async def do(self, call: Callable[[], Result]) -> Result:
        """Do this after everything that was asked before, and give what came out."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def end(self) -> None:
        """Wait for what was asked, and take no more."""
        self._thread.shutdown()


class TerminalSitting:
    """A session, the thread in which it works, and what the person said about texts drawn wrongly."""

    def __init__(
        self,
        session: Session,
        thread: OneThread,
        *,
        places: Callable[[], Sequence[Path]] = tuple,
        on_stick: Callable[[Path], bool] = lambda _: True,
        draw_anyway: bool = False,
    ) -> None:
        self.session = session
        self.places = places
        """Lists the folders to which the ratings can be handed over, sticks above all."""
        self.on_stick = on_stick
        """Tells whether a folder lies on a stick."""
        self._thread = thread
        self._draw_anyway = draw_anyway

    @property
    def view(self) -> View:
        """What to show now."""
        return self.session.view

    @property
    def words(self) -> Words:
        """The words of the reviewer's language."""
        return self.session.words

    async def do(self, call: Callable[[], Result]) -> Result:
        """Let the session do something."""
        return await self._thread.do(call)

    async def tried(self, call: Callable[[], object]) -> View:
        """Let the session do something that gives no view; a failure is in the view that comes back."""
        try:
            await self.do(call)
        except HarnessError as error:
            said, detail = trouble(self.words, error)
            return replace(self.view, trouble=said, detail=detail)
        return self.view

    def overridden(self, item: ShownItem) -> bool:
        """Tell whether the person rates this item although its text may be drawn wrongly here."""
        return self._draw_anyway and any(map(mis_drawn, (item.source, item.candidate)))
