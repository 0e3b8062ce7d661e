"""One thread in which everything that waits for a disk is done, one thing after the other.

A commit waits for the disk, and for another program that holds the file; the window never does.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from harness.failures import HarnessError

Result = TypeVar("Result")

Failed = Callable[[HarnessError], None]


class Work(QObject):
    """Does calls away from the window and tells the window what came of them."""

    _ended = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="review")
        self._under_way = 0
        self._ended.connect(self._tell)

    @property
    def busy(self) -> bool:
        """Tell whether something was asked whose end was not told yet."""
        return self._under_way > 0

    def do(
        self, call: Callable[[], Result], then: Callable[[Result], None], failed: Failed
    ) -> None:
        """Do this after everything that was asked before; ``then`` or ``failed`` is called in the window's thread."""
        self._under_way += 1
        future = self._thread.submit(call)
        future.add_done_callback(lambda ended: self._ended.emit((ended, then, failed)))

    def finish(self) -> None:
        """Wait for what was asked, and take no more."""
        self._thread.shutdown()

    def _tell(self, what: tuple[Future[Any], Callable[[Any], None], Failed]) -> None:
        ended, then, failed = what
        self._under_way -= 1
        try:
            result = ended.result()
        except HarnessError as error:
            failed(error)
        else:
            then(result)
