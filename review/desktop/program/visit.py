"""From the list of reviews to a session: which page follows which before the first sentence.

The same way as in a terminal. Everything that waits for a disk is done away from the window, and a page
that is left while something is under way takes no second key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from PySide6.QtCore import QObject

from corpora.languages.scripts import tag_script
from harness.core.failures import HarnessError
from review.desktop.frame.page import Page
from review.desktop.frame.work import Desk
from review.desktop.look import fonts
from review.desktop.look.fonts import legible, undrawn
from review.desktop.pages.asking_page import AskingPage
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.pages.consent_page import ConsentPage
from review.desktop.pages.file_page import FilePage
from review.desktop.pages.first_page import FirstPage
from review.desktop.pages.missing_page import MissingPage
from review.desktop.pages.organisation_page import OrganisationPage
from review.desktop.pages.relation_page import RelationPage
from review.desktop.pages.sharing_page import SharingPage
from review.desktop.pages.welcome_page import WelcomePage
from review.desktop.program.sitting import Sitting
from review.desktop.program.window import Window
from review.files.batch import Batch
from review.log.payloads import Face
from review.rating import Relation
from review.sealed.problem import FileError, FileProblem
from review.session import opening_words
from review.session.choice import Choice, of_file
from review.session.opening import Opening
from review.session.session import Session
from review.session.view import Phase, View
from review.session.words.troubles import Trouble, trouble

Result = TypeVar("Result")


class _Reviews(NamedTuple):
    """What can be opened."""

    choices: list[Choice]
    named: Choice | None
    """The only one there is, where the person named that very file and so has chosen."""


class Visit(QObject):
    """One for the whole run of the program; one sitting after the other."""

    def __init__(self, window: Window, desk: Desk) -> None:
        super().__init__()
        self._window, self._desk = window, desk
        self._opening = desk.opening
        self._first = True
        """True until a review was chosen: one that was named at the start needs no choosing."""
        self._draw: Callable[[], None] = self.begin
        """Shows the page that is shown now once more, in the words of now."""
        self._session: Session | None = None
        self._sitting: Sitting | None = None
        self._file: Path | None = None
        """The file that was opened last."""
        self._next: Path | None = None
        """A file that was handed to the program and waits until the person can be led to it."""
        self._next_is_told = False
        """True when the person knows that it waits."""
        self._line = ""
        """What stands in the line of a page that is said anew in another language."""
        window.dropped.connect(self.take)
        window.reworded.connect(self._reword)
        window.closing.connect(self._keep)
        window.uncovered.connect(self._look_at_next)
        desk.work.rested.connect(self._look_at_next)
        desk.look.changed.connect(self._name_font)

    # which review

    def begin(self) -> None:
        """Show the reviews, or open the one that was named."""
        self._choose(None)

    def take(self, path: Path) -> None:
        """Open a file: at once, or after what is under way and the sentences that the person is at."""
        self._next, self._next_is_told = path, False
        self._look_at_next()

    def _look_at_next(self) -> None:
        """Open the file that waits, as soon as that leads away from nothing; say before that it waits."""
        path = self._next
        if path is None or self._desk.work.busy or self._window.is_over:
            return
        if self._sitting is None and not self._window.is_held:
            self._leave_session(self._lead_to_next)
        elif self._sitting is not None and self._file == path.absolute():
            self._next = None  # these are its sentences
        elif not self._next_is_told:
            self._next_is_told = True
            self._say(self._desk.words("{name} is opened when you stop here.", name=path.name))

    def _lead_to_next(self) -> None:
        path, self._next = self._next, None
        if path is not None:
            self._window.uncover()
            self._do(partial(of_file, path), self._open)

    def _choose(self, why: Trouble | None, said: str = "") -> None:
        self._do(
            partial(_look_for_reviews, self._opening),
            partial(self._list, why, said),
            lambda error: self._list(trouble(self._desk.words, error), said, _Reviews([], None)),
        )

    def _list(self, why: Trouble | None, said: str, reviews: _Reviews) -> None:
        first, self._first = self._first, False
        choices, named = reviews
        if first and named is not None:
            self._open(named)
        else:
            self._show(partial(self._show_list, choices, why, said or self._opening.not_here()))

    def _show_list(self, choices: list[Choice], why: Trouble | None, said: str) -> None:
        page = ChoosePage(self._desk, choices, why, said)
        page.chosen.connect(self._unless_busy(self._open))
        page.file_wanted.connect(self._unless_busy(self._find_file))
        page.again.connect(self._unless_busy(partial(self._choose, None)))
        self._put(page)

    def _find_file(self) -> None:
        self._do(
            self._opening.sticks,
            lambda sticks: self._show(partial(self._show_files, sticks)),
        )

    def _show_files(self, sticks: list[Path]) -> None:
        page = FilePage(self._desk, sticks)
        page.chosen.connect(self._unless_busy(self.take))
        self._with_way_back(page)

    # opening it

    def _open(self, choice: Choice) -> None:
        self._say(self._desk.words("Opening …"))
        self._file = None if choice.path is None else choice.path.absolute()
        self._do(
            partial(self._opening.open, choice),
            self._opened,
            partial(self._not_opened, choice),
        )

    def _not_opened(self, choice: Choice, error: HarnessError) -> None:
        if isinstance(error, FileError) and error.problem is FileProblem.LOCKED:
            self._show(partial(self._ask_secret, choice))
        else:
            self._choose(opening_words.why_not_open(self._desk.words, choice, error))

    def _ask_secret(self, choice: Choice) -> None:
        page = AskingPage(self._desk, opening_words.secret_words(self._desk.words), self._line)
        page.answered.connect(self._unless_busy(partial(self._open_secret, page, choice)))
        self._with_way_back(page)

    def _open_secret(self, page: AskingPage, choice: Choice, typed: str) -> None:
        page.tell(None)
        page.say(self._desk.words("Opening …"))
        self._do(
            partial(self._opening.open, choice, typed),
            self._opened,
            partial(self._wrong, page),
        )

    def _wrong(self, page: AskingPage, error: HarnessError) -> None:
        """Let the person look at the card again; what was typed stays."""
        page.say("")
        page.begin()
        page.tell(trouble(self._desk.words, error))

    def _opened(self, batch: Batch) -> None:
        self._do(partial(self._opening.is_known, batch), partial(self._asked_by, batch))

    # who asks, and who answers

    def _asked_by(self, batch: Batch, known: bool) -> None:
        if known:
            self._see_letters(batch)
        else:
            self._show(partial(self._show_organisation, batch))

    def _show_organisation(self, batch: Batch) -> None:
        page = OrganisationPage(self._desk, batch)
        then = partial(self._do, partial(self._opening.accept, batch))
        page.same.connect(self._unless_busy(partial(then, lambda _: self._see_letters(batch))))
        self._with_way_back(page)

    def _see_letters(self, batch: Batch) -> None:
        """Go on with a review of which something can be read here; single items are told of in their turn.

        Fonts that it brings are read now, when the person knows whose it is.
        """
        self._desk.look.take_fonts(batch.fonts)
        if letters := _unreadable(batch, self._desk.words.reads):
            self._show(partial(self._refuse, batch, letters))
        else:
            self._who(batch)

    def _refuse(self, batch: Batch, letters: list[str]) -> None:
        name = batch.manifest.organisation.name
        self._with_way_back(MissingPage(self._desk, letters, name))

    def _who(self, batch: Batch) -> None:
        self._do(partial(self._remembered, batch), partial(self._welcome, batch))

    def _remembered(self, batch: Batch) -> tuple[str, int, int] | None:
        opening = self._opening
        letters = opening.remembered(batch)
        return None if letters is None else (letters, opening.answered(batch), opening.asked(batch))

    def _welcome(self, batch: Batch, remembered: tuple[str, int, int] | None) -> None:
        if remembered is None:
            self._show(partial(self._ask_code, batch))
        else:
            self._show(partial(self._show_welcome, batch, *remembered))

    def _show_welcome(self, batch: Batch, letters: str, done: int, asked: int) -> None:
        page = WelcomePage(self._desk, batch.manifest.title, letters, done, asked)
        go_on = partial(
            self._do, partial(self._opening.reviewer, batch, ""), partial(self._begin, batch)
        )
        page.on.connect(self._unless_busy(go_on))
        page.other.connect(self._unless_busy(partial(self._show, partial(self._ask_code, batch))))
        self._with_way_back(page)

    def _ask_code(self, batch: Batch) -> None:
        page = AskingPage(self._desk, opening_words.code_of_card(self._desk.words), self._line)
        page.answered.connect(self._unless_busy(partial(self._read_code, page, batch)))
        self._with_way_back(page)

    def _read_code(self, page: AskingPage, batch: Batch, typed: str) -> None:
        page.tell(None)
        self._do(
            partial(self._opening.reviewer, batch, typed),
            partial(self._begin, batch),
            partial(self._wrong, page),
        )

    # the session

    def _begin(self, batch: Batch, person: str) -> None:
        begin = partial(self._opening.session, batch, person, Face.DESKTOP)
        self._do(begin, partial(self._begun, batch))

    def _begun(self, batch: Batch, session: Session) -> None:
        self._session = session
        self._name_font()
        if session.view.phase is Phase.CONSENT:
            self._show(partial(self._ask_consent, batch, session))
        else:
            self._agreed(batch, session)

    def _ask_consent(self, batch: Batch, session: Session) -> None:
        page = ConsentPage(self._desk, session.manifest)
        ask = partial(self._show, partial(self._ask_sharing, batch, session))
        page.agreed.connect(self._unless_busy(ask))
        page.left.connect(self._unless_busy(partial(self._decline, session)))
        self._put(page)

    def _ask_sharing(self, batch: Batch, session: Session) -> None:
        page = SharingPage(self._desk, session.manifest)
        page.chosen.connect(self._unless_busy(partial(self._agree, page, batch, session)))
        back = partial(self._show, partial(self._ask_consent, batch, session))
        page.left.connect(self._unless_busy(back))
        self._put(page)

    def _agree(self, page: Page, batch: Batch, session: Session, shares: bool) -> None:
        def agreed(view: View) -> None:
            if view.trouble:
                page.tell(Trouble(view.trouble, view.detail))
            else:
                self._agreed(batch, session)

        self._do(partial(session.agree, share_corrections=shares), agreed)

    def _agreed(self, batch: Batch, session: Session) -> None:
        """Ask how near the person is to the method, where that was not said; then begin."""
        if session.asks_relation:
            self._show(partial(self._ask_relation, batch, session))
        else:
            self._sit(batch, session)

    def _ask_relation(self, batch: Batch, session: Session) -> None:
        page = RelationPage(self._desk)
        page.chosen.connect(self._unless_busy(partial(self._relate, page, batch, session)))
        leave = partial(self._leave_session, partial(self._choose, None))
        page.left.connect(self._unless_busy(leave))
        self._put(page)

    def _relate(self, page: Page, batch: Batch, session: Session, relation: Relation) -> None:
        def said(view: View) -> None:
            if view.trouble:
                page.tell(Trouble(view.trouble, view.detail))
            else:
                self._sit(batch, session)

        self._do(partial(session.relate, relation), said)

    def _decline(self, session: Session) -> None:
        """Begin nothing."""
        said = opening_words.nothing_begun(session.words)
        self._leave_session(partial(self._choose, None, said))

    def _leave_session(self, then: Callable[[], None]) -> None:
        """Close a session before its first sentence, if there is one; who did not agree to it is forgotten."""
        session, self._session = self._session, None
        if session is None:
            then()
        else:
            self._do(partial(_close_unbegun, self._opening, session), lambda _: then())

    def _sit(self, batch: Batch, session: Session) -> None:
        self._window.takes_files = False
        self._sitting = Sitting(self._window, self._desk, batch, session)
        self._sitting.ended.connect(self._end)
        self._sitting.start()

    def _end(self) -> None:
        self._sitting = self._session = None
        self._window.takes_files = True
        if self._next is None:
            self._choose(None, self._desk.words("Everything is kept. You may close the program."))
        else:
            self._look_at_next()

    # what holds on every page

    def _keep(self) -> None:
        if self._sitting is not None:
            self._sitting.keep_typed()

    def _name_font(self) -> None:
        """Have recorded in which letters the sentences are seen from now on."""
        if self._session is not None:
            self._session.font = fonts.named(self._desk.look.size)

    def _set_language(self, tag: str) -> None:
        """Speak another language; where the choice cannot be kept, it holds for now."""
        self._do(
            partial(self._opening.set_language, tag),
            lambda _: self._window.speak(),
            lambda _: self._window.speak(),
        )

    def _reword(self) -> None:
        if self._session is not None:
            self._session.words = self._opening.words
        if self._sitting is None:
            page = self._window.below
            self._line = page.text if isinstance(page, AskingPage) else ""
            self._draw()
            self._line = ""

    def _show(self, draw: Callable[[], None]) -> None:
        self._draw = draw
        draw()

    def _with_way_back(self, page: FirstPage) -> None:
        page.left.connect(self._unless_busy(self.begin))
        self._put(page)

    def _put(self, page: FirstPage) -> None:
        page.language.connect(self._set_language)
        self._window.show_page(page)

    def _say(self, said: str) -> None:
        if (page := self._window.page) is not None:
            page.say(said)

    def _lead_back(self, error: HarnessError) -> None:
        self._choose(trouble(self._desk.words, error))

    def _unless_busy(self, act: Callable[..., None]) -> Callable[..., None]:
        """Return an act that does nothing while another one is under way."""

        def once(*given: object) -> None:
            if not self._desk.work.busy:
                act(*given)

        return once

    def _do(
        self,
        call: Callable[[], Result],
        then: Callable[[Result], None],
        failed: Callable[[HarnessError], None] | None = None,
    ) -> None:
        self._desk.work.do(call, then, failed or self._lead_back)


def _look_for_reviews(opening: Opening) -> _Reviews:
    """Look at sticks, files and what is kept; away from the window."""
    choices = opening.choices()
    alone = choices[0] if len(choices) == 1 else None
    return _Reviews(choices, alone if alone is not None and opening.is_named(alone) else None)


def _close_unbegun(opening: Opening, session: Session) -> None:
    """Close a session before its first sentence; whoever agreed is remembered, and may come back to it."""
    agreed = session.view.phase is not Phase.CONSENT
    session.close()
    if not agreed:
        opening.forget_reviewer()


def _unreadable(batch: Batch, languages: Sequence[str]) -> list[str]:
    """Return the letters for lack of which nothing can be agreed to, or nothing be answered; none where it can."""
    manifest = batch.manifest
    consent, tag = manifest.consent_in(*languages)
    if not legible(consent, tag_script(tag)):
        return undrawn([consent])
    tags = (manifest.source_language, manifest.target_language)
    scripts = [tag_script(tag) for tag in tags]
    if any(all(map(legible, (each.source, each.candidate), scripts)) for each in batch.items):
        return []
    return undrawn(text for each in batch.items for text in (each.source, each.candidate))
