"""A fault of the program itself: told by its kind and its place, for its words may hold a text of an item."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from harness.core.failures import HarnessError


class UnforeseenError(HarnessError):
    """Something failed in a way that nobody foresaw."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(fault(type(error), error.__traceback__))


def fault(kind: type[BaseException], trace: TracebackType | None) -> str:
    """Name what failed and the innermost line of it, as ``ValueError file.py:12``."""
    place = ""
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        place = f" {path.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{kind.__name__}{place}"
