"""The line face at the end: the file on the stick, its six words, and taking back what was given."""

from __future__ import annotations

from pathlib import Path

from harness.core.failures import HarnessError
from review.session.session import Session
from review.session.words import page as page_words
from review.session.words.catalogue import Words
from review.session.words.keys import Act, act_of, scope_of
from review.session.words.labels import scope_label
from rosetta_tui.review.rating.lines import pages
from rosetta_tui.review.rating.lines.console import Console
from rosetta_tui.review.rating.lines.opening import tell_trouble, yes
from rosetta_tui.review.rating.opening import TerminalOpening
from rosetta_tui.show.text import plain


def hand_over(
    opening: TerminalOpening, session: Session, console: Console, places: list[Path]
) -> None:
    """Write the answers to a stick and say the six words."""
    words = session.words
    console.say(page_words.how_far(words, session.view))
    if unsaved := pages.unsaved_words(words, session.view):
        console.say(unsaved)
    stick = next((place for place in places if opening.on_stick(place)), None)
    typed = _asked_place(words, console, places, offered=stick is not None)
    if act_of(typed) is Act.UNSAVED and session.view.unsaved:
        session.go_to_unsaved()
        return
    folder = _folder(typed, places, stick)
    if folder is None:
        console.say(words("Nothing was written. Your answers are kept on this computer."))
        return
    console.say(page_words.saving(words))
    on_stick = opening.on_stick(folder)
    try:
        exported = session.export(folder)
    except HarnessError as error:
        tell_trouble(opening, console, error)
        return
    console.say(page_words.saved(words, on_stick=on_stick))
    console.say(words("The file: {path}", path=plain(str(exported.path))))
    console.say(words("These six words belong to your file:"))
    console.say(exported.phrase)
    console.say(words("Write them down. The people who ask will see the same words."))
    console.ask(words("Enter goes on:"))


def _asked_place(words: Words, console: Console, places: list[Path], *, offered: bool) -> str:
    """Ask where to; ``offered`` tells whether Enter stands for the first place."""
    for number, place in enumerate(places, 1):
        console.say(words("{key}: {label}", key=number, label=plain(str(place))))
    if offered:
        prompt = words("Enter saves in number 1. Type a number or a folder, or q:")
    else:
        console.say(words("No stick was found."))
        prompt = words("Type a folder, or only Enter for nowhere:")
    return console.ask(prompt).strip()


def _folder(typed: str, places: list[Path], stick: Path | None) -> Path | None:
    """Return what was typed as a place, the stick for nothing typed; None for nowhere."""
    if act_of(typed) is Act.QUIT:
        return None
    if not typed:
        return stick
    if typed.isdecimal() and 1 <= int(typed[:4]) <= len(places):
        return places[int(typed) - 1]
    return Path(typed).expanduser()


def withdraw(opening: TerminalOpening, session: Session, console: Console) -> None:
    """Let the person take back what they gave, after a second question."""
    words = session.words
    console.say(words("You may take back what you gave, at any time and without a reason."))
    pages.show_scopes(console, words)
    typed = console.ask(words("What do you want to take back? Only Enter for nothing:")).strip()
    scope = scope_of(typed)
    if scope is None:
        console.say(words("Nothing was taken back."))
        return
    console.say(
        words(
            "What you choose is erased on this computer for good. A stick that you handed over "
            "cannot be called back; the next one tells the organisation to erase it too."
        )
    )
    question = words("{label}. Erase it? 1 yes, 2 no:", label=scope_label(words, scope))
    if yes(opening, console, question):
        session.withdraw(scope)
    else:
        console.say(words("Nothing was taken back."))
