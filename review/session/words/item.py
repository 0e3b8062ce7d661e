"""What the page of an item says around its two texts, in the reviewer's language; the same in every face.

Beside a sentence stands where the corpus has it from, and what others wrote of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from review.files.manifests import SentenceContext
from review.rating import CannotJudge, Rating, Reason
from review.session.view import LastJudged, Lesson, Phase, ShownItem, TextField, View
from review.session.words.catalogue import Words, msgid
from review.session.words.keys import (
    KEYS,
    RATING_OF,
    Act,
    cannot_judge_label,
    rating_label,
    rating_meaning,
    reason_label,
    reasons_label,
)

# Context of benchmark-specification §2.6 → its words; others stand as the corpus has them
CONTEXTS: Final[Mapping[str, str]] = {
    "greeting": msgid("a greeting"),
    "declaration": msgid("a statement"),
    "question": msgid("a question"),
    "instruction": msgid("something to do"),
    "narrative": msgid("part of a story"),
    "label": msgid("a sign or a name of a thing"),
    "error": msgid("a message that something went wrong"),
}

# Register of the same section → its words
FORMALITIES: Final[Mapping[str, str]] = {
    "conversational": msgid("everyday talk"),
    "formal": msgid("formal"),
    "technical": msgid("technical"),
    "ceremonial": msgid("ceremonial"),
    "educational": msgid("for teaching"),
}


def beside(words: Words, item: ShownItem) -> Iterator[tuple[str, str]]:
    """Yield name and text of each thing, the words of others first; nothing of most items."""
    yield from _of_others(words, item)
    if item.around is not None:
        yield from _around(words, item.around)


def _of_others(words: Words, item: ShownItem) -> Iterator[tuple[str, str]]:
    if item.others:
        yield (words("People wrote this in the first round, perhaps you too. You need not agree:"), "")
        for others_words in item.others:
            if others_words.reasons:
                yield words("Somebody says: {reasons}.", reasons=reasons_label(words, others_words.reasons)), ""
            if others_words.comment:
                yield words("Somebody's comment:"), others_words.comment
            if others_words.suggestion:
                yield words("Somebody's better translation:"), others_words.suggestion


def _around(words: Words, around: SentenceContext) -> Iterator[tuple[str, str]]:
    if around.before:
        yield words("The sentence before it:"), beginning(around.before, MOST_AROUND)
    if around.after:
        yield words("The sentence after it:"), beginning(around.after, MOST_AROUND)


def context(words: Words, item: ShownItem) -> str:
    """Return what a sentence is and how it is said, in one short line; "" where the corpus does not say."""
    if item.around is None:
        return ""
    tags = ((CONTEXTS, item.around.context), (FORMALITIES, item.around.formality))
    return " · ".join(words(table[tag]) if tag in table else tag for table, tag in tags if tag)


def original_name(words: Words, item: ShownItem) -> str:
    """Return the name of the original, with its context behind it."""
    return " · ".join(filter(None, (words(ORIGINAL), context(words, item))))


MOST_AROUND = 200  # Characters of a neighbouring sentence that are shown
NAMED = 70  # Characters of a text that is only named

ORIGINAL = msgid("Original")
TRANSLATION = msgid("Translation")
GOES_ON_BELOW = msgid("↓ The text continues below")
TRANSLATION_BELOW = msgid("↓ The translation is below: read it, then answer")
ANSWERS_BELOW = msgid("↓ The answers are below")
READ_FIRST = msgid("First read the translation.")
MAKE_LARGER = msgid("Make this window larger to read.")
SAVING = msgid("saving …")
NOT_SHOWN = (
    msgid("This computer cannot show the letters of this sentence."),
    msgid("It is left out, and the people who asked you will know."),
)
GO_ON_WITHOUT = msgid("Continue without it")
WHY_NOT = msgid("Why can you not judge it?")
WHY_UNTRANSLATED = msgid("Why can you not translate it?")
YOUR_TRANSLATION = msgid("Your translation")
SAVE_AND_GO_ON = msgid("Save and continue")
ANSWER_FIRST = msgid("First give an answer, then say why.")

_IN_TRAINING = frozenset({*RATING_OF, Act.SKIP, Act.HELP, Act.WITHDRAW, Act.QUIT})
_IN_LESSON = frozenset({Act.SKIP, Act.HELP, Act.WITHDRAW, Act.QUIT})


class Answer(NamedTuple):
    key: str  # As it stands on the keyboard
    word: str
    meaning: str = ""  # One line that explains it


class Mark(NamedTuple):
    """Something that the person added to an item before."""

    said: str
    text: str = ""  # What the person wrote; `said` is its title then
    warns: bool = False
    in_line: bool = False  # Whether the text follows its title, without a box of its own
    folded: bool = False  # Whether a person opens it to read it: the sentences around this one


class Offer(NamedTuple):
    """Something that can be done, in one or two words."""

    act: Act
    said: str
    # False where there is nothing yet to do it to: a button keeps its place, and a key is not named
    now: bool = True


class ItemQuestion(NamedTuple):
    """A question about an item that is not shown any more."""

    said: str
    source: str = ""
    candidate: str = ""
    place: str = ""  # Which of the sentences it is


def ratings(words: Words) -> list[Answer]:
    return [
        Answer(KEYS[act][0], rating_label(words, rating), rating_meaning(words, rating))
        for act, rating in RATING_OF.items()
    ]


def reasons(words: Words) -> list[Answer]:
    return [Answer(str(n), reason_label(words, reason)) for n, reason in enumerate(Reason, 1)]


def why_not(words: Words) -> list[Answer]:
    """Return why a person may not judge an item."""
    return [Answer(str(n), cannot_judge_label(words, judge)) for n, judge in enumerate(CannotJudge, 1)]


def place(words: Words, view: View) -> str:
    if (item := view.item) is None:
        return ""
    if view.phase is Phase.TRAINING:
        return words("Practice {number} of {of}", number=item.number, of=item.of)
    if view.phase is Phase.SKIPPED:
        return words("Once more: {number} of {of}", number=item.number, of=item.of)
    return words("Sentence {number} of {of}", number=item.number, of=item.of)


def practice(words: Words, view: View) -> str:
    """Return words saying that practice does not count; empty outside of practice."""
    if view.phase is not Phase.TRAINING or view.item is None:
        return ""
    return words("This is only practice: nothing here counts.")


def your_answer(words: Words, item: ShownItem) -> str:
    """Return what the person's answer is, or was before it was taken back; empty where there is none."""
    if item.could_not:
        return words("You said that you cannot judge this one.")
    if item.rating is None:
        return ""
    rating = rating_label(words, item.rating)
    if item.stands:
        return words("Your answer is: {rating}.", rating=rating)
    return words("You took back your answer “{rating}”. It does not count.", rating=rating)


