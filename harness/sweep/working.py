"""One worker of a sweep: takes the next run that nobody holds and that is not complete, until there is none.

Every worker goes through the same list in the same order. Anyone who holds the lock of a cell is at it, so a run whose
worker was killed is free again at once, and the next that comes continues with it.
"""

from __future__ import annotations

import gc
import uuid
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

from corpora.files.problems import CorpusError
from harness import api
from harness.annotators.fst import FstAnnotator
from harness.api import Ready
from harness.core.canonical import canonical_sha256
from harness.core.failures import HarnessError, RunState, UsageError
from harness.endpoint.client import Connections, OverlappingConnections
from harness.endpoint.endpoints import find_key, no_key
from harness.endpoint.limiter import Limiter
from harness.run.call_runner import limiter_for
from harness.run.events import Control, Finished
from harness.run.recorder import MADE_HERE, RemoteCalls
from harness.run.running import execute_run
from harness.setup.plan import Resumption
from harness.setup.scoring_tools import ScoringTools
from harness.store.live_runs import alone, forget_lock, is_held, lock_folder
from harness.store.results import stored_positions
from harness.store.runs import find_by_id
from harness.store.sqlite.database import open_store, opened
from harness.store.sqlite.trouble import STORE_ERRORS
from harness.store.sweeps import (
    NewCell,
    StoredCell,
    StoredSweep,
    at_work,
    keep_sweep,
    read_cells,
    read_sweep,
    set_run,
    set_trouble,
    share_money,
    sweep_of_key,
    worker_lock,
)
from harness.sweep.expansion import SweepCell, expand, find_same, open_plan_corpus
from harness.sweep.plan import PlanFile, SweepPlan
from harness.sweep.racing import SweepRace, check_race
from harness.vault.request import VaultRequest
from scoring.statistics.intervals import SEED

LOOK_SECONDS = 0.3
"""How often a worker looks whether it is to end, and whether a run that another held is free."""

MOST_LOST = 5
"""Times that the calls of a run are given to another worker of a cluster after one was lost."""

MOST_TROUBLES = 3
"""Runs one after the other that may stop by themselves before a worker begins no more."""

AT_ONCE = 3
"""Runs that a worker is at: one that gets ready, one whose entries are being asked for, and one that comes to its end."""

DRAIN, STOP = 1, 2  # What a worker may be told: finish the entries under way, or break them off


def begin_sweep(store: Path, found: PlanFile, cells: tuple[SweepCell, ...]) -> StoredSweep:
    """Store a plan with its cells, or take up the sweep that has the same.

    While workers are at it, their number stays: each has its share of the connections by it. A race stays one.
    UsageError where the runs cannot race.
    """
    named = [
        NewCell(cell.name, cell.labels, cell.replicate, cell.setup_hash, len(cell.request.positions)) for cell in cells
    ]
    key = sweep_key(cells)
    with opened(store) as connection:
        known = sweep_of_key(connection, key)
        busy = known is not None and at_work(store, known)
        plan = found.plan
        if known is not None and (before := plan_of_sweep(known).plan).race:
            plan = plan.model_copy(update={"race": True, "race_seed": before.race_seed})
        elif plan.race and plan.race_seed is None:
            plan = plan.model_copy(update={"race_seed": SEED})
        if plan.race:
            check_race(found, cells)
        return keep_sweep(
            connection,
            key=key,
            name=plan.name,
            plan=plan.stored,
            file=found.file,
            budget_usd=plan.budget_usd,
            workers=known.workers if known is not None and busy else plan.workers,
            cells=named,
        )


def sweep_key(cells: tuple[SweepCell, ...]) -> str:
    """Return what a sweep is known by: what its runs are, and not how many workers or how much money it has."""
    files = {path: sha256 for cell in cells for path, sha256 in cell.files.items()}
    return canonical_sha256([*(cell.key for cell in cells), *([files] if files else [])])


