"""Going on with a run, from the store and back into it, until it is sealed or stopped."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path

from corpora.files.packed_list import PlaceMap, in_blocks
from corpora.files.places import without_gaps
from corpora.files.problems import CorpusError
from corpora.model.terms import reveal_all
from harness.annotators.annotator import AskingAnnotator
from harness.card.checking.verify_card import seal
from harness.card.material import row_words
from harness.card.rows import BLOCK
from harness.compare.pairs import comparison_of, stopped_words
from harness.core.failures import AskingStopped, BudgetReached, HarnessError, RunState
from harness.endpoint.budget import Spending
from harness.endpoint.client import Connections, EndpointClient
from harness.endpoint.limiter import Limiter, RetryPolicy
from harness.method.method import Boxed
from harness.privacy import ClearedMethod
from harness.run.asking import Asking
from harness.run.beginning import begun_with, take_up
from harness.run.call_runner import RunCalls, limiter_for
from harness.run.events import Control, Event, Failed, Finished, InFlight, Started
from harness.run.final_scores import finish_scores, why_not_sealed, why_nothing_came
from harness.run.following import ControlPoller
from harness.run.loop import RunLoop
from harness.run.progress import ProgressBoard
from harness.run.recorder import Recorder, RemoteCalls, RemoteWork, teller_before_seal
from harness.run.scoring import LEAST_APART, RunScorer
from harness.setup.plan import AS_BEFORE, Resumption, plan_of
from harness.setup.scoring_tools import ScoringTools, floor_scores
from harness.store.annotations import AnnotationRow, asked_for, keep_annotations, read_annotations, read_asked
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.live_runs import (
    alone,
    begin_stretch,
    elapsed_seconds,
    forget_wishes,
    pay_stretch,
    spent_usd,
    touch_stretch,
)
from harness.store.mixed_setups import tries_before
from harness.store.replies import StoredReply, add_replies, find_reply, known_keys
from harness.store.results import keep_row_words, read_results, stored_positions
from harness.store.runs import Run, leave_run, read_run, set_live
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import Live, ScoringSoFar, set_opening
from harness.store.sqlite.trouble import STORE_ERRORS, in_words, transaction
from harness.store.sweeps import leave_money, shared_budget_of

Listener = Callable[[Event], None]


def execute_run(
    path: Path,
    number: int,
    cleared: ClearedMethod,
    listener: Listener | None,
    control: Control,
    resumption: Resumption = AS_BEFORE,
    tools: ScoringTools | None = None,
    limiter: Limiter | None = None,
    connections: Connections | None = None,
    carrier: RemoteCalls | None = None,
) -> Finished:
    """Run to the end, or as far as the control allows; return the last event.

    Blocks; belongs into its own thread where something else must stay alive. Raises after a Failed
    event, HarnessError where the fault is known, CorpusError where it is one of a language card; whatever was
    finished before is stored, and the run can be resumed. ``listener``: None where nobody follows the run but by the
    store, so that nothing is worked out for it. ``tools`` are those that the run began with, where they are still at
    hand, ``limiter`` knows from earlier runs what their endpoint bears, ``connections`` are those of earlier runs,
    which stay open. ``carrier`` makes the calls elsewhere.
    """
    run_id = ""
    tell = listener or (lambda _: None)
    try:
        with closing(open_store(path)) as connection:
            run_id = read_run(connection, number).run_id
            with alone(path, run_id):
                run = take_up(connection, number, cleared.method, resumption)
                with _leaving(connection, number):
                    here = _Execution(
                        connection,
                        path,
                        run,
                        cleared,
                        listener,
                        control,
                        tools,
                        limiter,
                        connections,
                        run.positions if resumption.only is None else resumption.only,
                        carrier,
                    )
                    return here.to_the_end()
    except (CorpusError, HarnessError) as error:
        tell(Failed(run_id, str(error)))
        raise
    except STORE_ERRORS as error:
        store_error = in_words(error, path)
        tell(Failed(run_id, str(store_error)))
        raise store_error from error
    except Exception as error:
        # what nobody foresaw is named without its own words: they may quote an entry
        tell(
            Failed(
                run_id,
                f"The run broke off on a fault of the program ({type(error).__name__}). "
                "What was stored before is safe.",
            )
        )
        raise


@contextmanager
def _leaving(connection: sqlite3.Connection, number: int) -> Iterator[None]:
    """Record at the end, however it comes, that no process is at the run, if the store still accepts it."""
    try:
        yield
    finally:
        with suppress(sqlite3.Error):
            connection.rollback()
            leave_run(connection, number)


class _Execution:
    """One stretch of a run: its parts, put together once."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        run: Run,
        cleared: ClearedMethod,
        listener: Listener | None,
        control: Control,
        tools: ScoringTools | None,
        limiter: Limiter | None,
        connections: Connections | None,
        only: Sequence[int],
        carrier: RemoteCalls | None,
    ) -> None:
        self.connection = connection
        self.run = run
        self.method, self.clearance = cleared.method, cleared.clearance
        self.listener = listener
        self.tell = listener or (lambda _: None)
        self.control = control
        self.options = plan_of(run).run
        self.dataset = read_dataset(connection, run.corpus)
        self.tools = tools or begun_with(connection, run)
        self.entries = read_entries(connection, run.corpus, run.positions, self.dataset, self.tools.resources.covered)
        if not self.clearance.covers(self.entries):
            raise ValueError("the clearance is that of another run")
        self.readable = PlaceMap(self.entries.places, reveal_all(self.entries.in_order, self.clearance))
        self.shared_budget = shared_budget_of(connection, path, run.run_id, self.options.budget_usd)
        if self.options.budget_usd is not None or self.shared_budget is not None:
            self.tools.check_budget()
        self.scorer = self.tools.scorer
        self.flight = InFlight()
        self.known_replies = known_keys(connection) if self.options.use_cache else set()
        self.limiter = limiter or limiter_for(self.method, self.options.concurrency)
        self.connections, self.carrier = connections, carrier
        self.path = path
        self.only = only
        """Places of the entries that may be asked for now, in order."""

    def to_the_end(self) -> Finished:
        """Translate what is waiting, then seal or stop."""
        done = stored_positions(self.connection, self.run.id)
        waiting = without_gaps([place for place in self.only if place not in done])
        before = spent_usd(self.connection, self.run.id)
        spending = Spending(self.options.budget_usd, before, self.shared_budget)
        board = ProgressBoard(
            self.run.run_id,
            len(self.run.positions),
            self.scorer,
            flight=self.flight,
            limiter=self.limiter,
            spending=spending,
            control=self.control,
            floors=floor_scores(self.run.opening),
            entries=self.readable,
            elapsed_before=elapsed_seconds(self.connection, self.run.id),
            against=comparison_of(self.connection, self.run, self.options.against, self.scorer),
        )
        if self.run.opening.stopped_early is None:  # a person lets it continue after that
            board.rule = self.options.stop_when
        for places in in_blocks(sorted(done), BLOCK):
            stored = list(read_results(self.connection, self.run.id, places))
            board.add(stored, [self.scorer.unpack(result.statistics) for result in stored], fresh=False)
        forget_wishes(self.connection, self.run.id)  # before anybody may ask something of this stretch
        ear = ControlPoller(self.path, self.run.id, self.control)
        calling = bool(self.method.endpoint)
        workers = self.options.workers
        self.scoring = RunScorer(
            self.connection, self.run, self.tools, board, waiting=len(waiting), calling=calling, workers=workers
        )
        ear.start()
        try:
            self.tell(Started.of(self.run, self.dataset, len(done)))
            self._tell_progress(board)
            with closing(open_store(self.path)) as writer:
                reason = self._stretch(writer, waiting, board, spending)
            ear.entries_in = not any(isinstance(annotator, AskingAnnotator) for annotator in self.tools.annotators)
            return self._end(board, reason, spending)
        finally:
            ear.close()
            self.scoring.close()
            self.tools.close()
            with suppress(sqlite3.Error):  # then what it held counts until it goes on
                leave_money(self.connection, self.run.run_id, before + spending.committed)

    def _stretch(
        self, writer: sqlite3.Connection, waiting: Sequence[int], board: ProgressBoard, spending: Spending
    ) -> str | None:
        """Process the pending entries. Return the stop reason, or None."""
        self.segment = segment = begin_stretch(self.connection, self.run.id)
        set_live(self.connection, self.run.id, RunState.RUNNING, board.heartbeat())
        recorder = Recorder(
            writer,
            self.run.id,
            self.run.run_id,
            segment,
            self.readable,
            self.scoring,
            board,
            self.listener,
            tries_before(self.run),
        )
        recorder.failed = self.control.stop
        self.control.catch_up = recorder.catch_up
        spending.secure = None if spending.cap is None else recorder.secure
        recorder.start()
        try:
            reason = self._call(waiting, board, spending, recorder) if waiting else None
        finally:
            self.control.translating = False
            self.control.calls_over()
            recorder.finish()
        touch_stretch(self.connection, segment, spending.committed)
        return reason

    def _call(self, waiting: Sequence[int], board: ProgressBoard, spending: Spending, recorder: Recorder) -> str | None:
        """Send the waiting entries through the method: elsewhere, over the connections available or over own ones."""
        if self.carrier is not None:
            # What a carrier needs; the client of its calls is none that is used, so nothing of it is
            # open.
            unused = EndpointClient(self.clearance, timeout_seconds=self.options.timeout_seconds)
            carried = RemoteWork(
                run_id=self.run.run_id,
                dataset=self.dataset,
                plan=plan_of(self.run),
                method=self.method,
                entries=self.entries,
                waiting=waiting,
                calls=self._calls(unused, board, spending, recorder),
                known=self.known_replies,
                shared_budget=self.shared_budget,
                recorder=recorder,
                control=self.control,
            )
            return self.carrier.carry(carried)
        with ExitStack() as stack:
            ways = self.connections or stack.enter_context(closing(Connections()))
            return ways.run(self._translate(ways, waiting, board, spending, recorder))

    async def _translate(
        self, ways: Connections, waiting: Sequence[int], board: ProgressBoard, spending: Spending, recorder: Recorder
    ) -> str | None:
        client = ways.client(self.clearance, timeout_seconds=self.options.timeout_seconds)
        shared = self._calls(client, board, spending, recorder)
        loop = RunLoop(self.readable, waiting, self.method, shared, recorder, self.control)
        self.control.translating = True
        try:
            await loop.run()
        finally:
            if isinstance(self.method, Boxed):
                await self.method.close_box()
        return loop.reason

    def _calls(self, client: EndpointClient, board: ProgressBoard, spending: Spending, recorder: Recorder) -> RunCalls:
        def keep(reply: StoredReply) -> None:
            recorder.keep(reply)
            self.known_replies.add(reply.key)

        def find(key: bytes) -> StoredReply | None:
            """Find a reply; most misses are answered from memory, without waiting on the store."""
            if not self.options.use_cache or key not in self.known_replies:
                return None
            return find_reply(self.connection, key)

        return RunCalls(
            method=self.method.setup.method,
            client=client,
            clearance=self.clearance,
            limiter=self.limiter,
            spending=spending,
            policy=RetryPolicy(most_attempts=self.options.most_attempts),
            flight=self.flight,
            find=find,
            keep=keep,
            reuse=self.options.use_cache,
            earlier=board.outcome.done > board.outcome.failed,
        )

    def _finish_scores(self, board: ProgressBoard, spending: Spending) -> None:
        """Request what needs all outputs; raises BudgetReached and AskingStopped."""
        tell = self._teller(board)
        board.scoring = read_asked(self.connection, self.run.id, again=True)

        def hear(row: AnnotationRow) -> None:
            board.scoring = (board.scoring or ScoringSoFar()).joined(asked_for(row))

        def keep(
            connection: sqlite3.Connection,
            replies: Sequence[StoredReply],
            rows: Sequence[AnnotationRow],
            committed: float,
        ) -> None:
            add_replies(connection, replies)
            keep_annotations(connection, self.run.id, rows)
            pay_stretch(connection, self.segment, committed)

        def answered_before(annotator: AskingAnnotator) -> dict[int, AnnotationRow]:
            """Return what earlier stretches of the run were answered."""
            rows = read_annotations(self.connection, self.run.id, annotator=annotator.id, maker=annotator.maker)
            return {r.position: r for r in rows if r.position is not None and r.value is not None}

        asking = Asking(
            self.options,
            spending,
            self.clearance,
            self.control,
            tell,
            self.path,
            keep,
            {entry.id: place for place, entry in self.entries.items()} if self.tools.slow else {},
            answered_before,
            hear=hear,
            flight=self.flight,
        )
        finish_scores(self.connection, self.run.id, self.tools, self.readable, tell, asking)

    def _settle_floors(self, board: ProgressBoard) -> None:
        self.scoring.settle(self.control, self._teller(board))
        self._tell_progress(board)

    def _teller(self, board: ProgressBoard) -> Callable[[str], None]:
        return teller_before_seal(self.connection, self.run.id, board, partial(self._tell_progress, board))

    def _end(self, board: ProgressBoard, reason: str | None, spending: Spending) -> Finished:
        tally = board.outcome
        everything = tally.done == len(self.run.positions)
        if everything and reason is None and tally.failed == tally.done:
            reason = why_nothing_came(self.connection, self.run)
        elif everything and reason is None and not self.options.keep_failed:
            reason = why_not_sealed(self.connection, self.run)
        elif not everything and (early := board.stopped_early) is not None:
            reason = reason or stopped_words(early)
            with transaction(self.connection):
                opening = read_run(self.connection, self.run.id).opening
                set_opening(self.connection, self.run.id, opening.changed(stopped_early=early))
        complete = everything and reason is None
        if complete:
            try:
                if not self.tools.slow:  # else they are worked out with all annotations
                    self._settle_floors(board)
                self._finish_scores(board, spending)
            except (AskingStopped, BudgetReached) as end:
                complete = False
                reason = str(end) if isinstance(end, BudgetReached) else None
                board.doing = None
                self._tell_progress(board)
        budget_reached, card_hash = spending.reached, None
        if not complete and (reason is None or budget_reached):
            with suppress(AskingStopped):
                self._settle_floors(board)
        if complete:
            self._keep_row_words()
            board.release_outputs()
            if len(self.run.positions) >= LEAST_APART:  # the caches of fewer are small, and the next run may need them
                self.tools.forget()
            card_hash = seal(self.connection, self.run.id, self.entries.in_order).run_card_hash
        else:
            stopped_by_budget = reason is not None and budget_reached
            left = Live(so_far=board.so_far(), reason=reason, budget_reached=stopped_by_budget)
            set_live(self.connection, self.run.id, RunState.STOPPED, left)
        finished = Finished(
            run_id=self.run.run_id,
            state=RunState.COMPLETE if complete else RunState.STOPPED,
            done=tally.done,
            failed=tally.failed,
            total=len(self.run.positions),
            elapsed_seconds=board.elapsed_seconds,
            card_hash=card_hash,
            reason=reason,
            budget_reached=budget_reached and not complete,
        )
        self.tell(finished)
        return finished

    def _keep_row_words(self) -> None:
        """Store what the card's rows say of each output besides numbers."""
        for places in in_blocks(self.run.positions, BLOCK):
            results = read_results(self.connection, self.run.id, places)
            if words_of_rows := row_words(self.tools, self.entries, results):
                with transaction(self.connection):
                    keep_row_words(self.connection, self.run.id, words_of_rows)

    def _tell_progress(self, board: ProgressBoard) -> None:
        if self.listener is not None:
            self.listener(board.progress())
