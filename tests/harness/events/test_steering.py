"""Runs that are paused, drained, stopped, slowed, sped up, or end at their budget."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.core.failures import ErrorClass, UsageError
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event, Progress
from rosetta_tui.report.run import JsonLines, PlainLines
from tests.harness.evaluation import Heard, chat_plan, corpus, kept, query, resume, run_corpus
from tests.harness.scripted import Answer, Asked, Scripted, completion, error, translated
from tests.review.thorough import first


def slowly(asked: Asked) -> Answer:
    return translated(asked, seconds=0.03)


def held_from(number: int, until: Callable[[], bool]) -> Callable[[Asked], Answer]:
    """Answer at once, but hold later answers back until something is so."""
    return lambda asked: translated(asked, until=until if asked.number >= number else None)


def after(count: int, wish: Callable[[Control], object]) -> Callable[[Event, Control], None]:
    """Wish something once so many entries are scored."""
    seen: list[Event] = []

    def react(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored):
            seen.append(event)
            if len(seen) == count:
                wish(control)

    return react


def asked_for(endpoint: Scripted) -> Counter[str]:
    return Counter(asked.source for asked in endpoint.asked)


def test_good_answers_raise_concurrency(endpoint: Scripted, store_path: Path) -> None:
    """A run of sixteen connections begins with four."""
    endpoint.answer = slowly
    heard = run_corpus(store_path, corpus(60), chat_plan(endpoint.url, run={"concurrency": 16}))
    assert heard.progress[0].concurrency == 4 < heard.progress[-1].concurrency


def test_drain_stores_all_that_was_asked(endpoint: Scripted, store_path: Path) -> None:
    heard = Heard(react=after(6, Control.drain))
    endpoint.answer = held_from(8, lambda: heard.control.state is RunState.DRAINING)
    run_corpus(store_path, corpus(24), chat_plan(endpoint.url), heard)
    stopped, stored = heard.finished, kept(store_path)
    assert (stopped.state, stopped.reason) == (RunState.STOPPED, None)
    assert 6 <= len(stored.results) < 24
    assert len(endpoint.asked) == len(stored.results) == stopped.done
    assert stored.run.state is RunState.STOPPED
    resumed = resume(store_path)
    assert resumed.finished.state is RunState.COMPLETE
    assert (resumed.started.done, len(resumed.scored)) == (stopped.done, 24 - stopped.done)
    assert set(asked_for(endpoint).values()) == {1}, "resuming asks for the rest alone"
    assert resumed.finished.run_id == stopped.run_id
    assert resumed.finished.elapsed_seconds > stopped.elapsed_seconds


def test_stop_breaks_off_and_keeps_what_is_stored(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: translated(asked, seconds=30 if asked.number >= 10 else 0)
    heard = Heard(react=after(10, Control.stop))
    run_corpus(store_path, corpus(20), chat_plan(endpoint.url), heard)
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.elapsed_seconds < 30, "nobody waited for the answers"
    assert heard.finished.done == len(kept(store_path).results) == 10
    endpoint.answer = translated
    assert resume(store_path).finished.state is RunState.COMPLETE
    assert [each.position for each in kept(store_path).results] == list(range(20))


def test_long_drain_can_be_stopped(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: translated(asked, seconds=30 if asked.number >= 5 else 0)

    def react(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored) and len(heard.scored) == 5:
            control.drain()
        if isinstance(event, Progress) and event.state is RunState.DRAINING:
            control.stop()

    heard = Heard(react=react)
    run_corpus(store_path, corpus(20), chat_plan(endpoint.url), heard)
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.elapsed_seconds < 30, "nobody waited for the answers"


def test_pause_starts_nothing_new(endpoint: Scripted, store_path: Path) -> None:
    asked_when_quiet: list[int] = []

    def quiet() -> bool:
        return len(asked_when_quiet) >= 4

    def react(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored) and len(heard.scored) == 8:
            control.pause()
        if isinstance(event, Progress) and event.state is RunState.PAUSED and not event.in_flight:
            asked_when_quiet.append(len(endpoint.asked))
            if len(asked_when_quiet) == 4:
                control.go_on()

    heard = Heard(react=react)
    endpoint.answer = held_from(12, lambda: heard.control.state is not RunState.RUNNING or quiet())
    run_corpus(store_path, corpus(20), chat_plan(endpoint.url), heard)
    assert heard.finished.state is RunState.COMPLETE
    assert len(set(asked_when_quiet)) == 1
    assert 8 <= asked_when_quiet[0] < 20


@pytest.mark.parametrize(("before", "then"), [(2, 8), (8, 2)])
def test_limit_of_calls_changes(
    endpoint: Scripted, store_path: Path, before: int, then: int
) -> None:
    endpoint.answer = slowly

    def change(control: Control) -> None:
        control.limit(then)
        endpoint.most_under_way = 0

    heard = Heard(react=after(12, change))
    run_corpus(store_path, corpus(64), chat_plan(endpoint.url, run={"concurrency": before}), heard)
    assert heard.finished.state is RunState.COMPLETE
    assert heard.progress[-1].most_concurrency == then
    assert endpoint.most_under_way <= max(before, then)
    if then > before:
        assert endpoint.most_under_way == then
    else:
        assert max(len(progress.in_flight) for progress in heard.progress[-3:]) <= then


def test_wishes_at_the_end_harm_nobody(endpoint: Scripted, store_path: Path) -> None:
    """A person may press Ctrl-C in the very moment in which the run ends."""
    over = threading.Event()

    def pester(control: Control) -> None:
        while not over.wait(0.001):
            control.limit(4)
            control.pause()
            control.go_on()

    heard = Heard()
    thread = threading.Thread(target=pester, args=(heard.control,))
    thread.start()
    try:
        run_corpus(store_path, corpus(20), chat_plan(endpoint.url), heard)
    finally:
        over.set()
        thread.join()
    assert heard.finished.state is RunState.COMPLETE
    heard.control.drain()
    heard.control.stop()


class Till:
    """Adds up what the endpoint would charge, hung and broken calls included."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.charged = 0.0

    def __call__(self, asked: Asked) -> Answer:
        size = len(json.dumps(asked.body, ensure_ascii=False).encode())
        prompt, output = self.dice.randrange(size), self.dice.randrange(41)
        kind = self.dice.choice(["good"] * 6 + ["hangs", "breaks", "429", "500"])
        if kind in {"429", "500"}:
            return error(int(kind))
        self.charged += (prompt * 100 + output * 1000) / 1e6
        usage = {"prompt_tokens": prompt, "completion_tokens": output}
        reply = json.dumps(completion(asked.source.upper(), usage=usage)).encode()
        if kind == "hangs":
            return Answer(body=reply, seconds=2)
        return Answer(body=reply, cut_after=9 if kind == "breaks" else None)


