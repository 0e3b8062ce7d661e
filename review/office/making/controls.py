"""Items whose answer the organiser knows: controls, which show careless rating, and training.

They are made from development entries, so that no reference of a secret segment is shown. Where too few of these
are asked, bad items are made from the systems' own outputs, which are shown anyway; anchors never are.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import TypeVar

from corpora.files.json_types import JsonObject
from corpora.files.toml_text import parse_toml
from corpora.model.entry import Entry, EntryId, Segment
from corpora.text.comparison import is_blank
from harness.core.failures import UsageError
from harness.core.storage import read_text, usage_errors
from harness.inputs.table import table_cells
from review.files.manifests import MOST_ITEM_TEXT, TrainingItem
from review.office.making.items import Item, drawing, new_item
from review.office.making.wrong_texts import FORM, HALF, OTHER, SWAP, Inflected, WrongTexts, first_half, plain_form
from review.rating import Rating
from review.verdict.gate.key import ControlKind

_Thing = TypeVar("_Thing")

# In this turn with an analyser; one that cannot be made gives way to the next
KINDS = (FORM, OTHER, FORM, SWAP, FORM, OTHER, FORM, HALF)

# Without one. Halves are few, for their length would tell them.
PLAIN_KINDS = (SWAP, OTHER, SWAP, OTHER, SWAP, OTHER, SWAP, HALF)


@dataclass(frozen=True, slots=True)
class Counts:
    bad: int
    repeats: int
    anchors: int

    @property
    def total(self) -> int:
        return self.bad + self.repeats + self.anchors


def usual_counts(real: int) -> Counts:
    """Return 8 bad, 8 repeated and 4 anchors for 80 real items, and as many again for each further 80.

    With fewer than 8 bad ones the tests would suspect careful people; only small batches go below.
    """
    tenth = max(8, round(real / 10)) if real >= 40 else real // 5
    return Counts(tenth, tenth, max(1, tenth // 2) if tenth else 0)


@dataclass(frozen=True)
class ControlMaterial:
    real: Sequence[Item]  # Real items that everybody is asked
    entries: Mapping[EntryId, Entry]  # All entries of the corpus, by id as it is on cards
    # What the runs gave, by entry: nothing that is made wrong may equal one
    outputs: Mapping[EntryId, Sequence[str]]
    # Versions of a text with one word in a wrong form; none without an analyser
    forms: Callable[[str], Sequence[Inflected]]
    inflects: bool  # Whether an analyser is there


@dataclass(frozen=True)
class Controls:
    items: list[Item] = field(default_factory=list)
    short: list[str] = field(default_factory=list)  # Words about what could not be made as asked
    from_outputs: int = 0  # Bad items that were made from a system's own output

    def kinds(self) -> dict[str, int]:
        """Count the bad items by how they were made, ``fst`` for all changed word forms."""
        made = (item.truth.made_by for item in self.items if item.truth.made_by)
        return dict(Counter(name.partition(":")[0] for name in made))


def is_development(entry: Entry) -> bool:
    """Return whether an entry's reference may be shown: it is here, and of development or of a corpus without segments."""
    return not entry.not_stored and entry.segment in {None, Segment.DEVELOPMENT}


def make_controls(material: ControlMaterial, counts: Counts, seed: int) -> Controls:
    """Make the controls of a batch: repeats, bad items and anchors, in a number as near to the asked as can be."""
    repeats = list(_repeats(material, counts.repeats, seed))
    anchors = list(_anchors(material, counts.anchors, seed))
    bad = _bad(material, counts.bad, seed, anchors)
    own = sum(not is_development(material.entries[item.truth.entry]) for item in bad)
    controls = Controls([*repeats, *bad, *anchors], from_outputs=own)
    only = " (they are made from development entries only)"
    for made, wanted, name, why in (
        (bad, counts.bad, "bad items", ""),
        (repeats, counts.repeats, "repeated items", ""),
        (anchors, counts.anchors, "reference anchors", only),
    ):
        if len(made) < wanted:
            controls.short.append(f"{len(made)} of {wanted} {name} could be made{why}.")
    return controls


