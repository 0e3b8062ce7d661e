"""The message for a failure of the program itself: where it happened, nothing of what it was working on."""

from __future__ import annotations

import sqlite3
import traceback

from rosetta_tui.show.text import plain

_QUOTE_NO_TEXT = (OSError, sqlite3.Error, AttributeError, NameError)
"""Errors whose messages name files, tables and attributes; others may quote the text that they met."""


def crash_text(error: BaseException | None) -> str:
    """Return the calls that led to a failure of ours, without values, so that no secret text is in it."""
    lines = [
        "Rosetta failed. This is a fault of the program; what is stored is not touched by it.",
        "Please report it with these lines; they hold no text of a corpus or an output:",
    ]
    while error is not None:
        lines.append("")
        for frame in traceback.format_tb(error.__traceback__):
            lines += frame.splitlines()
        message = " (its message is left out: it may quote a text)" if str(error) else ""
        message = f": {error}" if isinstance(error, _QUOTE_NO_TEXT) else message
        lines.append(f"{type(error).__name__}{message}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join(map(plain, lines))
