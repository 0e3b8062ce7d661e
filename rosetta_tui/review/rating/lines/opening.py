"""The line face before the first item: which review, who asks, who rates."""

from __future__ import annotations

from typing import NamedTuple

from harness.core.failures import HarnessError
from review.files.batch import Batch
from review.sealed.problem import FileError, FileProblem
from review.session import opening_words
from review.session.choice import Choice
from review.session.words.catalogue import Words
from review.session.words.keys import Act, act_of
from review.session.words.troubles import trouble
from rosetta_tui.review.mis_drawn import WHY, what_to_do
from rosetta_tui.review.rating.lines.pages import Console, LeftError
from rosetta_tui.review.rating.opening import TerminalOpening
from rosetta_tui.show.text import plain

YES, NO = "1", "2"
LANGUAGE = "l"


class Begun(NamedTuple):
    """What a session needs."""

    batch: Batch
    reviewer: str


def begin(opening: TerminalOpening, console: Console) -> Begun | None:
    """Ask what must be known before a session; None where the person does not want to go on."""
    for name in opening.words.damaged:
        said = opening.words("A file with words of a language is damaged and is not used: {name}")
        console.say(said.replace("{name}", plain(name)))
    if missing := opening.not_here():
        console.say(missing)
    batch = _batch(opening, console)
    if batch is None or not _trusted(opening, console, batch):
        return None
    if not _drawn_well(opening, console, batch):
        return None
    reviewer = _reviewer(opening, console, batch)
    return Begun(batch, reviewer) if reviewer else None


# which review


def _batch(opening: TerminalOpening, console: Console) -> Batch | None:
    while (choice := _choice(opening, console)) is not None:
        try:
            return _opened(opening, console, choice)
        except HarnessError as error:
            if opening.is_named(choice):
                raise
            tell_trouble(opening, console, error)
    return None


def _choice(opening: TerminalOpening, console: Console) -> Choice | None:
    """Let the person choose; what was named on the command line is chosen already."""
    while True:
        words, choices = opening.words, opening.choices()
        if len(choices) == 1 and opening.is_named(choices[0]):
            return choices[0]
        _list(opening, console, choices)
        if choices:
            prompt = words("Enter opens number 1. Type a number, l for another language, or q:")
        else:
            prompt = words("Enter looks again. Type l for another language, or q to stop:")
        typed = console.ask(prompt).strip()
        if act_of(typed) is Act.QUIT:
            return None
        if typed.casefold() == LANGUAGE:
            choose_language(opening, console)
        elif choices and (chosen := _numbered(typed or "1", choices)) is not None:
            return chosen
        elif typed:
            console.say(words("“{typed}” means nothing here.", typed=plain(typed[:20])))


def _list(opening: TerminalOpening, console: Console, choices: list[Choice]) -> None:
    words = opening.words
    if not choices:
        console.say(words("No sentences were found. Put the stick into this computer."))
        return
    console.say(words("These wait for you:"))
    for number, choice in enumerate(choices, 1):
        console.say(_row(words, number, choice))


def _row(words: Words, number: int, choice: Choice) -> str:
    facts = {"title": plain(choice.title), "name": plain(choice.organisation)}
    if choice.path is not None:
        place = plain(str(choice.path.parent))
        if choice.organisation:
            return words(
                "{number}: {title}, from {name}, in {place}", number=number, place=place, **facts
            )
        return words("{number}: {title}, in {place}", number=number, place=place, **facts)
    said = words("{number}: {title}, from {name}", number=number, **facts)
    far = words("{done} of {total} done", done=choice.done, total=choice.total)
    return said if choice.done is None else f"{said}, {far}"


def _numbered(typed: str, choices: list[Choice]) -> Choice | None:
    number = int(typed) if typed.isdecimal() and len(typed) < 4 else 0
    return choices[number - 1] if 1 <= number <= len(choices) else None


