"""What a run scores beside its calls: outputs as they come, and its floors, exact in the store before it is sealed.

Where that pays a process of their own does it while calls go out, so that neither many calls nor the end wait for it.
Where nobody is called several processes share it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event as Flag
from threading import Thread
from typing import Any, TypeVar

import msgpack

from corpora.files.packed_list import PlaceMap, in_blocks
from corpora.model.entry import secrets_among
from harness.core.failures import AskingStopped, RunState
from harness.method.method import Result
from harness.run.beginning import begun_with, known_opening
from harness.run.events import Control
from harness.run.progress import ProgressBoard
from harness.setup.scoring_tools import ScoringTools, floor_fields, floor_work, scores_of
from harness.store.runs import Run, read_run
from harness.store.sqlite.database import open_store, store_path
from harness.store.sqlite.openings import set_opening
from harness.store.sqlite.trouble import transaction
from scoring.card.claim import FloorScores
from scoring.core.metric import EntryStatistics
from scoring.core.setup import Translation
from scoring.core.specification import SortValues

LEAST_APART = 5_000
"""Entries from which another process pays for floors and for outputs that are there at once, and for each more so many more."""
LEAST_WHILE_CALLING = 1_000
"""Entries yet to be asked for from which it pays where calls go out: it scores their outputs too."""
SHOWN_SECONDS = 0.5  # Time from one look at the floors so far to the next
NEWS_SECONDS = 0.01  # How long a step waits for news from the other process
QUIET_STEPS = 64  # Steps after which somebody who waits for the end is told how far the work is
LONG_STEPS = 2  # The first steps sort all references, some 20 s for a million: no output waits for them
LEAVING_SECONDS = 10.0  # How long the other process may take to store what its annotators found

LOST = "scoring here, since the process for it ended"
LOST_SECONDS = 10.0  # How long that is shown
GROUP = 64
"""Outputs that one process of several scores together."""
AHEAD = 2  # Groups that a process may have before it answers: one under way, one for when it is done

_FLOORS, _ROWS = "floors", "rows"
Group = TypeVar("Group")
Answer = TypeVar("Answer")

ScoredRow = tuple[bytes, SortValues]
"""Packed statistics and kept values of an output."""


class RunScorer:
    """Scores one run, in the thread that writes its rows and then in that which ends it."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        run: Run,
        tools: ScoringTools,
        board: ProgressBoard,
        *,
        waiting: int,
        calling: bool,
        workers: int | None = None,
    ) -> None:
        """``waiting``: entries that have no output yet; ``calling``: whether an endpoint is asked for them."""
        self._connection, self._path = connection, store_path(connection)
        self._run = run
        self._tools = tools
        self._board = board
        self._stored = run.opening.floors is not None
        """Whether the floors are in the store."""
        self._known = self._stored or self._find_known()
        self._looked = 0.0
        self._apart = calling and beside(tools, workers, waiting, LEAST_WHILE_CALLING) > 0
        """Whether another process is to score outputs that do not come from the cache, which are there at once."""
        self._lost = 0.0
        """When the other process ended before its work did, by ``time.monotonic``; 0 where it did not."""
        self._process: ScoringProcess | None = None
        more = 0 if self._apart else beside(tools, workers, waiting if self._known else len(run.positions), LEAST_APART)
        self._pool = ScoringPool(self._tell_lost)
        self._work = floor_work(tools, self._pool.share)
        if calling and not self._known and (self._apart or more):
            self._start_process(floors=True)
        for _ in range(0 if calling else more):
            self._pool.start(self._path, run)

    def score(
        self, results: Sequence[Result], translations: Sequence[Translation]
    ) -> tuple[Sequence[ScoredRow], Sequence[EntryStatistics]]:
        """Score outputs: here, or in the other process once it is ready."""
        if self._lost and time.monotonic() - self._lost >= LOST_SECONDS:
            self._board.doing = None
        if self._apart and self._process is None and not all(result.cached for result in results):
            self._start_process(floors=False)
        size = len(results) if self._apart else GROUP
        rows, statistics = self._pool.scored_rows(self._tools, translations, [r.position for r in results], size)
        if not (self._known or self._process):
            places = (bisect_left(self._run.positions, result.position) for result in results)
            self._work.take(places, zip(translations, statistics, strict=True))
        return rows, statistics

    def pause(self, until: float) -> None:
        """Wait until a time of ``time.perf_counter``, at the floors while they are open."""
        if self._process is not None:
            self._take_news(self._process, 0)
        while self._process is None and not self._known and time.perf_counter() < until:
            self.step()
        time.sleep(max(0.0, until - time.perf_counter()))

    def step(self) -> bool:
        """Work at the floors for some milliseconds and show them so far. Return whether more is left."""
        if self._known:
            return False
        if self._process is not None:
            return self._take_news(self._process, NEWS_SECONDS)
        self._known = not self._work.step()
        now = time.monotonic()
        if self._known or now - self._looked >= SHOWN_SECONDS:
            self._looked = now
            self._show(self._work.scores())
        return not self._known

    def settle(self, control: Control, tell: Callable[[str], None]) -> None:
        """Finish and store the floors; AskingStopped where a person stops the run meanwhile.

        Another run on the same entries may have finished them first.
        """
        if not (self._known or self._find_known()):
            steps = 0
            while self.step():
                if control.state is RunState.STOPPED:
                    raise AskingStopped
                steps += 1
                if steps % QUIET_STEPS == 0:
                    tell(self._how_far())
        self._pool.leave()
        self._board.floors_open = False
        if self._stored:
            return
        fields = floor_fields(self._board.floors or {})
        with transaction(self._connection):
            opening = read_run(self._connection, self._run.id).opening
            set_opening(self._connection, self._run.id, opening.changed(**fields))
        self._stored = True

    def close(self) -> None:
        """End the other processes; what they found is stored or no longer wanted."""
        self._pool.close()

    def _start_process(self, *, floors: bool) -> None:
        self._process = self._pool.start(self._path, self._run, floors=floors)
        self._apart = self._apart and self._process is not None

    def _how_far(self) -> str:
        done = self._work.done if self._process is None else self._process.news.done
        here = " here, since the process for it ended" if self._lost else ""
        return f"working out the floors{here}: {done:,} of {self._work.total:,}"

    def _take_news(self, process: ScoringProcess, seconds: float) -> bool:
        """Show what the other process found of the floors. Return whether more is left of them."""
        ended = process.wait(seconds)
        news = process.news
        if not self._known and (news.complete or news.scores):
            self._known = news.complete
            self._show(news.scores)
        if ended:
            self._pool.drop_ended()
        return not self._known

    def _tell_lost(self) -> None:
        self._process, self._apart, self._lost = None, False, time.monotonic()
        self._board.doing = LOST

    def _show(self, scores: dict[str, FloorScores]) -> None:
        self._board.floors = scores if scores or self._known else None

    def _find_known(self) -> bool:
        """Adopt the floors of another run on the same entries. Return whether there is one."""
        known = known_opening(self._connection, self._run.corpus, self._run.positions, self._tools)
        if known is None or known.floors is None:
            return False
        self._board.floors = scores_of(known.floors)
        return True


