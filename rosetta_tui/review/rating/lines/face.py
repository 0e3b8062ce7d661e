"""The line face: it reads a line and prints lines; no cursor control, no colour, no screen.

Made for screen readers, braille displays and pipes. The keys are those of the other faces, each followed
by Enter; ``c`` and ``e`` take words on the same line. Whatever was answered is saved before more is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from harness.core.failures import HarnessError, UsageError
from review.log.payloads import Face
from review.rating import Relation
from review.session import choice
from review.session.flow import AskConsent, AskRelation, AskSharing, AskWithdraw, Flow, FlowStep, HandOver, ShowHelp
from review.session.position import GUARD_SECONDS
from review.session.session import Session
from review.session.view import Phase, ShownItem, TextField, View
from review.session.words import page as page_words
from review.session.words.catalogue import Words
from review.session.words.keys import RATING_OF, Act, NextAction, act_of, relation_of
from review.session.words.troubles import trouble_of_view
from rosetta_tui.review.rating.lines import pages
from rosetta_tui.review.rating.lines.line_keys import LineActions, hand_over, withdrawn
from rosetta_tui.review.rating.lines.pages import (
    KEY_SIGN,
    LANGUAGE,
    MORE,
    YES,
    Console,
    LeftError,
    as_key,
    before_sentences,
    begin,
    choose_language,
    tell,
    tell_trouble,
    tell_unknown,
)
from rosetta_tui.review.rating.sitting import TerminalOpening


def run_lines(opening: TerminalOpening, console: Console | None = None) -> int:
    """Rate in lines until the person stops; gives the exit code. Everything is on the disk all the time."""
    console = console or Console()
    opening.translates = True
    try:
        _sit(opening, console)
    except LeftError:
        console.say()
        return 2 if opening.found_nothing else 0
    except KeyboardInterrupt:
        console.say()
        console.say(opening.words("Everything is kept. Next time you continue here."))
        return 130
    except HarnessError as error:
        tell_trouble(opening, console, error)
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _sit(opening: TerminalOpening, console: Console) -> None:
    """Answer each step of the flow by what is typed, until the person stops."""
    flow = Flow(opening, Face.LINES, guard=GUARD_SECONDS if console.typed else 0.0, strict=True)
    begin(opening, console)
    face: LineFace | None = None
    try:
        step, given = flow.begin(), object()
        while given is not NextAction.LEAVE:
            if flow.session is None:
                given = before_sentences(opening, console, step)
            else:
                if face is None or face.session is not flow.session:
                    face = LineFace(opening, flow.session, console)
                given = face.answer(step)
            if given is not NextAction.LEAVE:
                step = flow.answer(given)
    finally:
        flow.end()


class LineFace:
    """One sitting in lines: says what is new, asks, and lets the line be obeyed."""

    def __init__(self, opening: TerminalOpening, session: Session, console: Console) -> None:
        self._opening, self.session, self._console = opening, session, console
        self._acts = LineActions(opening, session, console)
        self._heard: object = None  # the page or item that was read out last: it is not read twice
        self._told: View | None = None  # the view whose sentence was said last
        self._explained = False
        self._ahead = ""  # what was typed at a rest, before the sentence that it is to be of

    @property
    def _words(self) -> Words:
        return self.session.words

    def answer(self, step: FlowStep[Any]) -> object:
        """Show a step and give what the person answers; LEAVE where they stop."""
        view = self.session.view
        if view is not self._told:  # what the last key did, or why nothing was saved, is said once
            self._told = view
            if view.too_soon:  # what was typed behind it is not meant for what comes either
                self._forget_what_was_typed()
            if view.said:
                self._console.say(view.said)
            tell(self._words, self._console, trouble_of_view(view))
        given = self._answered(step)
        self.session.touched()
        if given is NextAction.LEAVE and self.session.view.phase is not Phase.CONSENT:
            self._console.say(self._words("Everything is kept. Next time you continue here."))
        return given

    def _answered(self, step: FlowStep[Any]) -> object:
        opening, session, console = self._opening, self.session, self._console
        given: object = None
        match step:
            case AskConsent():
                given = self._consent()
            case AskSharing():
                given = self._may_be_used(step)
            case AskRelation():
                given = self._relation()
            case HandOver():
                places = opening.hand_over_places(step.batch)
                given = hand_over(opening, session, console, places)
            case AskWithdraw():
                given = withdrawn(opening, self._words, console)
            case ShowHelp():
                pages.show_keys(console, self._words, translating=session.translating)
            case _:
                given = _PAGES[session.view.phase](self, session.view)
        return given

    # pages

    def _consent(self) -> bool | NextAction:
        """Show who wants what, and ask until the person agrees or leaves."""
        self._say_consent()
        while (typed := as_key(self._console.ask(self._words("Type 1, m, l or q, then Enter:")))) != YES:
            if typed.casefold() == MORE:
                for heading, text in page_words.read_more(self._words, self.session.manifest):
                    for line in filter(None, (heading, text)):
                        self._console.say(line)
            elif typed.casefold() == LANGUAGE:
                choose_language(self._opening, self._console)
                self.session.words = self._opening.words
                self._say_consent()
            elif act_of(typed) is Act.QUIT:
                return self._unbegun()
            elif act_of(typed) is Act.HELP:
                self._say_consent()
            else:
                tell_unknown(self._words, self._console, typed)
        return True

    def _say_consent(self) -> None:
        words, console, manifest = self._words, self._console, self.session.manifest
        console.say()
        console.labelled(words("Asked by:"), manifest.organisation.name)
        console.labelled(words("Title:"), manifest.title)
        if manifest.labels:
            console.labelled(words("Marked by the community as:"), words("; ").join(manifest.labels))
        console.say(page_words.what_comes(words, manifest, self.session.view))
        self._given(words("What you agree to:"), page_words.consent(words, manifest))
        for promise in page_words.promises(words, manifest):
            console.say(promise)
        console.say(words("1: I agree"))
        if any(page_words.read_more(words, manifest)):
            console.say(words("m: read more"))
        console.say(words("l: another language"))
        console.say(words("q: not now"))

    def _unbegun(self) -> NextAction:
        """Stop where the person did not agree: the flow forgets who it was."""
        self._console.say(self._words(choice.NOTHING_BEGUN))
        return NextAction.LEAVE

    def _may_be_used(self, step: AskSharing) -> bool | NextAction:
        """Show the question whether better wordings may be used."""
        self._console.say()
        try:
            return self._acts.may_be_used()
        except LeftError:
            if step.now is None:
                return self._unbegun()
            raise

    def _relation(self) -> Relation:
        """Prompt for how near the person is to the method; nothing else is asked before the answer."""
        words, console = self._words, self._console
        while True:
            console.say()
            console.say(words(page_words.HOW_NEAR))
            console.say(words(page_words.WHY_HOW_NEAR))
            for number, label in enumerate(page_words.relations(words), 1):
                console.say(words("{number}: {said}", number=number, said=label))
            typed = as_key(console.ask(words("Type 1, 2 or 3, or q to stop, then Enter:")))
            if (relation := relation_of(typed)) is not None:
                return relation
            if act_of(typed) is Act.QUIT:
                raise LeftError
            tell_unknown(self._words, self._console, typed)

    def training(self, view: View) -> NextAction | None:
        """Show a training item, or its answer."""
        if view.lesson is not None:
            # Show the answer to a training item once; Enter alone continues, and what is typed is
            # obeyed.
            if self._heard != view.lesson:
                pages.show_lesson(self._console, self._words, view.lesson)
                self._heard = view.lesson
            typed = as_key(self._console.ask(self._words("Enter continues:")))
            if not typed:
                self._heard = None
                return NextAction.GO_ON
            if act_of(typed) not in RATING_OF:
                return self._acts.obey(view, typed)
            tell_unknown(self._words, self._console, typed)  # it is answered already
            return None
        if not self._explained:
            self._explain()
            self._console.say(self._words("First some practice. These answers do not count. Type s to skip it."))
        return self._item(view)

    def items(self, view: View) -> NextAction | None:
        """Show an item, or that those left for later come now."""
        if view.item is None:
            prompt = self._words("Enter shows them again. x hands in, u takes back, q stops:")
            return self._page(view, pages.aside_words(self._words, view), prompt)
        if not self._explained:
            self._explain()
        return self._item(view)

    def _explain(self) -> None:
        """Show once how to judge."""
        self._explained = True
        words, translating = self._words, self.session.translating
        self._console.say()
        if not translating:
            pages.show_ratings(self._console, words)
        guide = page_words.guide(words, self.session.manifest)
        if guide.text and translating:
            self._console.say(page_words.how_to_judge(words, translating=True))
            self._given("", guide)
        elif guide.text:
            self._given(words("How to judge:"), guide)

    def _given(self, name: str, given: page_words.OrganiserText) -> None:
        """Show what the organisation wrote, and before it that it is in another language."""
        if given.note:
            self._console.say(given.note)
        self._console.labelled(name, given.text)

    def _item(self, view: View) -> NextAction | None:
        item = view.item
        if item is None:
            return None
        place = (view.phase, item.id)
        if self._ahead:
            item = self._kept_as_draft(item, self._ahead, behind=True)
            self._ahead = ""
        if self._heard != place:
            self._forget_what_was_typed()
            pages.show_item(self._console, self._words, view, item)
            self._heard = place
        self.session.painted(item.id)
        if self.session.translating:
            # Read a line as the translation of the sentence that was read out; one that begins with a
            # slash is a key.
            ahead = self._console.typed_ahead()
            typed = self._console.ask(pages.translation_prompt(self._words)).strip()
            if typed.startswith(KEY_SIGN) or act_of(typed) is Act.HELP:
                return self._obey(view, typed)
            if typed:
                self._acts.translate(item, typed)
                if self.session.view.too_soon:
                    self._kept_as_draft(item, typed, behind=ahead)
            self._heard = None  # Enter alone reads it again
            return None
        return self._obey(view, self._console.ask(pages.answer_prompt(self._words)))

    def _kept_as_draft(self, item: ShownItem, typed: str, *, behind: bool) -> ShownItem:
        """Store words typed before their sentence was read, ``behind`` the stored ones or in their place: no line is lost."""
        before = [item.translation] if behind and TextField.TRANSLATION in item.drafts else []
        self._acts.keep_draft(item, TextField.TRANSLATION, "\n".join([*before, typed]))
        return self.session.view.item or item

    def _forget_what_was_typed(self) -> None:
        """Drop keys that were typed too early; words of a translation are no keys."""
        if not self.session.translating:
            self._console.forget_what_was_typed()

    def rest(self, view: View) -> NextAction | None:
        """Offer a pause; translations that come from a pipe, one a line, need none, and what is typed meanwhile stays."""
        rest, prompt = page_words.rest(self._words, view), self._words("Enter continues. q stops:")
        rest_words = " ".join((rest.first, *rest.rest))
        if not self.session.translating:
            return self._page(view, rest_words, prompt)
        if not self._console.typed:
            self._console.say(rest_words)
            return NextAction.GO_ON
        typed = self._asked_on_page(view, rest_words, prompt).strip()
        if len(typed) > 1 and not typed.startswith(KEY_SIGN):
            self._ahead = typed
            return NextAction.GO_ON
        return self._obey(view, typed)

    def end(self, view: View) -> NextAction | None:
        """Show thanks, and what to do with the stick."""
        closing = pages.end_words(self._words, view)
        return self._page(view, closing, pages.end_prompt(self._words, view))

    def withdrawn(self, view: View) -> NextAction | None:
        """Show what withdrawing means for the organisation's copy."""
        message = self._words(
            "What you gave for these sentences is erased on this computer. "
            "Hand in once more, so that the organisation erases it, too."
        )
        return self._page(view, message, self._words("x hands in, q stops:"))

    def _page(self, view: View, said: str, prompt: str) -> NextAction | None:
        """Show a page without an item, and obey what is typed."""
        return self._obey(view, self._asked_on_page(view, said, prompt))

    def _asked_on_page(self, view: View, said: str, prompt: str) -> str:
        """Show a page without an item, not twice in a row; returns what is typed."""
        page = (view.phase, view.handed_over)
        if self._heard != page:
            self._forget_what_was_typed()
            self._console.say()
            self._console.say(said)
            self._heard = page
        return self._console.ask(prompt)

    def _obey(self, view: View, line: str) -> NextAction | None:
        if typed := as_key(line):
            return self._acts.obey(view, typed)
        if view.item is None:
            return NextAction.GO_ON
        self._heard = None  # Enter alone reads it again
        return None


_PAGES: Final[Mapping[Phase, Callable[[LineFace, View], NextAction | None]]] = {
    Phase.TRAINING: lambda face, view: face.training(view),
    Phase.ITEMS: lambda face, view: face.items(view),
    Phase.REST: lambda face, view: face.rest(view),
    Phase.SKIPPED: lambda face, view: face.items(view),
    Phase.END: lambda face, view: face.end(view),
    Phase.WITHDRAWN: lambda face, view: face.withdrawn(view),
}