def _repeats(material: ControlMaterial, wanted: int, seed: int) -> Iterable[Item]:
    by_entry = {item.truth.entry: item for item in _shuffled(material.real, seed, "repeats")}
    for first in list(by_entry.values())[:wanted]:
        yield new_item(
            material.entries[first.truth.entry],
            first.shown.candidate,
            run_id=first.truth.run_id,
            control=ControlKind.REPEAT,
            partner=first.id,
        )


def _anchors(material: ControlMaterial, wanted: int, seed: int) -> Iterable[Item]:
    asked = {item.truth.entry for item in material.real}
    fitting = (item for item in material.entries.items() if is_development(item[1]))
    open_ = [(id_, e) for id_, e in fitting if fits(e.source) and fits(e.reference)]

    def rank(reference: tuple[EntryId, Entry]) -> tuple[bool, bool]:
        id_, entry = reference
        outputs = map(plain_form, material.outputs.get(id_, ()))
        return id_ in asked, plain_form(entry.reference) in outputs

    for _, entry in sorted(_shuffled(open_, seed, "anchors"), key=rank)[:wanted]:
        yield new_item(entry, entry.reference, control=ControlKind.ANCHOR)


def _bad(material: ControlMaterial, wanted: int, seed: int, anchors: Sequence[Item]) -> list[Item]:
    """Make wrong translations, of different entries."""
    real = _shuffled(material.real, seed, "partners")
    partners = {item.truth.entry: item for item in (*anchors, *real)}
    made: dict[EntryId, Item] = {}
    for id_, texts, right in _sources(material, real, anchors, seed):
        if len(made) == wanted:
            break
        if id_ not in made:
            wrong = _wrong(material, texts, id_, right, partners.get(id_), len(made))
            made |= {} if wrong is None else {id_: wrong}
    return list(made.values())


def _sources(
    material: ControlMaterial, real: Sequence[Item], anchors: Sequence[Item], seed: int
) -> Iterator[tuple[EntryId, WrongTexts, str]]:
    """Yield entry, what makes it wrong, and the right text, those with an untouched partner first.

    Development entries that are asked, then those of the anchors; then the systems' own outputs, whatever
    their segment, which are shown anyway; last all other development entries.
    """
    chance = drawing(seed, "bad")
    open_ = {id_: entry for id_, entry in material.entries.items() if is_development(entry)}
    references = WrongTexts([entry.reference for entry in open_.values()], material.forms, chance)
    outputs = WrongTexts([item.shown.candidate for item in real], material.forms, chance)
    for item in (*real, *anchors):
        if item.truth.entry in open_:
            yield item.truth.entry, references, open_[item.truth.entry].reference
    for item in real:
        yield item.truth.entry, outputs, item.shown.candidate
    for id_ in _shuffled(open_, seed, "others"):
        yield id_, references, open_[id_].reference


def _wrong(
    material: ControlMaterial, texts: WrongTexts, id_: EntryId, right: str, partner: Item | None, turn: int
) -> Item | None:
    """Make a bad item of one entry, of the kind whose turn it is or the next that can be made."""
    entry = material.entries[id_]
    length = len(right if partner is None else partner.shown.candidate)
    known = (entry.reference, *entry.variants, *material.outputs.get(id_, ()))
    never = frozenset(map(plain_form, known))
    kinds = KINDS if material.inflects else PLAIN_KINDS
    for step in range(len(kinds)):
        wrong = texts.make(kinds[(turn + step) % len(kinds)], right, length, never)
        if wrong is not None and fits(wrong.text) and fits(entry.source):
            return new_item(
                entry,
                wrong.text,
                control=ControlKind.BAD,
                partner=None if partner is None else partner.id,
                made_by=wrong.made_by,
            )
    return None


def fits(text: str) -> bool:
    """Return whether a text is one that a batch can hold and people can judge."""
    return not is_blank(text) and len(text) <= MOST_ITEM_TEXT


def _shuffled(things: Iterable[_Thing], seed: int, purpose: str) -> list[_Thing]:
    shuffled = list(things)
    drawing(seed, purpose).shuffle(shuffled)
    return shuffled


# ---- Items with answers, on which reviewers learn the four words: an organiser's own, or made
# from development entries.
#
# Only what is wrong whatever the language is made: another sentence's translation, and half a
# translation. What is excellent, acceptable or just understood only speakers can say: they write
# such items (``--training``).

