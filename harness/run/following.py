"""Following a run through the store: a second terminal sees the same events as the first."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from corpora.text.messages import counted
from harness.compare.pairs import comparison_of
from harness.core.failures import HarnessError, RunState, StoreError, UsageError
from harness.endpoint.budget import Spending
from harness.run.events import Control, EntryScored, Event, Finished, InFlight, Pending, Progress, Started
from harness.run.progress import ProgressBoard
from harness.setup.plan import run_options_of
from harness.setup.scoring_tools import floor_scores, scores_of, stored_scorer
from harness.store.corpora.entries import read_dataset, shown_entries
from harness.store.live_runs import (
    answer_of,
    answer_wish,
    elapsed_seconds,
    forget_wishes,
    is_held,
    log_file,
    open_wishes,
    spent_usd,
    write_wish,
)
from harness.store.mixed_setups import sum_tries
from harness.store.results import results_after
from harness.store.runs import Run, find_run, read_card, read_run, silent_seconds, under_way
from harness.store.sqlite.database import open_store, opened
from harness.store.sqlite.openings import Live
from harness.store.sqlite.trouble import STORE_ERRORS, worded

POLL_SECONDS = 0.25  # Time from one look at the store to the next

DOUBT_SECONDS = 2.5
"""Age of a heartbeat from which on is asked whether its process still lives; a living one beats every second."""


@dataclass(slots=True)
class _Pace:
    """The limits that the other process reported last."""

    limit: int = 1
    most: int = 1


class Follower:
    """Reads a run's events from the store; the first look gives what happened before.

    A store that fails is a StoreError, and nothing more is read from it.
    """

    def __init__(self, path: Path, run_id: str) -> None:
        self._path = path
        self._connection = open_store(path)
        try:
            with worded(path):
                self._find(run_id)
        except BaseException:
            self.close()
            raise

    def _find(self, run_id: str) -> None:
        self._run = find_run(self._connection, run_id)
        dataset = read_dataset(self._connection, self._run.corpus)
        entries = shown_entries(self._connection, self._run.corpus, self._run.positions)
        chosen = entries.in_order
        self._scorer = stored_scorer(self._run, dataset.target_language, chosen)
        self._started = Started.of(self._run, dataset, 0)
        self._begun = False
        self._over = False
        self._last_row = 0
        self._looked = 0.0
        self._flight = InFlight(clock=time.time)
        self._spending = Spending(self._run.opening.budget_usd)
        self._pace = _Pace()
        self._control = Control()
        self._board = ProgressBoard(
            self._run.run_id,
            len(self._run.positions),
            self._scorer,
            flight=self._flight,
            limiter=self._pace,
            spending=self._spending,
            control=self._control,
            floors=floor_scores(self._run.opening),
            entries=entries,
            against=comparison_of(self._connection, self._run, run_options_of(self._run).against, self._scorer),
        )

    def drain(self) -> list[Event]:
        """Return what is new since the last look, oldest first."""
        now = time.monotonic()
        if self._over or now - self._looked < POLL_SECONDS:
            return []
        self._looked = now
        try:
            with worded(self._path):
                return list(self._look())
        except StoreError:
            self._over = True
            raise

    def close(self) -> None:
        self._connection.close()

    def _look(self) -> Iterator[Event]:
        fresh = self._begun
        if not self._begun:
            self._begun = True
            yield self._started
        run = read_run(self._connection, self._run.id)
        rows = results_after(self._connection, run.id, self._last_row)
        if rows:
            self._last_row = rows[-1][0]
            results = [result for _, result in rows]
            statistics = [self._scorer.unpack(result.statistics) for result in results]
            self._board.add(results, statistics, fresh=fresh)
            yield from (EntryScored(run.run_id, result) for result in results)
        yield self._progress(run)
        # A process that was killed is known by the hold that it let go.
        if not under_way(run) or (silent_seconds(run) >= DOUBT_SECONDS and not is_held(self._path, run.run_id)):
            self._over = True
            tally = self._board.outcome
            card = read_card(self._connection, run.id)
            live = run.live or Live()
            lost = run.state not in {RunState.COMPLETE, RunState.STOPPED}
            finished = Finished(
                run_id=run.run_id,
                state=RunState.STOPPED if lost else run.state,
                done=tally.done,
                failed=tally.failed,
                total=len(run.positions),
                elapsed_seconds=elapsed_seconds(self._connection, run.id),
                card_hash=None if card is None else str(card.get("run_card_hash")),
                reason=self._lost_words(run) if lost else live.reason,
                budget_reached=live.budget_reached,
            )
            yield finished

    def _lost_words(self, run: Run) -> str:
        log = log_file(self._path, run.run_id)
        return "The process that ran it is gone." + (f" Its log is {log}." if log.exists() else "")

    def _progress(self, run: Run) -> Progress:
        live = run.live or Live()
        self._flight.in_flight = set(live.in_flight)
        self._flight.pending = {
            place: Pending(attempt, allowed, live.at + seconds, reason)
            for place, attempt, allowed, seconds, reason in live.waiting
        }
        retries, limited = live.retries, live.rate_limited
        if retries is None or limited is None:
            retries, limited = sum_tries(self._connection, run)
        self._flight.retries, self._flight.rate_limited = retries, limited
        self._pace.limit = live.concurrency or self._pace.limit
        self._pace.most = live.most_concurrency or self._pace.most
        self._board.scoring = live.scoring or self._board.scoring
        self._board.doing = live.doing
        floors = floor_scores(run.opening)
        self._board.floors = scores_of(live.floors) or None if floors is None else floors
        spent = live.spent_usd
        self._spending.spent = spent_usd(self._connection, run.id) if spent is None else spent
        return self._board.progress(state=run.state, elapsed_seconds=elapsed_seconds(self._connection, run.id))


# ---- Steering a run from another process, by the store: a wish is written there, and the run's
# own process takes it and writes next to it what came of it.
#
# Wishes are imported the order in which they were written, each says what is to be and not what
# is to change, and each is answered: of two people who steer one run, both see what holds then.

LISTEN_SECONDS = 0.2  # How often a run's process looks for wishes
ASK_SECONDS = 0.05  # How often who asked looks for the answer

PATIENCE_SECONDS = 15.0
"""How long an answer is waited for; a process that lives answers at once, unless its machine is very busy."""

OVER = "Every entry is in: the run is being scored and sealed, and nothing is left to steer."
UNKNOWN = "The program that runs it does not know this wish. Nothing was changed."


class ControlRequest(StrEnum):
    """What may be asked of a run under way."""

    PAUSE = "pause"
    GO_ON = "go_on"
    DRAIN = "drain"
    STOP = "stop"
    LIMIT = "limit"
    """At most that many calls at once."""


def ask(path: Path, run_id: str, wish: ControlRequest, calls: int | None = None) -> str:
    """Request something of the process that runs a run; blocks until it has answered, and returns its words.

    Raises UsageError where no process is at the run, or none answers: nothing is changed then.
    """
    with opened(path) as connection:
        run = find_run(connection, run_id)
        _require_alive(path, run)
        number = write_wish(connection, run.id, wish, calls)
        until = time.monotonic() + PATIENCE_SECONDS
        try:
            while time.monotonic() < until:
                if answer := answer_of(connection, number):
                    return answer
                _require_alive(path, read_run(connection, run.id))
                time.sleep(ASK_SECONDS)
            raise UsageError(
                f"The process that runs {run.run_id[:8]} has not answered for {PATIENCE_SECONDS:g} s. "
                "Nothing was changed."
            )
        finally:
            forget_wishes(connection, run.id, number)


def _require_alive(path: Path, run: Run) -> None:
    """Raise UsageError where nobody is at a run."""
    name = run.run_id[:8]
    if run.state is RunState.COMPLETE:
        raise UsageError(f"Run {name} is complete; there is nothing to steer.")
    if run.state is RunState.STOPPED:
        raise UsageError(f"Run {name} has stopped; `{run.goes_on_with}` continues.")
    if not under_way(run) or not is_held(path, run.run_id):
        raise UsageError(
            f"The process that ran {name} is gone. What it stored is safe; `{run.goes_on_with}` continues."
        )


class ControlPoller(threading.Thread):
    """Takes wishes from the store and passes them on to a run's control, in the run's own process."""

    def __init__(self, path: Path, run: int, control: Control) -> None:
        super().__init__(name="ear", daemon=True)
        self._path = path
        self._run = run
        self._control = control
        self._end = threading.Event()
        self.entries_in = False
        """True once nothing is left that could be steered."""

    def run(self) -> None:
        """Listen until stopped; a store that fails is the run's own trouble, which reports it."""
        with suppress(HarnessError, *STORE_ERRORS), closing(open_store(self._path)) as connection:
            while not self._end.wait(LISTEN_SECONDS):
                with suppress(*STORE_ERRORS):
                    for number, wish, calls in open_wishes(connection, self._run):
                        if self.entries_in:
                            words = OVER
                        elif wish not in set(ControlRequest) or not isinstance(calls, int | None):
                            words = UNKNOWN  # a program of another version wrote it, or somebody by hand
                        else:
                            words = done(self._control, ControlRequest(wish), calls)
                        answer_wish(connection, number, words)

    def close(self) -> None:
        self._end.set()
        self.join()


