"""Finding and reading language cards: those that ship with the program, and a user's own."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpora.language import LanguageCard

SHIPPED = Path(__file__).parent / "languages"
"""Folder of the cards in the wheel."""


@dataclass(frozen=True, slots=True)
class FoundCard:
    """A card and where it is from."""

    card: LanguageCard
    sha256: str
    """Over the bytes of the file."""
    path: Path


def find_card(tag: str, folders: Sequence[Path] = ()) -> FoundCard | None:
    """Find the card of a language tag by its language part or an alias; None where there is none.

    A user's ``folders`` come before the shipped one. CardError names file, field and mend.
    """
    language = tag.replace("_", "-").split("-")[0].lower()
    for folder in (*folders, SHIPPED):
        for path in sorted(folder.glob("*.toml")):
            found = read_card(path)
            if language in {found.card.tag, *found.card.aliases}:
                return found
    return None


def read_card(path: Path) -> FoundCard:
    """Read one card."""
    content = path.read_bytes()
    card = LanguageCard.model_validate(tomllib.loads(content.decode("utf-8")))
    return FoundCard(card, hashlib.sha256(content).hexdigest(), path)
