"""Following a run through the store: a second terminal sees the same events as the first."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.core.failures import StoreError
from harness.core.run_state import RunState
from harness.endpoint.budget import Ledger
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event, Finished, InFlight, Pending, Progress, Started
from harness.events.progress import ProgressBoard
from harness.setup.floors import floor_scores, scores_of
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.file.database import open_store
from harness.store.file.openings import Live
from harness.store.file.trouble import worded
from harness.store.holding import elapsed_seconds, is_held, spent_usd
from harness.store.mixed_setups import sum_tries
from harness.store.results import results_after
from harness.store.runs import Run, find_run, read_card, read_run, silent_seconds, under_way

POLL_SECONDS = 0.25
"""Time from one look at the store to the next."""

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
        entries = read_entries(
            self._connection, self._run.corpus, self._run.positions, to_show=True
        )
        chosen = list(entries.values())
        self._scorer = stored_scorer(self._run, dataset.target_language, chosen)
        self._started = Started.of(self._run, dataset, 0)
        self._begun = False
        self._over = False
        self._last_row = 0
        self._looked = 0.0
        self._flight = InFlight(clock=time.time)
        self._ledger = Ledger(self._run.opening.budget_usd)
        self._pace = _Pace()
        self._control = Control()
        self._board = ProgressBoard(
            self._run.run_id,
            len(self._run.positions),
            self._scorer,
            flight=self._flight,
            limiter=self._pace,
            ledger=self._ledger,
            control=self._control,
            floors=floor_scores(self._run.opening),
            entries=entries,
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
        if not self._alive(run):
            self._over = True
            yield self._finished(run)

    def _alive(self, run: Run) -> bool:
        """Return whether a process is at the run; one that was killed is known by the hold that it let go."""
        if not under_way(run):
            return False
        return silent_seconds(run) < DOUBT_SECONDS or is_held(self._path, run.run_id)

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
        self._ledger.spent = spent_usd(self._connection, run.id) if spent is None else spent
        return self._board.progress(
            state=run.state, elapsed_seconds=elapsed_seconds(self._connection, run.id)
        )

    def _finished(self, run: Run) -> Finished:
        tally = self._board.outcome
        card = read_card(self._connection, run.id)
        live = run.live or Live()
        lost = run.state not in {RunState.COMPLETE, RunState.STOPPED}
        return Finished(
            run_id=run.run_id,
            state=RunState.STOPPED if lost else run.state,
            done=tally.done,
            failed=tally.failed,
            total=len(run.positions),
            elapsed_seconds=elapsed_seconds(self._connection, run.id),
            card_hash=None if card is None else card.get("run_card_hash"),
            reason="The process that ran it is gone." if lost else live.reason,
            budget_reached=live.budget_reached,
        )
