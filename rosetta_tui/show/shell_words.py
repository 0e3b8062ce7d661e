"""Command lines that can be pasted into a shell: quoted so that no name in them does anything there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence

_ACTS = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")
"""Characters that a terminal may act on when they are pasted, or that cannot be pasted at all."""


def command_line(words: Sequence[str]) -> str:
    """Join the words of a command for the shell of this system; the result has no control character."""
    if os.name == "nt":
        return _ACTS.sub("?", subprocess.list2cmdline(words))
    return " ".join(map(quoted, words))


def quoted(word: str) -> str:
    """Quote one word for a POSIX shell; bytes that must not be pasted are written as ``$'…'`` spells them."""
    if not _ACTS.search(word):
        return shlex.quote(word)
    return "$'" + "".join(map(_spelled, os.fsencode(word))) + "'"


def _spelled(byte: int) -> str:
    letter = chr(byte)
    plain = 32 <= byte < 127 and letter not in "'\\"
    return letter if plain else f"\\{byte:03o}"
