"""A run compared with an earlier one from its first entry: what is said, when it ends itself, and what does not compare."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry, Segment
from harness.compare.against_best import SharedRuns
from harness.compare.comparing import compare_runs
from harness.compare.pairs import LiveComparison, candidates, stopped_words
from harness.compare.rows import scorer_of
from harness.core.calls import Calls
from harness.core.failures import RunState, UsageError
from harness.method.method import Method, Output, Result
from harness.method.options import MethodOptions
from harness.run.events import Control
from harness.run.following import Follower
from harness.run.running import execute_run
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from scoring.statistics.racing import ConfidenceSequence, enough, log_capital, power_sums
from tests.harness.evaluation import FEW, LANGUAGES, Heard, begun, corpus, corpus_of, resume, sealed_card
from tests.harness.sealed.refusals import refuses

SIZE = 60


def run_of(
    path: Path,
    right: range,
    condition: str,
    size: int = SIZE,
    metrics: Sequence[str] = FEW,
    given: Corpus | None = None,
    positions: range | None = None,
    **run: Any,
) -> Heard:
    """A run whose outputs are right on some entries, one call after the other."""
    lines = [f"ENTRY NUMBER {n}" if n in right else f"WRONG NUMBER {n}" for n in range(size)]
    outputs = path.parent / f"{condition}.txt"
    outputs.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    told = MethodOptions(**LANGUAGES, outputs=outputs, condition=condition)
    options = RunOptions(**{"concurrency": 1, **run})
    plan = Plan(method="replay", options=told, run=options, scoring=ScoringOptions(metrics=tuple(metrics)))
    number, cleared = begun(path, given or corpus(size), plan, positions=positions)
    heard = Heard()
    stored_first = StoredFirst(cleared.method, heard.control)
    execute_run(path, number, replace(cleared, method=stored_first), heard, heard.control)
    return heard


@dataclass
class StoredFirst:
    """A method that answers once all before is scored and stored."""

    method: Method
    control: Control

    def __getattr__(self, name: str) -> Any:
        return getattr(self.method, name)

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Sequence[Output]:
        await asyncio.to_thread(self.control.catch_up, 60)
        return await self.method.translate(entries, calls)


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "rosetta.sqlite"


@pytest.fixture
def baseline(store_path: Path) -> str:
    return run_of(store_path, range(50), "first").finished.run_id


def test_difference_while_it_runs_is_that_of_compare(store_path: Path, baseline: str) -> None:
    heard = run_of(store_path, range(20, SIZE), "second", against="last")
    told = heard.progress[-1].against
    assert told is not None
    assert told.so_far is not None
    assert (told.run_id, told.name, told.metric, told.so_far.entries) == (baseline, "first", "chrf_plus_plus", SIZE)
    assert heard.finished.state is RunState.COMPLETE
    with closing(open_store(store_path)) as connection:
        found = compare_runs(connection, [baseline, heard.finished.run_id])
        own = found.entries.differences("chrf_plus_plus", 0, 1)
        assert told.so_far.mean == pytest.approx(own.mean())
        sequence = ConfidenceSequence(100.0)
        sequence.add(own)
        assert sequence.interval() == pytest.approx((told.so_far.lower, told.so_far.upper))
        run = find_run(connection, heard.finished.run_id)
        assert run.plan["run"]["against"] == baseline  # type: ignore[call-overload]
        [(best, value)] = candidates(connection, run, scorer_of(connection, run), 9)
        assert (best.run_id, value) == (baseline, pytest.approx(found.run("A").values["chrf_plus_plus"]))
    with closing(Follower(store_path, heard.finished.run_id)) as follower:  # another terminal is told the same
        [*_, progress, _] = follower.drain()
        assert progress.against.so_far.mean == pytest.approx(own.mean())
    part = run_of(store_path, range(6), "part", positions=range(6)).finished.run_id
    with closing(open_store(store_path)) as connection:
        offered = candidates(connection, run, scorer_of(connection, run), 9)
        assert [other.run_id for other, _ in offered] == [baseline, part], "a try on few entries is no baseline of all"


@pytest.mark.parametrize(
    ("rule", "right", "stops"),
    [
        ("worse", range(0), True),
        ("worse", range(SIZE), False),
        ("decided", range(SIZE), False),
        (None, range(0), False),
    ],
)
def test_decided_difference_ends_the_run_by_its_rule(
    store_path: Path, baseline: str, rule: str | None, right: range, *, stops: bool
) -> None:
    heard = run_of(store_path, right, "second", against="last", stop_when=rule)
    ended = heard.finished
    if not stops:
        assert ended.state is RunState.COMPLETE
        assert "stopped_early" not in sealed_card(store_path, ended.run_id)
        return
    assert (ended.state, ended.card_hash) == (RunState.STOPPED, None)
    assert 5 < ended.done < SIZE
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, ended.run_id)
        early = run.opening.stopped_early
        assert early is not None
        assert (early.rule, early.against) == ("worse", baseline)
        assert early.upper < 0
        assert early.entries <= ended.done
        assert run.live is not None
        assert run.live.reason == ended.reason == stopped_words(early)
        ranked = SharedRuns(connection).against_best  # no part of a run is ranked as if it were whole
        refuses(UsageError, "it is not complete yet", ranked, [ended.run_id], [[baseline]])
    whole = resume(store_path)
    assert whole.finished.state is RunState.COMPLETE
    assert whole.finished.done == SIZE
    assert sealed_card(store_path, ended.run_id)["stopped_early"] == early.as_json()


def test_what_does_not_compare_is_refused_before_it_begins(store_path: Path, baseline: str) -> None:
    another = run_of(store_path, range(3), "other", 30).finished.run_id
    stopped = run_of(store_path, range(0), "stopped", against=baseline, stop_when="worse").finished.run_id
    scored = run_of(store_path, range(3), "bleu", metrics=("exact_match_rate", "bleu")).finished.run_id
    for name, why in ((another, "its corpus is another"), (scored, "not both runs have"), (stopped, "not complete")):
        refuses(UsageError, why, run_of, store_path, range(3), "refused", against=name)
    refuses(UsageError, "goes with --against", run_of, store_path, range(3), "refused", stop_when="worse")


def test_entries_that_are_secret_are_compared_in_no_run_under_way(store_path: Path) -> None:
    entries = [
        entry.model_copy(update={"segment": Segment.GOLD_STANDARD if entry.id < 6 else Segment.DEVELOPMENT})
        for entry in corpus(12).reveal_here()
    ]
    given, every, open_ones = corpus_of(entries), range(12), range(6, 12)
    run_of(store_path, range(0), "all", 12, given=given, positions=every)
    for positions in (every, open_ones):  # the earlier run has secret entries, even where the new one has none
        refuses(
            UsageError, "only released", run_of, store_path, range(9), "new", 12, given=given, positions=positions,
            against="last",
        )  # fmt: skip
    run_of(store_path, range(0), "open", 12, given=given, positions=open_ones)
    heard = run_of(store_path, range(12), "new", 12, given=given, positions=open_ones, against="last")
    told = heard.progress[-1].against
    assert told is not None
    assert told.so_far is not None
    assert told.so_far.entries == 6


def test_runs_that_do_not_differ_are_seldom_told_apart() -> None:
    """200 pairs of alike runs, examined after each of 400 entries: at most 5 % may ever be called decided."""
    random = np.random.default_rng(11)
    pool = np.concatenate([random.normal(0, 18, 300), random.normal(0, 45, 60), np.zeros(140)]).clip(-100, 100)
    drawn = random.choice(pool, (200, 400)) * random.choice((-1.0, 1.0), (200, 400))
    powers = np.stack([power_sums(row / 100) for row in drawn])
    signs = (-1.0) ** np.arange(powers.shape[-1])
    capital = np.maximum(log_capital(powers, 0.0), log_capital(powers * signs, 0.0))
    first = [int(row.argmax()) if row.any() else None for row in capital >= enough(0.95)]
    assert sum(at is not None for at in first) <= 200 * 0.05
    for row, at in [*zip(drawn[:3], first[:3], strict=True), (drawn[0] + 30, 0)]:
        comparison = LiveComparison("run", "first", "chrf_plus_plus", dict.fromkeys(range(400), 0.0))
        for place, value in enumerate(np.clip(row, -100, 100).tolist()):
            comparison.add([Result(place, place, "x", b"", value, False, None)])
            if at is None:
                assert not comparison.stops("decided")
        assert comparison.stops("decided") is (at is not None)
        assert not comparison.stops("worse")
