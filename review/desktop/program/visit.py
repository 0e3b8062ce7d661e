"""The flow of a review in the window: a page for each step, and what a person does on it as the answer.

Everything that waits for a disk is done away from the window, and a page that is left while something is under
way takes no second key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from shiboken6 import isValid

from corpora.languages.tags import tag_script
from harness.core.failures import HarnessError
from review.desktop import look
from review.desktop.frame.page import Page
from review.desktop.frame.work import AppContext
from review.desktop.item.item_page import ItemPage, TranslationPage
from review.desktop.item.pauses import PAUSES, AnswersPage
from review.desktop.look import legible, undrawn
from review.desktop.pages.ending_pages import WithdrawPage
from review.desktop.pages.first_pages import (
    AskingPage,
    ChoosePage,
    ConsentPage,
    FilePage,
    FirstPage,
    MissingPage,
    OrganisationPage,
    RelationPage,
    SharingPage,
    WelcomePage,
)
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.pages.settings_page import HelpPage
from review.desktop.program.application import forget_clipboard, let_go_of_code
from review.desktop.program.window import Window
from review.files.batch import Batch
from review.log.payloads import Face
from review.session import choice
from review.session.choice import AskedLine, Choice
from review.session.flow import (
    AskCode,
    AskConsent,
    AskRelation,
    AskSecret,
    AskSharing,
    AskWhoAsks,
    AskWithdraw,
    AtSentences,
    CheckLetters,
    ChooseFile,
    ChooseReview,
    Flow,
    FlowStep,
    HandOver,
    ShowAnswers,
    ShowHelp,
)
from review.session.position import GUARD_SECONDS
from review.session.words import page as page_words
from review.session.words.keys import NextAction
from review.session.words.troubles import trouble


class Visit(QObject):
    """One for the whole run of the program; everything a person gave is on the disk at each step."""

    def __init__(self, window: Window, desk: AppContext, *, guard: float = GUARD_SECONDS) -> None:
        """``guard`` as ``Session`` takes it."""
        super().__init__()
        self._window, self._desk = window, desk
        self.flow = Flow(desk.opening, Face.DESKTOP, guard=guard)
        # True from an answer until the page it leads to: what is pressed meanwhile was not meant
        # for that
        self._leading = False
        self._typed = ""  # What stands in the line of a page that is said anew in another language
        self._locked = False  # True where the words are asked for that open a file
        # The page of an item, while it is shown
        self._items: ItemPage | TranslationPage | None = None
        # A file that was handed to the program and waits until the person can be led to it
        self._next: Path | None = None
        self._next_is_told = False  # True when the person knows that it waits
        # Step → its page; None where the step is answered without one
        self._pages: Mapping[type[FlowStep[Any]], Callable[[Any], Page | None]] = {
            ChooseReview: lambda step: ChoosePage(desk, step.choices, step.said),
            ChooseFile: lambda step: FilePage(desk, step.sticks),
            AskSecret: lambda _: self._asking(choice.secret_words(desk.words)),
            AskWhoAsks: lambda step: OrganisationPage(desk, step.batch),
            CheckLetters: self._letters,
            AskCode: self._code,
            AskConsent: lambda step: ConsentPage(desk, step.session.manifest, step.session.view),
            AskSharing: lambda step: SharingPage(desk, step.session.manifest, step.now),
            AskRelation: lambda _: RelationPage(desk),
            AtSentences: self._sentences,
            HandOver: self._hand_over,
            AskWithdraw: lambda step: WithdrawPage(desk, translating=step.session.translating),
            ShowHelp: self._help,
            ShowAnswers: lambda step: AnswersPage(desk, step.answered, translating=step.session.translating),
        }
        window.dropped.connect(self.take)
        window.reworded.connect(self._reword)
        window.closing.connect(self._keep)
        window.uncovered.connect(self._look_at_next)
        desk.work.rested.connect(self._look_at_next)
        desk.look.changed.connect(self._name_font)

    def begin(self) -> None:
        """Show the reviews, or open the one that was named."""
        self._go(self.flow.begin)

    def keep_typed(self) -> None:
        """Store as a draft what is in an open box."""
        if self._items is not None and isValid(self._items):
            self._items.keep_typed()

    # a file from outside

    def take(self, path: Path) -> None:
        """Open a file: at once, or after what is under way and the sentences that the person is at."""
        self._next, self._next_is_told = path, False
        self._look_at_next()

    def _look_at_next(self) -> None:
        """Open the file that waits, as soon as that leads away from nothing; say before that it waits."""
        path = self._next
        if path is None or self._desk.work.busy or self._window.is_over:
            return
        if not self.flow.sits and not self._window.is_held:
            self._next = None
            self._window.uncover()
            self._say(self._desk.words("Opening …"))
            self._go(partial(self.flow.open, path))
        elif self.flow.sits and self.flow.file == path.absolute():
            self._next = None  # these are its sentences
        elif not self._next_is_told:
            self._next_is_told = True
            self._say(self._desk.words("{name} is opened when you stop here.", name=path.name))

    # from step to step

    def answer(self, given: object = None) -> None:
        """Lead on, after everything that is being saved; who stops has what is typed kept before."""
        if not self._leading:
            if isinstance(page := self._window.below, AskingPage):
                page.tell(None)
            if given is NextAction.LEAVE:
                self._keep()
            if isinstance(given, Choice | Path) or (given is not None and self._locked):
                self._say(self._desk.words("Opening …"))  # that may take seconds
            self._go(partial(self.flow.answer, given))

    def _go(self, lead: Callable[[], FlowStep[Any]], failed: Callable[[HarnessError], None] | None = None) -> None:
        self._leading = True
        self._desk.work.do(lead, self.show, failed or self._failed)

    def _failed(self, error: HarnessError) -> None:
        """Show what nobody foresaw: at the sentences the page stays, before them the way leads back to the list."""
        why = trouble(self._desk.words, error)
        if self.flow.sits:
            self._leading = False
            self._window.tell(why)
        else:
            empty = ChooseReview(why=why)
            self._go(partial(self.flow.begin, why), lambda _: self.show(empty))

    def show(self, step: FlowStep[Any]) -> None:
        """Show the page of a step; what was typed stays there where it was not right."""
        self._leading, self._items = False, None
        self._locked = isinstance(step, AskSecret)
        self._name_font()
        self._window.takes_files = not self.flow.sits
        page = self._window.below
        if isinstance(page, AskingPage) and step.why and isinstance(step, AskSecret | AskCode):
            page.say("")
            page.begin()
        elif (page := self._pages[type(step)](step)) is not None:
            back = NextAction.LEAVE if isinstance(step, AtSentences) else None
            page.answered.connect(self.answer)
            page.left.connect(partial(self.answer, back))
            if isinstance(page, FirstPage):
                page.language.connect(self._set_language)
            self._window.show_page(page)
            if isinstance(step, AtSentences) and step.writes and isinstance(page, ItemPage):
                page.write_better()
        if page is not None and step.why is not None:
            page.tell(step.why)

    # the page of each step

    def _asking(self, asked: AskedLine) -> Page:
        return AskingPage(self._desk, asked, self._typed)

    def _letters(self, step: CheckLetters) -> Page | None:
        """Continue with a review of which something can be read here; single items are reported in their turn.

        Fonts that it brings are read now, when the person knows whose it is.
        """
        self._desk.look.take_fonts(step.batch.fonts)
        if letters := _unreadable(step.batch, self._desk.words.reads):
            return MissingPage(self._desk, letters, step.batch.manifest.organisation.name)
        self.answer(True)
        return None

    def _code(self, step: AskCode) -> Page:
        if step.last is not None:
            return WelcomePage(self._desk, step.batch.manifest.title, step.last)
        return self._asking(choice.code_of_card(self._desk.words))

    def _sentences(self, step: AtSentences) -> Page:
        """Return the page of an item, or what lies between two of them."""
        session, view = step.session, step.view
        if view.item is None:
            pause = PAUSES[view.phase]
            return pause(self._desk, view, step.answered, translating=session.translating)
        kind = TranslationPage if session.translating else ItemPage
        self._items = kind(self._desk, session)
        self._desk.work.do(let_go_of_code, lambda _: None, self._failed)
        return self._items

    def _help(self, step: ShowHelp) -> Page:
        guide = page_words.guide(self._desk.words, step.session.manifest)
        return HelpPage(self._desk, guide, translating=step.session.translating)

    def _hand_over(self, step: HandOver) -> Page:
        session = step.session
        return HandOverPage(
            self._desk,
            lambda folder: [session.export(folder)],
            partial(self._desk.opening.hand_over_places, step.batch),
            session.view,
        )

    # what holds on every page

    def _keep(self) -> None:
        """Store what is typed, and clear a secret sentence from the clipboard."""
        self.keep_typed()
        session = self.flow.session
        if session is not None and session.manifest.secret:
            forget_clipboard()

    def _name_font(self) -> None:
        """Record in which letters the sentences are seen from now on."""
        if self.flow.session is not None:
            self.flow.session.font = look.font_label(self._desk.look.size)

    def _set_language(self, tag: str) -> None:
        """Speak another language; where the choice cannot be kept, it holds for now."""
        self._desk.work.do(
            partial(self._desk.opening.set_language, tag),
            lambda _: self._window.speak(),
            lambda _: self._window.speak(),
        )

    def _reword(self) -> None:
        """Show the page again in the language of now; what is typed is kept before."""
        self.keep_typed()
        self._desk.work.do(self.flow.reworded, self._show_anew, self._failed)

    def _show_anew(self, step: FlowStep[Any]) -> None:
        if isinstance(page := self._window.below, AskingPage):
            self._typed, step = page.text, replace(step, why=None)
        self.show(step)
        self._typed = ""

    def _say(self, said: str) -> None:
        if (page := self._window.page) is not None:
            page.say(said)


def _unreadable(batch: Batch, languages: Sequence[str]) -> list[str]:
    """Return the letters for lack of which nothing can be agreed to, or nothing be answered; none where it can."""
    manifest = batch.manifest
    consent, tag = manifest.consent_in(*languages)
    if not legible(consent, tag_script(tag)):
        return undrawn([consent])
    tags = (manifest.source_language, manifest.target_language)
    scripts = [tag_script(tag) for tag in tags]
    if any(all(map(legible, (item.source, item.candidate), scripts)) for item in batch.items):
        return []
    return undrawn(text for item in batch.items for text in (item.source, item.candidate))
