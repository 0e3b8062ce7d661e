"""A run is a stream of events (DESIGN §4). The screen, the plain lines, the JSON lines and a second
terminal that follows the store all listen to the same five kinds.

Which entries are under way and which wait for another try, for anyone who shows the run.

How events reach anyone who listens: pushed by a run in this process, or read from the store.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from corpora.model.corpus import Dataset
from harness.core.failures import RunState
from harness.method.method import Result, Setup
from harness.store.sqlite.openings import Floor, ScoringSoFar
from scoring.core.specification import TRANSLATIONS, KeptColumns, stated_columns

if TYPE_CHECKING:
    from harness.compare.pairs import LiveDifference
    from harness.store.runs import Run
    from scoring.card.claim import Claim
    from scoring.statistics.intervals import ValueSpread


@dataclass(frozen=True, slots=True)
class Started:
    """The run begins or continues."""

    run_id: str
    setup: Setup
    dataset: Dataset
    positions: Sequence[int]  # Places in the corpus of the entries to be translated, in order
    done: int  # Entries already stored when the run continues after a cut
    floors: tuple[Floor, ...]  # Empty where they are yet to be worked out
    missing: Mapping[str, str]  # Metric id → why it has no value in this run (M1)
    budget_usd: float | None
    started_at: float  # Unix time of the run's first start
    columns: KeptColumns = TRANSLATIONS  # What is kept beside each entry

    @classmethod
    def of(cls, run: Run, dataset: Dataset, done: int) -> Started:
        """Return the event with which a stored run, or the following of one, begins."""
        return cls(
            run_id=run.run_id,
            setup=run.setup,
            dataset=dataset,
            positions=run.positions,
            done=done,
            floors=run.opening.floors or (),
            missing=run.opening.missing,
            budget_usd=run.opening.budget_usd,
            started_at=run.created,
            columns=stated_columns(run.opening.scoring),
        )


@dataclass(frozen=True, slots=True)
class EntryScored:
    """An entry is finished, scored and durably stored."""

    run_id: str
    result: Result


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entry that waits for its next try."""

    position: int
    attempt: int  # The try that comes next, 1-based
    attempts_allowed: int
    seconds: float  # How long it still waits
    reason: str  # Such as `429` or `timeout`


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the run stands; each one replaces the one before."""

    run_id: str
    state: RunState
    elapsed_seconds: float
    """Wall-clock seconds of all stretches in which the run was under way."""
    total: int
    done: int
    """Entries stored, failed ones included."""
    failed: int
    in_flight: tuple[int, ...]
    """Positions whose call is under way."""
    waiting: tuple[Waiting, ...]
    concurrency: int
    """Calls that may be under way at once now."""
    most_concurrency: int
    rate_limited: int
    """429 replies so far."""
    retries: int
    values: Mapping[str, float | None] = field(default_factory=dict)
    """Corpus value of each metric over the entries stored, and ``composite``."""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    quality_tier: str = "unscored"
    claim: Claim | None = None
    """What may be claimed of the entries stored so far, None where nobody decided."""
    cost_usd: float | None = 0.0
    """None as soon as one entry's cost is unknown."""
    known_cost_usd: float = 0.0
    """The part of the cost that is known: the least that it can be."""
    expected_cost_usd: float | None = None
    spent_usd: float = 0.0
    """Money that this run paid, and what is reserved for calls under way is not in it."""
    budget_usd: float | None = None
    tokens: int | None = None
    """Sum over the entries that tell theirs, None where none does."""
    tokens_untold: int = 0
    """Entries stored whose tokens nobody told, such as those of calls that failed."""
    per_minute: float | None = None
    eta_seconds: float | None = None
    p50_seconds: float | None = None
    p95_seconds: float | None = None
    spread: ValueSpread | None = None
    """Of the entries' own values of the headline; None of translations, and before the first entry."""
    scoring: ScoringSoFar | None = None
    """What judges and other endpoints were asked about the outputs; None before they are."""
    doing: str | None = None
    """What is done after the last entry and before the seal, in words; None while entries come."""
    floors: tuple[Floor, ...] = ()
    """What worthless methods reach; on fewer entries than the run has while that is worked out. Empty before."""
    answered: Mapping[str, float | None] = field(default_factory=dict)
    """The same values without the entries that failed; empty where none did."""
    against: LiveDifference | None = None
    """The difference to an earlier run so far; None where the run is compared with none."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The run is over for now: complete with a sealed card, or stopped and resumable."""

    run_id: str
    state: RunState
    done: int
    failed: int
    total: int
    elapsed_seconds: float
    card_hash: str | None = None
    reason: str | None = None
    """Why a stopped run stopped, in words; None where a person asked for it."""
    budget_reached: bool = False
    """True where the budget let no further call out: the run continues under a higher one."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The run cannot continue; what was stored stays and the run is resumable."""

    run_id: str
    message: str


