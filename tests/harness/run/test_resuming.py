"""Going on with a run: after a kill at any instant, and with what a person changes."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.card.checking.verify import verify_card
from harness.core.failures import HarnessError, UsageError
from harness.core.run_state import RunState
from harness.endpoint.keys import no_key
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event
from harness.methods.registry import build
from harness.run import running
from harness.run.beginning import resume_method, take_up
from harness.run.running import execute_run
from harness.setup.plan import Resumption
from harness.store.file.database import open_store
from harness.store.file.openings import Live
from harness.store.run_list import list_runs
from harness.store.runs import find_run, set_live
from rosetta_tui.show.run_facts import so_far
from tests.harness.evaluation import (
    Heard,
    chat_plan,
    corpus,
    kept,
    query,
    resume,
    run_corpus,
    whole_card,
)
from tests.harness.nursery import Nursery, nursery
from tests.harness.scripted import (
    Answer,
    Asked,
    Scripted,
    completion,
    error,
    json_answer,
    translated,
)
from tests.review.thorough import times


def number_of(asked: Asked) -> int:
    return int(asked.source.split()[-1])


def some_fail(asked: Asked) -> Answer:
    return error(400) if number_of(asked) < 3 else translated(asked, seconds=0.05)


def drain_late(event: Event, control: Control) -> None:
    if isinstance(event, EntryScored) and event.result.position >= 5:
        control.drain()


@pytest.fixture
def half(endpoint: Scripted, store_path: Path) -> Scripted:
    """A run that was stopped after some entries, of which three failed; the endpoint is mended since."""
    heard = Heard(react=drain_late)

    def answer(asked: Asked) -> Answer:
        held = number_of(asked) >= 8  # until it is drained
        until = (lambda: heard.control.state is RunState.DRAINING) if held else None
        return error(400) if number_of(asked) < 3 else translated(asked, until=until)

    endpoint.answer = answer
    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    assert run_corpus(store_path, corpus(12), plan, heard).finished.failed == 3
    endpoint.answer = translated
    return endpoint


def test_failed_entries_are_asked_for_again(half: Scripted, store_path: Path) -> None:
    tries = {each.position: each.attempts for each in kept(store_path).results}
    assert {tries[place] for place in (0, 1, 2)} == {1}
    before = kept(store_path)
    with pytest.raises(UsageError, match="concurrency"):
        resume(store_path, retry_failed=True, concurrency=0)
    assert kept(store_path) == before, "a wrong change changes nothing"
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        take_up(connection, run.id, resume_method(connection, run), Resumption(retry_failed=True))
    heard = resume(store_path, retry_failed=True, concurrency=2)
    assert (heard.finished.done, heard.finished.failed) == (12, 0)
    assert heard.progress[-1].most_concurrency == 2
    tries = {each.position: each.attempts for each in kept(store_path).results}
    assert [tries[place] for place in range(12)] == [2] * 3 + [1] * 9, "over all stretches"


def test_going_on_forgets_why_the_run_stopped(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise HarnessError("The language card is gone.")

    plan = chat_plan(endpoint.url, run={"concurrency": 1})
    run_corpus(store_path, corpus(12), plan, Heard(react=lambda _, control: control.drain()))
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        why = Live(reason="more than the whole budget of $0.5", budget_reached=True)
        set_live(connection, run.id, RunState.STOPPED, why)
    with pytest.raises(UsageError, match="concurrency"):
        resume(store_path, concurrency=0)
    assert kept(store_path).run.live == why
    monkeypatch.setattr(running, "begun_with", gone)
    with pytest.raises(HarnessError, match="card is gone"):
        resume(store_path, budget_usd=5.0)
    after = kept(store_path).run
    assert (after.plan["run"]["budget_usd"], after.live) == (5.0, Live(so_far={}))


@pytest.mark.parametrize("broken", [False, True])
def test_stopped_run_keeps_its_score(endpoint: Scripted, store_path: Path, *, broken: bool) -> None:
    """Stopped by a person or broken off: Home has the score of the entries that are in."""

    def stop(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored) and event.result.position == 5:
            if broken:
                raise HarnessError("The language card is gone.")
            control.drain()

    endpoint.answer = some_fail
    heard, plan = Heard(react=stop), chat_plan(endpoint.url, run={"concurrency": 1})
    if broken:
        with pytest.raises(HarnessError, match="card is gone"):
            run_corpus(store_path, corpus(24), plan, heard)
    else:
        run_corpus(store_path, corpus(30), plan, heard)
    stored = kept(store_path).run
    assert stored.state is RunState.STOPPED
    assert (stored.live or Live()).model_fields_set == {"so_far"}
    if not broken:
        values = heard.progress[-1].values
        told = {name: values[name] for name in ("chrf_plus_plus", "composite")}
        assert told["chrf_plus_plus"]
        assert stored.live == Live(so_far=told)
    with closing(open_store(store_path)) as connection:
        [summary] = list_runs(connection, brief=True)
        method = resume_method(connection, stored)
        assert so_far(summary) == (stored.live or Live()).so_far
        for retry_failed, left in ((False, stored.live), (True, Live(so_far={}))):
            again = take_up(connection, stored.id, method, Resumption(retry_failed=retry_failed))
            assert again.live == left


def test_run_completed_meanwhile_is_not_touched(finished: Path) -> None:
    """Between the look at a run and its lock, another process may have brought it to its end."""
    before, again = kept(finished), Heard()
    plan = chat_plan("http://127.0.0.1:9/v1")
    method = build("chat", plan.options, corpus(5).entries, no_key)
    wishes = again, again.control, Resumption(retry_failed=True)
    with pytest.raises(UsageError, match="is complete"):
        execute_run(finished, before.run.id, method, *wishes)
    assert kept(finished) == before


KILLS = times(4, 20)
SIZE = times(160, 600)


@pytest.fixture(scope="module")
def runs() -> Iterator[Nursery]:
    with nursery() as opened:
        yield opened


class Killer:
    """Answers like an endpoint, and kills the asking process at the chosen request."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.victim = 0
        self.at: int | None = None
        self.killed = 0

    def __call__(self, asked: Asked) -> Answer:
        if self.at is not None and asked.number >= self.at:
            self.at = None
            delay = self.dice.choice([0.0, self.dice.random() * 0.06])
            asyncio.get_running_loop().call_later(delay, self.kill, self.victim)
        usage = {"prompt_tokens": 20 + asked.number, "completion_tokens": 5, "cost": 0.001}
        if self.dice.random() < 0.02:
            return error(500)
        return json_answer(completion(asked.source.upper(), usage=usage), seconds=0.01)

    def aim(self, victim: int, at: int) -> None:
        """Choose the process and the request at which it is killed."""
        self.victim, self.at = victim, at

    def kill(self, victim: int) -> None:
        os.kill(victim, signal.SIGKILL)
        self.killed += 1


