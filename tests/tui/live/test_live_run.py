"""The picture of a run follows from its events alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.failures import ErrorClass
from harness.core.run_state import RunState
from harness.events.kinds import EntryScored, Event, Failed, Progress, Started, Waiting
from harness.method.result import Result
from rosetta_tui.session.picture import RECENT, EntryState, LiveRun
from tests.tui.scenes import DATASET, SETUP, finished, scene


def started(total: int) -> Started:
    return Started("r", SETUP, DATASET, tuple(range(total)), 0, (), {}, None, 0.0)


def scored(position: int, *, failed: bool = False) -> EntryScored:
    error = ErrorClass.TIMEOUT if failed else None
    return EntryScored("r", Result(position, position, None, b"", None, False, None, error))


def progress(**fields: object) -> Progress:
    given: dict[str, object] = {
        "run_id": "r",
        "state": RunState.RUNNING,
        "elapsed_seconds": 1.0,
        "total": 9,
        "done": 0,
        "failed": 0,
        "in_flight": (),
        "waiting": (),
        "concurrency": 4,
        "most_concurrency": 8,
        "rate_limited": 0,
        "retries": 0,
    }
    return Progress(**{**given, **fields})  # type: ignore[arg-type]


def test_each_entry_has_one_state() -> None:
    live = LiveRun()
    live.fold(
        [
            started(6),
            progress(in_flight=(1, 2), waiting=(Waiting(3, 2, 6, 1.0, "429"),)),
            scored(1),
            scored(4, failed=True),
        ]
    )
    states = [live.state(position) for position in range(6)]
    assert states == [
        EntryState.QUEUED,
        EntryState.DONE,
        EntryState.ASKED,
        EntryState.RETRYING,
        EntryState.FAILED,
        EntryState.QUEUED,
    ]
    assert (live.done, live.errors, live.asked, live.retrying, live.queued) == (2, 1, 1, 1, 2)
    assert live.newest == 4


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans(), st.booleans()), max_size=80))
def test_counts_are_those_of_the_states(steps: list[tuple[int, bool, bool]]) -> None:
    live = LiveRun()
    live.fold([started(31)])
    for position, failed, remembered in steps:
        if remembered:
            state = EntryState.FAILED if failed else EntryState.DONE
            live.remember(bytes(position) + bytes([state]))
        else:
            live.fold([scored(position, failed=failed)])
    states = [live.state(position) for position in range(31)]
    assert live.done == sum(state >= EntryState.DONE for state in states)
    assert live.errors == states.count(EntryState.FAILED)
    assert live.queued == states.count(EntryState.QUEUED)


def test_only_so_many_results_are_kept() -> None:
    live = LiveRun()
    live.fold([started(3 * RECENT), *(scored(position) for position in range(3 * RECENT))])
    assert len(live.recent) == RECENT
    assert min(live.recent) == 2 * RECENT
    assert live.done == 3 * RECENT


def test_rates_add_up_to_what_was_done() -> None:
    live = LiveRun()
    live.fold([started(9)])
    live.fold(progress(elapsed_seconds=float(second), done=second * 3) for second in range(31))
    rates = live.rates(10)
    assert len(rates) == 10
    assert rates == pytest.approx([3.0] * 10)


def test_a_run_says_in_one_word_how_it_stands(tmp_path: Path) -> None:
    live = LiveRun()
    assert live.state_word == "starting"
    made = scene(tmp_path / "s.sqlite", total=4, stored=4)
    live.fold([made.started(), made.progress(4, state=RunState.PAUSED)])
    assert live.state_word == "paused"
    live.fold([Failed(made.run_id, "no")])
    assert (live.state_word, live.over) == ("failed", True)
    events: list[Event] = [made.started(), finished(made)]
    live.fold(events)
    assert (live.state_word, live.complete) == ("complete", True)
    made.close()


@pytest.mark.parametrize(("low", "flagged"), [(0.20, True), (0.22, False)])
def test_a_run_that_does_not_clear_the_floor_is_flagged(
    tmp_path: Path, low: float, flagged: bool
) -> None:
    made = scene(tmp_path / "s.sqlite", total=4, stored=4)
    live = LiveRun()
    ends = {"composite": (low, 0.9), "chrf_plus_plus": (30.0, 90.0)}
    live.fold([made.started(), made.progress(4, intervals=ends)])
    assert live.best_floor is not None
    assert live.claim is not None
    assert (live.best_floor.name, live.claim.at_floor) == ("constant", flagged)
    made.close()


@pytest.mark.parametrize("killed", [True, False])
def test_nothing_is_asked_any_more_when_a_run_is_over(killed: bool, tmp_path: Path) -> None:
    live = LiveRun()
    live.fold([started(5), progress(in_flight=(1, 2), waiting=(Waiting(3, 1, 2, 4.0, "429"),))])
    assert (live.asked, live.retrying, live.queued) == (2, 1, 2)
    made = scene(tmp_path / "s.sqlite", total=5, stored=0)
    live.fold([Failed("r", "gone") if killed else finished(made, RunState.STOPPED)])
    made.close()
    assert (live.asked, live.retrying, live.queued) == (0, 0, 5)