MOST = 50  # Training items of one file; eight are a good number

MOST_BYTES = 2**20
_COLUMNS = ("source", "candidate", "rating", "explanation")

_PLAN = ("reject", "half", "reject")  # The made items

USUAL = len(_PLAN)  # Items that are made where there is enough to make them from

# Entries that they are made from: a wrong sentence is the translation of one that is not shown
# itself
WANTED = USUAL + _PLAN.count("reject")

Explained = Mapping[str, str]  # Kind of a training item → why its answer is the right one


def make_training(
    entries: Sequence[Entry], explanations: Explained, seed: int, others: Mapping[str, Explained] = MappingProxyType({})
) -> list[TrainingItem]:
    """Make up to three items from development entries, each of another; fewer where these are few or short.

    ``entries`` are those that may be shown and are not asked about; ``others`` are the ``explanations`` by tag of
    another language.
    """
    chance = drawing(seed, "training")
    # Without entries whose source or reference came before: nobody practises on a sentence twice
    seen: set[tuple[str, str]] = set()
    waiting = []
    for entry in entries:
        forms = {("source", plain_form(entry.source)), ("reference", plain_form(entry.reference))}
        if fits(entry.source) and fits(entry.reference) and seen.isdisjoint(forms):
            waiting.append(entry)
            seen |= forms
    chance.shuffle(waiting)
    made = []
    for kind in _PLAN:
        for entry in waiting:
            references = [entry.reference for entry in waiting]
            if (candidate := _MAKERS[kind](entry.reference, references, chance)) is not None:
                item = TrainingItem(
                    id=secrets.token_hex(8),
                    source=entry.source,
                    candidate=candidate,
                    rating=Rating.REJECT,
                    explanation=explanations[kind],
                )
                made.append(_explained(item, {tag: words[kind] for tag, words in others.items()}))
                shown = {entry.reference, candidate}
                waiting = [entry for entry in waiting if entry.reference not in shown]
                break
    return made


def _explained(item: TrainingItem, others: dict[str, str]) -> TrainingItem:
    return item.model_copy(update={"explanations": others}) if others else item


def _another(reference: str, references: Sequence[str], chance: Random) -> str | None:
    """Return another entry's text, of similar length where there is one."""
    others = [text for text in references if plain_form(text) != plain_form(reference)]
    alike = [text for text in others if abs(len(text) - len(reference)) <= len(reference) / 4]
    return chance.choice(alike or others) if others else None


_Maker = Callable[[str, Sequence[str], Random], str | None]
_MAKERS: dict[str, _Maker] = {
    "reject": _another,
    "half": lambda reference, references, chance: first_half(reference),  # noqa: ARG005
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
    items = []
    for place, row in rows:
        with usage_errors(f"{path}: {place}"):
            item = TrainingItem.model_validate({**row, "id": secrets.token_hex(8)})
        for name in ("source", "candidate", "explanation"):
            if not getattr(item, name).strip():
                raise UsageError(f"{path}: {place}: field {name!r}: nothing stands here. Write it.")
        items.append(item)
    return items


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
            asks = attrgetter("source", "candidate", "rating")
            if asks(item) != asks(other):
                raise UsageError(
                    f"{path}: item {number + 1} is another than in the first file: source, candidate and rating are to "
                    "be the same. Correct it."
                )
            explanations[number][tag] = other.explanation
    return list(map(_explained, items, explanations))


def _toml(path: Path, text: str) -> Iterator[tuple[str, JsonObject]]:
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


def _tsv(path: Path, text: str) -> Iterator[tuple[str, JsonObject]]:
    rows = table_cells(path, text)
    header = [name.strip().lower() for name in next(rows, ("", []))[1]]
    if sorted(header) != sorted(_COLUMNS):
        raise UsageError(f"{path}: line 1: the columns {', '.join(_COLUMNS)} are wanted, with tabs between them.")
    for where, row in rows:
        if len(row) != len(header):
            raise UsageError(f"{path}: {where}: {len(row)} columns instead of {len(header)}. Correct it.")
        yield where, dict(zip(header, row, strict=True))
