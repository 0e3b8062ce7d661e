"""Which column, key or language of a file holds the sources, and which the references; and what a cell holds.

What a person says comes first, then the specification's names, then the languages of the corpus. Two columns
that are named for languages nobody gave are used in their order, and a finding says so. Of several columns of
references the first is the reference, and the others are variants.

A cell of a CSV or TSV corpus is text, read and written by the same rules. A column whose name ends in ``:json``
holds JSON values, so that objects, numbers and texts that look like something else come back as they were. An
empty cell means: not given; of a source or a reference, that it is empty.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from corpora.checks.envelope import is_mark, is_term_mark
from corpora.files.json_types import Json, JsonObject
from corpora.files.problems import Findings, shown
from corpora.languages.tags import as_tag, is_language_tag, same_language, tag_of, tidy
from corpora.model.corpus import SIDES, SYNONYMS
from corpora.text.comparison import is_blank
from corpora.text.visible import is_formula

JSON_COLUMN = ":json"
NOTHING: tuple[Any, ...] = ("", [])
"""Values that a cell stands for where the field is not given."""
_TEXTS = frozenset({"source", "reference", "notes", "morphological_analysis"})
_STRIPPED = frozenset(SYNONYMS) - _TEXTS
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,14}", re.ASCII)
_TIER = re.compile(r"([0-9]{1,3})(\.0+)?", re.ASCII)
_WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,14})(?:[.,]0+)?", re.ASCII)


def whole_number(cell: str) -> int | None:
    """Return the whole number that a cell holds, also as 1.0 or 1,0; None for anything else."""
    match = _WHOLE.fullmatch(cell.strip())
    return int(match[1]) if match else None


def read_cell(name: str, cell: str) -> Json:
    """Return the value of a plain cell; ids that are whole numbers become integers."""
    if name == "reference" and cell.startswith("["):
        return read_list(cell) or cell
    if name not in _STRIPPED:
        return cell
    cell = cell.strip()
    if name == "id" and _INTEGER.fullmatch(cell):
        return int(cell)
    if name == "difficulty":
        tier = _TIER.fullmatch(cell)
        return int(tier[1]) if tier else cell
    return read_variants(cell) if name == "variants" else cell


def read_variants(cell: str) -> list[str]:
    """Read variants given as a list of texts (see ``read_list``) or separated by ``|``."""
    listed = read_list(cell)
    return [part.strip() for part in cell.split("|") if part.strip()] if listed is None else listed


def read_list(cell: str) -> list[str] | None:
    """Read a list of texts as JSON, or as pandas writes it: ``['a', 'b']`` and ``['a' 'b']``; None for another text."""
    cell = cell.strip()
    listed: Any = None
    with suppress(ValueError, RecursionError):
        listed = json.loads(cell) if cell.startswith("[") else None
    if listed is None and _LIST.fullmatch(cell):
        with suppress(ValueError, SyntaxError):
            listed = [ast.literal_eval(text) for text in _QUOTED.findall(cell)]
    return listed if isinstance(listed, list) and all(isinstance(text, str) for text in listed) else None


_QUOTED = re.compile(r"""'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+\"""")
_LIST = re.compile(rf"\[\s*+(?:(?:{_QUOTED.pattern})\s*+,?+\s*+)*+\]")


def is_plain(name: str, value: Json) -> bool:
    """Return whether a value comes back the same from a plain cell, which no spreadsheet would run."""
    text = write_cell(name, value)
    if isinstance(value, str) and (is_formula(value) or (name == "id" and whole_number(value) is not None)):
        return False
    return bool(text) and value not in NOTHING and read_cell(name, text or "") == value


def write_cell(name: str, value: Json) -> str | None:
    """Return the text of a plain cell, None for a value that only a JSON column can hold."""
    if isinstance(value, str):
        return value
    if name in {"id", "difficulty"} and type(value) is int:
        return str(value)
    return json.dumps(value, ensure_ascii=False) if name == "variants" else None


