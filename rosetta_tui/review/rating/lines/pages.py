"""What the line face prints and how a line is read: short lines, everything named in words."""

from __future__ import annotations

import getpass
import io
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from harness.core.failures import HarnessError
from harness.sealed.strict_records import FileError, FileProblem
from review.files.batch import Batch
from review.rating import Rating
from review.session import choice as opening_words
from review.session import flow
from review.session.choice import Choice
from review.session.view import Lesson, ShownItem, View
from review.session.words import item as item_words
from review.session.words import keys
from review.session.words import page as page_words
from review.session.words.catalogue import Words
from review.session.words.item import beside
from review.session.words.troubles import Trouble, for_whoever_helps, trouble
from rosetta_tui.review.mis_drawn import WHY, what_to_do
from rosetta_tui.review.rating.sitting import TerminalOpening
from rosetta_tui.show.text import plain

if sys.platform == "win32":
    import msvcrt
else:
    import select
    import termios

MOST_LINE = 20_000  # characters of one typed line that are read


class LeftError(Exception):
    """The input ended: the person closed it, or the pipe did."""


class Console:
    """Two streams; no cursor is moved, no colour set, nothing written twice."""

    def __init__(self, reads: TextIO | None = None, writes: TextIO | None = None) -> None:
        self._reads = reads or _standard_input()
        self._writes = writes or sys.stdout
        self.typed = self._reads.isatty()  # true where a person types; a pipe's lines are all meant

    def say(self, text: str = "") -> None:
        """Print text, harmless whatever is in it; its line breaks stay."""
        for line in text.split("\n"):
            self._writes.write(f"{_shown(line)}\n")
        self._writes.flush()

    def labelled(self, label: str, text: str) -> None:
        """Print a text of others after its label; further lines are set in, so none looks like ours."""
        first, *rest = text.splitlines() or [""]
        self.say(f"{label} {plain(first)}")
        for line in rest:
            self.say(f"    {plain(line)}")

    def ask(self, prompt: str) -> str:
        """Print a prompt and give the line that is typed, without its end. Raises LeftError at the end."""
        self._writes.write(f"{_shown(prompt)} ")
        self._writes.flush()
        line = rest = self._reads.readline(MOST_LINE)
        while len(rest) == MOST_LINE and not rest.endswith("\n"):  # nobody types that much: the beginning counts
            rest = self._reads.readline(MOST_LINE)
        if not self.typed:
            self._writes.write("\n")
        if not line:
            raise LeftError
        return line.rstrip("\r\n")

    def ask_hidden(self, prompt: str) -> str:
        """Prompt for something that must not stay on the screen."""
        if not self.typed:
            return self.ask(prompt)
        try:
            return getpass.getpass(f"{_shown(prompt)} ", stream=self._writes)
        except EOFError:
            raise LeftError from None

    def typed_ahead(self) -> bool:
        """Return whether something is typed already before it is asked for, as the further lines of a pasted text are."""
        if not self.typed:
            return False
        if sys.platform == "win32":
            return msvcrt.kbhit()
        else:  # noqa: RET505  each system's way is read for that system only
            return bool(select.select([self._reads], [], [], 0)[0])

    def forget_what_was_typed(self) -> None:
        """Drop keys that were typed before what they would act on was to be seen."""
        if not self.typed:
            return
        if sys.platform == "win32":
            while msvcrt.kbhit():
                msvcrt.getwch()
        else:
            termios.tcflush(self._reads.fileno(), termios.TCIFLUSH)