def marks(words: Words, item: ShownItem) -> list[Mark]:
    """Return what the person added to an item before, then what is next to it."""
    marks = []
    if answer := your_answer(words, item):
        marks.append(Mark(answer))
    if item.harmful:
        marks.append(Mark(words("You marked this as harmful."), warns=True))
    if item.comment:
        marks.append(Mark(comment_title(words, item), item.comment))
    if item.suggestion:
        marks.append(Mark(wording_title(words, item), item.suggestion))
    marks += [Mark(title, text) for title, text in _of_others(words, item)]
    around = () if item.around is None else _around(words, item.around)
    return [*marks, *(Mark(title, text, in_line=True, folded=True) for title, text in around)]


def with_text(item: ShownItem, field: TextField, text: str) -> ShownItem:
    """Return an item with a text that was just typed: a draft, unless it stood there before."""
    comment = field is TextField.COMMENT
    if text == (item.comment if comment else item.suggestion):
        return item
    typed = replace(item, drafts=item.drafts | {field})
    return replace(typed, comment=text) if comment else replace(typed, suggestion=text)


def comment_title(words: Words, item: ShownItem) -> str:
    """Introduce the person's comment, and say where it is only a draft."""
    if TextField.COMMENT in item.drafts:
        return words("Your comment, not saved yet:")
    return words("Your comment:")