def plan_of_sweep(sweep: StoredSweep, budget_usd: float | None = None) -> PlanFile:
    """Return the plan that a sweep of the store was begun with, with another budget where one is given."""
    plan = SweepPlan.model_validate_json(sweep.plan)
    if budget_usd is not None:
        plan = plan.model_copy(update={"budget_usd": budget_usd})
    return PlanFile(plan, sweep.file)


def cells_again(sweep: StoredSweep, vault: VaultRequest | None = None, budget_usd: float | None = None) -> tuple[SweepCell, ...]:  # fmt: skip
    """Expand the plan of a stored sweep again; UsageError where it is not the same runs any more. As ``open_plan_corpus`` else."""
    plan_file = plan_of_sweep(sweep, budget_usd)
    cells = expand(plan_file, open_plan_corpus(plan_file, vault))
    if sweep_key(cells) != sweep.key:
        raise UsageError(
            f"The runs of sweep {sweep.name!r} would be others than before: its corpus, a prompt or another file "
            f"that {sweep.file} names has changed, or Rosetta is another version. Restore it, or begin a new "
            f"sweep: rosetta sweep {sweep.file}"
        )
    return cells


def work(
    store: Path, number: int, told: Callable[[], int], carrier: RemoteCalls | None = None, cells: tuple[SweepCell, ...] = ()
) -> None:  # fmt: skip
    """Work at a sweep until nothing is left, or until it is to end; blocks.

    ``told`` gives 0, DRAIN or STOP. ``carrier`` has the calls made elsewhere. ``cells``: where this process opened them
    out of a vault. Raises HarnessError, CorpusError where the plan cannot be carried out.
    """
    with opened(store) as connection:
        sweep = read_sweep(connection, number)
    cells = cells or cells_again(sweep)
    with _place(store, sweep) as free:
        if free:
            gc.freeze()
            with closing(OverlappingConnections()) as connections:
                _Worker(store, sweep, cells, told, connections, carrier).work()


@contextmanager
def _place(store: Path, sweep: StoredSweep) -> Iterator[bool]:
    """Claim one of the places of a sweep's workers; yield whether one was free.

    Two commands at one sweep share its places, so that its connections are never more than the plan says.
    """
    with ExitStack() as stack:
        for place in range(sweep.workers):
            with suppress(UsageError):
                stack.enter_context(alone(store, worker_lock(sweep, place)))
                yield True
                return
        yield False


