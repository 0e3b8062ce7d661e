"""What a corpus says of itself: its date, licence, labels, canaries, and whether its entries bear out what it lists.

A value is quoted only where the corpus is open: anything may be in a free field of a secret one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime

from corpora.checks.entries import PlacedEntry, quoted_tags, warn_of
from corpora.files.problems import Findings, shown
from corpora.languages.tags import wrong_tag
from corpora.model.corpus import INHERITED, LEAST_OF_CANARY, Dataset, texts_of
from corpora.model.labels import context_labels, find_label, looks_like_label
from corpora.model.licences import UNKNOWN, licence_class
from corpora.model.spdx import is_spdx, nearest_spdx
from corpora.text.comparison import is_blank, normalised
from corpora.text.near_names import near_names

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
        findings.warning(
            f"It is no date{_quoted(dataset.created, quiet=quiet)}.",
            "Write 2026, 2026-11 or 2026-11-22.",
            field="dataset.created",
        )
    if any(len(normalised(canary)) < LEAST_OF_CANARY for canary in dataset.canary):
        findings.warning(
            "A canary is so short that an output may have it by chance.",
            f"Write {LEAST_OF_CANARY} letters and digits or more that stand nowhere else, such as those of a UUID.",
            field="dataset.canary",
        )
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
    findings.warning(
        f"It is no id of the SPDX list of licences{_quoted(licence, quiet=quiet)}.",
        f"Write {near or 'an id of https://spdx.org/licenses, such as CC-BY-SA-4.0'}, so that every program knows it.",
        field="dataset.license",
    )


def _check_labels(dataset: Dataset, findings: Findings, *, quiet: bool) -> None:
    """Check labels that are meant as those of Local Contexts; a community's own words are left alone."""
    given = (dataset.model_extra or {}).get("labels")
    if given is None:
        return
    labels = texts_of(given)
    if labels is None:
        findings.warning(
            "Labels are texts.", 'Write a list such as ["TK A", "TK NC"].', field="dataset.labels"
        )
        return
    for each in labels:
        if looks_like_label(each) and find_label(each) is None:
            near = next(
                iter(near_names(each, (label.name for label in context_labels().values()))), ""
            )
            findings.warning(
                f"It is no label of Local Contexts{_quoted(each, quiet=quiet)}.",
                f"{f'Nearest: {near}. ' if near else ''}Write an identifier: {', '.join(context_labels())}.",
                field="dataset.labels",
            )


def _quoted(text: str, *, quiet: bool) -> str:
    return "" if quiet else f" (“{shown(text, longest=30)}”)"


def check_against_entries(
    dataset: Dataset, placed: Sequence[PlacedEntry], findings: Findings
) -> None:
    """Compare what the envelope lists with the entries: their provenance, and the weight of the tiers."""
    if dataset.provenance and not findings.failed:
        _check_provenance(dataset, placed, findings)
    _check_tiers(placed, findings)


def _check_provenance(dataset: Dataset, placed: Sequence[PlacedEntry], findings: Findings) -> None:
    listed = frozenset(dataset.provenance)
    unlisted: dict[str, list[PlacedEntry]] = {}
    for item in placed:
        tag = item.entry.provenance
        if tag is not None and tag not in listed:
            unlisted.setdefault(tag, []).append(item)
    warn_of(
        findings,
        sorted((item for items in unlisted.values() for item in items), key=lambda at: at.place),
        f"have a provenance that the envelope does not list{quoted_tags(list(unlisted), unlisted, findings)}",
        "Add it to dataset.provenance, or correct the entries.",
        "provenance",
    )


def _check_tiers(placed: Sequence[PlacedEntry], findings: Findings) -> None:
    tiers = [item.entry.difficulty for item in placed if item.entry.difficulty is not None]
    middle = sum(tier in MIDDLE_TIERS for tier in tiers)
    if len(tiers) >= LEAST_WEIGHED and middle < MIDDLE_SHARE * len(tiers):
        findings.warning(
            f"Only {middle} of {len(tiers)} entries with a difficulty are of the tiers 2 to 4, where most translating happens.",
            "Add entries of these tiers, or look at the difficulties once more.",
            field="difficulty",
        )
