"""Finding and reading language cards: those that ship with the program, and a user's own.

The file of a card is named for its tag, so that a card is found without reading the others; only a tag that
no file is named for is looked for among the aliases.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from corpora.files.decode import open_regular
from corpora.files.problems import CardError, Problem, Severity
from corpora.files.toml_text import line_of, parse_toml, place_of, wanted_words
from corpora.languages.language import LanguageCard
from corpora.languages.tags import LARGEST_CARD, SHIPPED, card_file, nearest
from corpora.languages.writing import Forbidden, WritingSystem

_LANGUAGE = re.compile(r"[a-z]{2,3}", re.ASCII)
_PLACE = re.compile(r" \(at line (\d+), column \d+\)$")
_FIELD = re.compile(r"([a-z_]+): ")
"""How the check of a whole section names the field that is wrong."""
_DOCS = "docs/languages.md lists every field."


@dataclass(frozen=True, slots=True)
class FoundCard:
    """A card and where it is from."""

    card: LanguageCard
    sha256: str
    """Over the bytes of the file."""
    path: Path

    @property
    def shipped(self) -> bool:
        """True where it came with the program, and is not a user's own."""
        return self.path.parent == SHIPPED


def find_card(tag: str, folders: Sequence[Path] = ()) -> FoundCard | None:
    """Find the card of a language tag by its language part or an alias; None where there is none.

    A user's ``folders`` come before the shipped one. CardError names file, field and fix.
    """
    language = tag.replace("_", "-").split("-")[0].lower()
    if not _LANGUAGE.fullmatch(language):
        return None
    shipped = card_file(language, SHIPPED)
    names = [language, *([shipped.stem] if shipped else [])]
    for folder in folders:
        for name in dict.fromkeys(names):
            if (path := card_file(name, folder)) is not None:
                # Read a card that its file's name led to; the name must be true.
                card = read_card(path)
                if path.stem not in card.card.tags:
                    message = f"The file is named for {path.stem!r}, and its card is of {card.card.tag!r}."
                    mend = f"Rename it to {card.card.tag}.toml, or correct the tag."
                    raise _error(path, message, mend, field="tag")
                return card
    return None if shipped is None else shipped_card(shipped)


def read_card(path: Path) -> FoundCard:
    """Read one card; CardError with everything that is wrong in it."""
    try:
        with open_regular(path) as file:
            content = file.read(LARGEST_CARD + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise _error(path, f"It cannot be read: {why}.", "Check name and permissions.") from None
    if len(content) > LARGEST_CARD:
        raise _error(path, "It is larger than 1 MB.", "A card holds facts, no texts: shorten it.")
    return _card(path, content)


shipped_card = lru_cache(maxsize=8)(read_card)
"""Cards that came with the program do not change while it runs."""


@lru_cache(maxsize=8)
def _card(path: Path, content: bytes) -> FoundCard:
    """Read a card's bytes; every run of a sweep asks for the same."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _error(path, "It is not UTF-8 text.", "Save it as UTF-8.", line) from None
    data = parsed(path, text)
    try:
        card = LanguageCard.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        raise CardError([_problem(path, text, detail) for detail in errors]) from None
    return FoundCard(card, hashlib.sha256(content).hexdigest(), path)


def parsed(path: Path, text: str) -> dict[str, Any]:
    """Read a card's TOML; raises CardError with the line and the fix."""
    try:
        return parse_toml(text)
    except ValueError as error:
        message = str(error)
        place = _PLACE.search(message)
        line = int(place[1]) if place else None
        what = _PLACE.sub("", message).replace(" (at end of document)", " at the end")
        raise _error(path, f"It is no TOML: {what}.", "Correct this line.", line) from None


def _error(path: Path, message: str, mend: str, line: int | None = None, field: str | None = None) -> CardError:
    return CardError([Problem(Severity.ERROR, str(path), message, mend, line, field=field)])


def _problem(path: Path, text: str, found: ErrorDetails) -> Problem:
    """Return the problem for one thing that the model refuses, with field, line and fix."""
    place = place_of(found)
    message, mend = _words(found, place)
    match = _FIELD.match(message)
    if (
        found["type"] == "value_error"
        and match
        and (not place or place[-1] == "variants" or (len(place) == 2 and place[0] == "writings"))
    ):
        place, message = (*place, match[1]), message[match.end() :]
    field = ".".join(str(part) for part in place) or None
    where = line_of(text, place)
    return Problem(Severity.ERROR, str(path), f"{message[:1].upper()}{message[1:]}.", mend, where, field=field)


def _words(found: ErrorDetails, place: tuple[int | str, ...]) -> tuple[str, str]:
    """Return what is wrong, without its full stop, and the fix."""
    kind, last = found["type"], place[-1] if place else ""
    if kind == "extra_forbidden":
        model: type[BaseModel] = WritingSystem if place[0] == "writings" else LanguageCard
        model = Forbidden if "forbidden" in place[:-1] else model
        near = nearest(str(last), model.model_fields)
        mend = f"Is {near!r} meant?" if near else "Remove it, or correct its name."
        return "this field is not known", f"{mend} {_DOCS}"
    if kind == "value_error":
        return wanted_words(found), "Correct it."
    missing = kind == "missing" and isinstance(last, str)
    return wanted_words(found), f"{'Add' if missing else 'Correct'} it. {_DOCS}"
