"""A finished run played back as it happened, from what the store holds of its entries.

When an entry was finished is stored, and how long its calls and waits took: so it is known what was under way
at each moment. Numbers are added up by the code that adds up those of a live run. Times between two stretches
of the run are skipped.

What each entry adds is kept as columns and added up in stretches, so that a jump over a hundred thousand
entries reads and unpacks nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.core.failures import UsageError
from harness.core.run_state import RunState
from harness.endpoint.budget import Ledger
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event, Finished, InFlight, Pending, Progress, Started
from harness.events.progress import RATE_SECONDS, ProgressBoard, RunTally
from harness.method.method import Attempt
from harness.setup.floors import floor_scores
from harness.setup.plan import run_options_of
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.holding import read_stretches
from harness.store.mixed_setups import own_tries
from harness.store.results import Moment, moments, read_attempts, read_results
from harness.store.runs import Run, find_run, read_card, under_way
from rosetta_tui.session.picture import RECENT, EntryState
from scoring.core.scorer import Scorer
from scoring.core.table import Table

Floats = npt.NDArray[np.float64]

AT_ONCE = 2_000
"""Entries unpacked at once: a screen is drawn by another thread between them."""


class ReplayRows:
    """The columns; every method takes places in the order of finishing."""

    def __init__(
        self, rows: Sequence[Moment], scorer: Scorer, tries: Sequence[tuple[int, int]]
    ) -> None:
        """Raises ValueError where the statistics of an entry do not fit the metrics.

        ``tries`` are those of each row (``harness.store.mixed_setups``).
        """
        self.positions = np.array([row.position for row in rows], dtype=np.uint32)
        """Places in the corpus."""
        self.failed = np.array([row.failed for row in rows], dtype=bool)
        self._costs = _numbers([row.cost_usd for row in rows])
        self._tokens = _numbers([row.tokens for row in rows])
        timed = [None if row.failed else row.latency_seconds for row in rows]
        self._latencies = _numbers(timed)
        self._table = _table(rows, scorer)
        self.limited = _sums([limited for _, limited in tries])
        """Tries that were answered with 429, up to each entry; the first is 0, as below."""
        self.retries = _sums([retries for retries, _ in tries])
        self.spent = _sums([row.spent_usd or 0.0 for row in rows])

    def tally(self, first: int, after: int) -> RunTally:
        """Add up the entries from one place to before another."""
        costs, tokens = self._costs[first:after], self._tokens[first:after]
        latencies = self._latencies[first:after]
        untold = int(np.isnan(tokens).sum())
        return RunTally(
            done=after - first,
            failed=int(self.failed[first:after].sum()),
            cost_usd=None if np.isnan(costs).any() else float(costs.sum()),
            known_cost_usd=float(np.nansum(costs)),
            tokens=None if untold == len(tokens) else int(np.nansum(tokens)),
            tokens_untold=untold,
            latencies=latencies[~np.isnan(latencies)].tolist(),
        )

    def table(self, first: int, after: int) -> Table:
        """Return the statistics of the entries from one place to before another."""
        whole = self._table
        return whole.rows(range(first, after))


def _numbers(values: Sequence[float | None]) -> Floats:
    """Convert numbers to an array; NaN where there is none."""
    return np.array(values, dtype=np.float64)


def _sums(numbers: Sequence[float]) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.array(numbers, dtype=np.float64))])


def _table(rows: Sequence[Moment], scorer: Scorer) -> Table:
    starts = range(0, max(1, len(rows)), AT_ONCE)
    parts = [
        scorer.unpack_table([row.statistics for row in rows[start : start + AT_ONCE]])
        for start in starts
    ]
    matrices, present = [part.matrix for part in parts], [part.present for part in parts]
    return Table(parts[0].metrics, np.vstack(matrices), np.vstack(present), scorer.weighing)


TOGETHER_SECONDS = 0.25
"""Entries finished within this time are counted in together, as those of a live run are; those that are too
old to count for the rate are only separated by their number."""

TOGETHER = 2_500
"""Entries that are counted in together at most: what takes some milliseconds."""


@dataclass(frozen=True, slots=True)
class Jump:
    """The picture is to begin again at another moment."""

    states: bytes
    """Where each entry stands, by place in the corpus."""
    back: bool
    """True where entries that were finished are not any more."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A time in which nobody was at the run."""

    at: float
    """Seconds of the run's own time after which it came."""
    seconds: float


class _Pace:
    """Calls at once: the most that the times of the entries show."""

    def __init__(self, most: int) -> None:
        self.limit = self.most = most


