"""What differs between the tags of two words, in words that people without the tags understand."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

Features = dict[str, tuple[str, ...]]
"""Category (``person``) → what a word has there (``1st``), in the order of the table's categories."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One category in which a word is not as it should be."""

    category: str
    found: str | None
    """None: the word has nothing where something is expected."""
    expected: str | None
    """None: the word has something where nothing is expected."""
    words: str
    """``1st person instead of 3rd``."""


@dataclass(frozen=True, slots=True)
class _Category:
    """How a fault of one category is said; ``{found}`` and ``{expected}`` are filled in."""

    instead: str
    missing: str
    surplus: str


@dataclass(frozen=True, slots=True)
class _TagWords:
    """The table ``tag_words.toml``."""

    categories: Mapping[str, _Category]
    tags: Mapping[str, Mapping[str, str]]
    """Tag → category → words."""
    beside: Mapping[str, Mapping[str, Mapping[str, str]]]
    """Tag → the other tags next to it that mean something else there."""
    beginnings: Mapping[str, str]
    """Beginning of tags such as ``PV/`` → category; what follows it is said as it is."""
    one_slot: tuple[str, ...]
    """Categories of which a verb fills one."""
    ignored: tuple[str, ...]
    """Beginnings of tags that say nothing about the form of a word."""


_EITHER = "either number"
"""What a tag says that leaves singular and plural open: no fault, whatever the other word has."""


def inflection_faults(found: Collection[str], expected: Collection[str]) -> list[Fault]:
    """Return category by category how the actual tags differ from the expected ones.

    Of a word of another class only the class is said: its other categories are not to be compared.
    """
    has, wanted = features(found), features(expected)
    faults = []
    for name, category in _tag_words().categories.items():
        surplus = _without(has.get(name, ()), wanted.get(name, ()))
        missing = _without(wanted.get(name, ()), has.get(name, ()))
        if (surplus or missing) and _EITHER not in {*surplus, *missing}:
            faults.append(_fault(name, category, surplus, missing))
    return [
        fault
        for fault in faults
        if fault.category == "word class" and fault.found and fault.expected
    ] or _merged(faults)


def _merged(faults: list[Fault]) -> list[Fault]:
    """Merge into one fault that a verb has one thing for another in the slot that several categories share."""
    slot = [fault for fault in faults if fault.category in _tag_words().one_slot]
    missing = [fault for fault in slot if fault.expected and not fault.found]
    surplus = [fault for fault in slot if fault.found and not fault.expected]
    if not missing or not surplus:
        return faults
    actual = " and ".join(fault.found or "" for fault in surplus)
    expected = " and ".join(fault.expected or "" for fault in missing)
    one = Fault(missing[0].category, actual, expected, f"{actual} instead of {expected}")
    others = [fault for fault in faults if fault not in missing and fault not in surplus]
    return [*others, one]


def features(tags: Collection[str]) -> Features:
    """Convert the tags of one analysis into features; those that are in no table are kept as they are."""
    words_by_category: dict[str, list[str]] = {}
    for tag in sorted(tags):
        for category, words in _meaning(tag, tags):
            words_by_category.setdefault(category, []).append(words)
    order = _tag_words().categories
    return {
        name: tuple(dict.fromkeys(words_by_category[name]))
        for name in order
        if name in words_by_category
    }


def _meaning(tag: str, tags: Collection[str]) -> Iterable[tuple[str, str]]:
    table = _tag_words()
    for other, meanings in table.beside.items():
        if other in tags and tag in meanings:
            return meanings[tag].items()
    if tag in table.tags:
        return table.tags[tag].items()
    if tag.startswith(table.ignored):
        return ()
    for beginning, category in table.beginnings.items():
        if tag.startswith(beginning):
            return ((category, tag.removeprefix(beginning)),)
    return (("other", tag),)


def _fault(
    name: str, category: _Category, surplus: tuple[str, ...], missing: tuple[str, ...]
) -> Fault:
    actual = " and ".join(surplus) or None
    expected = " and ".join(missing) or None
    if actual and expected:
        pattern = category.instead
    else:
        pattern = category.missing if expected else category.surplus
    # Tags come from files, so that a brace in one must not be taken for a place to fill in.
    words = pattern.replace("{found}", actual or "", 1).replace("{expected}", expected or "", 1)
    return Fault(name, actual, expected, words)


def _without(values: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if value not in others)


@cache
def _tag_words() -> _TagWords:
    """Read the table once."""
    content = files("scoring.grammar").joinpath("tag_words.toml").read_text(encoding="utf-8")
    data = tomllib.loads(content)
    return _TagWords(
        categories={name: _category(name, row) for name, row in data["categories"].items()},
        tags=dict(_split(data["tags"])),
        beside={tag: dict(_split(rows)) for tag, rows in data["beside"].items()},
        beginnings=data["beginnings"],
        one_slot=tuple(data["one_slot"]),
        ignored=tuple(data["ignored"]["beginnings"]),
    )


def _category(name: str, row: Mapping[str, str]) -> _Category:
    return _Category(
        instead=row.get("instead", "{found} instead of {expected}"),
        missing=row.get("missing", f"{{expected}} ({name}) missing"),
        surplus=row.get("surplus", f"{{found}} ({name}) where none is expected"),
    )


def _split(rows: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Read ``"1Sg" = "person: 1st; number: singular"``."""
    for tag, text in rows.items():
        pairs = (part.split(": ", 1) for part in text.split("; "))
        yield tag, {category: words for category, words in pairs}  # noqa: C416  pairs are lists
