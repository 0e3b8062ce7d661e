"""Warnings and errors that Python prints, without the words of foreign code, which may quote a secret text."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from types import TracebackType


def quieten() -> None:
    """Remove the words of foreign code from everything that Python would print, from now on."""
    sys.unraisablehook = lambda raised: _tell("An error that cannot be raised", raised.exc_type, raised.exc_traceback)
    threading.excepthook = lambda raised: _tell("A thread ended", raised.exc_type, raised.exc_traceback)
    warnings.showwarning = lambda _, category, file, line, *_more: _print(
        f"A warning: {category.__name__}, at {file}:{line}"
    )
    logging.lastResort = _Unquoted(logging.WARNING)


class _Unquoted(logging.Handler):
    """Says who logged what kind of error where, and nothing of the message."""

    def emit(self, record: logging.LogRecord) -> None:
        message = f"Logged by {record.name} ({record.levelname})"
        if record.exc_info and record.exc_info[0] is not None:
            _tell(message, record.exc_info[0], record.exc_info[2])
        else:
            _print(f"{message}, at {record.pathname}:{record.lineno}")


def _tell(what: str, kind: type[BaseException] | None, traceback: TracebackType | None) -> None:
    place = ""
    while traceback is not None:
        place = f", at {traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    _print(f"{what}: {'an error' if kind is None else kind.__name__}{place}")


def _print(line: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{line}. Its words are withheld: secret entries were opened.\n")
