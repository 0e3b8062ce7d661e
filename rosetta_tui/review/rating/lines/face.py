"""The line face: it reads a line and prints lines; no cursor control, no colour, no screen.

Made for screen readers, braille displays and pipes. The keys are those of the other faces, each followed
by Enter; ``c`` and ``e`` take words on the same line. Whatever was answered is saved before more is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from harness.core.failures import HarnessError, UsageError
from review.log.payloads import Face
from review.session.session import Session
from review.session.timing import GUARD_SECONDS
from review.session.view import Lesson, Phase, View
from review.session.words import page as page_words
from review.session.words.catalogue import Words
from review.session.words.keys import RATING_OF, Act, act_of, relation_of
from rosetta_tui.review.rating.lines import pages
from rosetta_tui.review.rating.lines.line_keys import LineActs
from rosetta_tui.review.rating.lines.opening import (
    LANGUAGE,
    YES,
    begin,
    choose_language,
    tell_trouble,
)
from rosetta_tui.review.rating.lines.pages import Console, LeftError
from rosetta_tui.review.rating.opening import TerminalOpening
from rosetta_tui.show.text import plain


def run_lines(opening: TerminalOpening, console: Console | None = None) -> int:
    """Rate in lines until the person stops; gives the exit code. Everything is on the disk all the time."""
    console = console or Console()
    try:
        _sit(opening, console)
    except LeftError:
        console.say()
    except KeyboardInterrupt:
        console.say()
        console.say(opening.words("Everything is kept. Next time you go on here."))
        return 130
    except HarnessError as error:
        tell_trouble(opening, console, error)
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _sit(opening: TerminalOpening, console: Console) -> None:
    begun = begin(opening, console)
    if begun is None:
        return
    guard = GUARD_SECONDS if console.typed else 0.0
    session = opening.session(begun.batch, begun.reviewer, Face.LINES, guard=guard)
    acts = LineActs(opening, session, console, opening.hand_over_places(begun.batch))
    LineFace(opening, session, console, acts).run()


class LineFace:
    """One sitting in lines: says what is new, asks, and lets the line be obeyed."""

    def __init__(
        self, opening: TerminalOpening, session: Session, console: Console, acts: LineActs
    ) -> None:
        self._opening, self._session, self._console, self._acts = opening, session, console, acts
        self._heard: object = None
        """The page or item that was read out last: it is not read twice."""
        self._told: View | None = None
        """The view whose sentence was said last."""
        self._explained = False

    @property
    def _words(self) -> Words:
        return self._session.words

    def run(self) -> None:
        """Show, ask and obey until the person stops."""
        self._console.say(
            self._words("Everything works without the internet. Nothing is sent anywhere.")
        )
        while not self._acts.left:
            view = self._session.view
            self._tell(view)
            if self._session.asks_relation:
                self._relate()
            else:
                _PAGES[view.phase](self, view)
            self._session.touched()

    def _tell(self, view: View) -> None:
        """Say once what the last key did, or why nothing was saved."""
        if view is self._told:
            return
        self._told = view
        for said in (view.said, view.trouble):
            if said:
                self._console.say(said)
        if view.detail:
            detail = plain(view.detail)
            self._console.say(self._words("For whoever helps: {detail}", detail=detail))

    # pages

    def consent(self) -> None:
        """Say who asks for what, and ask until the person agrees, leaves, or has chosen a language."""
        words, console, manifest = self._words, self._console, self._session.manifest
        console.say()
        console.labelled(words("Who asks:"), manifest.organisation.name)
        console.labelled(words("Title:"), manifest.title)
        if manifest.labels:
            console.labelled(
                words("Marked by the community as:"), words("; ").join(manifest.labels)
            )
        for said in page_words.second_look(words, manifest):
            console.say(said)
        console.say(words("Your answers stay on this computer until you hand them over."))
        console.say(words("You can stop at any time, and take back what you gave."))
        self._given(words("What you agree to:"), page_words.consent(words, manifest))
        console.say(words("1: I agree"))
        console.say(words("l: another language"))
        console.say(words("q: not now"))
        while not self._consented(console.ask(words("Type 1, l or q, then Enter:")).strip()):
            pass

    def _consented(self, typed: str) -> bool:
        """Do what was typed under the consent text; False where the question is asked again."""
        if typed == YES:
            self._agree()
        elif typed.casefold() == LANGUAGE:
            choose_language(self._opening, self._console)
            self._session.words = self._opening.words
        elif act_of(typed) is Act.QUIT:
            self._acts.leave_unbegun()
        else:
            self._unknown(typed)
            return False
        return True

    def _agree(self) -> None:
        """Ask whether better wordings may be used, then record both answers at once."""
        try:
            shares = self._acts.may_be_used()
        except LeftError:
            self._acts.leave_unbegun()
        else:
            self._session.agree(share_corrections=shares)

    def _unknown(self, typed: str) -> None:
        if typed:  # an empty line only asks again
            said = self._words("“{typed}” means nothing here.", typed=plain(typed[:20]))
            self._console.say(said)

    def _relate(self) -> None:
        """Ask how near the person is to the method; nothing else is asked before the answer."""
        words, console = self._words, self._console
        console.say()
        console.say(page_words.how_near(words))
        console.say(page_words.why_how_near(words))
        for number, said in enumerate(page_words.relations(words), 1):
            console.say(words("{number}: {said}", number=number, said=said))
        typed = console.ask(words("Type 1, 2 or 3, or q to stop, then Enter:")).strip()
        relation = relation_of(typed)
        if relation is not None:
            self._session.relate(relation)
        elif act_of(typed) is Act.QUIT:
            raise LeftError
        else:
            self._unknown(typed)

    def training(self, view: View) -> None:
        """Ask a training item, or say its answer."""
        if view.lesson is not None:
            self._lesson(view, view.lesson)
            return
        if not self._explained:
            self._explain()
            self._console.say(self._words("First some practice. These answers do not count."))
        self._item(view)

    def _lesson(self, view: View, lesson: Lesson) -> None:
        """Say the answer to a training item once; Enter alone goes on, and what is typed is obeyed."""
        if self._heard != lesson:
            pages.show_lesson(self._console, self._words, lesson)
            self._heard = lesson
        typed = self._console.ask(self._words("Enter goes on:")).strip()
        if not typed:
            self._session.go_on()
            self._heard = None
        elif act_of(typed) in RATING_OF:
            self._unknown(typed)  # it is answered already
        else:
            self._acts.obey(view, typed)

    def items(self, view: View) -> None:
        """Ask an item, or say that those left for later come now."""
        if view.item is None:
            prompt = self._words("Enter shows them again. x hands over, u takes back, q stops:")
            self._page(view, pages.aside_words(self._words, view), prompt)
            return
        if not self._explained:
            self._explain()
        self._item(view)

    def _explain(self) -> None:
        """Say once how to judge."""
        self._explained = True
        self._console.say()
        pages.show_ratings(self._console, self._words)
        guide = page_words.guide(self._words, self._session.manifest)
        if guide.text:
            self._given(self._words("How to judge:"), guide)

    def _given(self, name: str, given: page_words.Given) -> None:
        """Say what the organisation wrote, and before it that it is in another language."""
        if given.note:
            self._console.say(given.note)
        self._console.labelled(name, given.text)

    def _item(self, view: View) -> None:
        item = view.item
        if item is None:
            return
        place = (view.phase, item.id)
        if self._heard != place:
            self._console.forget_what_was_typed()
            pages.show_item(self._console, self._words, view, item)
            self._heard = place
        self._session.painted(item.id)
        self._obey(view, self._console.ask(pages.answer_prompt(self._words)))

    def rest(self, view: View) -> None:
        """Offer a pause."""
        said = pages.rest_words(self._words, view)
        self._page(view, said, self._words("Enter goes on. q stops:"))

    def end(self, view: View) -> None:
        """Say thank you, and what to do with the stick."""
        said = pages.end_words(self._words, view)
        self._page(view, said, pages.end_prompt(self._words, view))

    def withdrawn(self, view: View) -> None:
        """Say what withdrawing means for the organisation's copy."""
        said = self._words(
            "What you gave for these sentences is erased on this computer. "
            "Hand over once more, so that the organisation erases it, too."
        )
        self._page(view, said, self._words("x hands over, q stops:"))

    def _page(self, view: View, said: str, prompt: str) -> None:
        """Show a page without an item, not twice in a row."""
        page = (view.phase, view.handed_over)
        if self._heard != page:
            self._console.forget_what_was_typed()
            self._console.say()
            self._console.say(said)
            self._heard = page
        self._obey(view, self._console.ask(prompt))

    def _obey(self, view: View, line: str) -> None:
        typed = line.strip()
        if typed:
            self._acts.obey(view, typed)
        elif view.item is not None:
            self._heard = None  # Enter alone reads it again
        else:
            self._session.go_on()


_PAGES: Final[Mapping[Phase, Callable[[LineFace, View], None]]] = {
    Phase.CONSENT: lambda face, _: face.consent(),
    Phase.TRAINING: lambda face, view: face.training(view),
    Phase.ITEMS: lambda face, view: face.items(view),
    Phase.REST: lambda face, view: face.rest(view),
    Phase.SKIPPED: lambda face, view: face.items(view),
    Phase.END: lambda face, view: face.end(view),
    Phase.WITHDRAWN: lambda face, view: face.withdrawn(view),
}
