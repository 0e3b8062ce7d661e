"""A corpus as it stands in a file, before it is checked: field names and values, and where they were."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from corpora.model.corpus import Form

SYNONYMS: dict[str, tuple[str, ...]] = {
    "id": ("index", "entry_id", "sentence_id"),
    "source": ("source_text", "src", "source_sentence"),
    "reference": (
        "target_expected",
        "ref",
        "target",
        "target_text",
        "tgt",
        "trg",
        "translation",
        "expected",
    ),
    "variants": (),
    "segment": (),
    "difficulty": (),
    "provenance": (),
    "register": (),
    "context": (),
    "variety": ("dialect",),
    "orthography": ("spelling_system",),
    "morphological_analysis": (),
    "notes": (),
    "variant_class": (),
}
"""Fields of an entry and the other names that files give them, best first."""

SIDES = ("source", "reference")

LEGACY_NAMES = {"id": "index", "source": "source_text", "reference": "target_expected"}
"""Names of the implementation note in §2.2."""

TIER_OF_WORD = {"easy": 2, "medium": 3, "hard": 4}
"""Difficulty words as tiers of §2.4: the nearest to the middle of those that a word stands for."""

WORD_OF_TIER = {1: "easy", 2: "easy", 3: "medium", 4: "hard", 5: "hard"}

DIFFICULTY_WORD = "difficulty_label"
"""Extra field that keeps the word a difficulty was given as."""

EXACT_TIER = "difficulty_tier"
"""Extra field of a legacy file that keeps the tier which its word only approximates."""

RECORD = "provenance_record"
"""Extra field that keeps a provenance given as an object instead of a tag."""


@dataclass(slots=True)
class RawEntry:
    """One entry under the specification's field names."""

    fields: dict[str, Any]
    place: int
    """1-based among the entries of the file."""
    line: int | None = None


@dataclass(slots=True)
class RawCorpus:
    """Envelope and entries of one file."""

    form: Form
    envelope: dict[str, Any]
    entries: list[RawEntry] = field(default_factory=list)
    guessed: dict[str, str] = field(default_factory=dict)
    """Envelope fields read out of file names; what the caller says goes before."""
    has_envelope: bool = False
    """True where the form asks for an envelope, so that its id cannot come from the file's name."""


def renamed(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a JSON entry under the specification's names; unknown names stay."""
    names = canonical_names(tuple(fields))
    return {names.get(name, name): value for name, value in fields.items()} if names else fields


@lru_cache(maxsize=256)
def canonical_names(present: tuple[str, ...], *, any_case: bool = False) -> dict[str, str]:
    """Map the names that a file uses to the specification's, where they differ.

    A synonym counts only where the specification's own name is absent, so no field is ever overwritten.
    """
    spelled: dict[str, str] = {}
    for name in present:
        spelled.setdefault(name.strip().lower().replace(" ", "_") if any_case else name, name)
    mapping: dict[str, str] = {}
    for known, others in SYNONYMS.items():
        if known in present:
            continue
        found = next((spelled[other] for other in (known, *others) if other in spelled), None)
        if found is not None:
            mapping[found] = known
    return mapping
