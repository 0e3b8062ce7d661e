"""From the list of reviews to the last item: each step of the flow as a page, in whatever app shows them.

The review mode is also its own app: nothing in it but the pages for one reviewer.
"""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import click
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from harness.core.failures import HarnessError
from review.files.batch import Batch
from review.log.payloads import Face
from review.session import choice, flow
from review.session.waiting import open_laptop
from rosetta_tui.review.rating.pages import welcome
from rosetta_tui.review.rating.pages.judging import JudgingScreen
from rosetta_tui.review.rating.pages.page import NO_TROUBLE, STYLES, told
from rosetta_tui.review.rating.sitting import OneThread, TerminalOpening, TerminalSitting
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.customization import ANSI_COLOURS, THEMES
from rosetta_tui.toolkit.textual_inside import TerminalApp

Result = TypeVar("Result")


class BlankScreen(Screen[None]):
    """Lies under the pages, so that nothing else shines through between two of them."""

    CSS_PATH = STYLES

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words

    def compose(self) -> ComposeResult:
        yield Static(told(self._words, "$quiet"))


async def sit(app: App[Any], opening: TerminalOpening) -> None:
    """Run a person's review in this app until they stop; to be run in a worker of the app."""
    thread = OneThread()
    curtain = BlankScreen(opening.words("One moment …"))
    await app.push_screen(curtain)
    try:
        await _Visit(app, opening, thread).go()
    finally:
        thread.end()
        if curtain.is_current:
            await app.pop_screen()


async def sit_from_home(app: App[Any], folder: Path) -> None:
    """Run a review on the computer of somebody who runs methods; ``folder`` is the data folder."""
    try:
        laptop = await asyncio.to_thread(open_laptop, folder)
    except HarnessError as error:
        app.notify(plain(str(error)), title="The review cannot open", severity="error", markup=False)
        return
    with closing(laptop):
        await sit(app, TerminalOpening(laptop))


class _Visit:
    """Shows each step of the flow as a page, and passes on what the person answers."""

    def __init__(self, app: App[Any], opening: TerminalOpening, thread: OneThread) -> None:
        self._app, self._opening, self._thread = app, opening, thread
        self._flow = flow.Flow(opening, Face.TERMINAL)
        self._draws_anyway = opening.draw_anyway
        self._typed = ""  # the code that was typed last
        self._looked = False  # true where the person asked for the list once more

    async def go(self) -> None:
        """Lead from the list of reviews to the items, and back where the person goes back."""
        try:
            step: flow.FlowStep[Any] | None = await self._thread.do(self._flow.begin)
            while step is not None:
                step = await self._after(step)
        except BaseException:  # the program ends: the person did not say that they do not agree
            if self._flow.session is not None:
                await self._thread.do(self._flow.session.close)
            raise
        await self._thread.do(self._flow.end)

    async def _ask(self, page: Screen[Result]) -> Result | None:
        return await self._app.push_screen_wait(page)

    async def _after(self, step: flow.FlowStep[Any]) -> flow.FlowStep[Any] | None:
        """Show a step until it is answered, and return the next; None where the person stops."""
        match step:
            case flow.ChooseReview():
                # Where the person looked again for nothing, the list says so.
                again = self._opening.words(choice.NOTHING_FOUND) if self._looked and not step.choices else ""
                lines = " ".join(filter(None, (step.said, again)))
                page = welcome.ChoosePage(self._opening, step.choices, step.why or NO_TROUBLE, lines)
                chosen = await self._ask(page)
                self._looked = chosen == welcome.ChoosePage.LOOK_AGAIN
                if chosen is None:
                    return None
                if chosen == welcome.ChoosePage.LANGUAGE:
                    await self._language()
                given: object = None if isinstance(chosen, str) else chosen
            case flow.AtSentences():
                # Run the judging until the person stops; the list of reviews where something led back to
                # it.
                self._opening.judged = True
                sitting = TerminalSitting(self._flow, step, self._thread, draw_anyway=self._draws_anyway)
                await self._ask(JudgingScreen(sitting))
                return sitting.step if isinstance(sitting.step, flow.ChooseReview) else None
            case _:
                given = await self._answer(step)
        return await self._thread.do(partial(self._flow.answer, given))

    async def _answer(self, step: flow.FlowStep[Any]) -> object:
        """Prompt for what leads from a review to its first item; None where the person goes back."""
        words, why = self._opening.words, step.why or NO_TROUBLE
        match step:
            case flow.CheckLetters():
                return await self._draws(step.batch)
            case flow.AskCode():
                return await self._code(step)
            case flow.AskConsent():
                return await self._agrees(step)
            case flow.AskSecret():
                asked = choice.secret_words(words)
                page: Screen[Any] = welcome.AskPage(words, welcome.Question(*asked[:3], "", why.said, wide=True))
            case flow.AskWhoAsks():
                page = welcome.OrganisationPage(words, step.batch)
            case flow.AskSharing():
                page = welcome.SharingPage(words, step.session.manifest, why)
            case flow.AskRelation():
                page = welcome.RelationPage(words, why)
            case _:
                raise TypeError(step)
        given: Any = await self._ask(page)
        return given

    async def _language(self) -> None:
        """Prompt for the language; where the choice cannot be kept, it holds for now."""
        tag = await self._ask(welcome.LanguagePage(self._opening))
        if tag is not None:
            with suppress(HarnessError):
                await self._thread.do(partial(self._opening.set_language, tag))

    async def _draws(self, batch: Batch) -> bool:
        """Show the question whether the person continues where a terminal may draw the texts wrongly."""
        why = await self._thread.do(partial(self._opening.mis_drawn, batch))
        if why is not None:
            go_on_anyway = await self._ask(welcome.WarningPage(self._opening.words, why))
            self._draws_anyway = go_on_anyway is True
        return why is None or self._draws_anyway

    async def _code(self, step: flow.AskCode) -> str | None:
        """Prompt for the code on the card, unless it was given; enter alone is nobody's answer, as people share computers."""
        words, (given, self._opening.code) = self._opening.words, (self._opening.code, None)
        if given is not None:
            self._typed = given
            return given
        place, asked, about = choice.code_of_card(words)[:3]
        if step.last is not None:
            about = f"{choice.same_card(words, step.last.letters)} {about}"
        wrong = "" if step.why is None else step.why.said
        typed = self._typed if wrong else ""
        answer = await self._ask(welcome.AskPage(words, welcome.Question(place, asked, about, typed, wrong)))
        self._typed = answer or ""
        return answer

    async def _agrees(self, step: flow.AskConsent) -> bool | None:
        """Prompt for consent, in the language that the person chooses."""
        session = step.session
        while (
            answer := await self._ask(
                welcome.ConsentPage(session.words, session.manifest, session.view, step.why or NO_TROUBLE)
            )
        ) is not None:
            if answer is welcome.ConsentAnswer.AGREED:
                return True
            await self._language()
            self._flow.reworded()
        return None