def _opened(opening: TerminalOpening, console: Console, choice: Choice) -> Batch:
    passphrase = None
    while True:
        try:
            return opening.open(choice, passphrase)
        except FileError as error:
            again = error.problem is FileProblem.WRONG_KEY and passphrase is not None
            if not (again or (error.problem is FileProblem.LOCKED and passphrase is None)):
                raise
            console.say(trouble(opening.words, error).said)
        passphrase = console.ask_hidden(opening.words("Type the secret words, then Enter:"))


# who asks, and can this be drawn


def _trusted(opening: TerminalOpening, console: Console, batch: Batch) -> bool:
    if opening.is_known(batch):
        return True
    words = opening.words
    console.say(words("This is the first time that you get sentences from:"))
    console.say(plain(batch.manifest.organisation.name))
    console.say(words("Its six words are:"))
    console.say(batch.organisation_phrase)
    console.say(words("The same words stand on your card, or the people who ask can say them."))
    if not yes(opening, console, words("Are they the same? 1 yes, 2 no:")):
        console.say(words("Then do not go on. Ask the people who gave you the file."))
        return False
    opening.accept(batch)
    return True


def _drawn_well(opening: TerminalOpening, console: Console, batch: Batch) -> bool:
    why = opening.mis_drawn(batch)
    if why is None:
        return True
    words = opening.words
    console.say(words(WHY[why]))
    console.say(words("You might judge another word than the one that was written."))
    console.say(what_to_do(words))
    console.say(words("If you hear or feel the text instead of seeing it, you can go on here."))
    opening.draw_anyway = yes(opening, console, words("Go on here? It is noted. 1 yes, 2 no:"))
    return opening.draw_anyway


def yes(opening: TerminalOpening, console: Console, question: str) -> bool:
    """Ask until it is a yes or a no, by number, letter or word; LeftError where the person leaves."""
    answers = _answers(opening.words)
    while (typed := console.ask(question).strip().casefold()) not in answers:
        if act_of(typed) is Act.QUIT:
            raise LeftError
        if typed:  # an empty line only asks again
            console.say(opening.words("“{typed}” means nothing here.", typed=plain(typed[:20])))
    return answers[typed]


def _answers(words: Words) -> dict[str, bool]:
    """Return what means yes or no; where letters meet, the person's own language counts."""
    answers = {YES: True, NO: False, "y": True, "yes": True, "n": False, "no": False}
    for said, means in ((words("No."), False), (words("Yes."), True)):
        word = said.strip(" .").casefold()
        answers |= {word[:1]: means, word: means}
    return answers


# who rates


def _reviewer(opening: TerminalOpening, console: Console, batch: Batch) -> str | None:
    words = opening.words
    known = opening.remembered(batch)
    typed, opening.code = opening.code, None
    while True:
        if typed is None and known:
            same = opening_words.same_card(words, known)
            other = words("Else type your code, then Enter:")
            typed = console.ask(f"{same} {other}").strip()
        elif typed is None:
            typed = console.ask(words("Type the code from your card, then Enter:")).strip()
        if act_of(typed) is Act.QUIT:
            return None
        try:
            return opening.reviewer(batch, typed)
        except HarnessError as error:
            tell_trouble(opening, console, error)
            typed = None


# language and trouble


def choose_language(opening: TerminalOpening, console: Console) -> None:
    """Let the person choose the language of the program."""
    tags = opening.languages
    for number, name in enumerate(tags.values(), 1):
        console.say(f"{number}: {plain(name)}")
    typed = console.ask(opening.words("Type a number, or only Enter to leave it:")).strip()
    number = int(typed) if typed.isdecimal() and len(typed) < 4 else 0
    if 1 <= number <= len(tags):
        opening.set_language(list(tags)[number - 1])


def tell_trouble(opening: TerminalOpening, console: Console, error: HarnessError) -> None:
    """Say what did not work, and one line for whoever helps."""
    said, detail = trouble(opening.words, error)
    console.say(said)
    if detail:
        console.say(opening.words("For whoever helps: {detail}", detail=plain(detail)))