OPTIONS = {"source": "--source-column", "reference": "--reference-column"}
LANGUAGE_OPTIONS = {"source": "--source-language", "reference": "--target-language"}
LANGUAGES = {"source": "source_language", "reference": "target_language"}
_NAMED = frozenset((*SYNONYMS, *chain.from_iterable(SYNONYMS.values())))
"""Names of fields; ``id`` is one before it is Indonesian."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What was said beforehand of the two sides."""

    source: str | None = None
    """Name of the column, or its number from 1; None: found out."""
    reference: str | None = None
    """As ``source``; several are separated by commas."""
    source_language: str | None = None
    """BCP 47 tag of the corpus, where it was given."""
    target_language: str | None = None
    optional: str | None = None
    """Side of which a table may have no column."""
    known_only: bool = False
    """True where a table must have a header, and no column that is not known; those for JSON aside."""

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

    def within(self, envelope: JsonObject) -> Columns:
        """Complete the languages from the envelope of the file."""
        own = {name: envelope.get(name) for name in LANGUAGES.values()}
        tags = {name: as_tag(tag) for name, tag in own.items() if isinstance(tag, str)}
        given = {name: getattr(self, name) for name in LANGUAGES.values()}
        return replace(self, **(tags | {name: tag for name, tag in given.items() if tag}))

    @property
    def numbers(self) -> tuple[int, ...] | None:
        """Return the columns counted from 0, that of the sources first, where all were given as numbers."""
        given = [self.source or "", *(self.reference or "").split(",")]
        numbers = [int(text) for text in given if text.strip().isdecimal() and len(text) < 6]
        whole = len(numbers) == len(given) == len(set(numbers)) and min(numbers) > 0
        return tuple(number - 1 for number in numbers) if whole else None


@dataclass(slots=True)
class ChosenColumns:
    """Where the two sides stand."""

    places: dict[str, int] = field(default_factory=dict)
    """Side → place among the names, from 0."""
    languages: dict[str, str] = field(default_factory=dict)
    """``source_language`` and ``target_language``, as far as the names tell them."""
    further: list[int] = field(default_factory=list)
    """Places of further references."""
    numbered: list[str] = field(default_factory=list)
    """Names such as ``ref2``, or the same one several times, where nobody said which columns hold references."""
    in_order: bool = False
    """True where nothing but the order of two languages tells which is the source."""
    alike: dict[str, list[str]] = field(default_factory=dict)
    """Side → names each of which may be its language, and none is exactly."""
    near: dict[str, str] = field(default_factory=dict)
    """Side → the one name taken for its language, which is written with another region, script or variant."""


def choose_columns(
    names: Sequence[str], columns: Columns, known: Collection[str], *, languages: bool = False
) -> ChosenColumns:
    """Find both sides among names; ``known`` are sides that have a name of the specification already.

    ``languages``: every name is a language. A side that cannot be told is left out of ``places``.
    """
    chosen = ChosenColumns()
    if languages:
        tags = [tag_of(name) or (plain if is_language_tag(plain := tidy(name)) else None) for name in names]
    else:
        tags = [None if name.strip().casefold() in _NAMED else tag_of(name) for name in names]
    for side in SIDES:
        places = _said(names, columns.named(side), several=side == "reference")
        if places:
            chosen.places[side], *chosen.further = places
        elif side == "reference" and not languages:
            _by_number(names, columns, known, chosen)
        if columns.named(side) is None and side not in (*known, *chosen.places):
            _by_language(side, names, columns, chosen)
    open_ = [side for side in SIDES if side not in (*chosen.places, *known, *chosen.alike)]
    taken = chosen.places.values()
    free = [at for at, tag in enumerate(tags) if tag is not None and at not in taken]
    if open_ and len(open_) == len(free) and not any(map(columns.named, open_)):
        chosen.places |= dict(zip(open_, free, strict=True))
        chosen.in_order = len(open_) == len(SIDES)
    for side, place in chosen.places.items():
        if (tag := tags[place]) is not None:
            chosen.languages[LANGUAGES[side]] = tag
    return chosen