def wording_title(words: Words, item: ShownItem) -> str:
    """Introduce the person's better wording, and say where it is only a draft."""
    if TextField.SUGGESTION in item.drafts:
        return words("Your better translation, not saved yet:")
    return words("Your better translation:")


def translation_marks(words: Words, item: ShownItem) -> list[Mark]:
    """Return what the person added to a sentence before, beside its translation."""
    rows = []
    if item.could_not:
        rows.append(Mark(words("You said that you cannot translate this one.")))
    return rows + marks(words, replace(item, could_not=False))


def lesson_said(words: Words, lesson: Lesson) -> str:
    """Return the person's answer to a training item, and where speakers gave another one, theirs.

    A reject may be made by a program, so nothing is said in anybody's name there: its explanation is a fact.
    """
    given = rating_label(words, lesson.given)
    if lesson.given is lesson.expected or lesson.expected is Rating.REJECT:
        return words("You said {given}.", given=given)
    expected = rating_label(words, lesson.expected)
    return words("You said {given}. We would say {rating}.", given=given, rating=expected)


def allows(view: View, act: Act) -> bool:
    if view.lesson is not None:
        return act in _IN_LESSON
    if view.phase is Phase.TRAINING:
        return act in _IN_TRAINING
    return True


def why_not_now(words: Words, view: View) -> str:
    """Return why an act means nothing in practice."""
    if view.lesson is not None:
        return words("Read the answer, then press Enter.")
    return words("That comes after the practice.")


def offers(words: Words, view: View) -> list[Offer]:
    """Return what can be done beside the answers, and leaving; a lesson's "continue" is the face's own.

    The same from the first sentence to the last, so that nothing changes its place.
    """
    if view.phase is Phase.TRAINING:
        offered = [Offer(Act.SKIP, words("skip the practice"))]
    else:
        offered = [
            Offer(Act.CANNOT_JUDGE, words("cannot judge")),
            Offer(Act.SKIP, words("later")),
            Offer(Act.COMMENT, words("comment")),
            Offer(Act.WORDING, words("better translation")),
            Offer(Act.HARM, words("harmful")),
            Offer(Act.REASONS, words("what was wrong?"), view.last is not None and view.last.rating is not None),
            Offer(Act.UNDO, words("undo"), view.can_undo),
        ]
    return [*offered, Offer(Act.HELP, words("help")), Offer(Act.QUIT, words("stop"))]


def translation_offers(words: Words, view: View) -> list[Offer]:
    """Return what can be done beside writing a translation, and leaving."""
    offered = [
        Offer(Act.CANNOT_JUDGE, words("cannot translate")),
        Offer(Act.SKIP, words("later")),
        Offer(Act.COMMENT, words("comment")),
        Offer(Act.HARM, words("harmful")),
        Offer(Act.UNDO, words("undo"), view.can_undo),
    ]
    return [*offered, Offer(Act.HELP, words("help")), Offer(Act.QUIT, words("stop"))]


def last_question(words: Words, last: LastJudged) -> ItemQuestion:
    """Return the question what is wrong with the one that was judged just before."""
    rating = "" if last.rating is None else rating_label(words, last.rating)
    question = words("You answered: {rating}. What is wrong with it?", rating=rating)
    item = last.item
    place = words("Sentence {number} of {of}", number=item.number, of=item.of)
    return ItemQuestion(question, item.source, item.candidate, place)


def beginning(text: str, most: int = NAMED) -> str:
    """Return the beginning of somebody's text, for naming it."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def writing_title(words: Words, field: TextField) -> str:
    return words("Your comment") if field is TextField.COMMENT else words("A better translation")
