"""The workers of a sweep as processes of this computer, each begun again (spawn), and how they are ended."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from contextlib import ExitStack, closing, suppress
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from threading import Thread
from typing import Protocol

from corpora.files.problems import CorpusError
from harness.core.failures import HarnessError
from harness.run.recorder import RemoteCalls
from harness.sweep.expansion import SweepCell
from harness.sweep.working import DRAIN, STOP, work

_CONTEXT = multiprocessing.get_context("spawn")


class CallBackend(Protocol):
    """Where the calls of runs are made, as it travels to each process."""

    def carrier(self) -> ClosableCalls:
        """Connect, within the process that uses it; raises HarnessError where nobody is there any more."""
        ...


class ClosableCalls(RemoteCalls, Protocol):
    """A carrier that is let go of at the end."""

    def close(self) -> None:
        """Close it."""
        ...


class WorkerProcesses:
    """Processes that work at one sweep; ``drain`` and ``stop`` end them, and so does the end of this process.

    With ``elsewhere`` the calls of their runs are made there.
    """

    def __init__(self, store: Path, sweep: int, count: int, elsewhere: CallBackend | None = None) -> None:
        self._told: Synchronized[int] = _CONTEXT.Value("i", 0)
        self._processes = [
            _CONTEXT.Process(
                target=_work, args=(store, sweep, self._told, elsewhere), name=f"sweep-{number}", daemon=True
            )
            for number in range(count)
        ]

    def start(self) -> None:
        """Start all of them."""
        for process in self._processes:
            process.start()

    @property
    def alive(self) -> int:
        """How many are at work."""
        return sum(process.is_alive() for process in self._processes)

    @property
    def failed(self) -> bool:
        """Return whether one ended otherwise than on its own."""
        return any(process.exitcode not in {None, 0} for process in self._processes)

    @property
    def pids(self) -> list[int]:
        """Process ids, of those that were begun."""
        return [process.pid for process in self._processes if process.pid is not None]

    def drain(self) -> None:
        """Signal them to finish the entries under way."""
        self._told.value = max(self._told.value, DRAIN)

    def stop(self) -> None:
        """Signal them to break off what is under way; what is stored stays."""
        self._told.value = STOP

    def wait(self, seconds: float) -> bool:
        """Wait at most so long for one to end; tells whether all have ended."""
        sentinels = [process.sentinel for process in self._processes if process.is_alive()]
        if sentinels:
            wait(sentinels, seconds)
        return not self.alive

    def close(self) -> None:
        """End those that have not come to their end, and let go of all."""
        for process in self._processes:
            if process.is_alive():
                process.kill()
            process.join()
            process.close()


class WorkerThread(Thread):
    """One worker in this process: no other may open the texts of ``cells``. In all else as ``WorkerProcesses``."""

    def __init__(self, store: Path, sweep: int, cells: tuple[SweepCell, ...]) -> None:
        super().__init__(name="sweep", daemon=True)
        self._told = 0
        self._work = partial(work, store, sweep, lambda: self._told, cells=cells)

    def run(self) -> None:
        try:
            self._work()
        except (HarnessError, CorpusError) as error:
            sys.stderr.write(f"error: {error}\n")

    def drain(self) -> None:
        """Signal it to finish the entries under way."""
        self._told = max(self._told, DRAIN)

    def stop(self) -> None:
        """Signal it to break off what is under way; what is stored stays."""
        self._told = STOP

    def wait(self, seconds: float) -> bool:
        """Wait at most so long for its end; tells whether it has ended."""
        self.join(seconds)
        return not self.is_alive()

    def close(self) -> None:
        """End it where it has not come to its end."""
        self.stop()
        self.join()


def _work(store: Path, sweep: int, told: Synchronized[int], elsewhere: CallBackend | None) -> None:
    """Run one worker: Ctrl-C reaches its parent too, which says what is to be done."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def wish() -> int:
        return DRAIN if parent is not None and not parent.is_alive() else told.value

    try:
        with ExitStack() as stack:
            carrier = None
            if elsewhere is not None:
                carrier = stack.enter_context(closing(elsewhere.carrier()))
            work(store, sweep, wish, carrier)
    except (HarnessError, CorpusError) as error:
        sys.stderr.write(f"error: {error}\n")
        raise SystemExit(1) from None
