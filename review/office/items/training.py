"""Items with answers, on which reviewers learn the four words: an organiser's own, or made from development entries.

Only what is wrong whatever the language is made: another sentence's translation, and half a translation. What is
excellent, acceptable or just understood only speakers can say: they write such items (``--training``).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from corpora.files.toml_text import parse_toml
from corpora.model.entry import Entry
from harness.core.failures import UsageError
from harness.core.problems import first_problem
from harness.core.user_file import read_text
from harness.inputs.table import table_cells
from review.files.manifests import TrainingItem
from review.office.items.controls import fits
from review.office.items.items import drawing
from review.office.items.wrong_texts import first_half, plain_form
from review.rating import Rating

MOST = 50
"""Training items of one file; eight are a good number."""

MOST_BYTES = 2**20
_COLUMNS = ("source", "candidate", "rating", "explanation")

_PLAN = ("reject", "half", "reject")
"""The made items."""

USUAL = len(_PLAN)
"""Items that are made where there is enough to make them from."""

WANTED = USUAL + _PLAN.count("reject")
"""Entries that they are made from: a wrong sentence is the translation of one that is not shown itself."""

Explained = Mapping[str, str]
"""Kind of a training item → why its answer is the right one."""


def make_training(
    entries: Sequence[Entry],
    explanations: Explained,
    seed: int,
    others: Mapping[str, Explained] = MappingProxyType({}),
) -> list[TrainingItem]:
    """Make up to three items from development entries, each of another; fewer where these are few or short.

    ``entries`` are those that may be shown and are not asked about; ``others`` are the ``explanations`` by tag of
    another language.
    """
    chance = drawing(seed, "training")
    waiting = _different([e for e in entries if fits(e.source) and fits(e.reference)])
    chance.shuffle(waiting)
    made = []
    for kind in _PLAN:
        for entry in waiting:
            references = [entry.reference for entry in waiting]
            candidate = _MAKERS[kind](entry.reference, references, chance)
            if candidate is not None:
                explanations_of_kind = {
                    tag: explanation[kind] for tag, explanation in others.items()
                }
                made.append(
                    _item(entry.source, candidate, explanations[kind], explanations_of_kind)
                )
                shown = {entry.reference, candidate}
                waiting = [entry for entry in waiting if entry.reference not in shown]
                break
    return made


def _different(entries: Sequence[Entry]) -> list[Entry]:
    """Omit entries whose source or reference came before: nobody practises on a sentence twice."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for entry in entries:
        forms = {
            ("source", plain_form(entry.source)),
            ("reference", plain_form(entry.reference)),
        }
        if seen.isdisjoint(forms):
            kept.append(entry)
            seen |= forms
    return kept


def _item(source: str, candidate: str, explanation: str, others: Mapping[str, str]) -> TrainingItem:
    item = TrainingItem(
        id=secrets.token_hex(8),
        source=source,
        candidate=candidate,
        rating=Rating.REJECT,
        explanation=explanation,
    )
    return item.model_copy(update={"explanations": dict(others)}) if others else item


def _another(reference: str, references: Sequence[str], chance: Random) -> str | None:
    """Return another entry's text, of similar length where there is one."""
    others = [text for text in references if plain_form(text) != plain_form(reference)]
    alike = [text for text in others if abs(len(text) - len(reference)) <= len(reference) / 4]
    return chance.choice(alike or others) if others else None


def _half(reference: str, references: Sequence[str], chance: Random) -> str | None:  # noqa: ARG001
    return first_half(reference)


_Maker = Callable[[str, Sequence[str], Random], str | None]
_MAKERS: dict[str, _Maker] = {
    "reject": _another,
    "half": _half,
}


def read_training(path: Path) -> list[TrainingItem]:
    """Read an organiser's items: TOML with ``[[item]]`` sections, or TSV with a line of column names.

    Both have source, candidate, rating and explanation. UsageError names file, item, field and fix.
    """
    text, _ = read_text(path, "the training items", MOST_BYTES)
    rows = list(_toml(path, text) if path.suffix.lower() == ".toml" else _tsv(path, text))
    if not 1 <= len(rows) <= MOST:
        raise UsageError(
            f"{path}: {len(rows)} training items; between 1 and {MOST} are wanted, eight are a good number."
        )
    return [_checked(path, place, row) for place, row in rows]


def explained_in(
    items: Sequence[TrainingItem], others: Mapping[str, tuple[Path, Sequence[TrainingItem]]]
) -> list[TrainingItem]:
    """Add the explanations of further files: the same items in the same order, explained in another language.

    ``others`` is tag → file and what is in it. UsageError names the first item that is another.
    """
    explanations: list[dict[str, str]] = [{} for _ in items]
    for tag, (path, explained) in others.items():
        if len(explained) != len(items):
            raise UsageError(
                f"{path}: {len(explained)} training items instead of {len(items)}. A file in another language has the same "
                "items in the same order, with other explanations."
            )
        for number, (item, other) in enumerate(zip(items, explained, strict=True)):
            if _asks(item) != _asks(other):
                raise UsageError(
                    f"{path}: item {number + 1} is another than in the first file: source, candidate and rating are to "
                    "be the same. Correct it."
                )
            explanations[number][tag] = other.explanation
    return [
        item.model_copy(update={"explanations": explanation}) if explanation else item
        for item, explanation in zip(items, explanations, strict=True)
    ]


def _asks(item: TrainingItem) -> tuple[str, str, Rating]:
    return item.source, item.candidate, item.rating


def _checked(path: Path, place: str, row: Mapping[str, Any]) -> TrainingItem:
    try:
        item = TrainingItem.model_validate({**row, "id": secrets.token_hex(8)})
    except ValidationError as error:
        raise UsageError(f"{path}: {place}: {first_problem(error)}") from None
    for name in ("source", "candidate", "explanation"):
        if not getattr(item, name).strip():
            raise UsageError(f"{path}: {place}: field {name!r}: nothing stands here. Write it.")
    return item


def _toml(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        data = parse_toml(text)
    except ValueError as error:
        raise UsageError(f"{path}: no TOML: {error}. Correct it.") from None
    rows = data.get("item")
    if set(data) != {"item"} or not isinstance(rows, list):
        raise UsageError(f"{path}: only sections [[item]] are wanted here. Correct it.")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise UsageError(f"{path}: item {number}: a section [[item]] is wanted. Correct it.")
        yield f"item {number}", row


def _tsv(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    rows = table_cells(path, text)
    header = [name.strip().lower() for name in next(rows, ("", []))[1]]
    if sorted(header) != sorted(_COLUMNS):
        raise UsageError(
            f"{path}: line 1: the columns {', '.join(_COLUMNS)} are wanted, with tabs between them."
        )
    for where, row in rows:
        if len(row) != len(header):
            raise UsageError(
                f"{path}: {where}: {len(row)} columns instead of {len(header)}. Correct it."
            )
        yield where, dict(zip(header, row, strict=True))
