"""Find a canary in the bytes that a program left, however it was written there.

Every word of a secret text begins with one stem, in plain letters, so that no form of a letter can hide it: composed or
not, escaped or not. What is packed is unpacked first, and what stood on a terminal is read without its colours.
"""

from __future__ import annotations

import base64
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

STEM = "kanario"

_ON_TERMINALS = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
)
"""Sequences that a terminal does not show: colours, places, titles."""


def _in_base64(stem: bytes) -> Iterator[bytes]:
    """Yield the letters that are the same whatever stands around the stem, for each of its three places."""
    for place in range(3):
        whole = base64.b64encode(bytes(place) + stem)
        yield whole[-(-place * 8 // 6) : (place + len(stem)) * 8 // 6]


_WIDE = ("utf-8", "utf-16-le", "utf-16-be")
_CASES = (STEM, STEM.capitalize(), STEM.upper())
_LOWER = [STEM.encode(form) for form in _WIDE]
_LOWER += [said.encode().hex().encode() for said in _CASES]
"""Looked for whatever the case."""
_EXACT = [found for said in _CASES for form in _WIDE for found in _in_base64(said.encode(form))]


def forms_in(content: bytes) -> int:
    """Return how many forms of the stem stand in some bytes, what is packed in them unpacked."""
    found = 0
    for each in _unpacked(content):
        lower = each.lower()
        found += sum(form in lower for form in _LOWER) + sum(form in each for form in _EXACT)
    return found


def _unpacked(content: bytes) -> Iterator[bytes]:
    yield content
    if b"\x1b" in content:
        yield _ON_TERMINALS.sub(b"", content)
    with suppress(zipfile.BadZipFile, NotImplementedError, RuntimeError):
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as packed:
                for each in packed.namelist():
                    yield each.encode()
                    yield from _unpacked(packed.read(each))
    with suppress(OSError, EOFError, zlib.error):
        if content.startswith(b"\x1f\x8b"):
            yield from _unpacked(gzip.decompress(content))


def readable(folder: Path) -> list[str]:
    """Name what of a folder holds a canary: files by their bytes, and everything by its name."""
    found = []
    for each in sorted(folder.rglob("*")):
        named = forms_in(each.name.encode())
        if named or (each.is_file() and forms_in(each.read_bytes())):
            found.append(str(each.relative_to(folder)))
    return found
