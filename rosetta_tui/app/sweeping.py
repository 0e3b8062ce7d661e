"""A sweep under way in worker processes, told as lines while it continues."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import FrameType

import click
from pydantic import BaseModel

from harness.store.sqlite.database import opened
from harness.store.sweeps import StoredSweep, at_work, forget_troubles, read_sweep
from harness.sweep.expansion import SweepCell
from harness.sweep.processes import CallBackend, WorkerProcesses, WorkerThread
from harness.sweep.record import SweepRecord, sweep_record
from rosetta_tui.report.sweep import cell_line, progress_line, progress_lines
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

LOOK_SECONDS = 1.0  # how often the store is examined for what to tell
_CLEAR = "\r\x1b[2K"  # begins a terminal's line again


def carry_out(
    path: Path, sweep: StoredSweep, style: str | None, elsewhere: CallBackend | None = None, opened_cells: tuple[SweepCell, ...] = ()
) -> int:  # fmt: skip
    """Work at a sweep until nothing is left, telling of each run; returns the exit code.

    ``elsewhere``: where the calls are made, None for here. ``opened_cells``: those that this process opened out of a vault.

    0: every run is complete; 1: some stopped by themselves; 130: a person stopped the sweep.
    """
    teller = _Teller(path, sweep, style)
    with opened(path) as connection:
        if not at_work(path, sweep):
            forget_troubles(connection, sweep.number)
        elif style != "json-lines":
            click.echo("Another command is at this sweep: both share its workers.", err=True)
    inside = WorkerThread(path, sweep.number, opened_cells) if opened_cells else None
    with closing(inside or WorkerProcesses(path, sweep.number, sweep.workers, elsewhere)) as workers:
        with _interruptible(workers) as seen:
            workers.start()
            while not workers.wait(LOOK_SECONDS):
                teller.tell()
            while not seen and at_work(path, sweep):  # those of another command
                time.sleep(LOOK_SECONDS)
                teller.tell()
        last = teller.tell()
    teller.end(last)
    with opened(path) as connection:
        stopped = read_sweep(connection, sweep.number).stopping
    return 0 if last.state == "complete" else 130 if seen or stopped else 1


class _Teller:
    """Tells what is new of a sweep."""

    def __init__(self, path: Path, sweep: StoredSweep, style: str | None) -> None:
        self._path, self._sweep, self._style = path, sweep, style
        self._told: dict[int, tuple[object, ...]] = {}
        self._line = style is None and sys.stdout.isatty()

    def tell(self) -> SweepRecord:
        """Print the cells whose state changed since the last time, and how far the whole is."""
        with opened(self._path) as connection:
            record = sweep_record(connection, read_sweep(connection, self._sweep.number))
        for cell_record in record.cells:
            state = (cell_record.state, cell_record.run_id, cell_record.trouble)
            if state == self._told.get(cell_record.place, ("waiting", None, None)):
                continue
            self._told[cell_record.place] = state
            if self._style == "json-lines":
                click.echo(_event("cell", cell_record))
            elif cell_record.state != "waiting" or cell_record.trouble:
                click.echo(f"{_CLEAR if self._line else ''}{plain(cell_line(cell_record))}")
        if self._style == "json-lines":
            click.echo(_event("sweep", record.summary))
        elif self._line:
            click.echo(f"{_CLEAR}{plain(progress_line(record))}", nl=False)
        return record

    def end(self, found: SweepRecord) -> None:
        if self._style == "json-lines":
            return
        click.echo(_CLEAR if self._line else "", nl=False)
        for line in progress_lines(found):
            click.echo(plain(line))
        if found.state != "complete":
            click.echo(f"`rosetta sweep resume {found.id}` continues.", err=True)
        click.echo(f"`rosetta sweep show {found.id}` shows all runs.", err=True)


def _event(kind: str, record: BaseModel) -> str:
    return form_text("sweep-event", {"event": kind, **record.model_dump(mode="json")}, indent=None)


@contextmanager
def _interruptible(workers: WorkerProcesses | WorkerThread) -> Iterator[list[int]]:
    """Handle Ctrl-C: the first drains the workers, the second stops them; yield the signals that came."""
    seen: list[int] = []

    def heed(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if seen == [signal.SIGINT]:
            workers.drain()
            words = "Finishing what is under way. Ctrl-C again stops at once."
            with suppress(OSError):
                os.write(2, f"{words}\n".encode())
        else:
            workers.stop()

    before = {number: signal.signal(number, heed) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
