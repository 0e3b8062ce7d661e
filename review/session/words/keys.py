"""Which key does what, one table for every face, checked for collisions when it is built; and what choices are called.

Digits of the row, of the number pad and of any script count, as do the characters of the unshifted digit row of a French
keyboard. The letters d f g h are side by side on QWERTY, QWERTZ and AZERTY.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, StrEnum, auto
from typing import Final, TypeVar

from review.log.payloads import Scope
from review.rating import CannotJudge, Rating, Reason, Relation
from review.session.view import ShownItem
from review.session.words.catalogue import Words, msgid


class Act(StrEnum):
    """What a person can do with one key while an item is shown."""

    REJECT = "reject"
    GIST = "gist"
    ACCEPTABLE = "acceptable"
    EXCELLENT = "excellent"
    CANNOT_JUDGE = "cannot_judge"
    SKIP = "skip"
    UNDO = "undo"
    REASONS = "reasons"
    COMMENT = "comment"
    WORDING = "wording"
    HARM = "harm"
    UNRATED = "unrated"
    UNSAVED = "unsaved"
    LARGER = "larger"
    SMALLER = "smaller"
    HAND_OVER = "hand_over"
    SHARING = "sharing"
    WITHDRAW = "withdraw"
    HELP = "help"
    QUIT = "quit"


BACKSPACE: Final = "\x7f"  # What stands in the table for the key Backspace

# Act → its keys, the one that is shown first
KEYS: Final[Mapping[Act, tuple[str, ...]]] = {
    Act.REJECT: ("1", "d"),
    Act.GIST: ("2", "f"),
    Act.ACCEPTABLE: ("3", "g"),
    Act.EXCELLENT: ("4", "h"),
    Act.CANNOT_JUDGE: ("0",),
    Act.SKIP: ("s",),
    Act.UNDO: ("u", BACKSPACE),
    Act.REASONS: (",",),
    Act.COMMENT: ("c",),
    Act.WORDING: ("e",),
    Act.HARM: ("!",),
    Act.UNRATED: ("n",),
    Act.UNSAVED: ("t",),
    Act.LARGER: ("+", "="),
    Act.SMALLER: ("-",),
    Act.HAND_OVER: ("x",),
    Act.SHARING: ("b",),
    Act.WITHDRAW: ("w",),
    Act.HELP: ("?",),
    Act.QUIT: ("q",),
}

RATING_OF: Final[Mapping[Act, Rating]] = {
    Act.REJECT: Rating.REJECT,
    Act.GIST: Rating.GIST,
    Act.ACCEPTABLE: Rating.ACCEPTABLE,
    Act.EXCELLENT: Rating.EXCELLENT,
}

# Act → what it does, to be translated; the four ratings have words of their own (`labels`)
ACT_WORDS: Final[Mapping[Act, str]] = {
    Act.CANNOT_JUDGE: msgid("I cannot judge this one"),
    Act.SKIP: msgid("Leave it for later"),
    Act.UNDO: msgid("Take back the last answer"),
    Act.REASONS: msgid("Say what is wrong with the one you just answered"),
    Act.COMMENT: msgid("Write a comment"),
    Act.WORDING: msgid("Write a better translation"),
    Act.HARM: msgid("This is harmful or hurts our culture"),
    Act.UNRATED: msgid("Go to the next one without an answer"),
    Act.UNSAVED: msgid("Go to what you wrote and did not save"),
    Act.LARGER: msgid("Larger letters"),
    Act.SMALLER: msgid("Smaller letters"),
    Act.HAND_OVER: msgid("Hand in your answers"),
    Act.SHARING: msgid("Say whether your better translations may be used"),
    Act.WITHDRAW: msgid("Take back everything you gave"),
    Act.HELP: msgid("Help"),
    Act.QUIT: msgid("Stop for now; everything is kept"),
}

_OF_TRANSLATING: Final[Mapping[Act, str]] = {
    Act.CANNOT_JUDGE: msgid("I cannot translate this one"),
    Act.SHARING: msgid("Say whether your translations may be used"),
}

# The same where a person translates
TRANSLATION_WORDS: Final[Mapping[Act, str]] = {
    act: _OF_TRANSLATING.get(act, label) for act, label in ACT_WORDS.items() if act not in {Act.REASONS, Act.WORDING}
}

# Key → its name, to be translated: a screen reader may pass over a sign
KEY_NAMES: Final[Mapping[str, str]] = {
    BACKSPACE: msgid("Backspace"),
    ",": msgid("comma"),
    "!": msgid("exclamation mark"),
    "?": msgid("question mark"),
    "+": msgid("plus"),
    "=": msgid("equals"),
    "-": msgid("minus"),
}

# The unshifted digit row of AZERTY, without its 6
_FRENCH_ROW: Final = dict(zip("&é\"'(è_çà", "123457890", strict=True))
# A digit only where one is chosen from a list; elsewhere it makes letters smaller
_FRENCH_SIX: Final = "-"
_DIGITS: Final = frozenset("0123456789")

_Choice = TypeVar("_Choice")


def table(keys: Mapping[Act, tuple[str, ...]]) -> dict[str, Act]:
    """Invert the table: key → act. Raises ValueError where two acts want one key."""
    acts: dict[str, Act] = {}
    for act, own in keys.items():
        for key in own:
            if key in acts or key in _FRENCH_ROW:
                raise ValueError(f"the key {key!r} of {act} is taken")
            acts[key] = act
    return acts


_ACTS: Final = table(KEYS)


def act_of(typed: str) -> Act | None:
    """Return what a typed character does, None where it does nothing."""
    return _ACTS.get(_key(typed))


def key_name(words: Words, key: str) -> str:
    """Return the name of a key in the reviewer's language; letters and digits name themselves."""
    return words(KEY_NAMES[key]) if key in KEY_NAMES else key


