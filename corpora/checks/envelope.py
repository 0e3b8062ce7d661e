"""What a corpus says of itself: its date, licence, labels, canaries, and whether its entries bear out what it lists.

A value is quoted only where the corpus is open: anything may be in a free field of a secret one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, datetime
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from corpora.checks.entries import PlacedEntry, in_order, quoted_tags, warn_of
from corpora.files.json_types import Json, JsonObject
from corpora.files.problems import Findings, shown
from corpora.languages.tags import wrong_tag
from corpora.model.corpus import INHERITED, LEAST_OF_CANARY, Dataset, texts_of
from corpora.model.entry import Entry, Segment
from corpora.model.task import TASKS
from corpora.model.terms import FIELD, TermMarking, Terms, speaks_of_terms
from corpora.model.vocabularies import (
    SECRET_SEGMENTS,
    UNKNOWN,
    context_labels,
    find_label,
    is_spdx,
    licence_class,
    looks_like_label,
    nearest_spdx,
)
from corpora.text.comparison import is_blank, normalised
from corpora.text.messages import LONGEST, NEAR, fold, folded_words, near_names

_YEAR_OR_MONTH = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*", re.ASCII)
_NOT_FOR_SPDX = frozenset({"community-only", "closed", UNKNOWN})
"""Classes of licences that no list of public licences has."""
LEAST_WEIGHED = 30
"""Entries with a difficulty from which on their distribution is examined: those that `development` needs."""
MIDDLE_TIERS = (2, 3, 4)
MIDDLE_SHARE = 0.5
"""Least share of entries in the middle tiers; a corpus is weighted toward them (benchmark-specification §2.4)."""


def is_date(text: str) -> bool:
    """Return whether a text is a date of ISO 8601 that there is: a year, month, day, or moment."""
    try:
        if _DAY.fullmatch(text):
            date.fromisoformat(text)
            return True
        if _MOMENT.fullmatch(text):
            datetime.fromisoformat(text)
            return True
    except ValueError:
        return False
    return _YEAR_OR_MONTH.fullmatch(text) is not None


def check_envelope(dataset: Dataset, findings: Findings, *, quiet: bool = False) -> None:
    """Check the metadata of a corpus; a value is quoted unless its terms keep the corpus here, or ``quiet`` is wanted."""
    quiet = quiet or dataset.terms.local_only or findings.failed
    if dataset.created is not None and not is_date(dataset.created.strip()):
        what = f"It is no date{_quoted(dataset.created, quiet=quiet)}."
        findings.warning(what, "Write 2026, 2026-11 or 2026-11-22.", field="dataset.created")
    if any(len(normalised(canary)) < LEAST_OF_CANARY for canary in dataset.canary):
        what = "A canary is so short that an output may have it by chance."
        mend = f"Write {LEAST_OF_CANARY} letters and digits or more that stand nowhere else, such as those of a UUID."
        findings.warning(what, mend, field="dataset.canary")
    for name in INHERITED:
        tag = getattr(dataset, name)
        if tag is not None and (wrong := wrong_tag(tag)) is not None:
            findings.error(*wrong, field=f"dataset.{name}")
    _check_licence(dataset, findings, quiet=quiet)
    _check_labels(dataset, findings, quiet=quiet)


def _check_licence(dataset: Dataset, findings: Findings, *, quiet: bool) -> None:
    licence = dataset.license
    if licence is None or is_blank(licence) or is_spdx(licence):
        return
    class_of_licence = licence_class(licence)
    if class_of_licence is None or class_of_licence.name in _NOT_FOR_SPDX:
        return  # what is not understood is told with the terms; the others have no id
    near = None if quiet else nearest_spdx(licence)
    what = f"It is no id of the SPDX list of licences{_quoted(licence, quiet=quiet)}."
    mend = (
        f"Write {near or 'an id of https://spdx.org/licenses, such as CC-BY-SA-4.0'}, so that every program knows it."
    )
    findings.warning(what, mend, field="dataset.license")


def _check_labels(dataset: Dataset, findings: Findings, *, quiet: bool) -> None:
    """Check labels that are meant as those of Local Contexts; a community's own words are left alone."""
    given = (dataset.model_extra or {}).get("labels")
    if given is None:
        return
    labels = texts_of(given)
    if labels is None:
        mend = 'Write a list such as ["TK A", "TK NC"].'
        findings.warning("Labels are texts.", mend, field="dataset.labels")
        return
    for name in labels:
        if looks_like_label(name) and find_label(name) is None:
            names = (label.name for label in context_labels().values())
            near = next(iter(near_names(name, names)), "")
            what = f"It is no label of Local Contexts{_quoted(name, quiet=quiet)}."
            mend = f"{f'Nearest: {near}. ' if near else ''}Write an identifier: {', '.join(context_labels())}."
            findings.warning(what, mend, field="dataset.labels")


