"""Where a run stands, added up as entries come in; the figures of every Progress event."""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from corpora.model.entry import Entry
from harness.compare.pairs import LiveComparison
from harness.core.failures import RunState
from harness.endpoint.budget import Spending
from harness.method.method import Result
from harness.run.events import Control, InFlight, Progress
from harness.setup.scoring_tools import stored_floors
from harness.store.sqlite.openings import EarlyStop, Live, ScoringSoFar
from scoring.card.caveats import OutputTally
from scoring.card.claim import Claim, FloorScores, Score, decide_claim
from scoring.card.cost import percentiles
from scoring.core.inventory import Composite, composite
from scoring.core.metric import EntryStatistics
from scoring.core.scorer import RunningTotals, Scorer
from scoring.statistics.intervals import LiveIntervals, RunningSpread

RATE_SECONDS = 10.0  # Window over which the rate is taken


class Pace(Protocol):
    """How many calls may be under way at once: a run's limiter, or what a follower knows of it."""

    @property
    def limit(self) -> int:
        """Calls that may be under way now."""
        ...

    @property
    def most(self) -> int:
        """The ceiling."""
        ...


@dataclass(slots=True)
class RunTally:
    """Sums over the stored entries of a run."""

    done: int = 0
    failed: int = 0
    cost_usd: float | None = 0.0
    """None as soon as one entry's cost is unknown (M5)."""
    known_cost_usd: float = 0.0
    """What the entries cost of which it is known: the least that the sum can be."""
    tokens: int | None = None
    tokens_untold: int = 0
    """Entries of which no tokens are known: the sum is then the least that it can be."""
    latencies: array[float] = field(default_factory=lambda: array("d"))
    """Seconds of the entries that were not answered from the cache (M4)."""

    def add(self, result: Result) -> None:
        """Count one entry in."""
        seconds = result.latency_seconds
        self.join(
            RunTally(
                done=1,
                failed=int(result.failed),
                cost_usd=result.cost_usd,
                known_cost_usd=result.cost_usd or 0.0,
                tokens=result.total_tokens,
                tokens_untold=int(result.total_tokens is None),
                latencies=array("d", () if seconds is None or result.failed else (seconds,)),
            )
        )

    def join(self, other: RunTally) -> None:
        """Count in the entries of another."""
        self.done += other.done
        self.failed += other.failed
        known = self.cost_usd is not None and other.cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None
        self.known_cost_usd += other.known_cost_usd
        if other.tokens is not None:
            self.tokens = (self.tokens or 0) + other.tokens
        self.tokens_untold += other.tokens_untold
        self.latencies += other.latencies