def stored_sources(path: Path) -> set[str]:
    """Return the sources that need not be asked for again: with a row, or with a reply that was kept."""
    entries = "entries e ON e.position = r.position JOIN texts t ON t.id = e.source"
    rows = query(path, f"SELECT t.body FROM results r JOIN {entries}")
    replies = query(path, "SELECT t.body FROM replies p JOIN texts t ON t.id = p.tail")
    return {row[0] for row in [*rows, *replies]}


@pytest.mark.thorough
def test_kills_lose_and_double_nothing(runs: Nursery, endpoint: Scripted, store_path: Path) -> None:
    killer = Killer(20260301)
    endpoint.answer = killer
    asked_again: list[str] = []
    wish: tuple[object, ...] = ("begin", store_path, endpoint.url, SIZE)
    while killer.killed < KILLS:
        known = stored_sources(store_path) if store_path.exists() else set[str]()
        before = len(endpoint.asked)
        victim = runs.begin(*wish)
        killer.aim(victim, before + killer.dice.randrange(1, 2 * SIZE // KILLS - 12))
        code, said = runs.end()
        assert code in {0, -signal.SIGKILL}, said
        asked_again += [asked.source for asked in endpoint.asked[before:] if asked.source in known]
        wish = ("resume", store_path)
        if code == 0:
            break
    assert killer.killed >= KILLS or kept(store_path).card is not None
    killer.at = None
    if kept(store_path).card is None:
        known = stored_sources(store_path)
        before = len(endpoint.asked)
        runs.begin(*wish)
        assert runs.end() == (0, f"{RunState.COMPLETE}\n")
        asked_again += [asked.source for asked in endpoint.asked[before:] if asked.source in known]
    assert killer.killed >= KILLS * 3 // 4
    assert asked_again == []
    check(store_path, SIZE)
    doubled = sum(Counter(asked.source for asked in endpoint.asked).values()) - SIZE
    assert doubled <= KILLS * 40


@pytest.mark.thorough
def test_kill_while_the_card_is_sealed(runs: Nursery, endpoint: Scripted, tmp_path: Path) -> None:
    size = 24
    dice = random.Random(7)
    for number in range(times(2, 6)):
        path = tmp_path / str(number) / "rosetta.sqlite"
        last = len(endpoint.asked) + size - 1
        victim = runs.begin("begin", path, endpoint.url, size)

        def answer(asked: Asked, victim: int = victim, last: int = last) -> Answer:
            if asked.number == last:
                delay = dice.random() * 0.2
                asyncio.get_running_loop().call_later(delay, os.kill, victim, signal.SIGKILL)
            return json_answer(completion(asked.source.upper()), seconds=0.1)

        endpoint.answer = answer
        code, _ = runs.end()
        asked = len(endpoint.asked)
        if code:
            endpoint.answer = translated
            runs.begin("resume", path)
            _, said = runs.end()
            assert said.strip() == RunState.COMPLETE or "is complete" in said, said
        check(path, size)
        most = 2 * 8  # under way, or answered and not yet on the disk
        assert len(endpoint.asked) - asked <= most


def check(path: Path, size: int) -> None:
    """No row is lost or doubled, the card is whole, and its totals are the sums of the rows."""
    stored = kept(path)
    assert [each.position for each in stored.results] == list(range(size))
    good = [each for each in stored.results if not each.failed]
    assert [each.output for each in good] == [f"ENTRY NUMBER {each.position}" for each in good]
    for entry, row in zip(corpus(size).entries, stored.results, strict=True):
        assert row.entry_id == entry.id
    assert query(path, "PRAGMA integrity_check") == [("ok",)]
    card = stored.card
    assert card is not None
    tokens = sum(each.total_tokens or 0 for each in stored.results)
    assert card["tokens"]["total_tokens"] == tokens
    cost = sum(each.cost_usd or 0 for each in stored.results)
    assert card["cost"]["total_cost_usd"] == pytest.approx(cost)
    whole = whole_card(path)
    assert len(whole["results"]) == size
    with closing(open_store(path)) as connection:
        verdict = verify_card(json.dumps(whole).encode(), connection)
    assert verdict.ok, verdict.first_difference