def _quoted(text: str, *, quiet: bool) -> str:
    return "" if quiet else f" (“{shown(text, longest=30)}”)"


def check_against_entries(dataset: Dataset, placed: Sequence[PlacedEntry], findings: Findings) -> None:
    """Compare what the envelope lists with the entries: their provenance, and the weight of the tiers."""
    if dataset.provenance and not findings.failed:
        listed = frozenset(dataset.provenance)
        unlisted: dict[str, list[PlacedEntry]] = {}
        for item in placed:
            tag = item.entry.provenance
            if tag is not None and tag not in listed:
                unlisted.setdefault(tag, []).append(item)
        warn_of(
            findings,
            in_order(unlisted, unlisted),
            f"have a provenance that the envelope does not list{quoted_tags(list(unlisted), unlisted, findings)}",
            "Add it to dataset.provenance, or correct the entries.",
            "provenance",
        )
    tiers = [item.entry.difficulty for item in placed if item.entry.difficulty is not None]
    middle = sum(tier in MIDDLE_TIERS for tier in tiers)
    if len(tiers) >= LEAST_WEIGHED and middle < MIDDLE_SHARE * len(tiers):
        what = f"Only {middle} of {len(tiers)} entries with a difficulty are of the tiers 2 to 4, where most translating happens."
        mend = "Add entries of these tiers, or look at the difficulties once more."
        findings.warning(what, mend, field="difficulty")


# ---- Marks of secrecy that are in a wrong place (DESIGN V1) ----
#
# A secret entry whose mark is not understood would be a public one. So a field that may be meant
# as the segment or as a term of transmission, and the name of a secret segment or of such a term
# in another field, make a file unusable until its owner has said what is meant.

SEGMENT_MEND = (
    'Write the segment of each entry in its field "segment" '
    f"({', '.join(Segment)}), and take this field out or give it another name."
)
TERM_MEND = (
    'Write "transmission": "local-only" (no text leaves this machine) or "open" in the envelope, and take '
    "this field out or give it another name."
)


class MisplacedMark(NamedTuple):
    """A mark that is in a wrong place."""

    path: str
    """The field, after those that hold it."""
    wrong: str
    mend: str

    @classmethod
    def segment(cls, path: str) -> MisplacedMark:
        """Return the mark for a field that may be meant as the segment."""
        wrong = "It may say which entries are secret, and is not understood here."
        return cls(path, wrong, SEGMENT_MEND)

    @classmethod
    def term(cls, path: str) -> MisplacedMark:
        """Return the mark for a field that may be meant as a term of transmission."""
        wrong = "It may say where the texts may go, and is not understood here."
        return cls(path, wrong, TERM_MEND)


_WORDS = frozenset({
    "segment", "segments", "segmented", "seg", "split", "splits", "subset", "subsets",
    "partition", "partitions", "fold", "folds", "secret", "secrets", "secrecy", "sealed",
    "hidden", "confidential", "heldout", "holdout", "held", "withheld", "goldstandard", "private",
    "unreleased", "embargoed",
})  # fmt: skip
"""Words of a field's name that may say which entries are secret."""
_RESEMBLED = ("segment", "subset", "partition", "heldout", "goldstandard", "secret")
_TERM_NAMES = frozenset({
    "localonly", "notstored", "donotsend", "donottransmit", "donotshare", "notransmission", "offlineonly",
    "noupload", "nocloud", "noexport", "sendto", "maysend",
})  # fmt: skip
"""Other names by which a term of transmission may be called, folded."""
_COUNTED = frozenset(["id", "no", "nr", "num", "number", "index"])
"""With one of these and a whole number as its value, ``segment_id`` numbers sentences."""
_SECRET = frozenset(segment.replace("_", "") for segment in SECRET_SEGMENTS) | {
    "heldoutset", "heldouttest", "holdout", "holdoutset", "goldstandardset", "sealed", "secret",
}  # fmt: skip
"""Names of the secret segments without signs between their words, and what else they are called."""
_TEXTS = frozenset({"source", "reference", "variants", "id", "segment"})
"""Fields of an entry in which a secret segment's name is a text, or is the segment."""
_WHERE_GOLD_IS_KNOWN = frozenset({"provenance", "provenance_tag", "provenance_tags", "provenance_record"})
"""``gold_standard`` is also a provenance (§2.5)."""
MOST_FIELDS = 16_384
"""Fields of an entry, and columns of a table, as many as a spreadsheet has; what has more is something else."""


