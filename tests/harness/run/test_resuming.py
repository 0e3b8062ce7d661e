"""Going on with a run: what a person changes is changed only where the run belongs to this process."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from harness.core.failures import HarnessError, UsageError
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event
from harness.run import running
from harness.run.beginning import resume_method, take_up
from harness.run.running import execute_run
from harness.setup.plan import Resumption
from harness.store.file.database import open_store
from harness.store.runs import find_run, set_live
from tests.harness.evaluation import Heard, chat_plan, corpus, kept, resume, run_corpus
from tests.harness.process import spawn
from tests.harness.scripted import (
    Answer,
    Asked,
    Scripted,
    completion,
    error,
    json_answer,
    translated,
)


def some_fail(asked: Asked) -> Answer:
    if int(asked.source.split()[-1]) < 3:
        return error(400)
    return json_answer(completion(asked.source.upper()), seconds=0.05)


@pytest.mark.thorough
def test_failed_rows_of_a_run_under_way_elsewhere_are_left_alone(
    endpoint: Scripted, store_path: Path
) -> None:
    endpoint.answer = some_fail
    process = spawn("begin", store_path, endpoint.url, 60)
    while len(endpoint.asked) < 10:
        assert process.poll() is None
    with pytest.raises(UsageError, match="is under way in another process"):
        resume(store_path, retry_failed=True, budget_usd=3.0)
    out, problems = process.communicate(timeout=60)
    assert out.strip() == RunState.COMPLETE, problems
    stored = kept(store_path)
    assert len(stored.results) == 60
    assert sum(each.failed for each in stored.results) == 3
    assert stored.run.opening["budget_usd"] is None
    assert stored.run.plan["run"]["budget_usd"] is None


def test_failed_entries_are_asked_for_again_with_the_changes_made(
    endpoint: Scripted, store_path: Path
) -> None:
    def drain_late(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored) and event.result.position >= 5:
            control.drain()

    endpoint.answer = some_fail
    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    assert run_corpus(store_path, corpus(30), plan, Heard(react=drain_late)).finished.failed == 3
    endpoint.answer = translated
    heard = resume(store_path, retry_failed=True, concurrency=2)
    assert (heard.finished.done, heard.finished.failed) == (30, 0)
    assert heard.progress[-1].most_concurrency == 2


def test_tries_of_a_failed_entry_add_up_over_all_stretches(
    endpoint: Scripted, store_path: Path
) -> None:
    def drain_late(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored) and event.result.position >= 5:
            control.drain()

    endpoint.answer = some_fail
    run_corpus(
        store_path,
        corpus(30),
        chat_plan(endpoint.url, run={"concurrency": 1}),
        Heard(react=drain_late),
    )
    once = {each.position: each.attempts for each in kept(store_path).results}
    assert {once[place] for place in (0, 1, 2)} == {1}
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        take_up(connection, run.id, resume_method(connection, run), Resumption(retry_failed=True))
    endpoint.answer = translated
    resume(store_path, retry_failed=True)
    tries = {each.position: each.attempts for each in kept(store_path).results}
    assert [tries[place] for place in (0, 1, 2)] == [2, 2, 2]
    assert {tries[place] for place in range(3, 30)} == {1}


def test_a_wrong_change_changes_nothing(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = some_fail
    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    run_corpus(store_path, corpus(30), plan, Heard(react=lambda _, control: control.drain()))
    before = kept(store_path)
    with pytest.raises(UsageError, match="concurrency"):
        resume(store_path, retry_failed=True, concurrency=0)
    assert kept(store_path) == before


def test_going_on_forgets_why_the_run_stopped_before_even_where_it_fails(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise HarnessError("The language card is gone.")

    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    run_corpus(store_path, corpus(30), plan, Heard(react=lambda _, control: control.drain()))
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        why = {"reason": "more than the whole budget of $0.5", "budget_reached": True}
        set_live(connection, run.id, RunState.STOPPED, why)
    with pytest.raises(UsageError, match="concurrency"):
        resume(store_path, concurrency=0)
    assert kept(store_path).run.live == why
    monkeypatch.setattr(running, "begun_with", gone)
    with pytest.raises(HarnessError, match="card is gone"):
        resume(store_path, budget_usd=5.0)
    after = kept(store_path).run
    assert (after.plan["run"]["budget_usd"], after.live) == (5.0, None)


def test_a_run_that_was_completed_meanwhile_is_not_touched(
    endpoint: Scripted, store_path: Path
) -> None:
    """Between the look at a run and its lock, another process may have brought it to its end."""
    heard = run_corpus(store_path, corpus(3), chat_plan(endpoint.url))
    before = kept(store_path)
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
    again = Heard()
    method = heard.method
    assert method is not None
    with pytest.raises(UsageError, match="is complete"):
        execute_run(store_path, run.id, method, again, again.control, Resumption(retry_failed=True))
    assert kept(store_path) == before