def scored_rows(
    tools: ScoringTools, translations: Sequence[Translation]
) -> tuple[list[ScoredRow], list[EntryStatistics]]:
    """Score outputs with the quick annotators."""
    scorer = tools.scorer
    statistics = scorer.statistics(tools.annotated(translations))
    values = scorer.entries_values(statistics)
    kept = (scorer.columns.kept(value.values, value.composite) for value in values)
    return list(zip(map(scorer.pack, statistics), kept, strict=True)), statistics


def beside(tools: ScoringTools, workers: int | None, entries: int, least: int) -> int:
    """Return how many processes are to score beside this one; ``workers``: how many in all, None: as many as pay.

    None for secret entries, whose texts stay in this process, for annotators that are asked of all outputs together, and
    in a sweep, whose processes keep all cores busy.
    """
    if tools.slow or multiprocessing.parent_process() is not None:
        return 0
    more = min((os.cpu_count() or 1) - 1, entries // least) if workers is None else workers - 1
    return 0 if more and any(secrets_among(tools.resources.entries)) else more


class ScoringPool:
    """Some scoring processes, or none, that share work with this one."""

    def __init__(self, lost: Callable[[], None] = lambda: None) -> None:
        """``lost`` is called where one ends before its work does, which is done here then."""
        self._processes: list[ScoringProcess] = []
        self._lost = lost

    def start(self, store: Path, run: Run, *, floors: bool = False) -> ScoringProcess | None:
        """Start one that scores a run as ``run`` says; None where no process can be started."""
        with suppress(OSError):
            self._processes.append(ScoringProcess(store, run, floors=floors))
            return self._processes[-1]
        return None

    def share(
        self, groups: Iterable[Group], here: Callable[[Group], Answer], kind: str = _FLOORS
    ) -> Iterator[tuple[Group, Answer]]:
        """Yield each group with its answer, in order: by a process that is free, else by ``here``."""
        pending: deque[tuple[Group, Future[Any]]] = deque()

        def answered() -> tuple[Group, Answer]:
            group, future = pending.popleft()
            answer = future.result()
            self.drop_ended()
            return group, here(group) if answer is None else answer

        for group in groups:
            process = next((process for process in self._processes if process.free), None)
            if process is None:
                future: Future[Any] = Future()
                future.set_result(here(group))
            else:
                future = process.send(kind, group)
            pending.append((group, future))
            while pending and pending[0][1].done():
                yield answered()
        while pending:
            yield answered()

    def scored_rows(
        self, tools: ScoringTools, translations: Sequence[Translation], places: Sequence[int], size: int = GROUP
    ) -> tuple[Sequence[ScoredRow], Sequence[EntryStatistics]]:
        """Score outputs of entries at these places with the quick annotators, ``size`` together."""
        if not any(process.ready for process in self._processes):
            return scored_rows(tools, translations)
        given = zip(places, translations, strict=True)
        groups = in_blocks([(place, one.output, one.raw) for place, one in given], size)
        by_place = dict(zip(places, translations, strict=True))
        here = lambda group: scored_rows(tools, [by_place[place] for place, *_ in group])[0]  # noqa: E731
        shared = self.share(groups, here, _ROWS)
        rows = [row for _, part in shared for row in part]
        return rows, list(tools.scorer.unpack_many([packed for packed, _ in rows]))

    def leave(self) -> None:
        """Allow them to store what their annotators found, and to end."""
        for process in self._processes:
            process.leave()

    def close(self) -> None:
        """End them, once they stored what their annotators found."""
        self.leave()
        for process in self._processes:
            process.close()

    def drop_ended(self) -> None:
        """Close those that have ended."""
        for process in self._processes[:]:
            if process.wait(0):
                self._processes.remove(process)
                process.close()
                self._lost()


ALONE = ScoringPool()  # All is done here


# ---- The other process reads the run from the store and outputs from its parent, and ends with it. Both write
# messages of msgpack, in which a fraction is read as the same one.

CODE = "import sys; sys.path[:] = sys.argv[4:]; from harness.run.scoring import work_alone; work_alone(*sys.argv[1:4])"


@dataclass(frozen=True, slots=True)
class FloorNews:
    """How far the other process is."""

    done: int
    scores: dict[str, FloorScores]
    complete: bool

    def message(self) -> tuple[object, ...]:
        """Return it as numbers and names."""
        return self.done, [(name, *astuple(floor)) for name, floor in self.scores.items()], self.complete

    @classmethod
    def of(cls, done: int, rows: Sequence[Sequence[Any]], complete: bool) -> FloorNews:
        """Read a message."""
        return cls(done, {name: FloorScores(a, b, tuple(c), d, e) for name, a, b, c, d, e in rows}, complete)


class ScoringProcess:
    """Another process at the floors of a stored run, and at groups that it is given."""

    def __init__(self, store: Path, run: Run, *, floors: bool) -> None:
        """Start it for a run that is scored as ``run`` says; OSError where no process can be started."""
        command = [sys.executable, "-P", "-c", CODE, str(store), str(run.id), _FLOORS * floors, *sys.path]
        self._process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101, PT018  both are pipes
        self._to_it, self._from_it = self._process.stdin, self._process.stdout
        self.news = FloorNews(0, {}, complete=False)
        self.ready = False
        """Whether it takes outputs by now."""
        self._open: deque[Future[Any]] = deque()
        """Of the groups that are not answered."""
        self._ended = Flag()
        self._write(run.plan.get("scoring", {}), run.opening.scoring, run.opening.packed)
        Thread(target=self._read, name="scoring", daemon=True).start()

    @property
    def free(self) -> bool:
        """Return whether another group may be sent."""
        return self.ready and len(self._open) < AHEAD

    def send(self, kind: str, group: object) -> Future[Any]:
        """Send a group to be scored; the answer is None where the process ended meanwhile."""
        future: Future[Any] = Future()
        self._open.append(future)
        self._write(kind, group)
        if self._ended.is_set():
            self._give_up()
        return future

    def wait(self, seconds: float) -> bool:
        """Wait so long for its end at most. Return whether it has ended."""
        return self._ended.wait(seconds) if seconds else self._ended.is_set()

    def leave(self) -> None:
        """Allow it to store what its annotators found, and to end."""
        with suppress(OSError):
            self._to_it.close()

    def close(self) -> None:
        """End it, once it stored what its annotators found."""
        self.leave()
        if not (self.ready and self.wait(LEAVING_SECONDS)):
            self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        with self._from_it, suppress(ValueError, TypeError, OSError):
            for kind, *content in _messages(self._from_it.fileno()):
                if kind == _FLOORS:
                    self.news = FloorNews.of(*content)
                    self.ready = True
                else:
                    self._open.popleft().set_result(content[0])
        self._ended.set()
        self._give_up()

    def _write(self, *message: object) -> None:
        packed = msgpack.packb(message)
        with suppress(OSError, ValueError):  # it ended, which its reader sees
            self._to_it.write(packed)
            self._to_it.flush()

    def _give_up(self) -> None:
        with suppress(IndexError):
            while True:
                self._open.popleft().set_result(None)


def _messages(descriptor: int) -> Iterator[Any]:
    """Yield messages as they come, until the other side closes."""
    unpacker = msgpack.Unpacker(use_list=False, max_buffer_size=0)
    while part := os.read(descriptor, 65536):
        unpacker.feed(part)
        yield from unpacker


def work_alone(store: str, run: str, what: str) -> None:
    """Score what comes, and in between work the floors out and write how far they are; ends where nobody writes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    groups: SimpleQueue[Any] = SimpleQueue()

    def read() -> None:
        for group in _messages(0):
            groups.put(group)
        groups.put(None)

    Thread(target=read, name="groups", daemon=True).start()
    with os.fdopen(os.dup(1), "wb") as answers, closing(open_store(Path(store))) as connection:
        os.dup2(2, 1)  # what a plug-in prints is no answer

        def answer(kind: str, *content: object) -> None:
            answers.write(msgpack.packb((kind, *content)))
            answers.flush()

        scoring, setup, columns = groups.get()
        stored = read_run(connection, int(run))
        opening = stored.opening.changed(scoring=setup, packed=columns)
        tools = begun_with(connection, stored._replace(plan={**stored.plan, "scoring": scoring}, opening=opening))
        entries = PlaceMap(stored.positions, tools.resources.entries)
        work = floor_work(tools)
        last, more = time.monotonic(), what == _FLOORS
        for _ in range(LONG_STEPS * more):
            work.step()
        answer(_FLOORS, *FloorNews(work.done, {}, complete=False).message())  # it is ready
        while True:
            try:
                group = groups.get(block=not more)
            except Empty:
                more = work.step()
                now = time.monotonic()
                if not more or now - last >= SHOWN_SECONDS:
                    last = now
                    answer(_FLOORS, *FloorNews(work.done, work.scores(), complete=not more).message())
                continue
            if group is None:
                break
            kind, content = group
            if kind == _ROWS:
                given = [Translation(entries[place], text, raw=raw) for place, text, raw in content]
                answer(kind, scored_rows(tools, given)[0])
            else:
                answer("sums", work.sums(content))
        tools.close()