def _standard_input() -> TextIO:
    """Return standard input in which a wrong byte becomes a mark. Pipes give UTF-8, as the program prints it."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        encoding = sys.stdin.encoding if sys.stdin.isatty() else "utf-8"
        sys.stdin.reconfigure(encoding=encoding, errors="surrogateescape")
    return sys.stdin


def _shown(ours: str) -> str:
    """Return words of a catalogue: harmless, with their no-break spaces as spaces."""
    return plain(ours.replace("\u00a0", " ").replace("\u202f", " "))


_NOT_HERE = frozenset({keys.Act.LARGER, keys.Act.SMALLER})  # the terminal's own settings do this
KEY_SIGN = "/"  # may stand before any key; where translations are typed, it must


def as_key(typed: str) -> str:
    """Return what was typed as a key without the sign before it; the sign alone asks for help."""
    key = typed.strip()
    return key.removeprefix(KEY_SIGN).strip() or "?" if key.startswith(KEY_SIGN) else key


def show_item(console: Console, words: Words, view: View, item: ShownItem) -> None:
    """Print the item, and what this person already said of it."""
    console.say()
    console.say(item_words.place(words, view))
    if practice := item_words.practice(words, view):
        console.say(practice)
    if context := item_words.context(words, item):
        console.say(plain(context))
    console.labelled(words("Original:"), item.source)
    for label, text in ((words("Translation:"), item.candidate), (words("Your translation:"), item.translation)):
        if text:
            console.labelled(label, text)
    _show_said(console, words, item)
    for label_text, text in beside(words, item):
        if text:
            console.labelled(label_text, text)
        else:
            console.say(label_text)


def _show_said(console: Console, words: Words, item: ShownItem) -> None:
    """Print what this person said of an item beside a translation."""
    if answer := item_words.your_answer(words, item):
        console.say(answer)
    if item.reasons:
        console.say(words("What is wrong: {reasons}.", reasons=keys.reasons_label(words, item.reasons)))
    if item.comment:
        console.labelled(item_words.comment_title(words, item), item.comment)
    if item.suggestion:
        console.labelled(item_words.wording_title(words, item), item.suggestion)
    if item.harmful:
        console.say(words("You marked this as harmful."))


def show_lesson(console: Console, words: Words, lesson: Lesson) -> None:
    """Print the answer to a training item."""
    console.say(item_words.lesson_said(words, lesson))
    if lesson.note:
        console.say(lesson.note)
    console.labelled(words("Why:"), lesson.explanation)


def show_ratings(console: Console, words: Words) -> None:
    """Print the four answers with their meanings."""
    for number, rating in enumerate(Rating, 1):
        label, meaning = keys.rating_label(words, rating), keys.rating_meaning(words, rating)
        console.say(words("{key} {label}: {meaning}", key=number, label=label, meaning=meaning))


def show_keys(console: Console, words: Words, *, translating: bool) -> None:
    """Print what can be typed while an item is shown."""
    if translating:
        console.say(words("What you type is your translation. A line that begins with / is a key:"))
    else:
        show_ratings(console, words)
    for act, label in (keys.TRANSLATION_WORDS if translating else keys.ACT_WORDS).items():
        if act not in _NOT_HERE:
            key = keys.KEYS[act][0]
            name = keys.key_name(words, key)
            key = key if name == key else words("{key} ({name})", key=key, name=name)
            console.say(words("{key}: {label}", key=key, label=words(label)))
    console.say(words("Enter alone reads the sentence again."))
    if not translating:
        console.say(words("c and e also take your words at once, as in: c too formal"))


def show_choices(console: Console, words: Words, labels: Iterable[str]) -> None:
    """Print what can be chosen, each with its digit."""
    for number, label in enumerate(labels, 1):
        console.say(words("{key}: {label}", key=number, label=label))


def answer_prompt(words: Words) -> str:
    """Return the prompt under an item: the four answers, short."""
    labels = (f"{number} {keys.rating_label(words, rating)}" for number, rating in enumerate(Rating, 1))
    return words("{answers}, or ? for help:", answers=", ".join(labels))


def translation_prompt(words: Words) -> str:
    """Return the prompt under a sentence that is to be translated."""
    return words("Type your translation, then Enter. /? for help:")


def aside_words(words: Words, view: View) -> str:
    """Return how many items wait, after all were seen."""
    message = words.plural(
        "You have seen all sentences. You left one for later.",
        "You have seen all sentences. You left {n} for later.",
        view.skipped,
    )
    return " ".join(filter(None, (message, unsaved_words(words, view))))


def end_words(words: Words, view: View) -> str:
    """Return that all is done, and whether it was submitted."""
    thanks = page_words.end(words, view)
    sentences = [thanks.first, *thanks.rest]
    if view.skipped:
        sentences.append(words("Enter shows those without an answer."))
    sentences += [unsaved_words(words, view), page_words.handed_over(words, view)]
    return " ".join(filter(None, sentences))


def unsaved_words(words: Words, view: View) -> str:
    """Name what is only a draft, and the way to it; empty for nothing."""
    message = page_words.unsaved(words, view)
    way = words("Type {key} and Enter to look at it.", key=keys.KEYS[keys.Act.UNSAVED][0])
    return f"{message} {way}" if message else ""


def end_prompt(words: Words, view: View) -> str:
    """Return what can be typed at the end."""
    if view.handed_over:
        return words("x writes it once more, u takes back, q stops:")
    return words("Put the stick in, then type x and Enter. u takes back, q stops:")


# ---- The line face before the first item: which review, whose it is, who rates ----

YES, NO = "1", "2"
LANGUAGE = "l"
MORE = "m"


def begin(opening: TerminalOpening, console: Console) -> None:
    """Show what was damaged or not found, before anything is asked."""
    for line in opening_words.damaged_words(opening.words):
        console.say(line)
    if missing := opening.not_here():
        console.say(missing)


def before_sentences(opening: TerminalOpening, console: Console, step: flow.FlowStep[Any]) -> object:
    """Prompt for what leads to a person's session; LEAVE where somebody does not want to continue."""
    words = opening.words
    match step:
        case flow.ChooseReview():
            return _choice(opening, console, step)
        case flow.AskSecret():
            why = step.why or trouble(words, FileError(FileProblem.LOCKED, ""))
            console.say(why.said)
            return console.ask_hidden(words("Type the secret words, then Enter:"))
        case flow.AskWhoAsks():
            return _trusted(opening, console, step.batch)
        case flow.CheckLetters():
            return _drawn_well(opening, console, step.batch)
        case flow.AskCode():
            return _code(opening, console, step)
    raise TypeError(step)


