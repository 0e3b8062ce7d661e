"""One person's sitting as the screens see it: every word to the session goes through one thread.

A commit waits for the disk, and for another program that holds the file; the screen never does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from harness.core.failures import HarnessError
from review.session.flow import AtSentences, Flow, FlowStep
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
        flow: Flow,
        step: AtSentences,
        thread: OneThread,
        *,
        draw_anyway: bool = False,
    ) -> None:
        self.flow = flow
        self.step: FlowStep[Any] = step
        """Where the flow is."""
        self.session = step.session
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

    def lead(self, answer: object) -> View:
        """Hand an answer to the flow, which goes to its next step; to be called by ``do``."""
        self.step = self.flow.answer(answer)
        return self.view

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