def _said(names: Sequence[str], said: str | None, *, several: bool) -> list[int]:
    """Find the columns that a person named, by name (case aside) or by number; none unless all are there."""
    folded = [name.strip().casefold() for name in names]
    wanted = [] if said is None else [said]
    if several and said is not None and said.strip().casefold() not in folded:
        wanted = said.split(",")
    places: list[int] = []
    for wanted_name in (name.strip().casefold() for name in wanted):
        number = int(wanted_name) if wanted_name.isdecimal() and len(wanted_name) < 6 else 0
        if wanted_name in folded:
            places.append(folded.index(wanted_name))
        elif 1 <= number <= len(names):
            places.append(number - 1)
    return places if len(set(places)) == len(wanted) else []


def _by_number(names: Sequence[str], columns: Columns, known: Collection[str], chosen: ChosenColumns) -> None:
    """Find references that are numbered (``ref1``, ``mi_2``), where nobody says which column holds them."""
    references, tag = {"reference", *SYNONYMS["reference"]}, columns.target_language
    numbered: list[tuple[int, int]] = []
    for at, name in enumerate(names):
        match = None if at in chosen.places.values() else _NUMBERED.fullmatch(name.strip())
        if match and (
            match[1].casefold().replace(" ", "_") in references
            or (tag is not None and (tag_of(match[1]) or "").casefold() == tag.casefold())
        ):
            numbered.append((int(match[2]), at))
    places = [at for _, at in sorted(numbered)]
    if not places or columns.reference is not None:
        return
    chosen.numbered = [names[at].strip() for at in places]
    if "reference" not in known:
        chosen.places["reference"], *chosen.further = places


_NUMBERED = re.compile(r"(.{2,60}?)[ _.-]?([0-9]{1,2})")


def _by_language(side: str, names: Sequence[str], columns: Columns, chosen: ChosenColumns) -> None:
    """Find the column of a side's language: the same tag, or the only other one for it."""
    tag = columns.language(side)
    if tag is None:
        return
    used = set(chosen.places.values())
    cells = {
        at: tag_of(name) or name.strip()
        for at, name in enumerate(names)
        if at not in used and name.strip().casefold() not in _NAMED
    }
    same = [at for at, cell in cells.items() if cell.casefold() == tag.casefold()]
    like = same or [at for at, cell in cells.items() if cell and same_language(cell, tag)]
    if not same and len(like) > 1:
        chosen.alike[side] = [cells[at] for at in like]
    elif like:
        chosen.places[side] = like[0]
        if side == "reference":  # columns with the very same name are further ones
            folded = [name.strip().casefold() for name in names]
            same_name = [at for at, name in enumerate(folded) if name == folded[like[0]]]
            chosen.further = [at for at in same_name if at != like[0]]
            if chosen.further:
                chosen.numbered = [names[at].strip() for at in (like[0], *chosen.further)]
        if not same and _further_parts(cells[like[0]]) != _further_parts(tag):
            chosen.near[side] = cells[like[0]]


def _further_parts(tag: str) -> set[str]:
    """Return what stands after the language, without *Latn*, which some data sets write after every language."""
    return {part.casefold() for part in tag.replace("_", "-").split("-")[1:]} - {"latn"}


def note_missing(side: str, columns: Columns, names: int, findings: Findings, **at: Any) -> None:
    """Record that a side has no column; what is in a header may be a text, and is not quoted."""
    column = columns.named(side)
    if column is not None:
        message = f"There is no column “{shown(column, 30)}”."
        mend = f"Give the name of one of the {names} columns, or its number from 1."
        mend += " Several of references are separated by commas." if side == "reference" else ""
    else:
        message = f"The header has no column for the {side}."
        mend = (
            f"Name it {side} (or {', '.join(SYNONYMS[side])}) or by the tag of its language, or say which "
            f"column it is: {OPTIONS[side]} NAME or NUMBER. Of a table without a header, give both numbers."
        )
    findings.error(message, mend, field=side, **at)


