"""The line face: what each typed key does to the item that was read out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from harness.core.failures import HarnessError
from review.log.payloads import Scope
from review.rating import CannotJudge, Reason
from review.session.session import Session
from review.session.view import ShownItem, TextField, View
from review.session.words import page as page_words
from review.session.words.catalogue import Words
from review.session.words.item import ANSWER_FIRST, WHY_UNTRANSLATED, allows
from review.session.words.keys import (
    ONWARD_OF,
    RATING_OF,
    TRANSLATION_WORDS,
    Act,
    NextAction,
    act_of,
    cannot_judge_label,
    cannot_judge_of,
    harm_question,
    rating_label,
    reason_label,
    reason_of,
    scope_label,
    scope_of,
)
from rosetta_tui.review.mis_drawn import first_mis_drawn
from rosetta_tui.review.rating.lines import pages
from rosetta_tui.review.rating.lines.pages import KEY_SIGN, Console, as_key, tell_trouble, yes
from rosetta_tui.review.rating.sitting import TerminalOpening
from rosetta_tui.show.text import plain


def hand_over(opening: TerminalOpening, session: Session, console: Console, places: list[Path]) -> NextAction | None:
    """Write the answers to one of ``places`` and say the six words; UNSAVED where the person looks at drafts first."""
    words = session.words
    console.say(page_words.how_far(words, session.view))
    if unsaved := pages.unsaved_words(words, session.view):
        console.say(unsaved)
    # Prompt for the place: a stick, or the folder that the sentences came from, is number 1.
    pages.show_choices(console, words, (plain(str(place)) for place in places))
    if places:
        prompt = words("Enter saves in number 1. Type a number or a folder, or q:")
    else:
        console.say(words("No stick was found."))
        prompt = words("Type a folder, or only Enter to write nothing:")
    typed = console.ask(prompt).strip()
    if act_of(typed) is Act.UNSAVED and session.view.unsaved:
        return NextAction.UNSAVED
    folder = _folder(typed, places)
    if folder is None:
        console.say(words("Nothing was written. Your answers are kept on this computer."))
        return None
    console.say(words(page_words.SAVING))
    on_stick = opening.on_stick(folder)
    try:
        exported = session.export(folder)
    except HarnessError as error:
        tell_trouble(opening, console, error)
        return None
    console.say(page_words.saved(words, on_stick=on_stick))
    console.say(words("The file: {path}", path=plain(str(exported.path))))
    console.say(words(page_words.SIX_WORDS_OF_FILE))
    console.say(exported.phrase)
    console.say(words("Write them down. The people who ask will see the same words."))
    console.ask(words("Enter continues:"))
    return None


def _folder(typed: str, places: list[Path]) -> Path | None:
    """Return what was typed as a place, the first for nothing typed; None for nowhere."""
    if act_of(typed) is Act.QUIT:
        return None
    if not typed:
        return next(iter(places), None)
    if typed.isdecimal() and 1 <= int(typed[:4]) <= len(places):
        return places[int(typed) - 1]
    return Path(typed).expanduser()


def withdrawn(opening: TerminalOpening, words: Words, console: Console) -> Scope | None:
    """Prompt for how much the person takes back, and a second time whether they do; None for nothing."""
    means = page_words.take_back(words)
    console.say(means.first)
    pages.show_choices(console, words, (scope_label(words, scope) for scope in Scope))
    typed = as_key(console.ask(words("What do you want to take back? Only Enter for nothing:")))
    scope = scope_of(typed)
    if scope is not None:
        for sentence in means.rest:
            console.say(sentence)
        question = words("{label}. Erase it? 1 yes, 2 no:", label=scope_label(words, scope))
        if yes(opening, console, question):
            return scope
    console.say(words("Nothing was taken back."))
    return None


_DELETE = "-"  # typed alone where a text is asked for: delete it
_TAKES_WORDS = frozenset({Act.COMMENT, Act.WORDING})
_TAKES_DIGITS = frozenset({Act.REASONS, Act.CANNOT_JUDGE})


class LineActions:
    """Does what was typed; all of it goes through the session."""

    def __init__(self, opening: TerminalOpening, session: Session, console: Console) -> None:
        self._opening, self._session, self._console = opening, session, console

    @property
    def _words(self) -> Words:
        return self._session.words

    def obey(self, view: View, typed: str) -> NextAction | None:
        """Carry out what a line says, or return where it leads; ``typed`` is not empty."""
        act, rest = act_of(typed[:1]), typed[1:]
        if act is None or not _complete(act, rest) or (self._session.translating and act not in TRANSLATION_WORDS):
            as_typed = KEY_SIGN + typed if self._session.translating else typed
            message = self._words("“{typed}” means nothing here. Type ? for help.", typed=plain(as_typed[:20]))
            self._console.say(message)
        elif not allows(view, act):
            self._console.say(self._words("That comes after the practice."))
        elif act in RATING_OF:
            rating = RATING_OF[act]
            self._judge(view, lambda item: self._session.rate(item.id, rating, override=self._override(item)))
        elif act in ONWARD_OF:
            return ONWARD_OF[act]
        else:
            _ACTS[act](self, view, rest.strip())
        return None

    # answers

    def translate(self, item: ShownItem, text: str) -> None:
        """Save what was typed as the translation of the item that is shown."""
        self._session.translate(item.id, text, override=self._override(item))

    def _judge(self, view: View, decide: Callable[[ShownItem], View]) -> None:
        if view.item is None:
            self._console.say(self._words("There is no sentence to answer here."))
        else:
            decide(view.item)

    def _override(self, item: ShownItem) -> bool:
        texts = (item.source, item.candidate)
        return self._opening.draw_anyway and first_mis_drawn(texts) is not None

    def cannot_judge(self, view: View, digits: str) -> None:
        """Prompt for the reason, unless it was said."""
        if not digits and view.item is not None:
            reasons = (cannot_judge_label(self._words, kind) for kind in CannotJudge)
            pages.show_choices(self._console, self._words, reasons)
            if self._session.translating:
                self._console.say(self._words(WHY_UNTRANSLATED))
            prompt = self._words("Why? Type a number, or only Enter to go back:")
            digits = as_key(self._console.ask(prompt))
        why = cannot_judge_of(digits)
        if why is not None:
            self._judge(view, lambda item: self._session.cannot_judge(item.id, why, override=self._override(item)))

    def skip(self, view: View) -> None:
        """Skip the item for later."""
        self._judge(view, lambda item: self._session.skip(item.id))

    # words about an item

    def may_be_used(self) -> bool:
        """Prompt for whether what the person writes may be used."""
        words, organisation = self._words, plain(self._session.manifest.organisation.name)
        asked = page_words.may_be_used(words, translating=self._session.translating)
        explanation = "\n".join((asked, *page_words.what_using_means(words, organisation)))
        return yes(self._opening, self._console, words("1 yes, 2 no:"), before=explanation)

    def wording(self, view: View, typed: str) -> None:
        """Save a better translation; before the first one it is asked whether such may be used."""
        if self._session.asks_sharing:
            if typed and view.item is not None:
                self.keep_draft(view.item, TextField.SUGGESTION, typed)
            self._session.share(self.may_be_used())
        self.text(view, TextField.SUGGESTION, typed)

    def reasons(self, view: View, digits: str) -> None:
        """Prompt for what is wrong with the item that was judged last."""
        words, console = self._words, self._console
        if view.last is None or view.last.rating is None:
            console.say(words(ANSWER_FIRST))
            return
        if not digits:
            label = rating_label(words, view.last.rating)
            console.say(words("You answered “{rating}”. What is wrong with it?", rating=label))
            pages.show_choices(console, words, (reason_label(words, reason) for reason in Reason))
            digits = console.ask(words("Type the numbers, as in 1 4, or only Enter to go back:"))
        chosen = {reason for digit in digits if (reason := reason_of(digit)) is not None}
        if chosen:
            self._session.set_reasons(view.last.item.id, chosen)

    def text(self, view: View, field: TextField, typed: str) -> None:
        """Save words that were typed on the same line, else ask for them line by line."""
        item = self._at_hand(view)
        if item is None:
            return
        before = item.comment if field is TextField.COMMENT else item.suggestion
        text = typed or self._asked_text(item, field, before)
        if not text:
            return
        saved = self._session.save_text(item.id, field, "" if text == _DELETE else text)
        if saved.item is not None and saved.item.stands and not saved.trouble:
            # From a sentence whose answer stands, go back to where the person was before.
            self._console.say(saved.said)
            self._session.go_to(None)

    def _asked_text(self, item: ShownItem, field: TextField, before: str) -> str:
        """Read lines until an empty one; each is on the disk before the next is asked for."""
        words, console = self._words, self._console
        if before:
            console.labelled(words("So far:"), before)
        console.say(words("Type your words. Each line is kept when you press Enter."))
        console.say(words("An empty line ends them. A minus sign alone deletes them."))
        lines = [before] if before else []
        while (line := console.ask(words("Your words:")).strip()) not in {"", _DELETE}:
            lines.append(line)
            self.keep_draft(item, field, "\n".join(lines))
        console.forget_what_was_typed()  # the rest of a pasted text is no key
        return line or "\n".join(lines)

    def keep_draft(self, item: ShownItem, field: TextField, text: str) -> None:
        """Store words that are not saved yet."""
        try:
            self._session.keep_draft(item.id, field, text)
        except HarnessError as error:
            tell_trouble(self._opening, self._console, error)

    def harm(self, view: View) -> None:
        """Mark the item as harmful, or take that back, after a question."""
        item = self._at_hand(view)
        if item is None:
            return
        question = harm_question(self._words, harmful=item.harmful)
        prompt = self._words("{question} 1 yes, 2 no:", question=question)
        if yes(self._opening, self._console, prompt):
            self._session.flag_harm(item.id, not item.harmful)

    def _at_hand(self, view: View) -> ShownItem | None:
        """Return the item that words are about: the one that is shown, else the last one."""
        item = view.item or (view.last.item if view.last else None)
        if item is None:
            self._console.say(self._words("There is no sentence to say something about."))
        return item

    # the sitting

    def unrated(self) -> None:
        """Move to the next item without an answer."""
        self._session.go_to_unrated()

    def help(self) -> None:
        """Show what can be typed."""
        pages.show_keys(self._console, self._words, translating=self._session.translating)


_ACTS: Final[Mapping[Act, Callable[[LineActions, View, str], None]]] = {
    Act.CANNOT_JUDGE: lambda acts, view, rest: acts.cannot_judge(view, rest),
    Act.SKIP: lambda acts, view, _: acts.skip(view),
    Act.REASONS: lambda acts, view, rest: acts.reasons(view, rest),
    Act.COMMENT: lambda acts, view, rest: acts.text(view, TextField.COMMENT, rest),
    Act.WORDING: lambda acts, view, rest: acts.wording(view, rest),
    Act.HARM: lambda acts, view, _: acts.harm(view),
    Act.UNRATED: lambda acts, _view, _rest: acts.unrated(),
    Act.LARGER: lambda acts, _view, _rest: acts.help(),
    Act.SMALLER: lambda acts, _view, _rest: acts.help(),
}


def _complete(act: Act, rest: str) -> bool:
    """Return whether a key may be followed by what follows it."""
    if act in _TAKES_WORDS:
        return not rest or rest[0].isspace()
    return act in _TAKES_DIGITS or not rest
