"""What a run looks like now: the events folded into one picture, without any screen (DESIGN §4).

Screens ask this picture a few times a second instead of hearing each event.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise

from harness.core.failures import RunState
from harness.method.method import Result
from harness.run.events import EntryScored, Event, Failed, Finished, Progress, Started, Waiting
from harness.store.sqlite.openings import Floor
from scoring.card.claim import Claim

RECENT = 1_000  # results kept as they arrived; older ones are read from the store again
CHANGE_ENTRIES = 50  # entries over which a change of a value is shown
SPARK_SECONDS = 60  # how far back the recent rate is shown


class EntryState(IntEnum):
    """Where one entry of a run stands."""

    QUEUED = 0
    ASKED = 1  # its call is under way
    RETRYING = 2  # it waits for its next try
    DONE = 3
    FAILED = 4


class LiveRun:
    """The picture of one run; ``fold`` keeps it true."""

    def __init__(self) -> None:
        self.started: Started | None = None
        self.progress: Progress | None = None
        self.finished: Finished | None = None
        self.failed: Failed | None = None
        self.newest: int | None = None  # place of the entry that was finished last
        self.recent: OrderedDict[int, Result] = OrderedDict()
        self.done = 0  # entries stored, failed ones included
        self.errors = 0
        self.sealed_claim: Claim | None = None  # of the sealed card, None without one
        self.as_stated: Mapping[str, Mapping[str, float]] = {}
        """Values on the card of metrics that cannot be computed here, by the reason and by metric id."""
        self.looks: Sequence[str] = ()  # what to look at first, of the sealed card
        self.references: float | None = None  # share of the references that the analyser accepts
        self._stored = bytearray()
        self._asked: frozenset[int] = frozenset()
        self._waiting: Mapping[int, Waiting] = {}
        self.trouble: str | None = None
        """Why most calls fail, such as `429` or `timeout`, from their third try until one succeeds; else None."""
        self._values: deque[tuple[int, Mapping[str, float | None]]] = deque()  # entries done and values then
        self._speed: deque[tuple[float, int]] = deque(maxlen=SPARK_SECONDS * 4)

    def fold(self, events: Iterable[Event]) -> bool:
        """Process what happened; return True if there was anything."""
        any_event = False
        for event in events:
            any_event = True
            match event:
                case EntryScored(result=result):
                    self._store(result)
                    self.trouble = self.trouble if result.failed or result.cached else None
                case Progress():
                    self.progress = event
                    self._asked = frozenset(event.in_flight)
                    self._waiting = {waiting.position: waiting for waiting in event.waiting}
                    again = [waiting for waiting in event.waiting if waiting.attempt > 2]
                    if again and len(event.waiting) >= len(event.in_flight):
                        self.trouble = Counter(waiting.reason for waiting in again).most_common(1)[0][0]
                    self._speed.append((event.elapsed_seconds, event.done))
                    self._remember_values(event)
                case Started():
                    self.started = event
                    self.finished = self.failed = None
                    if not self._stored:
                        self._stored = bytearray(max(event.positions, default=-1) + 1)
                case Finished():
                    self.finished = event
                    self._nothing_under_way()
                case Failed():
                    self.failed = event
                    self._nothing_under_way()
        return any_event

    def _nothing_under_way(self) -> None:
        """Forget calls that were under way: nobody waits for them any more, as where a process was killed."""
        self._asked, self._waiting, self.trouble = frozenset(), {}, None

    def _store(self, result: Result) -> None:
        if result.position >= len(self._stored):
            self._stored.extend(bytes(result.position + 1 - len(self._stored)))
        before = self._stored[result.position]
        after = EntryState.FAILED if result.failed else EntryState.DONE
        self._stored[result.position] = after
        self.done += not before
        self.errors += (after == EntryState.FAILED) - (before == EntryState.FAILED)
        self.newest = result.position
        self.recent[result.position] = result
        self.recent.move_to_end(result.position)
        if len(self.recent) > RECENT:
            self.recent.popitem(last=False)

    def _remember_values(self, progress: Progress) -> None:
        """Store the values of the last entries, and the newest ones before them."""
        if not self._values or self._values[-1][0] < progress.done:
            self._values.append((progress.done, progress.values))
        while len(self._values) > 1 and self._values[1][0] <= progress.done - CHANGE_ENTRIES:
            self._values.popleft()

    def change(self, metric: str) -> float | None:
        """Return how a value changed over the last CHANGE_ENTRIES entries; None before there are twice as many."""
        if not self._values or self.progress is None or self.over:
            return None
        done, values = self._values[0]
        before, now = values.get(metric), self.progress.values.get(metric)
        long_enough = CHANGE_ENTRIES <= done <= self.progress.done - CHANGE_ENTRIES
        return now - before if long_enough and before is not None and now is not None else None

    def remember(self, stored: bytes) -> None:
        """Store each entry's state in the store (DONE, FAILED or 0, by place) at once; what was heard meanwhile stays."""
        heard = self._stored
        self._stored = bytearray(stored.ljust(len(heard), b"\0"))
        if any(heard):
            for position, state in enumerate(heard):
                if state:
                    self._stored[position] = state
        self.errors = self._stored.count(EntryState.FAILED)
        self.done = len(self._stored) - self._stored.count(0)

    # What screens ask

    def state(self, position: int) -> EntryState:
        """Return where an entry stands; what is stored counts before what was said about it earlier."""
        stored = self._stored[position] if position < len(self._stored) else 0
        if stored:
            return EntryState(stored)
        if position in self._waiting:
            return EntryState.RETRYING
        return EntryState.ASKED if position in self._asked else EntryState.QUEUED

    def waiting(self, position: int) -> Waiting | None:
        """Return the next try that an entry waits for."""
        return self._waiting.get(position)

    @property
    def values(self) -> Mapping[str, float | None]:
        """Value of each metric over the entries stored; empty before there are any."""
        return self.progress.values if self.progress else {}

    @property
    def total(self) -> int:
        """Entries that the run is to translate."""
        return len(self.started.positions) if self.started else 0

    @property
    def asked(self) -> int:
        """Entries whose call is under way."""
        return sum(self.state(position) is EntryState.ASKED for position in self._asked)

    @property
    def retrying(self) -> int:
        """Entries that wait for their next try."""
        return sum(self.state(position) is EntryState.RETRYING for position in self._waiting)

    @property
    def next_try(self) -> float | None:
        """Seconds until the next try, where every call that is to be made waits for one."""
        if not self._waiting or self.asked:
            return None
        return min(waiting.seconds for waiting in self._waiting.values())

    @property
    def queued(self) -> int:
        """Entries whose turn has not come."""
        return max(0, self.total - self.done - self.asked - self.retrying)

    @property
    def state_word(self) -> str:
        """Return the run's state in one word."""
        if self.failed is not None:
            return "failed"
        if self.finished is not None:
            return self.finished.state.value
        return self.progress.state.value if self.progress else "starting"

    @property
    def over(self) -> bool:
        """True where nothing more will happen for now."""
        return self.finished is not None or self.failed is not None

    @property
    def draining(self) -> bool:
        """True while what is under way is finished, and nothing more is begun."""
        state = self.progress.state if self.progress else None
        return state is RunState.DRAINING and not self.over

    @property
    def complete(self) -> bool:
        """True where the run has a sealed card."""
        return self.finished is not None and self.finished.state is RunState.COMPLETE

    @property
    def floors(self) -> tuple[Floor, ...]:
        """Return the floors that are known by now (T2)."""
        now = self.progress.floors if self.progress else ()
        return now or (self.started.floors if self.started else ())

    @property
    def best_floor(self) -> Floor | None:
        """The worthless method with the highest composite (T2)."""
        scored = [floor for floor in self.floors if floor.composite is not None]
        return max(scored, key=lambda floor: floor.composite or 0.0, default=None)

    @property
    def best_chrf_floor(self) -> float | None:
        """The highest chrF++ of a worthless method, which that of the run has to clear (T2)."""
        return max((floor.chrf for floor in self.floors if floor.chrf is not None), default=None)

    @property
    def claim(self) -> Claim | None:
        """Return what may be claimed of the run, None while nothing was decided."""
        if self.sealed_claim is not None:
            return self.sealed_claim
        return self.progress.claim if self.progress else None

    def rates(self, bars: int) -> Sequence[float]:
        """Return entries per second over the last minute in up to this many slices, oldest first."""
        if len(self._speed) < 2:
            return ()
        end, first = self._speed[-1][0], self._speed[0][0]
        begin = max(first, end - SPARK_SECONDS)
        if end <= begin:
            return ()
        step = max((end - begin) / bars, 0.25)
        edges = [begin + step * number for number in range(round((end - begin) / step) + 1)]
        counts = [self._done_at(edge) for edge in edges]
        return [(later - earlier) / step for earlier, later in pairwise(counts)]

    def _done_at(self, moment: float) -> float:
        """Return the entries done at a moment, between two looks as if they came evenly."""
        before = self._speed[0]
        for after in self._speed:
            if after[0] >= moment:
                width = after[0] - before[0]
                part = (moment - before[0]) / width if width else 1.0
                return before[1] + (after[1] - before[1]) * max(0.0, min(1.0, part))
            before = after
        return before[1]