# which review


def _choice(opening: TerminalOpening, console: Console, step: flow.ChooseReview) -> object:
    """Prompt for a review; None lists the reviews again."""
    words, choices = opening.words, step.choices
    tell(words, console, step.why)
    if choices:
        console.say(words("These wait for you:"))
        for number, choice in enumerate(choices, 1):
            console.say(_row(words, number, choice))
        prompt = words("Enter opens number 1. Type a number, l for another language, or q:")
    else:
        console.say(words(opening_words.NOTHING_FOUND))
        prompt = words("Enter looks again. Type l for another language, or q to stop:")
    typed = as_key(console.ask(prompt))
    if keys.act_of(typed) is keys.Act.QUIT:
        return keys.NextAction.LEAVE
    if typed.casefold() == LANGUAGE:
        choose_language(opening, console)
        return None
    named = typed or "1"
    number = int(named) if named.isdecimal() and len(named) < 4 else 0
    if 1 <= number <= len(choices):
        return choices[number - 1]
    tell_unknown(words, console, typed)
    return None


def _row(words: Words, number: int, choice: Choice) -> str:
    facts = {"title": plain(choice.title), "name": plain(choice.organisation)}
    if choice.place:
        place = plain(choice.place)
        if choice.organisation:
            return words("{number}: {title}, from {name}, in {place}", number=number, place=place, **facts)
        return words("{number}: {title}, in {place}", number=number, place=place, **facts)
    row_text = words("{number}: {title}, from {name}", number=number, **facts)
    far = words("{done} of {total} done", done=choice.done, total=choice.total)
    return row_text if choice.done is None else f"{row_text}, {far}"


