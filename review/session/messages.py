"""The one quiet sentence about what a key did."""

from __future__ import annotations

from collections.abc import Collection

from review.log.payloads import (
    MOST_TEXT,
    AnyPayload,
    Comment,
    Kind,
    NotJudged,
    Rate,
    Reasons,
    Scope,
    Suggest,
    Translate,
)
from review.rating import Rating, Reason
from review.session.progress import Decision
from review.session.view import TextField
from review.session.words.catalogue import Words, msgid
from review.session.words.labels import cannot_judge_label, rating_label, reasons_label, sharing

NOT_JUDGED = msgid("Saved: you cannot judge this one.")
TRANSLATED = msgid("Your translation is saved.")
NOT_TRANSLATED = msgid("Saved: you cannot translate this one.")
PRACTICE_IS_OVER = msgid("Practice is over. From here your answers count.")
NOTHING_TO_TAKE_BACK = msgid("There is nothing to take back.")
NOTHING_WRITTEN = msgid("Write your translation first, or leave this one for later.")
ASKS_FOR_TRANSLATIONS = msgid(
    "There is nothing to rate here: these sentences are to be translated."
)
ASKS_FOR_RATINGS = msgid(
    "These translations are to be rated. Write a better one beside your answer."
)
TOO_SOON = msgid("That came too soon, so nothing was done. Please do it again.")
ALL_SAVED = msgid("Everything that you wrote is saved.")
NOT_SAVED_HERE = msgid("What you wrote here is not saved yet. Save it, or answer once more.")
ALL_ANSWERED = msgid("Every sentence has your answer.")

_KEPT = {
    TextField.COMMENT: msgid("Your comment is saved."),
    TextField.SUGGESTION: msgid("Your translation is saved."),
}
_REMOVED = {
    TextField.COMMENT: msgid("Your comment is removed."),
    TextField.SUGGESTION: msgid("Your translation is removed."),
}
_COMMENTS_WITHDRAWN = msgid("Your comments are erased.")
_WITHDRAWN = {
    Scope.COMMENTS: msgid("Your comments and better translations are erased."),
    Scope.BATCH: msgid("Everything you gave for these sentences is erased."),
    Scope.EVERYTHING: msgid("Everything you ever gave under this code is erased."),
}


def rated(words: Words, rating: Rating) -> str:
    """Return which rating was saved."""
    return words("Saved: {rating}.", rating=rating_label(words, rating))


def put_aside(words: Words, *, again: bool) -> str:
    """Return that the item comes again, or that it stays without an answer."""
    if again:
        return words("Left without an answer.")
    return words("Left for later: it comes again at the end.")


def taken_back(
    words: Words,
    decision: Decision,
    beside: Collection[AnyPayload] = (),
    *,
    translating: bool = False,
) -> str:
    """Return what it was that undo took back, and what went with it: reasons, and words that are drafts again."""
    messages_of = [_taken_back(words, decision, translating)]
    if any(isinstance(payload, Reasons) for payload in beside):
        messages_of.append(words("Its reasons are taken back, too."))
    if any(isinstance(payload, Comment | Suggest) for payload in beside):
        messages_of.append(words("Your words are kept, but not saved yet."))
    return " ".join(messages_of)


def with_texts(words: Words, said: str, texts: Collection[Comment | Suggest]) -> str:
    """Return what was saved together with an answer."""
    fields = {Kind.COMMENT: TextField.COMMENT, Kind.SUGGEST: TextField.SUGGESTION}
    saved = (text(words, fields[payload.kind], payload.text) for payload in texts)
    return " ".join([said, *saved])


def _taken_back(words: Words, decision: Decision, translating: bool) -> str:
    if isinstance(decision, Rate):
        label = rating_label(words, decision.rating)
        return words("Taken back. Your answer was: {rating}.", rating=label)
    if isinstance(decision, Translate):
        return words("Taken back. Your translation is here again.")
    if isinstance(decision, NotJudged):
        why = cannot_judge_label(words, decision.why)
        if translating:
            return words("Taken back. You could not translate it: {reason}.", reason=why)
        return words("Taken back. You could not judge it: {reason}.", reason=why)
    return words("Taken back. You had left it for later.")


def reasons(words: Words, chosen: Collection[Reason]) -> str:
    """Return which reasons are saved now."""
    if not chosen:
        return words("Saved: no reason.")
    return words("Saved: {reasons}.", reasons=reasons_label(words, chosen))


def text(words: Words, field: TextField, typed: str) -> str:
    """Return that a text was saved or removed."""
    return words(_KEPT[field] if typed else _REMOVED[field])


def too_long(words: Words, typed: str) -> str:
    """Return that a text is longer than can be saved."""
    return words(
        "This is too long to be saved: {n} characters, at most {most}. Your text is kept; shorten it.",
        n=len(typed),
        most=MOST_TEXT,
    )


def harm(words: Words, *, harmful: bool) -> str:
    """Return that the flag was set or taken back."""
    if harmful:
        return words("Saved: this is harmful or hurts our culture. The key ! takes that back.")
    return words("Saved: this is not harmful after all.")


def withdrawn(words: Words, scope: Scope, *, translating: bool = False) -> str:
    """Return what was erased on this computer."""
    if translating and scope is Scope.COMMENTS:
        return words(_COMMENTS_WITHDRAWN)
    return words(_WITHDRAWN[scope])


def shared(words: Words, *, shares: bool, translating: bool = False) -> str:
    """Return whether what the person wrote may be used from now on."""
    sharing_words = sharing(words, shares=shares, translating=translating)
    return words("Saved: {said}", said=sharing_words)


def no_more_words(words: Words, *, translating: bool = False) -> str:
    """Return why no comment is kept: its person took back all of them."""
    if translating:
        return words("You took back your comments here, so no new ones are kept.")
    return words(
        "You took back your comments and better translations here, so no new ones are kept."
    )
