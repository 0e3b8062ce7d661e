"""How ratings, reasons and choices are called in the words for reviewers; one table for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from review.log.payloads import Scope
from review.rating import CannotJudge, Rating, Reason, Relation
from review.session.view import ShownItem
from review.session.words.catalogue import Words, msgid

RATINGS: Final[Mapping[Rating, tuple[str, str]]] = {
    Rating.REJECT: (msgid("Reject"), msgid("wrong, or not our language")),
    Rating.GIST: (msgid("Gist"), msgid("I get the meaning, the words are wrong")),
    Rating.ACCEPTABLE: (msgid("Acceptable"), msgid("correct, with small problems")),
    Rating.EXCELLENT: (msgid("Excellent"), msgid("as a good speaker would say it")),
}
"""Rating → its word and its one-line meaning (benchmark-specification §7.3, in plain words)."""

REASONS: Final[Mapping[Reason, str]] = {
    Reason.WRONG_MEANING: msgid("The meaning is wrong"),
    Reason.MISSING: msgid("Something is missing"),
    Reason.ADDED: msgid("Something was added"),
    Reason.GRAMMAR: msgid("The grammar is wrong"),
    Reason.WORD_FORM: msgid("A word has the wrong form"),
    Reason.SOURCE_LANGUAGE: msgid("Words of the original were left in"),
    Reason.SPELLING: msgid("The spelling is wrong"),
    Reason.REGISTER: msgid("This is not how we talk to people"),
}

RELATIONS: Final[Mapping[Relation, str]] = {
    Relation.MADE: msgid("I took part in making it"),
    Relation.KNOWS: msgid("I know who made it"),
    Relation.NEITHER: msgid("Neither"),
}
"""How near a person is to the method, in the order of the keys."""

CANNOT_JUDGE: Final[Mapping[CannotJudge, str]] = {
    CannotJudge.OTHER_DIALECT: msgid("It is another dialect"),
    CannotJudge.UNCLEAR_SOURCE: msgid("I do not understand the original"),
    CannotJudge.SUBJECT: msgid("I know too little about the subject"),
    CannotJudge.NOT_TO_SHARE: msgid("This should not be passed on"),
    CannotJudge.UNSAID: msgid("I would rather not say why"),
    CannotJudge.NOT_SHOWN: msgid("It is not shown properly here"),
}

SCOPES: Final[Mapping[Scope, str]] = {
    Scope.COMMENTS: msgid("My comments and better translations here; my answers stay"),
    Scope.BATCH: msgid("Everything I gave for these sentences"),
    Scope.EVERYTHING: msgid("Everything I ever gave under this code"),
}


def rating_label(words: Words, rating: Rating) -> str:
    """Return a rating's word."""
    return words(RATINGS[rating][0])


def rating_meaning(words: Words, rating: Rating) -> str:
    """Return a rating's one-line meaning."""
    return words(RATINGS[rating][1])


def answer_label(words: Words, item: ShownItem, *, translating: bool = False) -> str:
    """Name what a person decided about an item: a rating, a translation, or that they could give none."""
    if item.rating is not None:
        return rating_label(words, item.rating)
    if not item.could_not:
        return words("Translated")
    return words("Could not translate") if translating else words("Could not judge")


def reason_label(words: Words, reason: Reason) -> str:
    """Return a reason's words."""
    return words(REASONS[reason])


def reasons_label(words: Words, reasons: Iterable[Reason]) -> str:
    """Return several reasons' words as one list."""
    # Translators: what stands between the parts of a list whose parts are whole sentences
    return words("; ").join(reason_label(words, reason) for reason in reasons)


def cannot_judge_label(words: Words, why: CannotJudge) -> str:
    """Return the words of why a person cannot judge."""
    return words(CANNOT_JUDGE[why])


def sharing(words: Words, *, shares: bool, translating: bool = False) -> str:
    """Return whether a person lets their translations be used, or the better ones beside their ratings."""
    if translating and shares:
        return words("My translations may be used.")
    if translating:
        return words("My translations may not be used.")
    if shares:
        return words("The better translations that I write may be used.")
    return words("The better translations that I write may not be used.")


def harm_question(words: Words, *, harmful: bool, translating: bool = False) -> str:
    """Return the question before the mark is set, or removed again."""
    if harmful:
        return words("Take the mark “harmful” away again?")
    if translating:
        return words("Mark this sentence as harmful, or as hurting our culture?")
    return words("Mark this translation as harmful, or as hurting our culture?")


def scope_label(words: Words, scope: Scope, *, translating: bool = False) -> str:
    """Return the words of how much a person takes back; a translation that was asked for is an answer."""
    if translating and scope is Scope.COMMENTS:
        return words("My comments here; my translations stay")
    return words(SCOPES[scope])
