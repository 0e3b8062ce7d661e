"""Beginning a run and going on with it, from the store and back into it."""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import filelock

from corpora.corpus import Corpus, Dataset
from corpora.entry import Entry
from harness.budget import Ledger
from harness.card.build import seal
from harness.card.fingerprint import fingerprint
from harness.carrier import Carrier
from harness.control import Control
from harness.events import Event, Failed, Finished, Floor, RunState, Started
from harness.failures import HarnessError, StoreError, UsageError
from harness.flight import Flight
from harness.limiter import Limiter
from harness.loop import RunLoop
from harness.method import Method
from harness.offline import offline
from harness.plan import Plan
from harness.progress import Board
from harness.retry import RetryPolicy
from harness.scribe import Scribe
from harness.store.corpora import read_dataset, read_entries, save_corpus
from harness.store.database import open_store, private_folder
from harness.store.replies import StoredReply, find_reply
from harness.store.results import read_results, stored_positions
from harness.store.runs import (
    Run,
    begin_stretch,
    create_run,
    elapsed_seconds,
    read_run,
    set_live,
)
from harness.version import VERSION
from harness.wire import Wire
from scoring.floors import floors
from scoring.reasons import missing_reasons
from scoring.scorer import Scorer, Totals, default_metrics
from scoring.translation import Translation

Listener = Callable[[Event], None]


def begin(
    connection: sqlite3.Connection,
    corpus: Corpus,
    positions: Sequence[int],
    method: Method,
    plan: Plan,
) -> int:
    """Store the beginning of a run and give its number; nothing is asked yet."""
    chosen = [corpus.entries[place] for place in positions]
    print_ = fingerprint(method.setup, corpus.sha256, VERSION)
    connection.execute("BEGIN IMMEDIATE")
    try:
        number = create_run(
            connection,
            run_id=str(uuid.uuid4()),
            corpus=save_corpus(connection, corpus),
            positions=positions,
            setup=method.setup,
            setup_hash=print_.setup_hash or print_.hash,
            fingerprint_hash=print_.hash,
            plan=plan.model_dump(mode="json"),
            opening=_opening(corpus.dataset, chosen),
            dataset_id=corpus.dataset.id,
            language_pair=corpus.dataset.language_pair,
            harness_version=VERSION,
        )
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return number


def _opening(dataset: Dataset, entries: Sequence[Entry]) -> dict[str, object]:
    """Work out what a run shows from its first moment: the floors, and what will be missing."""
    metrics = default_metrics(dataset.target_language, entries)
    reached = floors(entries, metrics)
    return {
        "floors": [
            {"name": name, "composite": floor.composite, "chrf": floor.chrf_plus_plus}
            for name, floor in reached.items()
        ],
    }


@contextmanager
def _alone(path: Path, run_id: str) -> Iterator[None]:
    """Make sure that no other process goes on with the same run."""
    lock = filelock.FileLock(private_folder(path.parent / "locks") / f"{run_id}.lock", mode=0o600)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout as error:
        raise UsageError(
            f"Run {run_id[:8]} is under way in another process. "
            f"`rosetta runs open {run_id[:8]}` shows it."
        ) from error
    try:
        yield
    finally:
        lock.release()


def go(path: Path, number: int, method: Method, listener: Listener, control: Control) -> Finished:
    """Bring a run to its end, or as far as the control lets it; gives the last event.

    Blocks; belongs into a thread of its own where something else must stay alive. Raises HarnessError
    after a Failed event; whatever was finished before is stored, and the run can be resumed.
    """
    connection = open_store(path)
    try:
        run = read_run(connection, number)
        with _alone(path, run.run_id), offline(_plan(run).run.offline):
            return _Go(connection, path, run, method, listener, control).go()
    except HarnessError as error:
        listener(Failed(_run_id(connection, number), str(error)))
        raise
    except sqlite3.Error as error:
        listener(Failed(_run_id(connection, number), f"The store cannot be written: {error}"))
        raise StoreError(
            f"The store cannot be written: {error}. What was stored before is safe."
        ) from error
    finally:
        connection.close()


def _run_id(connection: sqlite3.Connection, number: int) -> str:
    row = connection.execute("SELECT run_id FROM runs WHERE id = ?", (number,)).fetchone()
    return "" if row is None else str(row[0])


def _plan(run: Run) -> Plan:
    return Plan.model_validate(run.plan)