def reason_of(typed: str) -> Reason | None:
    """Return which reason a digit names, 1–8 in the order of the table."""
    return _chosen(typed, tuple(Reason))


def cannot_judge_of(typed: str) -> CannotJudge | None:
    """Return why a person cannot judge, 1–6 in the order of the table."""
    return _chosen(typed, tuple(CannotJudge))


def scope_of(typed: str) -> Scope | None:
    """Return how much a person takes back, 1–3 in the order of the table."""
    return _chosen(typed, tuple(Scope))


def may_share(typed: str) -> bool | None:
    """Return what a digit says to whether something may be used: 1 yes, 2 no."""
    return _chosen(typed, (True, False))


def relation_of(typed: str) -> Relation | None:
    """Return what a digit says of how near a person is to the method, 1–3 in the order of the table."""
    return _chosen(typed, tuple(Relation))


def _chosen(typed: str, choices: Sequence[_Choice]) -> _Choice | None:
    digit = "6" if typed == _FRENCH_SIX else _key(typed)
    number = int(digit) if digit in _DIGITS else 0
    return choices[number - 1] if 1 <= number <= len(choices) else None


def _key(typed: str) -> str:
    if len(typed) != 1:
        return ""
    if typed == "\b":
        return BACKSPACE
    digit = unicodedata.decimal(typed, None)
    return _FRENCH_ROW.get(typed, typed.casefold()) if digit is None else str(digit)


class NextAction(Enum):
    """What the person chose on a page without an item."""

    GO_ON = auto()
    UNDO = auto()
    HAND_OVER = auto()
    SHARING = auto()  # Whether what the person wrote may be used
    WITHDRAW = auto()
    ANSWERS = auto()  # The person's own answers, to look at again
    UNSAVED = auto()  # The next sentence with words that are not saved
    WORDING = auto()  # A better translation, where it is first asked whether such may be used
    HELP = auto()
    LEAVE = auto()


# Act → where its key leads; on the page of an item, undo and the way to unsaved words are done
# there
ONWARD_OF: Final[Mapping[Act, NextAction]] = {
    Act.UNDO: NextAction.UNDO,
    Act.HAND_OVER: NextAction.HAND_OVER,
    Act.SHARING: NextAction.SHARING,
    Act.WITHDRAW: NextAction.WITHDRAW,
    Act.UNSAVED: NextAction.UNSAVED,
    Act.HELP: NextAction.HELP,
    Act.QUIT: NextAction.LEAVE,
}


# ---- How ratings, reasons and choices are called in the words for reviewers; one table for each.

# Rating → its word and its one-line meaning (benchmark-specification §7.3, in plain words)
RATINGS: Final[Mapping[Rating, tuple[str, str]]] = {
    Rating.REJECT: (msgid("Reject"), msgid("wrong, or not our language")),
    Rating.GIST: (msgid("Gist"), msgid("I get the meaning, the words are wrong")),
    Rating.ACCEPTABLE: (msgid("Acceptable"), msgid("correct, with small problems")),
    Rating.EXCELLENT: (msgid("Excellent"), msgid("as a good speaker would say it")),
}

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

# How near a person is to the method, in the order of the keys
RELATIONS: Final[Mapping[Relation, str]] = {
    Relation.MADE: msgid("I took part"),
    Relation.KNOWS: msgid("I know who made it"),
    Relation.NEITHER: msgid("Neither"),
}

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
    return words(RATINGS[rating][0])


def rating_meaning(words: Words, rating: Rating) -> str:
    return words(RATINGS[rating][1])


def answer_label(words: Words, item: ShownItem, *, translating: bool = False) -> str:
    """Name what a person decided about an item: a rating, a translation, or that they could give none."""
    if item.rating is not None:
        return rating_label(words, item.rating)
    if not item.could_not:
        return words("Translated")
    return words("Could not translate") if translating else words("Could not judge")


def reason_label(words: Words, reason: Reason) -> str:
    return words(REASONS[reason])


def reasons_label(words: Words, reasons: Iterable[Reason]) -> str:
    # Translators: what stands between the parts of a list whose parts are whole sentences
    return words("; ").join(reason_label(words, reason) for reason in reasons)


def cannot_judge_label(words: Words, why: CannotJudge) -> str:
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
