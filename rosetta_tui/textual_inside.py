"""The one place that touches what Textual keeps to itself, with the reason for each line."""

from __future__ import annotations

import re
import sys

from rich import _wrap
from rich.text import Text
from textual.app import App

from rosetta_tui.crash import crash_text


class WordsForCrash(App[None]):
    """An app that fails without printing what it was working on: an entry may be secret."""

    def _fatal_error(self) -> None:
        # Textual's own prints every local variable, and there is no public way to turn that off.
        self.bell()
        self.panic(Text(crash_text(sys.exception())))


_WORD = re.compile(r"[^\S\u00a0\u202f]*(?:\S|[\u00a0\u202f])+[^\S\u00a0\u202f]*")


def hold_no_break_spaces() -> None:
    """Let no line break at a no-break space: in French it would begin with the sign that ends the one before."""
    # Textual breaks lines with Rich's pattern of a word, which takes every space for one that breaks.
    _wrap.re_word = _WORD
