"""A review in a terminal: what any face opens it with, and one person's sitting as the screens see it.

A terminal cannot draw everything, and every word to the session goes through one thread: a commit waits for the
disk, and for another program that holds the file; the screen never does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from harness.core.failures import HarnessError
from review.files.batch import Batch
from review.log.laptop import Laptop
from review.session import opening
from review.session.choice import Choice
from review.session.flow import AtSentences, Flow, FlowStep
from review.session.view import ShownItem, View
from review.session.words.catalogue import Words
from review.session.words.troubles import InWindowError, trouble
from rosetta_tui.review.mis_drawn import MisDrawn, first_mis_drawn, mis_drawn


class TerminalOpening(opening.Opening):
    """What both terminal faces open a review with."""

    def __init__(
        self,
        laptop: Laptop,
        *,
        places: Sequence[Path] | None = None,
        language: str | None = None,
        missing: Sequence[Path] = (),
        code: str | None = None,
        draw_anyway: bool = False,
    ) -> None:
        super().__init__(laptop, places=places, language=language, missing=missing)
        self.code = code  # the reviewer's code as it was given on the command line, unread
        self.translates = False  # whether it takes translations; only lines and the window do
        self.draw_anyway = draw_anyway  # whether texts are rated that may be drawn wrongly
        self.judged = False  # true once the person came to the sentences

    def open(self, choice: Choice, passphrase: str | None = None) -> Batch:
        """Open a review; one that asks for translations is for the window or for lines, and InWindowError says so."""
        batch = super().open(choice, passphrase)
        if batch.manifest.task == "translate" and not self.translates:
            raise InWindowError(
                "This batch asks for translations, which are written in the window (rosetta-review) or in lines (--lines)"
            )
        return batch

    def mis_drawn(self, batch: Batch) -> MisDrawn | None:
        """Return why a terminal is not safe for this batch, None where it is or the person chose it."""
        if self.draw_anyway:
            return None
        return first_mis_drawn(text for i in batch.items for text in (i.source, i.candidate))


Result = TypeVar("Result")


class OneThread:
    """Does one thing after the other, away from the screen."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="review")

    async def do(self, call: Callable[[], Result]) -> Result:
        """Run a call after all earlier ones, and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def end(self) -> None:
        """Wait for what was asked, and take no more."""
        self._thread.shutdown()


class TerminalSitting:
    """A session, the thread in which it works, and what the person said about texts drawn wrongly."""

    def __init__(self, flow: Flow, step: AtSentences, thread: OneThread, *, draw_anyway: bool = False) -> None:
        self.flow = flow
        self.step: FlowStep[Any] = step  # where the flow is
        self.session = step.session
        self._thread, self._draw_anyway = thread, draw_anyway

    @property
    def view(self) -> View:
        return self.session.view

    @property
    def words(self) -> Words:
        return self.session.words

    async def do(self, call: Callable[[], Result]) -> Result:
        """Run a call of the session."""
        return await self._thread.do(call)

    def lead(self, answer: object) -> View:
        """Pass an answer to the flow, which goes to its next step; to be called by ``do``."""
        self.step = self.flow.answer(answer)
        return self.view

    async def tried(self, call: Callable[[], object]) -> View:
        """Run a call of the session that returns no view; a failure is in the view that comes back."""
        try:
            await self.do(call)
        except HarnessError as error:
            message, detail = trouble(self.words, error)
            return replace(self.view, trouble=message, detail=detail)
        return self.view

    def overridden(self, item: ShownItem) -> bool:
        """Return whether the person rates this item although its text may be drawn wrongly here."""
        return self._draw_anyway and any(map(mis_drawn, (item.source, item.candidate)))
