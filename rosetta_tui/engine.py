"""A run under way in a thread of its own, for whoever shows it."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

from harness.control import Control
from harness.events import Finished
from harness.instruments import Instruments
from harness.listening import EventQueue
from harness.method import Method
from harness.plan import AS_BEFORE, Resumption
from harness.running import go


class Engine:
    """Runs one run; ``events`` and ``control`` are all that a screen needs of it."""

    def __init__(
        self,
        path: Path,
        number: int,
        method: Method,
        resumption: Resumption = AS_BEFORE,
        instruments: Instruments | None = None,
    ) -> None:
        self.events = EventQueue()
        self.control = Control()
        self._path = path
        self._number = number
        self._method = method
        self._resumption = resumption
        self._instruments = instruments
        self._finished: Finished | None = None
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._go, name="run", daemon=True)

    def start(self) -> None:
        """Begin; what is loaded by now stays, so the collector need not walk it during the run."""
        gc.freeze()
        self._thread.start()

    @property
    def alive(self) -> bool:
        """True while the run is under way."""
        return self._thread.is_alive()

    def wait(self, seconds: float) -> bool:
        """Wait for the end at most so long; True where it came."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self) -> Finished:
        """Wait for the end and give it; raises what made the run fail."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        assert self._finished is not None  # noqa: S101  one of the two is set when the thread ends
        return self._finished

    def _go(self) -> None:
        try:
            self._finished = go(
                self._path,
                self._number,
                self._method,
                self.events,
                self.control,
                self._resumption,
                self._instruments,
            )
        except Exception as error:  # noqa: BLE001  handed to whoever waits for the result
            self._failure = error