def misplaced(fields: JsonObject, known: frozenset[str], data: Collection[str] = ()) -> Iterator[MisplacedMark]:
    """Yield every field that may hold a mark which is not understood.

    ``known``: names that the form of the file gives a meaning; only their values are examined. ``data``: fields
    that hold names of somebody's functions or slots, which are not looked into.
    """
    for name, value in fields.items():
        if name in data:
            continue
        misplaced_mark = None if name in known else _by_name(name, name, value)
        if misplaced_mark is not None:
            yield misplaced_mark
        elif name not in _TEXTS:
            yield from _inside(name, value, gold=name in _WHERE_GOLD_IS_KNOWN)


def unclear(dataset: Dataset, terms: Terms, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield in words why nobody knows which entries of a corpus are secret, or where their texts may go."""
    known, data = frozenset({FIELD}), TASKS[dataset.task].data
    for entry in entries:
        for mark in misplaced(entry.model_extra or {}, known, data):
            yield f"Entry {entry.id}, field {mark.path!r}: {mark.wrong} {mark.mend}"
    for field, words in terms.unclear:
        yield f"The corpus, field {field!r}: {words} Correct the file, and import it again."
    for mark in misplaced(without_roles(dataset.model_extra or {}), known):
        yield f"The corpus, field {mark.path!r}: {mark.wrong} {mark.mend}"


def without_roles(fields: JsonObject) -> dict[str, Json]:
    """Omit the role of a corpus, which ``corpora.model.terms`` reads."""
    roles = {name for name in fields if speaks_of_terms(name) is TermMarking.ROLE}
    return {name: value for name, value in fields.items() if name not in roles}


def _by_name(path: str, name: str, value: Json) -> MisplacedMark | None:
    if is_term_mark(name):
        return MisplacedMark.term(path)
    if not is_mark(name):
        return None
    # `segment_id: 17` is the number of a sentence and no mark.
    whole = type(value) is int or (isinstance(value, str) and value.strip().isdecimal())
    words = folded_words(name)
    numbered = whole and words[:1] in (["segment"], ["seg"]) and not _COUNTED.isdisjoint(words)
    return None if numbered else MisplacedMark.segment(path)


def _inside(path: str, value: Json, *, gold: bool) -> Iterator[MisplacedMark]:
    """Find marks in a value, through all its levels."""
    if isinstance(value, str):
        if names_secret(value, gold=gold):
            yield MisplacedMark.segment(path)
        elif len(value) <= LONGEST and fold(value) == "localonly":
            first, last = path.partition(".")[0], path.rpartition(".")[2]
            if first != "transmission" and speaks_of_terms(last) is None:
                yield MisplacedMark.term(path)
    elif isinstance(value, dict):
        for name, inner in value.items():
            misplaced_mark = _by_name(f"{path}.{name}", name, inner)
            if misplaced_mark is not None:
                yield misplaced_mark
            else:
                yield from _inside(f"{path}.{name}", inner, gold=gold)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _inside(path, inner, gold=gold)


@lru_cache(maxsize=MOST_FIELDS)
def is_term_mark(name: str) -> bool:
    """Return whether a name is, or resembles, one of a field that says where texts may go."""
    joined = fold(name) if len(name) <= LONGEST else ""
    if "transmi" in joined or joined in _TERM_NAMES:
        return True
    return _resembles(joined, "transmission")


@lru_cache(maxsize=MOST_FIELDS)
def is_mark(name: str) -> bool:
    """Return whether a name is, or resembles, one of a field that says what is secret."""
    if len(name) > LONGEST:
        return False
    words = folded_words(name)
    joined = "".join(words)
    if not _WORDS.isdisjoint(words) or joined in _WORDS or joined in _SECRET:
        return True
    return any(_resembles(joined, mark) for mark in _RESEMBLED)


def _resembles(joined: str, mark: str) -> bool:
    """Return whether a folded name has most letters of a mark, in order.

    Their letters without order are counted first: this is an upper limit of the ratio, and few names reach it.
    """
    both = len(joined) + len(mark)
    if abs(len(joined) - len(mark)) > 2 or 2 * sum(map(joined.__contains__, mark)) < NEAR * both:
        return False
    return SequenceMatcher(None, joined, mark, autojunk=False).ratio() >= NEAR


def names_secret(value: str, *, gold: bool = False) -> bool:
    """Return whether a text is a secret segment's name, however it is written; ``gold``: not that one."""
    if len(value) > LONGEST:
        return False
    return (folded := fold(value)) in _SECRET and not (gold and folded.startswith("gold"))


def named_for_secret(name: str) -> bool:
    """Return whether the name of a file or corpus is, or holds, that of a secret segment."""
    words = [word.rstrip("0123456789") for word in folded_words(name)]
    starts = ("".join(pair) for pair in zip(words, [*words, ""][1:], strict=True))
    return names_secret(name) or any(
        start in _OF_NAMES or word.startswith(_OF_NAMES) for word, start in zip(words, starts, strict=True)
    )


_OF_NAMES = ("heldout", "holdout", "goldstandard")