def done(control: Control, wish: ControlRequest, calls: int | None = None) -> str:
    """Carry out a request unless it is so already; return what holds then, in words."""
    before = control.state
    if wish is ControlRequest.LIMIT:
        control.limit(calls or 1)
        return f"At most {counted(control.most_concurrency or 1, 'call')} at once."
    if before in {RunState.DRAINING, RunState.STOPPED} and wish in {ControlRequest.PAUSE, ControlRequest.GO_ON}:
        return "It is ending: a drain or a stop cannot be taken back. `rosetta resume` continues afterwards."
    {
        ControlRequest.PAUSE: control.pause,
        ControlRequest.GO_ON: control.go_on,
        ControlRequest.DRAIN: control.drain,
        ControlRequest.STOP: control.stop,
    }[wish]()
    return (_SO_ALREADY if control.state is before else _DONE)[wish]


_DONE = {
    ControlRequest.PAUSE: "Paused: what is under way is finished.",
    ControlRequest.GO_ON: "Going on.",
    ControlRequest.DRAIN: "Draining: what is under way is finished and stored, nothing more is started.",
    ControlRequest.STOP: "Stopped: what is done is stored, calls under way are broken off.",
}
_SO_ALREADY = {
    ControlRequest.PAUSE: "It was paused already.",
    ControlRequest.GO_ON: "It was going on already.",
    ControlRequest.DRAIN: "It was ending already.",
    ControlRequest.STOP: "It was stopped already.",
}
