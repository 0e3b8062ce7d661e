"""The line face before the first item: which review, whose it is, who rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.core.failures import HarnessError
from harness.sealed.strict_records import FileError, FileProblem
from review.files.batch import Batch
from review.session import opening_words
from review.session.choice import Choice
from review.session.flow import (
    AskCode,
    AskSecret,
    AskWhoAsks,
    CheckLetters,
    ChooseReview,
    FlowStep,
)
from review.session.words.catalogue import Words
from review.session.words.keys import Act, NextAction, act_of
from review.session.words.troubles import Trouble, for_whoever_helps, trouble
from rosetta_tui.review.mis_drawn import WHY, what_to_do
from rosetta_tui.review.rating.lines.pages import Console, LeftError, as_key
from rosetta_tui.review.rating.sitting import TerminalOpening
from rosetta_tui.show.text import plain

YES, NO = "1", "2"
LANGUAGE = "l"


def begin(opening: TerminalOpening, console: Console) -> None:
    """Show what was damaged or not found, before anything is asked."""
    for damaged_word in opening_words.damaged_words(opening.words):
        console.say(damaged_word)
    if missing := opening.not_here():
        console.say(missing)


def before_sentences(opening: TerminalOpening, console: Console, step: FlowStep[Any]) -> object:
    """Prompt for what leads to a person's session; LEAVE where somebody does not want to continue."""
    words = opening.words
    match step:
        case ChooseReview():
            return _choice(opening, console, step)
        case AskSecret():
            why = step.why or trouble(words, FileError(FileProblem.LOCKED, ""))
            console.say(why.said)
            return console.ask_hidden(words("Type the secret words, then Enter:"))
        case AskWhoAsks():
            return _trusted(opening, console, step.batch)
        case CheckLetters():
            return _drawn_well(opening, console, step.batch)
        case AskCode():
            return _code(opening, console, step)
    raise TypeError(step)


# which review


def _choice(opening: TerminalOpening, console: Console, step: ChooseReview) -> object:
    """Prompt for a review; None lists the reviews again."""
    words, choices = opening.words, step.choices
    tell(words, console, step.why)
    _list(opening, console, choices)
    if choices:
        prompt = words("Enter opens number 1. Type a number, l for another language, or q:")
    else:
        prompt = words("Enter looks again. Type l for another language, or q to stop:")
    typed = as_key(console.ask(prompt))
    if act_of(typed) is Act.QUIT:
        return NextAction.LEAVE
    if typed.casefold() == LANGUAGE:
        choose_language(opening, console)
    elif choices and (chosen := _numbered(typed or "1", choices)) is not None:
        return chosen
    else:
        tell_unknown(words, console, typed)
    return None


def _list(opening: TerminalOpening, console: Console, choices: Sequence[Choice]) -> None:
    words = opening.words
    if not choices:
        console.say(words(opening_words.NOTHING_FOUND))
        return
    console.say(words("These wait for you:"))
    for number, choice in enumerate(choices, 1):
        console.say(_row(words, number, choice))


def _row(words: Words, number: int, choice: Choice) -> str:
    facts = {"title": plain(choice.title), "name": plain(choice.organisation)}
    if choice.place:
        place = plain(choice.place)
        if choice.organisation:
            return words(
                "{number}: {title}, from {name}, in {place}", number=number, place=place, **facts
            )
        return words("{number}: {title}, in {place}", number=number, place=place, **facts)
    row_text = words("{number}: {title}, from {name}", number=number, **facts)
    far = words("{done} of {total} done", done=choice.done, total=choice.total)
    return row_text if choice.done is None else f"{row_text}, {far}"


def _numbered(typed: str, choices: Sequence[Choice]) -> Choice | None:
    number = int(typed) if typed.isdecimal() and len(typed) < 4 else 0
    return choices[number - 1] if 1 <= number <= len(choices) else None


# who asks, and can this be drawn


def _trusted(opening: TerminalOpening, console: Console, batch: Batch) -> object:
    words = opening.words
    console.say(words("This is the first time that you get sentences from:"))
    console.say(plain(batch.manifest.organisation.name))
    console.say(words("Its six words are:"))
    console.say(batch.organisation_phrase)
    console.say(words("The same words stand on your card, or the people who ask can say them."))
    if not yes(opening, console, words("Are they the same? 1 yes, 2 no:")):
        console.say(words("Then do not go on. Ask the people who gave you the file."))
        return NextAction.LEAVE
    return True


def _drawn_well(opening: TerminalOpening, console: Console, batch: Batch) -> object:
    why = opening.mis_drawn(batch)
    if why is None:
        return True
    words = opening.words
    console.say(words(WHY[why]))
    console.say(words("You might judge another word than the one that was written."))
    console.say(what_to_do(words))
    console.say(words("If you hear or feel the text instead of seeing it, you can go on here."))
    opening.draw_anyway = yes(opening, console, words("Go on here? It is noted. 1 yes, 2 no:"))
    return opening.draw_anyway or NextAction.LEAVE


def yes(opening: TerminalOpening, console: Console, question: str, before: str = "") -> bool:
    """Return whether it is a yes, by number, letter or word; ``before`` is read out each time it is asked.

    Raises LeftError where the person leaves.
    """
    answers = _answers(opening.words)
    while True:
        if before:
            console.say(before)
        if (typed := as_key(console.ask(question)).casefold()) in answers:
            return answers[typed]
        if act_of(typed) is Act.QUIT:
            raise LeftError
        tell_unknown(opening.words, console, typed)


def tell_unknown(words: Words, console: Console, typed: str) -> None:
    """Print that a line means nothing here; an empty one, or a question mark, only asks again."""
    if typed and act_of(typed) is not Act.HELP:
        console.say(words("“{typed}” means nothing here.", typed=plain(typed[:20])))


def _answers(words: Words) -> dict[str, bool]:
    """Return what means yes or no; where letters meet, the person's own language counts."""
    answers = {YES: True, NO: False, "y": True, "yes": True, "n": False, "no": False}
    for label, means in ((words("No."), False), (words("Yes."), True)):
        word = label.strip(" .").casefold()
        answers |= {word[:1]: means, word: means}
    return answers


# who rates


def _code(opening: TerminalOpening, console: Console, step: AskCode) -> object:
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
    return NextAction.LEAVE if act_of(as_key(typed)) is Act.QUIT else typed


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