class Playback:
    """The run at one moment of its time; ``move_to`` gives what happens on the way to another.

    Raises UsageError where the run is not over, or does not know when its entries were finished.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        run_id: str,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._connection = connection
        self._cancelled = cancelled
        """True where a move that is under way is not wanted any more."""
        self._torn = False
        """True where the last move was cancelled: the picture is ahead of the figures."""
        self._run = run = find_run(connection, run_id)
        _require_over(run)
        self._dataset = read_dataset(connection, run.corpus)
        stated = run.opening.scoring is not None  # else the texts tell what was measured
        places = () if stated else run.positions
        chosen = list(read_entries(connection, run.corpus, places).values())
        self._scorer = stored_scorer(run, self._dataset.target_language, chosen)
        self._card = read_card(connection, run.id)
        self.now = 0.0
        """Seconds of the run's own time, pauses left out."""
        self._read()
        self._count = 0
        """Entries finished by now."""
        self._restart()

    def _read(self) -> None:
        """Read when each entry began and was finished, in the order of finishing."""
        rows = moments(self._connection, self._run.id)
        finished = np.array([row.finished_at for row in rows], dtype=np.float64)
        took = np.array([row.seconds for row in rows], dtype=np.float64)
        line = _TimeLine(read_stretches(self._connection, self._run.id), finished)
        self.duration, self.pauses = line.duration, line.pauses
        ends, firsts = line.places(finished)
        order = np.argsort(ends, kind="stable")
        self._ends: Floats = ends[order]
        self._begins: Floats = np.maximum(ends - took, firsts)[order]
        try:
            ordered = [rows[index] for index in order.tolist()]
            tries = [(row.position, row.attempts, row.rate_limited) for row in ordered]
            self._rows = ReplayRows(ordered, self._scorer, own_tries(self._run, tries))
        except ValueError as error:
            raise UsageError(f"The run cannot be played: {error}.") from error
        self._size = max((*self._run.positions, *(row.position for row in rows)), default=-1) + 1
        """Places of the corpus that the run may have finished."""
        run_options = run_options_of(self._run)
        self._most = (
            run_options.concurrency
            if "concurrency" in run_options.model_fields_set
            else _most_at_once(self._begins, self._ends)
        )

    def _restart(self) -> None:
        self._count, self.now = 0, 0.0
        self._flight = InFlight(clock=lambda: self.now)
        self._ledger = Ledger(self._run.opening.budget_usd)
        self._board = ProgressBoard(
            self._run.run_id,
            len(self._run.positions),
            self._scorer,
            flight=self._flight,
            limiter=_Pace(self._most),
            ledger=self._ledger,
            control=Control(),
            floors=floor_scores(self._run.opening),
            clock=lambda: self.now,
        )

    @property
    def over(self) -> bool:
        """True at the end."""
        return self.now >= self.duration

    def begin(self) -> list[Event]:
        """Return the first event."""
        return [Started.of(self._run, self._dataset, 0)]

    def move_to(self, moment: float) -> Iterator[Event | Jump]:
        """Yield what happens until another moment of the run's own time, or how it is there.

        A jump comes at once, the figures when they are added up. Where it is cancelled on the way, the
        next move jumps.
        """
        moment = max(0.0, min(self.duration, moment))
        over = moment >= self.duration
        count = len(self._ends) if over else int(np.searchsorted(self._ends, moment, "right"))
        back = moment < self.now
        if back:
            self._restart()
        leap = back or self._torn or count - self._count > RECENT
        if leap:
            yield Jump(self._states(count), back or self._torn)
        yield from self._count_in(count, tell=not leap)
        self._torn = self._count < count
        if self._torn:
            return
        self.now = moment
        yield self._progress()
        if self.over:
            yield self._finished()

    def _count_in(self, count: int, *, tell: bool) -> Iterator[Event]:
        """Count in the entries up to a number of them; ``tell`` gives each as an event, too."""
        longest = RATE_SECONDS + 2 * TOGETHER_SECONDS
        old = self._ends[count - 1] - longest if count else 0.0
        while self._count < count and not self._cancelled():
            last = max(old, self._ends[self._count] + TOGETHER_SECONDS)
            after = int(np.searchsorted(self._ends, last, "right"))
            after = min(after, count, self._count + TOGETHER)
            self.now = float(self._ends[after - 1])
            tally = self._rows.tally(self._count, after)
            self._board.add_table(tally, self._rows.table(self._count, after))
            if tell:
                yield from self._told(self._rows.positions[self._count : after].tolist())
            self._count = after

    def _told(self, places: Sequence[int]) -> Iterator[Event]:
        results = {
            r.position: r
            for r in read_results(self._connection, self._run.id, places, to_show=True)
        }
        return (EntryScored(self._run.run_id, results[place]) for place in places)

    def _states(self, count: int) -> bytes:
        states = np.zeros(self._size, dtype=np.uint8)
        done, failed = self._rows.positions[:count], self._rows.failed[:count]
        states[done] = np.where(failed, EntryState.FAILED, EntryState.DONE)
        return states.tobytes()

    def _progress(self) -> Progress:
        rest = slice(self._count, None)
        asked = self._rows.positions[rest][self._begins[rest] <= self.now]
        ends = self._ends[rest][self._begins[rest] <= self.now]
        self._flight.in_flight = set(asked.tolist())
        self._flight.pending = {
            place: pending
            for place, end in zip(asked.tolist(), ends.tolist(), strict=True)
            if (pending := self._pending(place, end)) is not None
        }
        self._flight.rate_limited = int(self._rows.limited[self._count])
        self._flight.retries = int(self._rows.retries[self._count])
        self._ledger.spent = float(self._rows.spent[self._count])
        return self._board.progress(state=RunState.RUNNING, elapsed_seconds=self.now)

    def _pending(self, place: int, end: float) -> Pending | None:
        """Return which try an entry waits for, None while one is under way."""
        attempts = read_attempts(self._connection, self._run.id, place)
        moment = end - sum(map(_seconds, attempts))
        for number, attempt in enumerate(attempts):
            until = moment + attempt.waited_seconds
            if moment <= self.now < until:
                return Pending(number + 1, len(attempts), until, _reason(attempts[: number + 1]))
            moment += _seconds(attempt)
        return None

    def _finished(self) -> Finished:
        failed = int(self._rows.failed.sum())
        done, total = len(self._ends), len(self._run.positions)
        return Finished(
            self._run.run_id,
            self._run.state,
            done,
            failed,
            total,
            self.duration,
            card_hash=None if self._card is None else self._card.get("run_card_hash"),
        )


