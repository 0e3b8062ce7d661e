"""Whether a text can be judged where some of its letters stand there by name: the same for window and organiser.

A stray sign is read by its name. A word of which the letters are missing is not: nobody rates what they cannot see.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from corpora.languages.tags import CODES
from corpora.text.comparison import script_of
from corpora.text.visible import MOST_NAMED, any_of

_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
"""Categories of characters that show nothing by themselves."""
_VARIATIONS = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""What Unicode calls Default_Ignorable_Code_Point."""
_SEVERAL = {
    "Jpan": frozenset({"Hani", "Hira", "Kana"}),
    "Kore": frozenset({"Hang", "Hani"}),
    "Hans": frozenset({"Hani"}),
    "Hant": frozenset({"Hani"}),
}
"""Scripts of a tag that are written in those of the characters (ISO 15924)."""


def legible_without(text: str, undrawn: Collection[str], script: str | None) -> bool:
    """Tell whether a text can be judged where these letters, each with its marks, are only named.

    It cannot where one of them belongs to the script of the text's language (``script``, ISO 15924, None where it is
    not known), where they are more than half of the text's letters, or more than ``MOST_NAMED`` signs.
    """
    pattern = any_of(undrawn)
    lost = "" if pattern is None else "".join(pattern.findall(text))
    if not lost:
        return True
    missed = [each for each in lost if each.isalpha()]
    own = _SEVERAL.get(script or "", frozenset({script}))
    if len(lost) > MOST_NAMED or any(CODES.get(script_of(each), "") in own for each in set(missed)):
        return False
    return 2 * len(missed) <= sum(map(str.isalpha, text))


def seen_of(letter: str) -> str:
    """Return what is to be drawn of a letter, each of its marks once, however many there are."""
    seen = _VARIATIONS.sub("", letter)
    return "".join(c for c in dict.fromkeys(seen) if unicodedata.category(c) not in _UNSEEN)