INTERRUPTED = 130
_THEME = "theme"  # name of the setting in which the colours are remembered


def run_review(opening: TerminalOpening) -> int:
    """Run a review until the person stops; return the exit code. Everything is on the disk all the time."""
    app = ReviewApp(opening)
    app.run()
    if opening.judged:
        click.echo(plain(opening.words("Everything is kept. Next time you continue here.")))
    return app.return_code or 0


class ReviewApp(TerminalApp):
    """Begins with the list of reviews and ends when the person stops."""

    TITLE = "Rosetta"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "colours", show=False),
        Binding("ctrl+q", "stop(0)", show=False),
        Binding("ctrl+c", f"stop({INTERRUPTED})", show=False),
    ]

    def __init__(self, opening: TerminalOpening) -> None:
        super().__init__()
        self._opening = opening
        for name in set(self.available_themes) - {"ansi-dark", "ansi-light"}:
            self.unregister_theme(name)
        for theme in THEMES:
            self.register_theme(theme)
        remembered = opening.laptop.setting(_THEME)
        self.theme = remembered if remembered in self.available_themes else THEMES[0].name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the terminal's own colours for a theme that has none of ours."""
        return ANSI_COLOURS

    def on_mount(self) -> None:
        self.run_worker(sit(self, self._opening), name="sit")

    def on_worker_state_changed(self, message: Worker.StateChanged) -> None:
        if message.worker.name == "sit" and message.state is WorkerState.SUCCESS:
            self.exit()

    def action_colours(self) -> None:
        names = [theme.name for theme in THEMES]
        at = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(at + 1) % len(names)]

        def keep() -> None:
            with suppress(HarnessError):  # they hold for now
                self._opening.laptop.set_setting(_THEME, self.theme)

        self.run_worker(keep, thread=True, group="colours")

    async def leave_at_once(self, code: int) -> None:
        await self.action_stop(code)

    async def action_stop(self, code: int) -> None:
        if isinstance(self.screen, JudgingScreen):
            await self.screen.keep_what_is_typed()
        self.exit(return_code=code)
