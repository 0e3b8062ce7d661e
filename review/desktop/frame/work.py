"""What every page needs: one thread for all that waits for a disk, the review, looks and words, and faults by their place."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from harness.core.failures import HarnessError
from review.desktop.look import Look
from review.session.opening import Opening
from review.session.words.catalogue import Words


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


Result = TypeVar("Result")

Failed = Callable[[HarnessError], None]


class Work(QObject):
    """Does calls away from the window and tells the window what came of them.

    Nothing of the window may end in the other thread, which ends the program. So whom to tell is known to
    the window's thread only, and rings of references are collected in that thread only.
    """

    rested = Signal()  # Everything that was asked is done and told

    _ended = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="review")
        self._finished = False
        self._waiting: deque[tuple[Callable[[Any], None], Failed]] = deque()
        # queued even from the window's own thread, where a call may end at once: ends are told in order
        self._ended.connect(self._tell, Qt.ConnectionType.QueuedConnection)
        gc.disable()

    @property
    def busy(self) -> bool:
        """Return whether something was asked whose end was not told yet."""
        return bool(self._waiting)

    def do(self, call: Callable[[], Result], then: Callable[[Result], None], failed: Failed) -> None:
        """Run a call after all earlier ones; ``then`` or ``failed`` is called in the window's thread.

        After ``finish`` nothing is done and nothing told: the window is gone.
        """
        if self._finished:
            return
        self._waiting.append((then, failed))
        self._thread.submit(call).add_done_callback(self._ended.emit)

    def finish(self) -> None:
        """Wait for what was asked, and take no more."""
        self._finished = True
        self._thread.shutdown()
        gc.enable()

    def _tell(self, ended: Future[Any]) -> None:
        then, failed = self._waiting.popleft()
        if self._finished:
            return
        try:
            _tell(ended, then, failed)
        finally:
            if not self.busy:
                self.rested.emit()
            # Collect as much as Python itself would by now.
            due = [made > most > 0 for made, most in zip(gc.get_count(), gc.get_threshold(), strict=True)]
            if any(due):
                gc.collect(max(generation for generation, is_due in enumerate(due) if is_due))


def _tell(ended: Future[Any], then: Callable[[Any], None], failed: Failed) -> None:
    try:
        result = ended.result()
    except HarnessError as error:
        failed(error)
    except Exception as error:  # noqa: BLE001  no page waits for ever for what nobody foresaw
        failed(UnforeseenError(error))
    else:
        then(result)


@dataclass(frozen=True)
class AppContext:
    """One for the whole run of the program."""

    opening: Opening
    work: Work
    look: Look

    @property
    def words(self) -> Words:
        return self.opening.words
