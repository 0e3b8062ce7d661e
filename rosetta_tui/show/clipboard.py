"""What may be pasted: text for the clipboard and the words about it, and command lines for a shell."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence

from rosetta_tui.show import figures
from rosetta_tui.show.text import plain

MOST_BYTES = 74_000  # of UTF-8 at once: OSC 52 takes 4/3 of it, terminals cut it at 100,000


def harmless(text: str) -> str:
    """Return text that does nothing wherever it is pasted: only tabs and line breaks are left to act."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(map(plain, line.split("\t"))) for line in lines)


def refusal(text: str) -> str:
    """Return why a text is not copied; empty where it may be."""
    if not text:
        return "There is nothing to copy."
    size = len(text.encode("utf-8", "replace"))
    if size > MOST_BYTES:
        return (
            f"That is {figures.count(size)} bytes; a terminal's clipboard takes at most "
            f"{figures.count(MOST_BYTES)} at once. Copy less, or export it to a file."
        )
    return ""


def copied_words(what: str, text: str) -> str:
    """Return what was copied and how much, such as ``Output copied: 2 lines, 31 characters.``"""
    lines, letters = len(text.split("\n")), len(text)
    parts = [f"{figures.count(lines)} lines"] if lines > 1 else []
    parts.append(f"{figures.count(letters)} character{'s' * (letters != 1)}")
    return f"{what} copied: {', '.join(parts)}."


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
    shown = (chr(b) if 32 <= b < 127 and chr(b) not in "'\\" else f"\\{b:03o}" for b in os.fsencode(word))
    return f"$'{''.join(shown)}'"
