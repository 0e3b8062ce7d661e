"""Common words of the source language, by which words left untranslated are known (METRICS §4).

The list is that of the package ``wordfreq``. Its data file is read directly, because importing the package
takes half a second.
"""

from __future__ import annotations

import gzip
import re
import zlib
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgpack

from corpora.text.words import folded
from scoring.words.reading import unspaced

MOST = 5000
"""How many of the most frequent words are taken; a rarer word is more likely a name or a loan."""

_DAMAGED = "{} of the package wordfreq cannot be read; install the package anew"

_CODES = {
    "ara": "ar", "arb": "ar", "ben": "bn", "bos": "sh", "bs": "sh", "bul": "bg", "cat": "ca",
    "ces": "cs", "cze": "cs", "dan": "da", "deu": "de", "dut": "nl", "ell": "el", "eng": "en",
    "fas": "fa", "fin": "fi", "fra": "fr", "fre": "fr", "ger": "de", "gre": "el", "hbs": "sh",
    "heb": "he", "hin": "hi", "hr": "sh", "hrv": "sh", "hun": "hu", "ice": "is", "ind": "id",
    "isl": "is", "ita": "it", "iw": "he", "kor": "ko", "lav": "lv", "lit": "lt", "lvs": "lv",
    "mac": "mk", "may": "ms", "mkd": "mk", "msa": "ms", "nld": "nl", "no": "nb", "nob": "nb",
    "nor": "nb", "per": "fa", "pes": "fa", "pol": "pl", "por": "pt", "ron": "ro", "rum": "ro",
    "rus": "ru", "slk": "sk", "slo": "sk", "slv": "sl", "spa": "es", "sr": "sh", "srp": "sh",
    "swe": "sv", "tam": "ta", "tgl": "fil", "tl": "fil", "tur": "tr", "ukr": "uk", "urd": "ur",
    "vie": "vi", "zlm": "ms", "zsm": "ms",
}  # fmt: skip
"""Other tags of the languages that the package has a list of."""


@cache
def source_word_list(language: str) -> tuple[frozenset[str], str | None]:
    """Return the most frequent words of a language, folded, of two letters or more, and the list's name.

    The name holds version and size; it is None, and the list empty, where the package is not installed or
    has no list of the language, or none that fits words of single characters (Chinese, Japanese).
    ValueError where the file is damaged.
    """
    file = _file(language)
    if file is None:
        return frozenset(), None
    most = list(islice(_spelled(_bands(file)), MOST))
    if sum(map(unspaced, most)) * 2 > len(most):
        return frozenset(), None
    name = f"wordfreq {version('wordfreq')} {file.name.split('.')[0]}, {len(most):,} words"
    return frozenset(word for word in map(folded, most) if len(word) > 1), name


def _file(language: str) -> Path | None:
    spec = find_spec("wordfreq")
    tag = language.replace("_", "-").split("-")[0].lower()
    code = _CODES.get(tag, tag)
    if spec is None or not spec.submodule_search_locations or not re.fullmatch("[a-z]{2,3}", code):
        return None
    file = Path(spec.submodule_search_locations[0], "data", f"small_{code}.msgpack.gz")
    return file if file.is_file() else None


def _bands(file: Path) -> list[list[str]]:
    """Read the words in bands of falling frequency (the package's cBpack format)."""
    try:
        with gzip.open(file) as packed:
            data: Any = msgpack.unpackb(packed.read())
        header, bands = data[0], data[1:]
    except (OSError, EOFError, zlib.error, ValueError, TypeError, LookupError) as error:
        raise ValueError(f"{_DAMAGED.format(file.name)} ({error})") from error
    if header != {"format": "cB", "version": 1}:
        raise ValueError(f"{_DAMAGED.format(file.name)} (its header is {header!r})")
    return list(bands)


def _spelled(bands: list[list[str]]) -> chain[str] | filter[str]:
    """Leave out numbers of several digits, which stand for all numbers of their length."""
    return filter(lambda word: not re.search(r"\d[\d.,]", word), chain.from_iterable(bands))