class _Worker:
    """Works at the cells of one sweep; it gets the next run ready before the last calls of one go out, so that they follow each other."""

    def __init__(
        self,
        store: Path,
        sweep: StoredSweep,
        cells: tuple[SweepCell, ...],
        told: Callable[[], int],
        connections: Connections,
        carrier: RemoteCalls | None,
    ) -> None:
        self._store = store
        self._sweep = sweep
        self._cells = cells
        self._told = told
        self._connections = connections
        self._carrier = carrier
        self._lost: Counter[int] = Counter()
        """How often anyone who carried the run of a cell was lost, by its place."""
        self._limiters: dict[str, Limiter] = {}
        """By address: what is known of an endpoint holds for the next run too."""
        self._tools: dict[Hashable, ScoringTools] = {}
        """Of runs that are scored alike, by what decides it; they are found once."""
        self._done: set[int] = set()
        """Places of the cells that need no look any more."""
        plan = plan_of_sweep(sweep).plan
        seed = plan.race_seed if plan.race else None
        self._race = None if seed is None else SweepRace(cells, seed)
        self._turns: dict[int, tuple[int, ...]] = {}
        """In a race, by place of a cell: places of the entries that may be asked for by now, in order."""
        self._moved = False
        """Whether the last round brought a run further, so that others may continue."""
        self._troubles = 0
        self._ending = False
        self._controls: set[Control] = set()
        """Of the runs under way."""
        self._over = Event()

    def work(self) -> None:
        """Run through the cells again and again, until each is done, in trouble, or another ends the sweep."""
        ear = Thread(target=self._listen, name="sweep", daemon=True)
        ear.start()
        try:
            while self._round() and not self._ending:
                if not self._moved:
                    self._over.wait(LOOK_SECONDS)
        finally:
            self._over.set()
            ear.join()

    def _listen(self) -> None:
        """Pass on the requests to this worker, from its own program or by `rosetta sweep stop`."""
        with suppress(HarnessError, *STORE_ERRORS), closing(open_store(self._store)) as connection:
            while not self._over.wait(LOOK_SECONDS):
                request = self._told()
                with suppress(*STORE_ERRORS):
                    request = request or int(read_sweep(connection, self._sweep.number).stopping)
                if request:
                    self._end_all(request)

    def _end_all(self, told: int = DRAIN) -> None:
        """Start no further run, and drain or stop those under way."""
        self._ending = True
        for control in tuple(self._controls):
            (control.stop if told == STOP else control.drain)()

    def _round(self) -> bool:
        """Run through the cells once; return whether any is left to check again."""
        self._moved = False
        if self._race is not None:
            with opened(self._store) as connection:
                self._turns = self._race.decide(connection, self._sweep.number)
        with ThreadPoolExecutor(AT_ONCE, "run") as runs:
            try:
                # Try every cell that needs it, each once hardly an entry of those before waits to be begun.
                tried: list[Future[None]] = []
                for cell in self._cells:
                    if self._ending or self._troubles >= MOST_TROUBLES:
                        break
                    if cell.place not in self._done:
                        begun = Event()
                        tried.append(runs.submit(self._look, cell, begun))
                        begun.wait()
                        for attempt in tried:
                            if attempt.done():
                                attempt.result()
                        tried = [attempt for attempt in tried if not attempt.done()]
                for attempt in tried:
                    attempt.result()
            except BaseException:
                self._end_all()
                raise
        if self._ending or self._troubles >= MOST_TROUBLES:
            return False
        return len(self._done) < len(self._cells)

    def _look(self, cell: SweepCell, begun: Event) -> None:
        """Try a cell; ``begun`` is set as soon as the next may be tried next to it."""
        try:
            if not self._try(cell, begun):
                self._done.add(cell.place)
        finally:
            begun.set()

    def _try(self, cell: SweepCell, begun: Event) -> bool:
        """Run one cell to its end if nobody else does; return whether it is to be examined again."""
        lock = f"cell-{cell.key[:32]}"
        if is_held(self._store, lock):
            return True
        with ExitStack() as stack:
            try:
                stack.enter_context(alone(self._store, lock))
            except UsageError:
                return True
            stack.callback(forget_lock, self._store, lock)
            with opened(self._store) as connection:
                (at,) = read_cells(connection, self._sweep.number, cell.place)
            try:
                return at.trouble is None and at.raced_out is None and self._carry(cell, at, begun)
            except (HarnessError, CorpusError) as error:
                self._note(cell, str(error))
                return False

    def _carry(self, cell: SweepCell, at: StoredCell, near_end: Event) -> bool:
        """Start the run of a cell or continue with it; tells whether it is to be examined again."""
        with opened(self._store) as connection:
            run = find_by_id(connection, at.run_id)
            if run is not None and run.state is RunState.COMPLETE and run.trashed is None:
                return False
            if self._race is not None and cell.place not in self._turns:
                why = "another repetition of it stopped on its own, so that it left the race"
                set_trouble(connection, self._sweep.number, at.place, why)
                return False
            if run is None or run.trashed is not None:
                if (same := find_same(connection, cell)) is not None:
                    set_run(connection, self._sweep.number, at.place, same.run_id, reused=True)
                    return False
                fresh = at.run_id if run is None else str(uuid.uuid4())
                set_run(connection, self._sweep.number, at.place, fresh, reused=False)
                at = replace(at, run_id=fresh)
            elif is_held(self._store, run.run_id) or (  # a person is at it with `rosetta resume`
                self._race is not None  # or it has all that it may have by now
                and stored_positions(connection, run.id).issuperset(self._turns[cell.place])
            ):
                return True
            share_money(connection, self._sweep.number, at.run_id)
            budget = read_sweep(connection, self._sweep.number).budget_usd
        share = max(1, cell.request.plan.run.concurrency // self._sweep.workers)
        begun = run is not None and run.trashed is None
        carrier = None if cell.request.plan.method in MADE_HERE else self._carrier
        control = Control()
        if self._race is None and carrier is None:  # who is ahead in a race is known once a block is in
            if budget is None:
                control.near_end = near_end.set
            else:  # calls that wait for money would keep the places of those that could give some back
                control.calls_over = near_end.set
        ready = self._ready(cell, at.run_id, share, begun=begun, carried=carrier is not None)
        finished = self._run(ready, share, control, carrier)
        self._end(cell, finished, control)
        if carrier is not None and (carrier.lost or carrier.gone):
            return self._after_loss(cell, carrier)
        return self._race is not None and finished.state is not RunState.COMPLETE

    def _after_loss(self, cell: SweepCell, carrier: RemoteCalls) -> bool:
        """Return whether a run whose carrier was lost is to be examined again; without any the worker ends."""
        self._ending = self._ending or carrier.gone
        self._lost[cell.place] += 1
        if carrier.gone or self._lost[cell.place] < MOST_LOST:
            return True
        self._note(cell, f"the workers that carried it were lost {MOST_LOST} times")
        return False

    def _ready(self, cell: SweepCell, run_id: str, share: int, *, begun: bool, carried: bool) -> Ready:
        """Return the run of a cell, ready to go with its worker's share of the connections."""
        keys = no_key if carried else find_key
        if begun:
            resumption = Resumption({"concurrency": share}, only=self._turns.get(cell.place))
            are_open = cell.request.corpus.vault is not None
            return api.resume(self._store, run_id, resumption, find_key=keys, are_open=are_open)
        asked = cell.request
        run = asked.plan.run.model_copy(update={"concurrency": share})
        plan = asked.plan.model_copy(update={"run": run})
        asked = replace(asked, plan=plan)
        alike, cleared = _scored_by(cell), asked.clear(keys)
        cell.require_unchanged(cleared.method)
        ready = api.start(self._store, asked, cleared, run_id, self._tools.get(alike))
        if ready.tools is not None and all(
            isinstance(annotator, FstAnnotator) for annotator in ready.tools.annotators
        ):  # what others hold open ends with their run
            self._tools[alike] = ready.tools
        return replace(ready, resumption=Resumption(only=self._turns.get(cell.place)))

    def _run(self, ready: Ready, share: int, control: Control, carrier: RemoteCalls | None) -> Finished:
        self._controls.add(control)
        if self._ending:
            control.drain()
        limiter = self._limiters.setdefault(
            ready.method.endpoint or "", limiter_for(ready.method, share, lock_folder(self._store))
        )
        try:
            return execute_run(
                ready.path,
                ready.number,
                ready.cleared,
                None,  # who watches a sweep reads the store
                control,
                ready.resumption,
                ready.tools,
                limiter,
                self._connections,
                carrier,
            )
        finally:
            self._controls.discard(control)

    def _end(self, cell: SweepCell, finished: Finished, control: Control) -> None:
        self._moved = True
        if finished.reason is not None:
            self._note(cell, finished.reason)
            if finished.budget_reached:
                self._end_all()
        elif control.state is RunState.RUNNING:
            self._troubles = 0
        elif not self._ending:
            with opened(self._store) as connection:
                set_trouble(connection, self._sweep.number, cell.place, "somebody stopped this run")

    def _note(self, cell: SweepCell, words: str) -> None:
        self._troubles += 1
        with opened(self._store) as connection:
            set_trouble(connection, self._sweep.number, cell.place, words)


def _scored_by(cell: SweepCell) -> Hashable:
    """Return what decides the tools of a run; the corpus is one for the whole sweep."""
    plan = cell.request.plan
    asked = plan.scoring.model_dump_json()
    return (cell.request.positions, asked, plan.options.coaching, plan.options.prices, plan.run.offline)
