"""Which column, key or language of a file holds the sources, and which the references.

What a person says comes first, then the specification's names, then the languages of the corpus. Two columns
that are named for languages nobody gave are taken in their order, and a finding says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from corpora.files.problems import Findings, shown
from corpora.languages.language_names import same_language, tag_of, tidy
from corpora.languages.tags import is_language_tag
from corpora.model.raw import SIDES, SYNONYMS

OPTIONS = {"source": "--source-column", "reference": "--reference-column"}
LANGUAGES = {"source": "source_language", "reference": "target_language"}


_NAMED = frozenset((*SYNONYMS, *chain.from_iterable(SYNONYMS.values())))
"""Names of fields; ``id`` is one before it is Indonesian."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What was said beforehand of the two sides."""

    source: str | None = None
    """Name of the column, or its number from 1; None: found out."""
    reference: str | None = None
    source_language: str | None = None
    """BCP 47 tag of the corpus, where it was given."""
    target_language: str | None = None

    def named(self, side: str) -> str | None:
        """Return what was said of a side's column."""
        name: str | None = getattr(self, side)
        return name

    @property
    def said(self) -> dict[str, str]:
        """Return what was said, by side; empty where nothing was."""
        return {side: name for side in SIDES if (name := self.named(side)) is not None}

    def language(self, side: str) -> str | None:
        """Return the language of a side, where it was given."""
        tag: str | None = getattr(self, LANGUAGES[side])
        return tag

    def within(self, envelope: Mapping[str, Any]) -> Columns:
        """Complete the languages from the envelope of the file."""
        own = {name: envelope.get(name) for name in LANGUAGES.values()}
        tags = {name: tag for name, tag in own.items() if isinstance(tag, str)}
        given = {name: getattr(self, name) for name in LANGUAGES.values()}
        return replace(self, **(tags | {name: tag for name, tag in given.items() if tag}))

    @property
    def numbers(self) -> tuple[int, int] | None:
        """Return both columns counted from 0 where both were given as numbers."""
        given = (self.source, self.reference)
        if all(each is not None and each.isdecimal() and 0 < int(each) < 10_000 for each in given):
            return int(self.source or 1) - 1, int(self.reference or 1) - 1
        return None


@dataclass(slots=True)
class Chosen:
    """Where the two sides stand."""

    places: dict[str, int] = field(default_factory=dict)
    """Side → place among the names, from 0."""
    languages: dict[str, str] = field(default_factory=dict)
    """``source_language`` and ``target_language``, as far as the names tell them."""
    in_order: bool = False
    """True where nothing but the order of two languages tells which is the source."""


def choose(
    names: Sequence[str], columns: Columns, known: Collection[str], *, languages: bool = False
) -> Chosen:
    """Find both sides among names; ``known`` are sides that have a name of the specification already.

    ``languages``: every name is a language. A side that cannot be told is left out of ``places``.
    """
    chosen = Chosen()
    tags = [_tag(name, languages=languages) for name in names]
    for side in SIDES:
        place = _said(names, columns.named(side))
        if place is None and side not in known:
            place = _by_language(names, columns.language(side), taken=chosen.places.values())
        if place is not None:
            chosen.places[side] = place
    open_ = [side for side in SIDES if side not in chosen.places and side not in known]
    free = [
        at for at, tag in enumerate(tags) if tag is not None and at not in chosen.places.values()
    ]
    if open_ and len(open_) == len(free) and not any(map(columns.named, open_)):
        chosen.places |= dict(zip(open_, free, strict=True))
        chosen.in_order = len(open_) == len(SIDES)
    for side, place in chosen.places.items():
        if (tag := tags[place]) is not None:
            chosen.languages[LANGUAGES[side]] = tag
    return chosen


def _tag(name: str, *, languages: bool) -> str | None:
    if not languages:
        return None if name.strip().casefold() in _NAMED else tag_of(name)
    plain = tidy(name)
    return tag_of(name) or (plain if is_language_tag(plain) else None)


def _said(names: Sequence[str], said: str | None) -> int | None:
    """Find the column that a person named, by name (case aside) or by number."""
    if said is None:
        return None
    folded = [name.strip().casefold() for name in names]
    if said.strip().casefold() in folded:
        return folded.index(said.strip().casefold())
    number = int(said) if said.isdecimal() and len(said) < 6 else 0
    return number - 1 if 1 <= number <= len(names) else None


def _by_language(names: Sequence[str], tag: str | None, taken: Iterable[int]) -> int | None:
    """Find the column of a language: the same tag, or another one for it."""
    if tag is None:
        return None
    used = set(taken)
    cells = {
        at: tag_of(name) or name.strip()
        for at, name in enumerate(names)
        if at not in used and name.strip().casefold() not in _NAMED
    }
    same = [at for at, cell in cells.items() if cell.casefold() == tag.casefold()]
    like = [at for at, cell in cells.items() if cell and same_language(cell, tag)]
    return next(iter((*same, *like)), None)


def note_missing(side: str, columns: Columns, names: int, findings: Findings, **at: Any) -> None:
    """Note that a side has no column; what stands in a header may be a text, and is not quoted."""
    said = columns.named(side)
    if said is not None:
        message = f"There is no column “{shown(said, 30)}”."
        mend = f"Give the name of one of the {names} columns, or its number from 1."
    else:
        message = f"The header has no column for the {side}."
        mend = (
            f"Name it {side} (or {', '.join(SYNONYMS[side])}) or by the tag of its language, or say which "
            f"column it is: {OPTIONS[side]} NAME or NUMBER. Of a table without a header, give both numbers."
        )
    findings.error(message, mend, field=side, **at)


def note_order(chosen: Chosen, findings: Findings, **at: Any) -> None:
    """Say which column was taken for which side, where only their order told it."""
    if chosen.in_order:
        source, target = (chosen.languages[LANGUAGES[side]] for side in SIDES)
        findings.warning(
            f"{source} was taken as the language of the sources and {target} as that of the references, "
            "because they stand in this order.",
            "Say it with --source-language and --target-language, and nothing is guessed.",
            **at,
        )
