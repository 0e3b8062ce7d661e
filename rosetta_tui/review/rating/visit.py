"""From the list of reviews to the last item: which page follows which, in whatever app shows them."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from harness.core.failures import HarnessError
from review.files.batch import Batch
from review.log.payloads import Face
from review.sealed.problem import FileError, FileProblem
from review.session import opening_words
from review.session.choice import Choice
from review.session.erasing import open_laptop
from review.session.session import Session
from review.session.view import Phase
from review.session.words.troubles import Trouble, trouble
from rosetta_tui.review.rating.item.judging import JudgingScreen
from rosetta_tui.review.rating.opening import TerminalOpening
from rosetta_tui.review.rating.pages.agreeing import (
    ConsentAnswer,
    ConsentPage,
    OrganisationPage,
    RelationPage,
    SharingPage,
    WarningPage,
)
from rosetta_tui.review.rating.pages.choosing import AskPage, ChoosePage, LanguagePage, Question
from rosetta_tui.review.rating.parts.page import NO_TROUBLE, STYLES, told
from rosetta_tui.review.rating.sitting import OneThread, TerminalSitting
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.textual_inside import hold_no_break_spaces

Result = TypeVar("Result")


class Curtain(Screen[None]):
    """Lies under the pages, so that nothing else shines through between two of them."""

    CSS_PATH = STYLES

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words

    def compose(self) -> ComposeResult:
        """Ask for patience."""
        yield Static(told(self._words, "$quiet"))


async def sit(app: App[Any], opening: TerminalOpening) -> None:
    """Let a person review in this app until they stop; to be run in a worker of the app."""
    hold_no_break_spaces()
    thread = OneThread()
    curtain = Curtain(opening.words("One moment …"))
    await app.push_screen(curtain)
    try:
        await _Visit(app, opening, thread).go()
    finally:
        thread.end()
        if curtain.is_current:
            await app.pop_screen()


async def sit_from_home(app: App[Any], folder: Path) -> None:
    """Let a person review on the computer of somebody who runs methods; ``folder`` is the data folder."""
    try:
        laptop = await asyncio.to_thread(open_laptop, folder)
    except HarnessError as error:
        app.notify(
            plain(str(error)), title="The review cannot open", severity="error", markup=False
        )
        return
    with closing(laptop):
        await sit(app, TerminalOpening(laptop))


class _Visit:
    """The pages before the first item, each asked for and waited for."""

    def __init__(self, app: App[Any], opening: TerminalOpening, thread: OneThread) -> None:
        self._app, self._opening, self._thread = app, opening, thread
        self._draws_anyway = opening.draw_anyway
        self._first = True
        """True until a review was chosen: one that was named on the command line needs no choosing."""
        self._said = ""
        """What the next list of reviews says about the way that led back to it."""

    async def go(self) -> None:
        """Lead from the list of reviews to the items, and back where the person goes back."""
        why = NO_TROUBLE
        while (choice := await self._choose(why)) is not None:
            why = NO_TROUBLE
            try:
                batch = await self._open(choice)
                session = None if batch is None else await self._begin(batch)
            except HarnessError as error:
                why = opening_words.why_not_open(self._opening.words, choice, error)
                continue
            if batch is not None and session is not None and await self._judge(batch, session):
                return

    async def _ask(self, page: Screen[Result]) -> Result | None:
        return await self._app.push_screen_wait(page)

    async def _choose(self, why: Trouble) -> Choice | None:
        while True:
            choices, why = await self._choices(why)
            if len(choices) == 1 and self._opening.is_named(choices[0]) and self._first:
                self._first = False
                return choices[0]
            page = ChoosePage(self._opening, choices, why, self._said or self._opening.not_here())
            said = await self._ask(page)
            why, self._said = NO_TROUBLE, ""
            if said == ChoosePage.LANGUAGE:
                await self._language()
            elif not isinstance(said, str):
                return said

    async def _choices(self, why: Trouble) -> tuple[list[Choice], Trouble]:
        try:
            return await self._thread.do(self._opening.choices), why
        except HarnessError as error:
            return [], trouble(self._opening.words, error)

    async def _language(self) -> None:
        """Let the person choose; where the choice cannot be kept, it holds for now."""
        tag = await self._ask(LanguagePage(self._opening))
        if tag is not None:
            with suppress(HarnessError):
                await self._thread.do(partial(self._opening.set_language, tag))

    async def _open(self, choice: Choice) -> Batch | None:
        """Open a review; one that is locked asks for the words of the card until they are right."""
        passphrase, again = None, ""
        while True:
            try:
                return await self._thread.do(partial(self._opening.open, choice, passphrase))
            except FileError as error:
                if error.problem is not FileProblem.LOCKED and passphrase is None:
                    raise
                again = trouble(self._opening.words, error).said if passphrase else ""
            passphrase = await self._ask(AskPage(self._opening.words, self._secret(again)))
            if passphrase is None:
                return None

    def _secret(self, again: str) -> Question:
        asked = opening_words.secret_words(self._opening.words)
        return Question(*asked[:3], trouble=again, wide=True)

    async def _begin(self, batch: Batch) -> Session | None:
        """Ask who asks, who rates and whether this window will do; None where the person goes back."""
        opening, words = self._opening, self._opening.words
        if not opening.is_known(batch):
            if not await self._ask(OrganisationPage(words, batch)):
                return None
            await self._thread.do(partial(opening.accept, batch))
        code = await self._code(batch)
        if code is None:
            return None
        why = await self._thread.do(partial(opening.mis_drawn, batch))
        if why is not None:
            if not await self._ask(WarningPage(words, why)):
                return None
            self._draws_anyway = True
        return await self._thread.do(partial(opening.session, batch, code, Face.TERMINAL))

    async def _code(self, batch: Batch) -> str | None:
        """Ask for the code on the card until it is a right one; whoever was here last only presses Enter."""
        opening, words, again = self._opening, self._opening.words, ""
        typed, letters = opening.code or "", opening.remembered(batch)
        place, asked, about = opening_words.code_of_card(words)[:3]
        if letters and not typed:
            about = f"{opening_words.same_card(words, letters)} {about}"
        while True:
            question = Question(place, asked, about, typed, again)
            answer = await self._ask(AskPage(words, question))
            if answer is None:
                return None
            typed = answer
            try:
                return await self._thread.do(partial(opening.reviewer, batch, typed))
            except HarnessError as error:
                again = trouble(words, error).said

    async def _judge(self, batch: Batch, session: Session) -> bool:
        """Let the person judge; False where they went back before the first sentence."""
        sitting = TerminalSitting(
            session,
            self._thread,
            places=partial(self._opening.hand_over_places, batch),
            on_stick=self._opening.on_stick,
            draw_anyway=self._draws_anyway,
        )
        try:
            agreed = session.view.phase is not Phase.CONSENT or await self._agree(session)
            related = agreed and await self._relate(session)
            if related:
                await self._ask(JudgingScreen(sitting))
        finally:
            await self._thread.do(session.close)
        if not agreed:
            await self._thread.do(self._opening.forget_reviewer)
            self._said = opening_words.nothing_begun(session.words)
        return related

    async def _relate(self, session: Session) -> bool:
        """Ask how near the person is to the method, where that was not said; False where they go back."""
        why = NO_TROUBLE
        while session.asks_relation:
            said = await self._ask(RelationPage(session.words, why))
            if said is None:
                return False
            view = await self._thread.do(partial(session.relate, said))
            why = Trouble(view.trouble, view.detail)
        return True

    async def _agree(self, session: Session) -> bool:
        why = NO_TROUBLE
        while True:
            said = await self._ask(ConsentPage(session.words, session.manifest, why))
            if said is None:
                return False
            if said is ConsentAnswer.LANGUAGE:
                await self._language()
                session.words = self._opening.words
                continue
            shares = await self._ask(SharingPage(session.words, session.manifest))
            if shares is None:
                continue
            view = await self._thread.do(partial(session.agree, share_corrections=shares))
            if not view.trouble:
                return True
            why = Trouble(view.trouble, view.detail)
