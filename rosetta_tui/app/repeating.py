"""Repeats of one set-up that this process makes while its app is open: a sweep of one cell, one run after the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from textual.app import App

from corpora.files.problems import CorpusError
from harness.core.failures import HarnessError, RunState
from harness.run.events import Control, EventQueue
from harness.store.sweeps import StoredSweep
from harness.sweep.expansion import SweepCell, check_methods, expand, open_plan_corpus
from harness.sweep.working import STOP, begin_sweep, work
from rosetta_tui.request.draft import RunDraft, forget_draft
from rosetta_tui.request.look import drafted_repeats
from rosetta_tui.session.engine import WRITING_SECONDS
from rosetta_tui.session.run_sources import WatchedRun
from rosetta_tui.show.text import plain
from rosetta_tui.sweep.screen import SweepScreen


class RepeatsEngine:
    """Works at the repeats in a thread; the store says how far they are."""

    def __init__(
        self, path: Path, sweep: StoredSweep, cells: tuple[SweepCell, ...], fail: Callable[[str], object]
    ) -> None:
        """``fail`` is called in the thread with the words of what ends it early."""
        self.run_id = sweep.id  # of the sweep: each repeat is one run
        self.events, self.control = EventQueue(), Control()
        self._path, self._sweep, self._cells, self._fail = path, sweep, cells, fail
        self._thread = Thread(target=self._go, name="repeats", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Break off what is under way, and wait for the end; what is stored stays."""
        self.control.stop()
        self._thread.join(WRITING_SECONDS)

    def _go(self) -> None:
        try:
            work(self._path, self._sweep.number, self._request, cells=self._cells)
        except (CorpusError, HarnessError) as error:
            self._fail(str(error))
        finally:
            self.control.stop()  # nothing is under way any more

    def _request(self) -> int:
        return STOP if self.control.state is RunState.STOPPED else 0


def begin_repeats(store_path: Path, draft: RunDraft, fail: Callable[[str], object]) -> RepeatsEngine:
    """Store the drafted repeats and forget the form; CorpusError or HarnessError, and then nothing is stored or lost."""
    asked = drafted_repeats(draft)
    cells = expand(asked, open_plan_corpus(asked))
    check_methods(cells)
    sweep = begin_sweep(store_path, asked, cells)
    forget_draft(store_path.parent)
    return RepeatsEngine(store_path, sweep, cells, fail)


def begin_and_show(
    app: App[Any], store_path: Path, draft: RunDraft, under_way: list[WatchedRun]
) -> tuple[Callable[[Path], RepeatsEngine], Callable[[WatchedRun], object]]:
    """Return what begins the drafted repeats, in a thread, and what shows them then, adding them to those ``under_way``."""
    tell = partial(app.notify, title="The repeats stop", severity="error", markup=False)

    def show(session: WatchedRun) -> None:
        under_way.append(session)
        app.push_screen(SweepScreen(store_path, session.run_id))

    return partial(begin_repeats, draft=draft, fail=lambda words: tell(plain(words))), show
