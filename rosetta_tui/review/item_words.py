"""What the page of an item says around its two texts, in the reviewer's language."""

from __future__ import annotations

from textual.content import Content

from review.rating import CannotJudge, Reason
from review.session.keys import KEYS, RATING_OF, Act
from review.session.labels import cannot_judge_label, rating_label, rating_meaning, reason_label
from review.session.view import LastJudged, Phase, ShownItem, TextField, View
from review.session.words import Words
from rosetta_tui.review.choices import Answer
from rosetta_tui.review.key_line import Hint
from rosetta_tui.review.told import quoted, told
from rosetta_tui.text import show_lines

_QUOTED = 70
"""Characters of a text that is only named."""
_IN_TRAINING = frozenset({*RATING_OF, Act.HELP, Act.WITHDRAW, Act.QUIT})


def ratings(words: Words) -> list[Answer]:
    """Give the four ratings, the worst first."""
    return [
        Answer(KEYS[act][0], rating_label(words, rating), rating_meaning(words, rating))
        for act, rating in RATING_OF.items()
    ]


def reasons(words: Words) -> list[Answer]:
    """Give what can be wrong with a translation."""
    return [Answer(str(n), reason_label(words, each)) for n, each in enumerate(Reason, 1)]


def why_not(words: Words) -> list[Answer]:
    """Give why a person may not judge an item."""
    return [
        Answer(str(n), cannot_judge_label(words, each)) for n, each in enumerate(CannotJudge, 1)
    ]


def place(words: Words, view: View) -> str:
    """Say how far the person is."""
    item = view.item
    if item is None:
        return ""
    if view.phase is Phase.TRAINING and item.again:
        return words("Practice, once more: {number} of {of}", number=item.number, of=item.of)
    if view.phase is Phase.TRAINING:
        return words("Practice {number} of {of}", number=item.number, of=item.of)
    if view.phase is Phase.SKIPPED:
        return words("Once more: {number} of {of}", number=item.number, of=item.of)
    return words("Sentence {number} of {of}", number=item.number, of=item.of)


def marks(words: Words, item: ShownItem) -> Content:
    """Say what the person added to an item before."""
    lines = []
    if item.rating is not None:
        earlier = words("Your answer was: {rating}.", rating=rating_label(words, item.rating))
        lines.append(told(earlier, "$quiet"))
    if item.harmful:
        lines.append(told(words("You marked this as harmful."), "$warn"))
    for title, text in (
        (words("Your comment:"), item.comment),
        (words("Your better translation:"), item.suggestion),
    ):
        if text:
            lines.append(Content.assemble(told(title, "$quiet"), " ", show_lines(text)))
    return Content("\n").join(lines)


def allows(view: View, act: Act) -> bool:
    """Tell whether an act means something now."""
    if view.lesson is not None:
        return act in {Act.HELP, Act.WITHDRAW, Act.QUIT}
    if view.phase is Phase.TRAINING:
        return act in _IN_TRAINING
    return True


def why_not_now(words: Words, view: View) -> str:
    """Say why an act means nothing in practice."""
    if view.lesson is not None:
        return words("Read the answer, then press Enter.")
    return words("That comes after the practice.")


def hints(words: Words, view: View) -> list[Hint]:
    """Give the keys beside the ratings."""
    offered: list[tuple[Act, str]] = []
    if view.lesson is not None:
        return [Hint(words("Enter"), words("go on"), "enter"), *_frame(words)]
    if view.phase is Phase.TRAINING:
        return _frame(words)
    offered += [
        (Act.CANNOT_JUDGE, words("cannot judge")),
        (Act.SKIP, words("later")),
        (Act.COMMENT, words("comment")),
        (Act.WORDING, words("better translation")),
        (Act.HARM, words("harmful")),
    ]
    if view.last is not None and view.last.rating is not None:
        offered.append((Act.REASONS, words("why the last one")))
    if view.can_undo:
        offered.append((Act.UNDO, words("undo")))
    return [_hint(act, said) for act, said in offered] + _frame(words)


def _frame(words: Words) -> list[Hint]:
    return [_hint(Act.HELP, words("help")), _hint(Act.QUIT, words("stop"))]


def _hint(act: Act, said: str) -> Hint:
    return Hint(KEYS[act][0], said, f"act('{act}')")


def back(words: Words) -> list[Hint]:
    """Give the key that leads back to the ratings."""
    return [Hint(words("Esc"), words("back"), "back")]


def harm_hints(words: Words) -> list[Hint]:
    """Give the answers to the question whether an item is harmful."""
    return [Hint(words("Enter"), words("yes"), "enter"), Hint(words("Esc"), words("no"), "back")]


def last_question(words: Words, last: LastJudged) -> Content:
    """Ask what is wrong with the one that was judged just before."""
    rating = "" if last.rating is None else rating_label(words, last.rating)
    return Content.assemble(
        quoted(last.item.candidate, _QUOTED, "bold"),
        "\n",
        told(words("You answered: {rating}. What is wrong with it?", rating=rating)),
    )


def writing_title(words: Words, field: TextField) -> str:
    """Say what is to be written."""
    return words("Your comment") if field is TextField.COMMENT else words("A better translation")


def writing_hints(words: Words, field: TextField) -> list[Hint]:
    """Give the keys of the box; the up key begins with the translation."""
    hints = [
        Hint(words("Enter"), words("save"), "enter"),
        Hint(words("Esc"), words("back; your words are kept"), "back"),
    ]
    if field is TextField.SUGGESTION:
        hints.append(Hint("↑", words("begin with the translation"), "start"))
    return hints
