"""An opened text that nothing shows, writes or copies by accident.

``str``, ``repr``, formatting, pickling, copying and JSON are refused, so that no log, traceback, cache or card takes
the text along. Anyone who needs it calls ``reveal``, which stands where it is searched for. That is a guard against
accidents: code of the same process that means to read it can, and Python cannot wipe memory.
"""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from types import TracebackType
from typing import Never, SupportsIndex, final


@final
class SecretText:
    """One text from a vault; two of them are equal only where they are the same object."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text itself; hand it on to what needs it, and keep it nowhere."""
        return self._text

    def __str__(self) -> Never:
        raise _refused("shown")

    def __repr__(self) -> Never:
        raise _refused("shown")

    def __format__(self, form: str) -> Never:
        raise _refused("formatted")

    def __reduce_ex__(self, protocol: SupportsIndex) -> Never:
        raise _refused("copied or pickled")

    def __getstate__(self) -> Never:
        raise _refused("copied or pickled")


def _refused(done: str) -> TypeError:
    return TypeError(f"A text of a vault is not {done}: call reveal() where it is needed.")


def no_core_dumps() -> None:
    """Prevent the system from writing memory of this process to a file when it crashes, where it can be asked.

    On Linux a program that takes dumps through a pipe decides itself; systemd's and Ubuntu's keep to the limit.
    """
    try:
        import resource
    except ImportError:  # Windows writes none unless its owner asked for them
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


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