# who asks, and can this be drawn


def _trusted(opening: TerminalOpening, console: Console, batch: Batch) -> object:
    words = opening.words
    console.say(words("This is the first time that you get sentences from:"))
    console.say(plain(batch.manifest.organisation.name))
    console.say(words(page_words.ITS_SIX_WORDS))
    console.say(batch.organisation_phrase)
    console.say(words("The same words are on your card, or the people who ask can say them."))
    if not yes(opening, console, words("Are they the same? 1 yes, 2 no:")):
        console.say(words("Then do not continue. Ask the people who gave you the file."))
        return keys.NextAction.LEAVE
    return True


def _drawn_well(opening: TerminalOpening, console: Console, batch: Batch) -> object:
    why = opening.mis_drawn(batch)
    if why is None:
        return True
    words = opening.words
    console.say(words(WHY[why]))
    console.say(words("You might judge another word than the one that was written."))
    console.say(what_to_do(words))
    console.say(words("If you hear or feel the text instead of seeing it, you can continue here."))
    opening.draw_anyway = yes(opening, console, words("Continue here? It is noted. 1 yes, 2 no:"))
    return opening.draw_anyway or keys.NextAction.LEAVE


def yes(opening: TerminalOpening, console: Console, question: str, before: str = "") -> bool:
    """Return whether it is a yes, by number, letter or word, after reading ``before``; LeftError where the person leaves."""
    words = opening.words
    answers = {YES: True, NO: False, "y": True, "yes": True, "n": False, "no": False}
    for label, means in ((words("No."), False), (words("Yes."), True)):
        word = label.strip(" .").casefold()
        answers |= {word[:1]: means, word: means}  # where letters meet, the person's own language counts
    while True:
        if before:
            console.say(before)
        if (typed := as_key(console.ask(question)).casefold()) in answers:
            return answers[typed]
        if keys.act_of(typed) is keys.Act.QUIT:
            raise LeftError
        tell_unknown(words, console, typed)


def tell_unknown(words: Words, console: Console, typed: str) -> None:
    """Print that a line means nothing here; an empty one, or a question mark, only asks again."""
    if typed and keys.act_of(typed) is not keys.Act.HELP:
        console.say(words("“{typed}” means nothing here.", typed=plain(typed[:20])))


# who rates


def _code(opening: TerminalOpening, console: Console, step: flow.AskCode) -> object:
    """Prompt for the code on the card, unless it was given on the command line."""
    words = opening.words
    tell(words, console, step.why)
    typed, opening.code = opening.code, None
    if typed is None and step.last is not None:
        same = opening_words.same_card(words, step.last.letters)
        other = words("If it does not, type your code. Then press Enter:")
        typed = console.ask(f"{same} {other}").strip()
    elif typed is None:
        typed = console.ask(words("Type the code from your card, then Enter:")).strip()
    return keys.NextAction.LEAVE if keys.act_of(as_key(typed)) is keys.Act.QUIT else typed


# language and trouble


def choose_language(opening: TerminalOpening, console: Console) -> None:
    """Prompt for the language of the program."""
    tags = opening.languages
    for number, name in enumerate(tags.values(), 1):
        console.say(f"{number}: {plain(name)}")
    typed = as_key(console.ask(opening.words("Type a number, or only Enter to leave it:")))
    number = int(typed) if typed.isdecimal() and len(typed) < 4 else 0
    if 1 <= number <= len(tags):
        opening.set_language(list(tags)[number - 1])


def tell_trouble(opening: TerminalOpening, console: Console, error: HarnessError) -> None:
    """Show what did not work, and one line for anyone who helps."""
    tell(opening.words, console, trouble(opening.words, error))


def tell(words: Words, console: Console, why: Trouble | None) -> None:
    """Show a failure that is in words already; nothing where there was none."""
    if why is not None:
        console.say(why.said)
        if why.detail:
            console.say(for_whoever_helps(words, plain(why.detail)))
