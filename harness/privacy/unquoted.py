"""What breaks beside secret entries is told by its class and place: its words may quote a text.

Python itself prints what nobody catches: warnings, errors of threads, of lost tasks, and of objects that
go. Once a process opened secret entries, these go through here, until it ends. What a method prints by
itself, or through a log that it set up itself, is its own doing.
"""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from types import TracebackType
from typing import Any


def quieten() -> None:
    """Take the words off everything that Python would print of foreign code, from now on."""
    sys.unraisablehook = lambda told: _tell(
        "An error that cannot be raised", told.exc_type, told.exc_traceback
    )
    threading.excepthook = lambda told: _tell("A thread ended", told.exc_type, told.exc_traceback)
    warnings.showwarning = _warn  # type: ignore[assignment]
    logging.lastResort = _Unquoted(logging.WARNING)


def _warn(
    _message: object, category: type[Warning], filename: str, lineno: int, *_more: Any
) -> None:
    _print(f"A warning: {category.__name__}, at {filename}:{lineno}")


class _Unquoted(logging.Handler):
    """Says who logged what kind of error where, and nothing of the message."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line."""
        kind, traceback = None, None
        if record.exc_info:
            kind, _, traceback = record.exc_info
        said = f"Logged by {record.name} ({record.levelname})"
        if kind is None:
            _print(f"{said}, at {record.pathname}:{record.lineno}")
        else:
            _tell(said, kind, traceback)


def _tell(what: str, kind: type[BaseException] | None, traceback: TracebackType | None) -> None:
    place = ""
    while traceback is not None:
        place = f", at {traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    _print(f"{what}: {'an error' if kind is None else kind.__name__}{place}")


def _print(line: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{line}. Its words are withheld: secret entries were opened.\n")
