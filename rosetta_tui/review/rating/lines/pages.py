"""What the line face prints and how a line is read: short lines, everything named in words."""

from __future__ import annotations

import getpass
import io
import sys
from collections.abc import Iterable
from typing import TextIO

from review.rating import Rating
from review.session.view import Lesson, ShownItem, View
from review.session.words import item as item_words
from review.session.words import page as page_words
from review.session.words.catalogue import Words
from review.session.words.item import beside
from review.session.words.keys import ACT_WORDS, KEYS, TRANSLATION_WORDS, Act, key_name
from review.session.words.labels import (
    rating_label,
    rating_meaning,
    reasons_label,
)
from rosetta_tui.show.text import plain

if sys.platform == "win32":
    import msvcrt
else:
    import select
    import termios

MOST_LINE = 20_000
"""Characters of one typed line that are read."""


class LeftError(Exception):
    """The input ended: the person closed it, or the pipe did."""


class Console:
    """Two streams; no cursor is moved, no colour set, nothing written twice."""

    def __init__(self, reads: TextIO | None = None, writes: TextIO | None = None) -> None:
        self._reads = reads or _standard_input()
        self._writes = writes or sys.stdout
        self.typed = self._reads.isatty()
        """True where a person types; a pipe's lines are all meant."""

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
        line = self._read_line()
        if not self.typed:
            self._writes.write("\n")
        if not line:
            raise LeftError
        return line.rstrip("\r\n")

    def _read_line(self) -> str:
        """Read a line; of one that is longer than anybody types, the beginning."""
        line = rest = self._reads.readline(MOST_LINE)
        while len(rest) == MOST_LINE and not rest.endswith("\n"):
            rest = self._reads.readline(MOST_LINE)
        return line

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


_NOT_HERE = frozenset({Act.LARGER, Act.SMALLER})
"""The terminal's own settings do this."""


KEY_SIGN = "/"
"""May stand before any key; where translations are typed, it must."""


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
    for label, text in (
        (words("Translation:"), item.candidate),
        (words("Your translation:"), item.translation),
    ):
        if text:
            console.labelled(label, text)
    _show_said(console, words, item)
    for said, text in beside(words, item):
        if text:
            console.labelled(said, text)
        else:
            console.say(said)


def _show_said(console: Console, words: Words, item: ShownItem) -> None:
    """Print what this person said of an item beside a translation."""
    if answer := item_words.your_answer(words, item):
        console.say(answer)
    if item.reasons:
        console.say(words("What is wrong: {reasons}.", reasons=reasons_label(words, item.reasons)))
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
        label, meaning = rating_label(words, rating), rating_meaning(words, rating)
        console.say(words("{key} {label}: {meaning}", key=number, label=label, meaning=meaning))


def show_keys(console: Console, words: Words, *, translating: bool) -> None:
    """Print what can be typed while an item is shown."""
    if translating:
        console.say(words("What you type is your translation. A line that begins with / is a key:"))
    else:
        show_ratings(console, words)
    for act, label in (TRANSLATION_WORDS if translating else ACT_WORDS).items():
        if act not in _NOT_HERE:
            console.say(words("{key}: {label}", key=_key(words, KEYS[act][0]), label=words(label)))
    console.say(words("Enter alone reads the sentence again."))
    if not translating:
        console.say(words("c and e also take your words at once, as in: c too formal"))


def _key(words: Words, key: str) -> str:
    name = key_name(words, key)
    return key if name == key else words("{key} ({name})", key=key, name=name)


def show_choices(console: Console, words: Words, labels: Iterable[str]) -> None:
    """Print what can be chosen, each with its digit."""
    for number, label in enumerate(labels, 1):
        console.say(words("{key}: {label}", key=number, label=label))


def answer_prompt(words: Words) -> str:
    """Return the prompt under an item: the four answers, short."""
    labels = (f"{number} {rating_label(words, rating)}" for number, rating in enumerate(Rating, 1))
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
    way = words("Type {key} and Enter to look at it.", key=KEYS[Act.UNSAVED][0])
    return f"{message} {way}" if message else ""


def end_prompt(words: Words, view: View) -> str:
    """Return what can be typed at the end."""
    if view.handed_over:
        return words("x writes it once more, u takes back, q stops:")
    return words("Put the stick in, then type x and Enter. u takes back, q stops:")
