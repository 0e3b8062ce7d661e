"""Finding the analyser of a language: a user's own files first, then those that ship."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from corpora.cards import SHIPPED
from corpora.language import LanguageCard


def find_analyser(card: LanguageCard | None, tag: str, folders: Sequence[Path] = ()) -> Path | None:
    """Find an analyser by the names that the card lists, then by ``<tag>.hfstol``; None where none is.

    ``folders`` are those that hold a user's language files. Their subfolders named after the language (its
    tag or an alias) are searched for all names, they themselves only for names that tell the language:
    ``analyser-gt-desc.hfstol`` there might be any language's. What ships in the wheel comes last.
    """
    tags = _tags(card, tag)
    names = [*(card.analysers if card else ()), *(f"{name}.hfstol" for name in tags)]
    telling = [name for name in names if set(tags) & set(re.split(r"[-_.]", name))]
    for folder in (*folders, SHIPPED):
        for place, wanted in (*((folder / tag, names) for tag in tags), (folder, telling)):
            for name in wanted:
                for candidate in (place / name, place / f"{name}.gz"):
                    if candidate.is_file():
                        return candidate
    return None


def _tags(card: LanguageCard | None, tag: str) -> list[str]:
    """Give all names of the language: the whole tag, its language part, and what the card adds.

    A corpus may call its language anything, so what is no name of a file is left out.
    """
    whole = tag.replace("_", "-")
    names = [whole, whole.split("-")[0].lower(), *((card.tag, *card.aliases) if card else ())]
    return [name for name in dict.fromkeys(names) if name.replace("-", "").isalnum()]