Event = Started | EntryScored | Progress | Finished | Failed


@dataclass(frozen=True, slots=True)
class Pending:
    """A wait that has begun."""

    attempt: int
    attempts_allowed: int
    until: float
    reason: str


@dataclass(slots=True)
class InFlight:
    """Written by the run's event loop, read from other threads by copying."""

    clock: Callable[[], float] = time.monotonic
    in_flight: set[int] = field(default_factory=set)
    """Positions of the entries being translated, those that wait included."""
    pending: dict[int, Pending] = field(default_factory=dict)
    rate_limited: int = 0
    """429 replies so far."""
    retries: int = 0
    """Tries after the first so far."""

    def under_way(self) -> tuple[int, ...]:
        """Return the positions whose call is under way now."""
        waiting = self.pending.copy()
        return tuple(sorted(place for place in self.in_flight.copy() if place not in waiting))

    def waiting(self) -> tuple[Waiting, ...]:
        """Return the entries that wait for their next try."""
        now, pending = self.clock(), sorted(self.pending.copy().items())
        return tuple(
            Waiting(place, w.attempt, w.attempts_allowed, max(0.0, w.until - now), w.reason) for place, w in pending
        )


class EventSource(Protocol):
    """Gives the events since the last look; cheap enough to be asked 15 times a second."""

    def drain(self) -> list[Event]:
        """Return what is new, oldest first."""
        ...


class EventQueue:
    """Takes events from the run's threads and gives them to one listener on its own clock."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()

    def __call__(self, event: Event) -> None:
        """Append an event; may be called from any thread."""
        self._events.append(event)

    def drain(self) -> list[Event]:
        """Return what is new, oldest first."""
        events: list[Event] = []
        while self._events:
            events.append(self._events.popleft())
        return events


# ---- What a person may ask of a run under way: pause, continue, drain, stop, more or fewer calls
# at once.


class Control:
    """Carries wishes to a run from any thread; the run reads them between entries.

    The order of severity is running < paused < draining < stopped: a drain cannot be taken back.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._state = RunState.RUNNING
        self._most_concurrency: int | None = None
        self._changed: Callable[[], object] | None = None
        self.translating = False
        """True while the method has entries under way: what does not come to an end then is the method's."""
        self.near_end: Callable[[], None] = lambda: None
        """Called for each entry that is begun once no more wait than may be under way at once: another run may get ready."""
        self.calls_over: Callable[[], None] = lambda: None
        """Called once no call for an entry is under way any more, however that came."""
        self.catch_up: Callable[[float], object] = lambda _seconds: None
        """Waits, no longer than that many seconds, until all that came back by now is stored."""

    @property
    def state(self) -> RunState:
        """Return the requested state: RUNNING, PAUSED, DRAINING or STOPPED."""
        return self._state

    @property
    def most_concurrency(self) -> int | None:
        """The ceiling of calls at once that a person chose, None where nobody chose one."""
        return self._most_concurrency

    def pause(self) -> None:
        """Start no further entries until ``go_on``."""
        self._move({RunState.RUNNING}, RunState.PAUSED)

    def go_on(self) -> None:
        """End a pause."""
        self._move({RunState.PAUSED}, RunState.RUNNING)

    def drain(self) -> None:
        """Finish and store what is under way, start nothing more."""
        self._move({RunState.RUNNING, RunState.PAUSED}, RunState.DRAINING)

    def stop(self) -> None:
        """Break off what is under way; what is stored stays."""
        self._move({RunState.RUNNING, RunState.PAUSED, RunState.DRAINING}, RunState.STOPPED)

    def limit(self, calls: int) -> None:
        """Limit how many calls may be under way at once, from 1 up."""
        with self._lock:
            self._most_concurrency = max(1, calls)
            self._tell()

    def listen(self, changed: Callable[[], object] | None) -> None:
        """Call ``changed`` from the asking thread whenever a wish changes; None ends it.

        Once this has returned, what listened before is not called any more.
        """
        with self._lock:
            self._changed = changed

    def _move(self, origins: set[RunState], target: RunState) -> None:
        with self._lock:
            if self._state in origins:
                self._state = target
                self._tell()

    def _tell(self) -> None:
        if self._changed is not None:
            self._changed()
