"""What stands on a terminal after the bytes that a program sent to it; colours are left out."""

from __future__ import annotations

import re
from functools import cache

import pyte
from pyte.screens import Char

_COLOURS = re.compile(rb"\x1b\[[0-9;:]*m")
"""Three quarters of the bytes of an app, each of which the emulator looks at on its own."""
_BEGUN = re.compile(rb"\x1b(\[[0-9;:]*)?$")


@cache
def _cell(plain: Char, data: str) -> Char:
    return tuple.__new__(_PlainChar, (data, *plain[1:]))


class _PlainChar(Char):
    """A cell without colours; the emulator makes one for each letter that it draws."""

    __slots__ = ()

    def _replace(self, **changes: str) -> Char:  # type: ignore[override]
        return _cell(self, changes["data"]) if changes.keys() == {"data"} else super()._replace(**changes)  # type: ignore[arg-type]  # fmt: skip


class Emulator:
    """A terminal of so many columns and lines."""

    def __init__(self, columns: int, lines: int) -> None:
        self._screen = pyte.Screen(columns, lines)
        self._screen.cursor.attrs = _PlainChar(*self._screen.cursor.attrs)
        self._stream = pyte.ByteStream(self._screen)
        self._begun = b""
        """The beginning of a colour whose end did not come yet."""
        self.text = ""
        """The lines that are shown."""

    def feed(self, data: bytes) -> None:
        """Take in what a program sent."""
        data = _COLOURS.sub(b"", self._begun + data)
        begun = _BEGUN.search(data)
        self._begun = begun[0] if begun else b""
        self._stream.feed(data[: len(data) - len(self._begun)])
        self.text = "\n".join(line.rstrip() for line in self._screen.display)
