"""Marks of a secret segment that stand in a wrong place (DESIGN V1).

A secret entry whose mark is not understood would be a public one. So a field that may be meant as the
segment, and a secret segment's name anywhere but in ``segment``, make a file unusable until its owner
has said what is meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from corpora.entry import Segment
from corpora.raw import RECORD, SIDES

MEND = (
    'Write the segment of each entry in its field "segment" '
    f"({', '.join(Segment)}), and take this field out or give it another name."
)

NOT_UNDERSTOOD = "It may say which entries are secret, and is not understood here."
NAMED = "It names a secret segment, and is not the field for it."

_WORDS = frozenset(
    [
        "segment",
        "segments",
        "segmented",
        "seg",
        "split",
        "splits",
        "subset",
        "subsets",
        "partition",
        "partitions",
        "fold",
        "folds",
        "secret",
        "secrets",
        "secrecy",
        "sealed",
        "hidden",
        "confidential",
        "heldout",
        "holdout",
        "held",
        "withheld",
        "goldstandard",
        "private",
        "unreleased",
        "embargoed",
    ]
)
"""Words of a field's name that may say which entries are secret."""

_RESEMBLED = ("segment", "subset", "partition", "heldout", "goldstandard", "secret")
_NEAR = 0.8
"""Share of common letters from which on a name resembles one of these."""

_COUNTED = frozenset(["id", "no", "nr", "num", "number", "index"])
"""With one of these and a whole number as its value, ``segment_id`` numbers sentences."""

_SECRET = frozenset(
    [each.value.replace("_", "") for each in Segment if each.secret]
    + ["heldoutset", "heldouttest", "holdout", "holdoutset", "goldstandardset", "sealed", "secret"]
)
"""Names of the secret segments without signs between their words, and what else they are called."""

_TEXTS = frozenset({*SIDES, "variants", "id", "segment"})
"""Fields of an entry in which a secret segment's name is a text, or is the segment."""

_WHERE_GOLD_IS_KNOWN = frozenset({"provenance", "provenance_tag", "provenance_tags", RECORD})
"""``gold_standard`` is also a provenance (§2.5)."""

_LONGEST = 80
"""Characters of a name or value that is looked at; a longer one is a text."""

_LOOK_ALIKES = str.maketrans("аеорсухѕіјԁһкмтнвԍոαειοκνρτυχμѵƨ", "aeopcyxsijdhkmthbgnaeioknptuxmvs")
"""Cyrillic, Armenian and Greek letters that are drawn as Latin ones."""

_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def misplaced(fields: Mapping[str, Any], known: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Give the path and what is wrong of every field that may hold a mark which is not understood.

    ``known``: names that the form of the file gives a meaning; only their values are looked at.
    """
    for name, value in fields.items():
        if name not in known and is_mark(name) and not _numbers_sentences(name, value):
            yield name, NOT_UNDERSTOOD
        elif name not in _TEXTS:
            yield from _inside(name, value, gold=name in _WHERE_GOLD_IS_KNOWN)


def _inside(path: str, value: Any, *, gold: bool) -> Iterator[tuple[str, str]]:
    """Look for marks in a value, through all its levels."""
    if isinstance(value, str):
        if names_secret(value, gold=gold):
            yield path, NAMED
    elif isinstance(value, dict):
        for name, inner in value.items():
            if is_mark(name) and not _numbers_sentences(name, inner):
                yield f"{path}.{name}", NOT_UNDERSTOOD
            else:
                yield from _inside(f"{path}.{name}", inner, gold=gold)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _inside(path, inner, gold=gold)


@lru_cache(maxsize=4096)
def is_mark(name: str) -> bool:
    """Tell whether a name is, or resembles, one of a field that says what is secret."""
    if len(name) > _LONGEST:
        return False
    words = _words(name)
    joined = "".join(words)
    if not _WORDS.isdisjoint(words) or joined in _WORDS or joined in _SECRET:
        return True
    return any(
        abs(len(joined) - len(each)) <= 2
        and SequenceMatcher(None, joined, each, autojunk=False).ratio() >= _NEAR
        for each in _RESEMBLED
    )


def names_secret(value: str, *, gold: bool = False) -> bool:
    """Tell whether a text is a secret segment's name, however it is written; ``gold``: not that one."""
    if len(value) > _LONGEST:
        return False
    return (folded := fold(value)) in _SECRET and not (gold and folded.startswith("gold"))


def fold(text: str) -> str:
    """Give the letters and digits of a name without case, marks, signs between them, or look-alikes."""
    return "".join(_words(text))


def _words(text: str) -> list[str]:
    """Split a name into its words, folded; a camel's hump begins a word."""
    plain = unicodedata.normalize("NFKD", text).translate(_LOOK_ALIKES)
    plain = "".join(each for each in plain if unicodedata.category(each) not in {"Mn", "Cf"})
    folded = _CAMEL.sub(" ", plain).casefold().translate(_LOOK_ALIKES)
    return [word for word in _BETWEEN_WORDS.split(folded) if word]


def _numbers_sentences(name: str, value: Any) -> bool:
    """Tell ``segment_id: 17``, the number of a sentence, from a mark."""
    whole = type(value) is int or (isinstance(value, str) and value.strip().isdecimal())
    words = _words(name)
    return whole and words[:1] in (["segment"], ["seg"]) and not _COUNTED.isdisjoint(words)