@pytest.mark.parametrize("seed", first(1, [1, 2, 3]))
def test_budget_holds_on_resume(
    endpoint: Scripted, store_path: Path, prices: Path, seed: int
) -> None:
    till = Till(seed)
    endpoint.answer = till
    plan = chat_plan(
        endpoint.url, prices=prices, max_tokens=40,
        run={"budget_usd": 1.2, "concurrency": 8, "timeout_seconds": 0.3, "most_attempts": 1},
    )  # fmt: skip
    heard = run_corpus(store_path, corpus(40), plan)
    for _ in range(4):
        if heard.finished.state is RunState.COMPLETE:
            break
        heard = resume(store_path)
        assert till.charged <= 1.2
    last = heard.progress[-1]
    assert till.charged <= last.spent_usd + 1e-9 <= 1.2 + 1e-9
    assert last.budget_usd == 1.2
    assert till.charged > 0.3


def test_money_of_a_stop_counts(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    """Calls that were broken off may have been charged, though no row tells of them."""
    endpoint.answer = lambda asked: translated(asked, seconds=0 if asked.number < 3 else 30)
    plan = chat_plan(endpoint.url, prices=prices, max_tokens=40, run={"budget_usd": 1.0})
    heard = run_corpus(store_path, corpus(12), plan, Heard(react=after(3, Control.stop)))
    rows = sum(each.spent_usd or 0 for each in kept(store_path).results)
    assert heard.progress[-1].spent_usd > rows
    endpoint.answer = translated
    again = Heard()
    resume(store_path, again)
    assert again.progress[0].spent_usd == pytest.approx(heard.progress[-1].spent_usd)


def test_reached_budget_stops_a_run(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    plan = chat_plan(endpoint.url, prices=prices, max_tokens=40, run={"budget_usd": 0.2})
    heard = run_corpus(store_path, corpus(24), plan)
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.reason is not None
    assert heard.finished.reason.startswith("The next call could cost up to $")
    assert "left of the budget of $0.2: raise it, or allow fewer" in heard.finished.reason
    assert 0 < heard.finished.done < 24
    resumed = resume(store_path, budget_usd=50.0)
    assert resumed.finished.state is RunState.COMPLETE
    assert resumed.progress[-1].budget_usd == 50
    assert set(asked_for(endpoint).values()) == {1}


SECRET = "the medicine bundle"


def test_secret_entries_never_leave_this_machine(store_path: Path) -> None:
    for segment in ("gold_standard", "held_out"):
        given = corpus(3, segment=segment, source=SECRET)
        with pytest.raises(UsageError, match="secret segment") as caught:
            run_corpus(store_path, given, chat_plan("https://api.model.example/v1"))
        assert SECRET not in str(caught.value)


def test_secret_entries_are_kept_nowhere_else(
    endpoint: Scripted, store_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []
    listeners = [PlainLines(said.append), JsonLines(said.append, set(range(8)))]

    def react(event: Event, _: Control) -> None:
        for listener in listeners:
            listener(event)

    def answer(asked: Asked) -> Answer:
        kinds = [error(500, asked.source), error(400, asked.source), translated(asked)]
        return kinds[asked.number % 3]

    endpoint.answer = answer
    given = corpus(8, segment="held_out", source=SECRET, reference=f"{SECRET} reference")
    for _ in range(2):
        run_corpus(store_path, given, chat_plan(endpoint.url), Heard(react=react))
    assert len(endpoint.asked) == 16  # never answered from the cache
    assert query(store_path, "SELECT count(*) FROM replies") == [(0,)]
    rows = kept(store_path).results
    assert {each.error_class for each in rows} == {ErrorClass.SERVER, ErrorClass.REQUEST, None}
    assert not any(SECRET.lower() in (each.error or "").lower() for each in rows)
    everything = "\n".join(said) + caplog.text
    assert SECRET.lower() not in everything.lower()
    assert any(json.loads(line).get("withheld") for line in said if line.startswith("{"))


WISHES: dict[str, Callable[[Control], None]] = {
    name: getattr(Control, name) for name in ("pause", "go_on", "drain", "stop")
}


def test_severity_of_wishes_and_what_the_listener_hears() -> None:
    for wishes, state in (
        ("", RunState.RUNNING),
        ("pause", RunState.PAUSED),
        ("pause go_on", RunState.RUNNING),
        ("go_on", RunState.RUNNING),
        ("drain", RunState.DRAINING),
        ("drain go_on", RunState.DRAINING),
        ("drain pause", RunState.DRAINING),
        ("pause drain", RunState.DRAINING),
        ("drain stop", RunState.STOPPED),
        ("stop drain", RunState.STOPPED),
        ("stop go_on", RunState.STOPPED),
        ("pause stop pause", RunState.STOPPED),
    ):
        control = Control()
        for wish in wishes.split():
            WISHES[wish](control)
        assert control.state is state, wishes
    heard: list[RunState] = []
    control = Control()
    control.listen(lambda: heard.append(control.state))
    for wish in ["pause", "pause", "go_on", "go_on", "drain", "drain", "stop", "stop"]:
        WISHES[wish](control)
    assert heard == [RunState.PAUSED, RunState.RUNNING, RunState.DRAINING, RunState.STOPPED]
    assert control.most_concurrency is None
    control.limit(0)
    assert control.most_concurrency == 1


def test_signal_in_the_middle_of_a_wish_does_not_block() -> None:
    """Python runs signal handlers between any two steps of the main thread, inside a lock too."""
    control = Control()
    before = signal.signal(signal.SIGUSR1, lambda *_: control.stop())
    try:
        with control._lock:  # the step of a wish at which the signal comes
            os.kill(os.getpid(), signal.SIGUSR1)
            while control.state is not RunState.STOPPED:
                pass
    finally:
        signal.signal(signal.SIGUSR1, before)
