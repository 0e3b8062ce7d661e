"""Classes of licences, and by which words one is known (``licences.toml``).

A licence that is in no class, or in an open one with words that may forbid something, is not judged: its owner is asked.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from itertools import dropwhile
from typing import Any, NamedTuple

from corpora.text.near_names import folded_words

UNKNOWN = "unknown"
"""The class of texts of which nobody has said anything."""

_BEFORE = frozenset({"http", "https", "www", "the", "licence", "license", "licensed", "under", "a"})
"""Words that may stand before the name of a licence."""

_UNCLEAR = frozenset({
    "not", "without", "permission", "consent", "prohibited", "forbidden", "private",
    "tk", "bc", "ocap", "care", "sovereign", "sovereignty", "community", "custom",
    "agreement", "nda", "contact", "request", "embargo", "closed", "sealed", "secret", "sacred",
})  # fmt: skip
"""Words of a licence that may forbid something that is not understood here."""


class LicenceClass(NamedTuple):
    """One class; the fields are explained at the head of the file."""

    name: str
    leads_to: str
    because: str
    spdx: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    exactly: tuple[str, ...] = ()
    within: str = ""
    """The class whose beginning a licence must have, too."""


@cache
def licence_classes() -> dict[str, LicenceClass]:
    """Return the classes by name, in the order in which they are examined."""
    table = resources.files("corpora.model").joinpath("licences.toml").read_text("utf-8")
    return {
        name: LicenceClass(name=name, **{key: _fixed(value) for key, value in row.items()})
        for name, row in tomllib.loads(table).items()
    }


def _fixed(value: Any) -> Any:
    return value if isinstance(value, str) else tuple(value)


def licence_class(licence: str) -> LicenceClass | None:
    """Return the class of a licence; None where it is in none, or may forbid something that is not understood."""
    words = folded_words(licence)
    named = list(dropwhile(_BEFORE.__contains__, words))
    classes = licence_classes()
    for licence_class in classes.values():
        if holds_phrase(licence_class.words, words) and (
            not licence_class.within or _begins(classes[licence_class.within].begins, named)
        ):
            return (
                None
                if licence_class.within and _UNCLEAR.intersection(words) - _names(licence_class)
                else licence_class
            )
        if _is_id(licence_class.spdx, licence):
            return licence_class
        if _begins(licence_class.begins, named):
            known = licence_class.leads_to != "open" or not _UNCLEAR.intersection(words)
            return licence_class if known else None
        if (
            " ".join(words) in licence_class.exactly
            if words
            else not licence.strip() and licence_class.exactly
        ):
            return licence_class
    return None


def _names(each: LicenceClass) -> frozenset[str]:
    return frozenset(word for phrase in each.words for word in phrase.split())


def holds_phrase(phrases: Iterable[str], words: Sequence[str]) -> bool:
    """Return whether one of several phrases stands among folded words."""
    spaced = f" {' '.join(words)} "
    return any(f" {phrase} " in spaced for phrase in phrases)


def _begins(phrases: Iterable[str], words: Sequence[str]) -> bool:
    spaced = f"{' '.join(words)} "
    return any(spaced.startswith(f"{phrase} ") for phrase in phrases)


def _is_id(ids: Iterable[str], licence: str) -> bool:
    """Return whether a licence is one of these SPDX ids, in any case, with a version and a country behind it."""
    folded = licence.strip().casefold()
    return any(
        re.fullmatch(rf"{re.escape(id_.casefold())}(-\d+(\.\d+)*)?(-[a-z]{{2,4}})?", folded)
        for id_ in ids
    )