class ProgressBoard:
    """Adds up a run's entries and tells where it stands. Written by the recorder's thread only."""

    def __init__(
        self,
        run_id: str,
        total: int,
        scorer: Scorer,
        *,
        flight: InFlight,
        limiter: Pace,
        spending: Spending,
        control: Control,
        floors: Mapping[str, FloorScores] | None = None,
        entries: Mapping[int, Entry] | None = None,
        elapsed_before: float = 0.0,
        against: LiveComparison | None = None,
    ) -> None:
        self._run_id = run_id
        self._total = total
        self._scorer = scorer
        self._flight = flight
        self._limiter = limiter
        self._spending = spending
        self._control = control
        self._elapsed_before = elapsed_before
        self._began = time.monotonic()
        self._tally = RunTally()
        self._totals = RunningTotals(scorer)
        self._answered = RunningTotals(scorer)
        self.against = against
        """The run's entries beside those of an earlier one."""
        self.rule: str | None = None
        """``worse`` or ``decided``: when that lets the run end itself."""
        self.stopped_early: EarlyStop | None = None
        """By which rule it did; None where none holds."""
        self._intervals = LiveIntervals(scorer.metrics, weighing=scorer.weighing)
        self._spread = RunningSpread()
        self.floors = floors
        """By name; None before any is worked out: nothing is claimed then."""
        self._entries = entries
        """By place, for the caveats of the outputs; None where only numbers are available."""
        self._outputs = OutputTally(free_word_order=scorer.free_word_order)
        self._recent: deque[tuple[float, int]] = deque()
        self.scoring: ScoringSoFar | None = None
        """What endpoints were asked about the outputs so far."""
        self.doing: str | None = None
        """What is done with the outputs before the seal, in words; None while entries are under way."""
        self.floors_open = floors is None
        """True until the floors are those of all entries."""

    @property
    def state(self) -> RunState:
        """Return the run's state."""
        return self._control.state

    @property
    def outcome(self) -> RunTally:
        """The sums so far."""
        return self._tally

    @property
    def committed_usd(self) -> float:
        """Return what this stretch paid, and what calls under way may still cost."""
        return self._spending.committed

    @property
    def elapsed_seconds(self) -> float:
        """Seconds under way, over all stretches."""
        return self._elapsed_before + time.monotonic() - self._began

    def add(self, results: Sequence[Result], statistics: Sequence[EntryStatistics], *, fresh: bool = True) -> None:
        """Count entries in; ``fresh`` ones were finished now and count for the rate."""
        if not results:
            return
        tally = RunTally()
        for result in results:
            tally.add(result)
        if self._entries is not None:
            entries = [self._entries[result.position] for result in results]
            self._outputs.add(entries, [result.output or "" for result in results], statistics)
        table = self._scorer.table(statistics)
        self._tally.join(tally)
        self._totals.add_table(table)
        answered = [place for place, result in enumerate(results) if not result.failed]
        self._answered.add_table(table.rows(answered) if tally.failed else table)
        if self.against is not None:
            self.against.add(results)
            self._heed_rule(self.against)
        self._intervals.add(table)
        headline = self._scorer.columns.headline
        if not self._scorer.mixes and headline in self._scorer.ids:
            self._spread.add(table.entry_values()[headline])
        if fresh:
            self._recent.append((time.monotonic(), tally.done))

    def _heed_rule(self, against: LiveComparison) -> None:
        """Drain the run once the rule holds; what is under way is finished and stored."""
        if self.stopped_early is not None or not against.stops(self.rule):
            return
        difference = against.so_far()
        if difference.so_far is not None and self.rule is not None and self._tally.done < self._total:
            so_far = difference.so_far
            self.stopped_early = EarlyStop(
                rule=self.rule, against=difference.run_id, metric=difference.metric, entries=so_far.entries,
                difference=so_far.mean, lower=so_far.lower, upper=so_far.upper,
            )  # fmt: skip
            self._control.drain()

    def progress(self, *, state: RunState | None = None, elapsed_seconds: float | None = None) -> Progress:
        """Return where the run stands now; a follower knows state and duration from the store."""
        tally, state = self._tally, state or self.state
        rests = state is not RunState.RUNNING or tally.done == self._total
        values = self._totals.values()
        mixed = self._composite(values)
        rate = self._per_minute()
        p50, p95 = percentiles(tally.latencies)
        intervals = {id_: (interval.lower, interval.upper) for id_, interval in self._intervals.intervals().items()}
        claim = self._claim(mixed, values.get("chrf_plus_plus"), intervals)
        known = tally.cost_usd is not None and tally.done
        expected = (tally.cost_usd or 0.0) / tally.done * self._total if known else None
        return Progress(
            run_id=self._run_id,
            state=state,
            elapsed_seconds=self.elapsed_seconds if elapsed_seconds is None else elapsed_seconds,
            total=self._total,
            done=tally.done,
            failed=tally.failed,
            in_flight=self._flight.under_way(),
            waiting=self._flight.waiting(),
            concurrency=self._limiter.limit,
            most_concurrency=self._limiter.most,
            rate_limited=self._flight.rate_limited,
            retries=self._flight.retries,
            values={**values, "composite": mixed.value},
            intervals=intervals,
            quality_tier=claim.quality_tier,
            claim=claim,
            cost_usd=tally.cost_usd,
            known_cost_usd=tally.known_cost_usd,
            expected_cost_usd=expected,
            spent_usd=self._spending.spent,
            budget_usd=self._spending.own_cap,
            tokens=tally.tokens,
            tokens_untold=tally.tokens_untold,
            per_minute=rate,
            eta_seconds=(self._total - tally.done) * 60 / rate if rate else None,
            p50_seconds=p50,
            p95_seconds=p95,
            spread=self._spread.value(),
            scoring=self.scoring,
            doing=self.doing,
            floors=stored_floors(self.floors or {}),
            answered=self._answered_values() if tally.failed else {},
            against=None if self.against is None else self.against.so_far(exact=rests),
        )

    def _answered_values(self) -> dict[str, float | None]:
        values = self._answered.values()
        return {**values, "composite": self._composite(values).value}

    def _composite(self, values: Mapping[str, float | None]) -> Composite:
        """Fold the values so far, without the reasons for what is missing, which only a card tells."""
        return composite(values if self._scorer.mixes else {}, weighing=self._scorer.weighing)

    def _claim(self, mixed: Composite, chrf: float | None, intervals: Mapping[str, tuple[float, float]]) -> Claim:
        """Decide what may be claimed of the outputs so far, by the rules of the card: nothing of answers."""
        if not self._scorer.mixes:
            return decide_claim(mixed, None, Score(None, None), {}, identical=False)
        if self.floors is None:
            mixed = replace(mixed, value=None)
        lower = {id_: ends[0] for id_, ends in intervals.items()}
        return decide_claim(
            mixed,
            lower.get("composite"),
            Score(chrf, lower.get("chrf_plus_plus")),
            self.floors or {},
            identical=self._outputs.identical,
            caveats=self._outputs.caveats(),
        )

    def release_outputs(self) -> None:
        """Free the counts of the outputs, after the last progress event."""
        self._outputs = OutputTally()

    def heartbeat(self) -> Live:
        """Return what a second terminal cannot derive from the entry rows."""
        return Live(
            at=time.time(),
            in_flight=self._flight.under_way(),
            waiting=tuple(
                (w.position, w.attempt, w.attempts_allowed, w.seconds, w.reason) for w in self._flight.waiting()
            ),
            concurrency=self._limiter.limit,
            most_concurrency=self._limiter.most,
            rate_limited=self._flight.rate_limited,
            retries=self._flight.retries,
            spent_usd=self._spending.spent,
            so_far=self.so_far(),
            **({} if self.scoring is None else {"scoring": self.scoring}),
            **({} if self.doing is None else {"doing": self.doing}),
            **({"floors": stored_floors(self.floors)} if self.floors and self.floors_open else {}),
        )

    def so_far(self) -> dict[str, float | None]:
        """Return the two scores by which a list shows a run without a card; empty before the first entry.

        Of other tasks than translation the one that such runs are shown by first.
        """
        if not self._tally.done:
            return {}
        values = self._totals.values()
        if not self._scorer.mixes:
            headline = self._scorer.columns.headline
            return {headline: values.get(headline)} if headline else {}
        mixed = self._composite(values)
        return {"chrf_plus_plus": values.get("chrf_plus_plus"), "composite": mixed.value}

    def _per_minute(self) -> float | None:
        """Return the entries a minute over the last seconds, None before the first."""
        now = time.monotonic()
        while self._recent and now - self._recent[0][0] > RATE_SECONDS:
            self._recent.popleft()
        count = sum(entries for _, entries in self._recent)
        window = min(RATE_SECONDS, now - self._began)
        return count * 60 / window if count and window > 0 else None
