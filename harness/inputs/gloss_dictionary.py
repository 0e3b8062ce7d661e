"""The user's meaning dictionary: what each dictionary form of the target language means in English.

None ships with the program: such dictionaries belong to their makers and communities. The file is read where
it lies and is written down nowhere but by its hash.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.core.failures import UsageError
from harness.core.user_file import read_text

_LEMMA = frozenset({"lemma", "head", "headword", "word", "entry", "sro"})
_GLOSSES = (
    "glosses",
    "gloss",
    "meanings",
    "meaning",
    "definition",
    "definitions",
    "english",
    "senses",
)


@dataclass(frozen=True, slots=True)
class GlossDictionary:
    """What a file says."""

    glosses: dict[str, tuple[str, ...]]
    """Lemma in NFC → its glosses, in the order of the file, each once."""
    sha256: str
    """Hash of the file's bytes."""

    def __len__(self) -> int:
        return len(self.glosses)


def read_gloss_dictionary(path: Path) -> GlossDictionary:
    """Read a dictionary from TSV, CSV or JSON.

    Tables have a lemma and one or more glosses a line, with or without a header; a lemma may stand on
    several lines; lines that begin with # are remarks. JSON is an object of lemma → gloss or glosses, or a
    list of objects with ``lemma`` and ``glosses``. UsageError names file, line (or item) and mend.
    """
    text, sha256 = read_text(path, "the dictionary of meanings")
    pairs = _json_pairs(path, text) if path.suffix.lower() == ".json" else _table_pairs(path, text)
    found: dict[str, dict[str, None]] = {}
    for lemma, gloss in pairs:
        form = unicodedata.normalize("NFC", " ".join(lemma.split()))
        found.setdefault(form, {})[" ".join(gloss.split())] = None
    if not found:
        raise UsageError(f"{path}: the dictionary is empty. Give a lemma and its gloss a line.")
    glosses = {lemma: tuple(each) for lemma, each in found.items()}
    return GlossDictionary(glosses, sha256)


def _table_pairs(path: Path, text: str) -> Iterator[tuple[str, str]]:
    comma = path.suffix.lower() == ".csv"
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter="," if comma else "\t",
        quoting=csv.QUOTE_MINIMAL if comma else csv.QUOTE_NONE,
        strict=True,
    )
    first = True
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells) or cells[0].startswith("#"):
                continue
            if first and cells[0].lower() in _LEMMA and cells[1:2] and cells[1].lower() in _GLOSSES:
                first = False
                continue
            first = False
            if len(cells) < 2 or not cells[0] or not any(cells[1:]):
                raise UsageError(
                    f"{path}: line {rows.line_num}: a lemma and its gloss are wanted, with a "
                    f"{'comma' if comma else 'tab'} between them."
                )
            yield from ((cells[0], gloss) for gloss in cells[1:] if gloss)
    except csv.Error as error:
        raise UsageError(f"{path}: line {rows.line_num}: {error}. Correct the table.") from None


def _json_pairs(path: Path, text: str) -> Iterator[tuple[str, str]]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{path}: line {error.lineno}: not valid JSON ({error.msg}). Correct it there."
        ) from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: not valid JSON. Correct it.") from None
    if isinstance(data, dict):
        items = list(data.items())
    elif isinstance(data, list):
        items = [_item(each) for each in data]
    else:
        raise UsageError(f"{path}: a JSON object or list is wanted.")
    for place, (lemma, glosses) in enumerate(items, 1):
        listed = glosses if isinstance(glosses, list) else [glosses]
        sound = [isinstance(each, str) and bool(each.strip()) for each in (lemma, *listed)]
        if len(sound) < 2 or not all(sound):
            raise UsageError(
                f"{path}: item {place}: a lemma with its gloss, or a list of glosses, is wanted."
            )
        yield from ((lemma, gloss) for gloss in listed)


def _item(row: Any) -> tuple[Any, Any]:
    """Return lemma and glosses of one object of a list."""
    if not isinstance(row, dict):
        return None, None
    lemma = next((row[name] for name in row if str(name).lower() in _LEMMA), None)
    return lemma, next((row[name] for name in _GLOSSES if name in row), None)