class _Go:
    """One stretch of a run: its parts, put together once."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        run: Run,
        method: Method,
        listener: Listener,
        control: Control,
    ) -> None:
        self.connection = connection
        self.run = run
        self.method = method
        self.listener = listener
        self.control = control
        self.options = _plan(run).run
        self.dataset = read_dataset(connection, run.corpus)
        self.entries: Mapping[int, Entry] = read_entries(connection, run.corpus, run.positions)
        chosen = [self.entries[place] for place in run.positions]
        self.scorer = Scorer(default_metrics(self.dataset.target_language, chosen))
        self.flight = Flight()
        most = self.options.concurrency
        self.limiter = Limiter(most, start=max(4, most // 4) if method.endpoint else most)
        self.writer = open_store(path)

    def go(self) -> Finished:
        """Translate what is waiting, then seal or stop."""
        done = stored_positions(self.connection, self.run.id)
        waiting = [place for place in self.run.positions if place not in done]
        ledger = Ledger(self.options.budget_usd, self._spent())
        board = self._board(ledger)
        self.listener(started(self.run, self.dataset, len(done), self._missing()))
        self.listener(board.progress())
        stretch = begin_stretch(self.connection, self.run.id)
        set_live(self.connection, self.run.id, RunState.RUNNING, board.heartbeat())
        scribe = Scribe(
            self.writer, self.run.id, self.run.run_id, stretch, self.scorer, board, self.listener
        )
        scribe.failed = self.control.stop
        scribe.start()
        reason = None
        try:
            if waiting:
                reason = asyncio.run(self._translate(waiting, ledger, scribe))
        finally:
            scribe.finish()
            self.writer.close()
        return self._end(board, reason)

    def _spent(self) -> float:
        row = self.connection.execute(
            "SELECT coalesce(sum(spent_usd), 0) FROM results WHERE run = ?", (self.run.id,)
        ).fetchone()
        return float(row[0])

    def _board(self, ledger: Ledger) -> Board:
        board = Board(
            self.run.run_id,
            len(self.run.positions),
            self.scorer,
            flight=self.flight,
            limiter=self.limiter,
            ledger=ledger,
            control=self.control,
            elapsed_before=elapsed_seconds(self.connection, self.run.id),
        )
        stored = list(read_results(self.connection, self.run.id))
        board.add(stored, [self.scorer.unpack(each.statistics) for each in stored], fresh=False)
        return board

    def _missing(self) -> dict[str, str]:
        return missing(self.scorer, [self.entries[place] for place in self.run.positions])

    async def _translate(
        self, waiting: Sequence[int], ledger: Ledger, scribe: Scribe
    ) -> str | None:
        wire = Wire(
            timeout_seconds=self.options.timeout_seconds,
            offline=self.options.offline,
            connections=self.options.concurrency,
        )
        carrier = Carrier(
            method=self.method.setup.method,
            wire=wire,
            limiter=self.limiter,
            ledger=ledger,
            policy=RetryPolicy(most_attempts=self.options.most_attempts),
            flight=self.flight,
            find=self._find,
            keep=scribe.keep,
            salt=b"" if self.options.use_cache else self.run.run_id.encode(),
        )
        loop = RunLoop(self.entries, waiting, self.method, carrier, scribe, self.control)
        try:
            await loop.run()
        finally:
            await wire.close()
        return loop.reason

    def _find(self, key: bytes) -> StoredReply | None:
        return find_reply(self.connection, key) if self.options.use_cache else None

    def _end(self, board: Board, reason: str | None) -> Finished:
        tally = board.outcome
        complete = tally.done == len(self.run.positions)
        card_hash = None
        if complete:
            card_hash = seal(self.connection, self.run.id).run_card_hash
        else:
            set_live(self.connection, self.run.id, RunState.STOPPED, None)
        finished = Finished(
            run_id=self.run.run_id,
            state=RunState.COMPLETE if complete else RunState.STOPPED,
            done=tally.done,
            failed=tally.failed,
            total=len(self.run.positions),
            elapsed_seconds=board.elapsed_seconds,
            card_hash=card_hash,
            reason=reason,
        )
        self.listener(finished)
        return finished


def missing(scorer: Scorer, entries: Sequence[Entry]) -> dict[str, str]:
    """Say which metrics can have no value for these entries, and why; a perfect output shows it."""
    perfect = Totals(scorer.metrics)
    perfect.add(scorer.statistics([Translation(each, each.reference) for each in entries[:1]]))
    return missing_reasons(scorer.metrics, perfect.values())


def started(run: Run, dataset: Dataset, done: int, missing: Mapping[str, str]) -> Started:
    """Give the event with which a run, or the following of one, begins."""
    budget = _plan(run).run.budget_usd if not run.imported else None
    return Started(
        run_id=run.run_id,
        setup=run.setup,
        dataset=dataset,
        positions=run.positions,
        done=done,
        floors=tuple(Floor(**floor) for floor in run.opening.get("floors", ())),
        missing=missing,
        budget_usd=budget,
        started_at=run.created,
    )