class _TimeLine:
    """The stretches of a run one after the other, without the times between them."""

    def __init__(self, stretches: Sequence[tuple[float, float]], finished: Floats) -> None:
        known = finished[finished > 0]
        if not stretches and len(known):
            stretches = [(float(known.min()), float(known.max()))]
        self._starts = np.array([start for start, _ in stretches])
        self._lasts = np.array([max(start, last) for start, last in stretches])
        lengths = self._lasts - self._starts
        self._before = np.concatenate([[0.0], np.cumsum(lengths)])
        self.duration = float(self._before[-1])
        if self.duration <= 0 or not len(known):
            raise UsageError(
                "Nothing tells when the entries of this run were finished; it cannot be played."
            )
        gaps = (self._starts[1:] - self._lasts[:-1]).tolist()
        self.pauses = [
            Pause(float(at), gap)
            for at, gap in zip(self._before[1:-1].tolist(), gaps, strict=True)
            if gap > 0
        ]

    def places(self, finished: Floats) -> tuple[Floats, Floats]:
        """Return where moments are on the line, and where the stretch of each begins.

        What was finished before the first stretch was there when the run began.
        """
        index = np.searchsorted(self._starts, finished, "right") - 1
        inside = np.maximum(index, 0)
        within = np.minimum(finished, self._lasts[inside]) - self._starts[inside]
        firsts: Floats = self._before[inside]
        return np.where(index < 0, 0.0, firsts + within), firsts


def _require_over(run: Run) -> None:
    if under_way(run):
        raise UsageError("The run is still under way. It can be played when it is over.")


def _most_at_once(begins: Floats, ends: Floats) -> int:
    """Count how many entries were under way at the same time."""
    under = np.searchsorted(np.sort(begins), ends, "left") - np.arange(len(ends))
    return max(1, int(under.max(initial=1)))


def _seconds(attempt: Attempt) -> float:
    return attempt.waited_seconds + (attempt.latency_seconds or 0.0)


def _reason(attempts: Sequence[Attempt]) -> str:
    """Return why a try had to wait: what became of the one before."""
    if len(attempts) < 2:
        return "its turn"
    before = attempts[-2]
    if before.status is not None and before.status != 200:
        return str(before.status)
    return "a failed try" if before.error_class is None else before.error_class.replace("_", " ")
