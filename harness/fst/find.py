"""Finding the analyser of a language: a user's own files first, then those that ship."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from corpora.languages.cards import SHIPPED
from corpora.languages.language import LanguageCard


def find_analyser(card: LanguageCard | None, tag: str, folders: Sequence[Path] = ()) -> Path | None:
    """Find an analyser by the names that the card lists, then by ``<tag>.hfstol``; None where none is.

    ``folders`` are those that hold a user's language files. Their subfolders named after the language (its
    tag or an alias) are searched for all names, they themselves only for names that tell the language:
    ``analyser-gt-desc.hfstol`` there might be any language's. What ships in the wheel comes last.
    """
    for place, wanted in _places(card, tag, folders):
        for name in wanted if place.is_dir() else ():
            for candidate in (place / name, place / f"{name}.gz"):
                if candidate.is_file():
                    return candidate
    return None


def passed_over(card: LanguageCard | None, tag: str, folders: Sequence[Path]) -> list[Path]:
    """List what is in the language's own subfolders under an analyser's ending and is not found there.

    It has another name, or the name belongs to a folder or to a link that leads nowhere.
    """
    paths = []
    for place, wanted in dict(_places(card, tag, folders)).items():
        if place not in folders and place.parent != SHIPPED and place.is_dir():
            right = {*wanted, *(f"{name}.gz" for name in wanted)}
            paths += [
                path
                for path in sorted(place.iterdir())
                if path.name.endswith((".hfstol", ".hfstol.gz")) and not (path.name in right and path.is_file())
            ]
    return paths


def _places(card: LanguageCard | None, tag: str, folders: Sequence[Path]) -> Iterator[tuple[Path, list[str]]]:
    """Yield the folders that are searched, in order, with the names that count in each."""
    # All names of the language: the whole tag, its language part, and what the card adds. A corpus may call its
    # language anything, so what is no name of a file is left out.
    whole = tag.replace("_", "-")
    called = [whole, whole.split("-")[0].lower(), *((card.tag, *card.aliases) if card else ())]
    tags = [name for name in dict.fromkeys(called) if name.replace("-", "").isalnum()]
    names = [*(card.analysers if card else ()), *(f"{name}.hfstol" for name in tags)]
    telling = [name for name in names if set(tags) & set(re.split(r"[-_.]", name))]
    for folder in (*folders, SHIPPED):
        yield from ((folder / name, names) for name in tags)
        yield folder, telling
