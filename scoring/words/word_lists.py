"""Lists of the frequent words of languages, of the package wordfreq; nothing else is loaded for them."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import zlib
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgpack

from corpora.files.installed import stated_file, version

MOST = 5000
"""How many of the most frequent words are taken; a rarer word is more likely a name or a loan."""
_DAMAGED = "{} of the package wordfreq cannot be read; install the package again"

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


def listed_words(language: str) -> tuple[list[str], str | None]:
    """Return the most frequent words of a language as the package lists them, and the list's name.

    The name holds version and size. No words, and None, where the package is not installed or has no list of the
    language, or only one of single characters (Chinese, Japanese). ValueError where the file is damaged.
    """
    file = list_file(language)
    if file is None or _code(file) in _UNSPACED:
        return [], None
    # without numbers of several digits, which stand for all numbers of their length
    words = chain.from_iterable(_bands(file))
    most = list(islice((word for word in words if not re.search(r"\d[\d.,]", word)), MOST))
    return most, f"wordfreq {version('wordfreq')} {file.name.split('.')[0]}, {len(most):,} words"


def has_list(language: str) -> bool:
    """Return whether ``listed_words`` has a list; one that is as it was installed is not read for it.

    Reading one takes as long as a bare interpreter's start, and the doctor asks for every language card.
    ValueError where the file is damaged.
    """
    file = list_file(language)
    if file is None:
        return False
    with suppress(OSError):  # which reading it tells in words
        if _recorded().get(file.name) == hashlib.sha256(file.read_bytes()).digest():
            return _code(file) not in _UNSPACED
    return listed_words(language)[1] is not None


_UNSPACED = frozenset({"ja", "zh"})
"""Codes of the package's lists of words of single characters."""


@cache
def _recorded() -> dict[str, bytes]:
    """Return name → SHA-256 of each list as the package was installed (RECORD of its wheel)."""
    rows = (line.split(",") for line in (stated_file("wordfreq", "RECORD") or "").splitlines())
    kept = (row for row in rows if len(row) == 3 and row[1].startswith("sha256="))
    return {
        path.rpartition("/")[2]: base64.urlsafe_b64decode(f"{digest.removeprefix('sha256=')}=")
        for path, digest, _ in kept
    }


def list_file(language: str) -> Path | None:
    """Return wordfreq's list of a language's frequent words; None where it has none, or is not installed."""
    spec = find_spec("wordfreq")
    tag = language.replace("_", "-").split("-")[0].lower()
    code = _CODES.get(tag, tag)
    if spec is None or not spec.submodule_search_locations or not re.fullmatch("[a-z]{2,3}", code):
        return None
    file = Path(spec.submodule_search_locations[0], "data", f"small_{code}.msgpack.gz")
    return file if file.is_file() else None


def _code(file: Path) -> str:
    """Return the package's code of the language of a list."""
    return file.name.removeprefix("small_").partition(".")[0]


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