def note_unknown(names: Sequence[str], cells: Sequence[str], findings: Findings, **at: Any) -> None:
    """Record the columns that are not known, with those that are; ``names``: as the header's ``cells`` were understood.

    A name is quoted only where another one is known, since the first line may be no header but texts.
    """
    pairs = zip(names, cells, strict=True)
    plain = [name for name, cell in pairs if not cell.endswith(JSON_COLUMN)]
    others = (name for name in plain if name not in ("", *SYNONYMS))
    unknown = [name for name in others if not (is_mark(name) or is_term_mark(name))]
    if not unknown:
        return
    if len(unknown) == len(names):
        message = "The first line names none of the columns that are known."
    else:
        listed = ", ".join(f"“{shown(name, 20)}”" for name in unknown[:12])
        message = f"No column is known by the name {listed}."
    findings.error(
        message, f"The first line is a header; known are {', '.join(SYNONYMS)}. Rename a column or take it out.", **at
    )


def note_choice(
    chosen: ChosenColumns, columns: Columns, findings: Findings, options: Mapping[str, str], **at: Any
) -> None:
    """Show what was chosen where it might have been chosen otherwise, and what could not be.

    ``options``: side → the option by which somebody can say it (``OPTIONS``, ``LANGUAGE_OPTIONS``).
    """
    if chosen.in_order:
        source, target = (chosen.languages[LANGUAGES[side]] for side in SIDES)
        findings.warning(
            f"{source} was taken as the language of the sources and {target} as that of the references, "
            "because they are in this order.",
            "Say it with --source-language and --target-language, and nothing is guessed.",
            **at,
        )
    for side, names in chosen.alike.items():
        alike = [shown(name, 20) for name in names[:12]]
        findings.error(
            f"{', '.join(alike[:-1])} and {alike[-1]} may each be the language of the {side}s, "
            f"{columns.language(side)}.",
            f"Say which is meant: {options[side]} {alike[0]}, or another of them.",
            field=side,
            **at,
        )
    for side, name in chosen.near.items():
        what = f"{shown(name, 20)} was taken for {columns.language(side)}, the language of the {side}s."
        findings.warning(what, "Nothing to do if that is meant.", field=side, **at)
    listed = ", ".join(shown(name, 20) for name in chosen.numbered[:12])
    if chosen.numbered and "reference" in chosen.places:
        rest = " and the others as its variants" if chosen.further else ""
        what = f"Of the columns {listed} the first was read as the reference{rest}."
        mend = f"Nothing to do if that is meant; else {OPTIONS['reference']} NAME."
        findings.warning(what, mend, field="reference", **at)
    elif chosen.numbered:
        what = f"There is a column for the reference, so {listed} was kept as a field and is no reference."
        mend = f"If it is one: {OPTIONS['reference']} with all names, separated by commas."
        findings.warning(what, mend, field="reference", **at)


def add_references(fields: dict[str, Json], others: Iterable[Json]) -> None:
    """Add further references of an entry as variants; the first that is not blank is its reference."""
    texts = (fields.get("reference"), *others)
    there = (text for text in texts if text is not None)
    given = [text for text in there if not (isinstance(text, str) and is_blank(text))]
    variants = fields.get("variants") or []
    if given and isinstance(variants, list):
        fields["reference"], *rest = given
        variants = list(variants)
        known = {given[0], *(variant for variant in variants if isinstance(variant, str))}
        for reference in rest:
            if not isinstance(reference, str) or reference not in known:
                variants.append(reference)
                known.add(str(reference))
        if variants:
            fields["variants"] = variants
        else:
            fields.pop("variants", None)


LISTED = ("references", "refs", "targets")
"""Names of fields that hold a list of references."""
_LISTS = ("reference", *LISTED)


def take_listed(fields: dict[str, Json]) -> None:
    """Read a list of references as a reference and its variants.

    The list stands as ``reference``, or under a name of ``LISTED`` where no reference is next to it, or one of
    the list does.
    """
    for name in [name for name in fields if name.casefold() in _LISTS]:
        listed, stated = fields[name], fields.get("reference")
        if isinstance(listed, str) and name != "reference":
            listed = read_variants(listed)
        if not isinstance(listed, list) or not all(isinstance(one, str | None) for one in listed):
            continue
        if name == "reference" or stated is None or stated in listed:
            del fields[name]
            first = None if name == "reference" else stated
            add_references(fields, listed if first is None else [first, *listed])
            return
