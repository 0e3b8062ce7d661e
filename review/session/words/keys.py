"""Which key does what: one table for every face, checked for collisions when it is built.

Digits of the row, of the number pad and of any script count, as do the characters that the unshifted
digit row of a French keyboard gives. The letters d f g h lie side by side on QWERTY, QWERTZ and AZERTY.

Where a page of the sitting leads, whatever face shows it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from enum import Enum, StrEnum, auto
from typing import Final, TypeVar

from review.log.payloads import Scope
from review.rating import CannotJudge, Rating, Reason, Relation
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


BACKSPACE: Final = "\x7f"
"""What stands in the table for the key Backspace."""

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
"""Act → its keys, the one that is shown first."""

RATING_OF: Final[Mapping[Act, Rating]] = {
    Act.REJECT: Rating.REJECT,
    Act.GIST: Rating.GIST,
    Act.ACCEPTABLE: Rating.ACCEPTABLE,
    Act.EXCELLENT: Rating.EXCELLENT,
}

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
    Act.HAND_OVER: msgid("Hand over your answers"),
    Act.SHARING: msgid("Say whether your better translations may be used"),
    Act.WITHDRAW: msgid("Take back everything you gave"),
    Act.HELP: msgid("Help"),
    Act.QUIT: msgid("Stop for now; everything is kept"),
}
"""Act → what it does, to be translated; the four ratings have words of their own (``labels``)."""

_OF_TRANSLATING: Final[Mapping[Act, str]] = {
    Act.CANNOT_JUDGE: msgid("I cannot translate this one"),
    Act.SHARING: msgid("Say whether your translations may be used"),
}

TRANSLATION_WORDS: Final[Mapping[Act, str]] = {
    act: _OF_TRANSLATING.get(act, label)
    for act, label in ACT_WORDS.items()
    if act not in {Act.REASONS, Act.WORDING}
}
"""The same where a person translates."""

KEY_NAMES: Final[Mapping[str, str]] = {
    BACKSPACE: msgid("Backspace"),
    ",": msgid("comma"),
    "!": msgid("exclamation mark"),
    "?": msgid("question mark"),
    "+": msgid("plus"),
    "=": msgid("equals"),
    "-": msgid("minus"),
}
"""Key → its name, to be translated: a screen reader may pass over a sign."""

_FRENCH_ROW: Final = dict(zip("&é\"'(è_çà", "123457890", strict=True))
"""The unshifted digit row of AZERTY, without its 6."""
_FRENCH_SIX: Final = "-"
"""A digit only where one is chosen from a list; elsewhere it makes letters smaller."""
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
    SHARING = auto()
    """Whether what the person wrote may be used."""
    WITHDRAW = auto()
    ANSWERS = auto()
    """The person's own answers, to look at again."""
    UNSAVED = auto()
    """The next sentence with words that are not saved."""
    HELP = auto()
    LEAVE = auto()


ONWARD_OF: Final[Mapping[Act, NextAction]] = {
    Act.UNDO: NextAction.UNDO,
    Act.HAND_OVER: NextAction.HAND_OVER,
    Act.SHARING: NextAction.SHARING,
    Act.WITHDRAW: NextAction.WITHDRAW,
    Act.UNSAVED: NextAction.UNSAVED,
    Act.HELP: NextAction.HELP,
    Act.QUIT: NextAction.LEAVE,
}
"""Act → where its key leads; on the page of an item, undo and the way to unsaved words are done there."""
