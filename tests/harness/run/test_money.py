"""A budget in a whole run: against failures that cost, kills, and endpoints that charge more than they may."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from harness.card.checking.verify_card import verify_card
from harness.card.model import card_hash
from harness.core.calls import Calls, Price, Reply, Request
from harness.core.failures import CallError, ErrorClass, HarnessError, RateLimited, RunState, Transient, UsageError
from harness.endpoint.budget import Spending, most_cost
from harness.endpoint.limiter import RetryPolicy
from harness.method.options import MethodOptions
from harness.privacy import NO_CORPUS
from harness.run import asking as asking_module
from harness.run.asking import Asking
from harness.run.events import Control, EntryScored, Event, Finished
from harness.run.following import Follower
from harness.setup.plan import Plan, RunOptions
from harness.store.annotations import AnnotationRow, keep_annotations, read_annotations
from harness.store.live_runs import begin_stretch, pay_stretch, spent_usd
from harness.store.replies import add_replies
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.report.card import card_text
from scoring.core.setup import Translation
from tests.harness.evaluation import (
    LANGUAGES,
    Heard,
    begun,
    chat_plan,
    corpus,
    kept,
    query,
    resume,
    run_corpus,
    whole_card,
)
from tests.harness.process import spawn
from tests.harness.run.made import constant
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples

USAGE = {"prompt_tokens": 20, "completion_tokens": 10}
COST = (20 * 100 + 10 * 1000) / 1e6
"""US dollars for this usage at the scripted price."""
FILTERED = {"code": 403, "message": "flagged", "metadata": {"reasons": ["x"]}}
SPENT = "SELECT sum(spent_usd) FROM stretches"


def budgeted(url: str, prices: Path, cap: float = 50.0, **run: Any) -> Plan:
    return chat_plan(url, prices=prices, max_tokens=40, run={"budget_usd": cap, **run})


def most(asked: Asked) -> float:
    """Return the most that a request may cost: a token for each byte, and all output that it allows."""
    size = len(json.dumps(asked.body, ensure_ascii=False).encode())
    return ((size + 64) * 100 + 40 * 1000) / 1e6


def test_failure_with_usage_costs_it(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    replies: list[dict[str, Any]] = [
        {"error": FILTERED, "usage": USAGE},
        {"error": {"code": 502, "message": "upstream"}, "usage": USAGE},
        {"error": {"code": 429, "message": "slow"}, "usage": USAGE},
        {"choices": [{"error": {"code": 502}, "message": {"content": "h"}}], "usage": USAGE},
        {"choices": "none", "usage": USAGE},
        {"choices": [{"message": {"content": "h"}, "finish_reason": "abort"}], "usage": USAGE},
        {"error": FILTERED, "usage": {"prompt_tokens": 1, "cost": COST}},
    ]
    size = len(replies)
    endpoint.answer = lambda asked: json_answer(replies[int(asked.source.split()[-1])])
    heard = run_corpus(store_path, corpus(size), budgeted(endpoint.url, prices))
    assert (heard.finished.failed, heard.finished.budget_reached) == (size, False)
    assert [row.spent_usd for row in kept(store_path).results] == [pytest.approx(COST)] * size
    last = heard.progress[-1]
    assert (last.spent_usd, last.cost_usd) == (pytest.approx(size * COST),) * 2
    assert query(store_path, SPENT) == [(pytest.approx(size * COST),)]


@pytest.mark.parametrize("status", [302, 400, 404, 422, 429, 500, 503])
def test_billed_failure_counts_whatever_its_status(endpoint: Scripted, store_path: Path, prices: Path, status: int) -> None:  # fmt: skip
    """Two failures that cost to one answer: the budget ends before a call that could pass it."""
    bill = {"usage": {"cost": 1.0}}
    shapes: dict[int, Any] = {
        400: {"error": {"message": "no", **bill}}, 422: [{"error": {"message": "no"}, **bill}],
        429: {"error": {"message": "no", "metadata": {"raw": json.dumps(bill)}}}, 503: {"error": "no", "response": bill},
    }  # fmt: skip
    failed = shapes.get(status, {"detail": "no", **bill})
    good = json_answer(completion("x", usage=USAGE))
    endpoint.answer = lambda asked: json_answer(failed, status) if asked.number % 3 else good
    plan = budgeted(endpoint.url, prices, 5.5, concurrency=1)
    heard = run_corpus(store_path, corpus(12), plan)
    assert heard.finished.budget_reached
    assert len(endpoint.asked) == 8
    assert query(store_path, SPENT) == [(pytest.approx(5 * 1.0 + 3 * COST),)]


@pytest.mark.parametrize(("answer", "share"), [
    (json_answer({"error": "overloaded"}, 500), 1), (Answer(503, b"<html>busy</html>"), 1), (Answer(408), 1),
    (Answer(cut_after=0), 1), (json_answer({"error": "slow"}, 429), 0), (json_answer({"error": "no"}, 400), 0),
])  # fmt: skip
def test_failure_after_the_request_was_taken_may_have_cost_all(
    endpoint: Scripted, store_path: Path, prices: Path, answer: Answer, share: int
) -> None:
    endpoint.answer = lambda _: answer
    heard = run_corpus(store_path, corpus(4), budgeted(endpoint.url, prices, 0.25))
    spent = share * sum(map(most, endpoint.asked))
    assert heard.finished.budget_reached == bool(share)
    assert query(store_path, SPENT) == [(pytest.approx(spent),)]
    assert spent <= 0.25
    costs = [row.cost_usd for row in kept(store_path).results]
    assert set(costs) == ({None} if share else {0.0})


@pytest.mark.parametrize(("code", "stored"), [(402, 0), (403, 0), (400, 2), (None, 2)])
def test_failure_that_states_nothing_may_have_cost_all(
    endpoint: Scripted, store_path: Path, prices: Path, code: int | None, stored: int
) -> None:
    """A refused key and an empty account stop the run before an entry is stored as failed."""
    endpoint.answer = lambda asked: json_answer(
        {"error": {"code": 502 if code == 400 and asked.number else code, "message": "no"}}
    )
    heard = run_corpus(store_path, corpus(2), budgeted(endpoint.url, prices))
    assert heard.progress[-1].spent_usd == pytest.approx(sum(map(most, endpoint.asked)))
    attempts = kept(store_path).attempts
    assert [[each.status for each in tried] for tried in attempts.values()] == stored * [[None]]


@pytest.mark.thorough
def test_killed_run_keeps_its_charges(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    process = spawn("begin", store_path, endpoint.url, 30, prices)

    def answer(asked: Asked) -> Answer:
        if asked.number == 0:
            return json_answer(completion("x", usage=USAGE))
        if asked.number == 4:
            os.kill(process.pid, signal.SIGKILL)
        return Answer(seconds=60 if asked.number < 4 else 0, cut_after=0)

    endpoint.answer = answer
    process.communicate(timeout=600)
    assert process.returncode == -signal.SIGKILL
    assert query(store_path, SPENT)[0][0] >= COST + sum(map(most, endpoint.asked[1:5])) - 1e-9


@pytest.mark.parametrize(("times", "connections"), [(1.0, 64), (50.0, 1), (50.0, 64), (5000.0, 64)])
def test_lying_price_passes_the_cap_by_one_call_at_most(
    endpoint: Scripted, store_path: Path, prices: Path, times: float, connections: int
) -> None:
    cost = times * COST
    billed = json_answer(completion("x", usage={**USAGE, "cost": cost}), seconds=0.02)
    endpoint.answer = lambda _: billed
    plan = budgeted(endpoint.url, prices, 8.0, concurrency=connections)
    heard = run_corpus(store_path, corpus(40), plan)
    taken = len(endpoint.asked) * cost
    assert taken <= 8.0 + cost
    assert taken == pytest.approx(query(store_path, SPENT)[0][0])
    if times == 1.0:
        assert heard.finished.done == 40
        assert endpoint.most_under_way > 1
    else:
        assert heard.finished.budget_reached
        assert f"{times:,g} times its listed price" in (heard.finished.reason or "")


def test_money_of_all_stretches_counts(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    """Each resumption spends as much as the stretch before, so that the highest is not the sum."""
    endpoint.answer = lambda _: json_answer(completion("x", usage={**USAGE, "cost": 1.0}))

    def stop(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored):
            control.stop()

    run_corpus(store_path, corpus(12), budgeted(endpoint.url, prices, 6.0), Heard(react=stop))
    for _ in range(3):
        resume(store_path, Heard(react=stop))
    before = len(endpoint.asked)
    assert 4 <= before < 7
    heard = resume(store_path)
    assert heard.finished.budget_reached
    assert len(endpoint.asked) <= 7
    assert query(store_path, SPENT) == [(pytest.approx(len(endpoint.asked)),)]
    assert heard.progress[0].spent_usd == pytest.approx(before)


def test_batch_shares_what_it_spent(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    endpoint.answer = lambda _: json_answer(completion("no", usage={**USAGE, "cost": 0.9}))
    plan = chat_plan(endpoint.url, prices=prices, max_tokens=40, batch_size=3, run={"budget_usd": 50.0})
    run_corpus(store_path, corpus(9), plan)
    spent = [amount for (amount,) in query(store_path, "SELECT spent_usd FROM results")]
    assert len(spent) == 9
    assert sum(spent) == pytest.approx(0.9 * len(endpoint.asked))
    assert sum(spent) == pytest.approx(query(store_path, SPENT)[0][0])


@pytest.mark.parametrize(("budget", "retried"), [(None, False), (50.0, True)])
def test_cost_of_a_broken_call_is_unknown(
    endpoint: Scripted, store_path: Path, prices: Path, budget: float | None, retried: bool
) -> None:
    """A reply cut off in its middle may have been charged: unknown is null, and totals say the least."""

    def answer(asked: Asked) -> Answer:
        good = json_answer(completion("x", usage=USAGE))
        return replace(good, cut_after=20) if asked.number == 1 else good

    endpoint.answer = answer
    run = {"most_attempts": 2 if retried else 1, "concurrency": 1, "budget_usd": budget}
    heard = run_corpus(store_path, corpus(4), chat_plan(endpoint.url, prices=prices, max_tokens=40, run=run))
    costs = [row.cost_usd for row in kept(store_path).results]
    assert costs == [pytest.approx(COST), None, pytest.approx(COST), pytest.approx(COST)]
    last = heard.progress[-1]
    known = 3 * COST
    assert (last.cost_usd, last.known_cost_usd) == (None, pytest.approx(known))
    card = kept(store_path).card
    assert card is not None
    told = card["cost"]
    assert told["total_cost_usd"] is None
    assert told["known_cost_usd"] == pytest.approx(known)
    assert told["reason"].startswith("1 of 4 entries have no known cost")
    whole = whole_card(store_path)
    assert verify_card(json.dumps(whole).encode()).ok
    older = whole | {"cost": {name: each for name, each in told.items() if name != "reason"}}
    older["run_card_hash"] = card_hash(older)
    assert verify_card(json.dumps(older).encode()).ok, "cards from before do not say why"
    assert "at least $0.036" in card_text(card)
    asked = len(endpoint.asked)
    assert asked == 5 if retried else asked == 4
    if budget is not None:
        reserved = most(endpoint.asked[1])
        assert query(store_path, SPENT) == [(pytest.approx((asked - 1) * COST + reserved),)]


def test_429_and_free_calls_cost_nothing(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    """The error says nothing of usage, so that nothing was used; its second try is answered."""

    def answer(asked: Asked) -> Answer:
        if asked.number == 0:
            return json_answer({"error": {"code": 429, "message": "slow"}})
        return json_answer(completion("x", usage=USAGE))

    endpoint.answer = answer
    heard = run_corpus(store_path, corpus(2), budgeted(endpoint.url, prices, most_attempts=2))
    assert heard.finished.failed == 0
    assert query(store_path, SPENT) == [(pytest.approx(2 * COST),)]
    endpoint.answer = lambda asked: replace(json_answer(completion("x")), cut_after=20 if asked.number == 1 else None)
    run_corpus(store_path, corpus(3), chat_plan(endpoint.url))
    assert [row.cost_usd for row in kept(store_path).results] == [0.0] * 3


def test_reason_of_a_stop_is_kept(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    def followed(path: Path) -> Finished:
        with closing(open_store(path)) as store, closing(Follower(path, find_run(store, "last").run_id)) as run:
            end = run.drain()[-1]
        assert isinstance(end, Finished)
        return end

    dear = json_answer(completion("x", usage={**USAGE, "cost": 3.0}), seconds=0.02)
    endpoint.answer = lambda _: dear  # far more than the price and the length of the call allow
    stopped = run_corpus(store_path, corpus(8), budgeted(endpoint.url, prices, 5.0)).finished
    again = followed(store_path)
    assert (again.reason, again.budget_reached) == (stopped.reason, True)
    assert "could cost" in (stopped.reason or "")

    resume(store_path, Heard(react=lambda _, control: control.stop()), budget_usd=100.0)
    again = followed(store_path)
    assert (again.state, again.reason, again.budget_reached) == (RunState.STOPPED, None, False)


ELSEWHERE = "https://llm.example.org/v1"
"""Never asked: what is wrong shows before."""
UNKNOWN = {
    "chat": {"endpoint": ELSEWHERE, "model": "nobody-knows-it"},
    "pipeline": {"endpoint": ELSEWHERE, "model": "nobody-knows-it"},
    "api:libretranslate": {"endpoint": ELSEWHERE},
}


def planned(method: str, cap: float | None, **options: Any) -> Plan:
    told = MethodOptions.model_validate({**LANGUAGES, **options})
    return Plan(method=method, options=told, run=RunOptions(budget_usd=cap, may_send="its owner"))


def test_budget_without_price_or_max_tokens_is_refused(store_path: Path, prices: Path) -> None:
    for method, options in UNKNOWN.items():
        with pytest.raises(UsageError, match=r"price of this model is unknown.*prices\.toml"):
            run_corpus(store_path, corpus(3), planned(method, 1.0, **options))
    assert query(store_path, "SELECT count(*) FROM runs") == [(0,)]
    begun(store_path, corpus(3), planned("chat", None, **UNKNOWN["chat"]))
    before = kept(store_path).run
    refuses(UsageError, "price of this model is unknown", resume, store_path, budget_usd=1.0)
    assert kept(store_path).run.plan == before.plan
    told = {"endpoint": "http://127.0.0.1:9/v1", "model": "mock", "prices": prices}
    refuses(UsageError, "--max-tokens", begun, store_path, corpus(3), planned("chat", 1.0, **told, max_tokens=None))
    begun(store_path, corpus(3), planned("chat", 1.0, **told))


ENTRIES = 5
PRICE = Price(100.0, 1000.0)
QUICK = RetryPolicy(most_attempts=2, first_wait=0.0, most_malformed=2)


class Numbered:
    """Puts as many questions for each translation as a conversation has turns."""

    id = "judge_semantic"
    slow = True
    apart = True
    maker = "numbered"
    endpoint: str | None = None

    def __init__(self, turns: int) -> None:
        self.turns = turns

    async def ask(self, translations: Sequence[Translation], calls: Calls) -> list[Any]:
        for turn in range(self.turns):
            await calls.send(question(f"{translations[0].entry.source}.{turn}"))
        return [[{"score": 1.0}] * self.turns]

    def check_budget(self) -> None:
        pass

    def close(self) -> None:
        pass


def question(text: str) -> Request:
    body = {"question": text}
    told: dict[str, Any] = {"price": PRICE, "most_completion_tokens": 10}
    return Request("p", "http://localhost/v1", body, lambda _: Reply(""), **told)


class Killed(BaseException):
    """The process is gone."""


class Endpoint:
    """Charges a share of the most that a call may cost, fails, or is the last that its caller sees."""

    def __init__(self, steps: Sequence[tuple[str, float]], store: Path) -> None:
        self.steps = list(steps)
        self.store = store
        self.charged = 0.0
        self.answered: list[str] = []
        self.copy: Path | None = None
        self._copies = count()

    def __call__(self, *_: Any, **__: Any) -> Endpoint:
        return self

    async def send(self, request: Request) -> tuple[Reply, int]:
        what, share = self.steps.pop(0) if self.steps else ("answer", 1.0)
        cost = share * most_cost(request)
        await asyncio.sleep(0)
        if what == "429":
            raise RateLimited("slow", 0.0)
        self.charged += cost
        if what == "kill":
            self.copy = self.store.with_name(f"killed-{next(self._copies)}.sqlite")
            with closing(sqlite3.connect(self.store)) as now:
                now.execute("VACUUM INTO ?", (str(self.copy),))
            raise Killed
        if what == "lost":
            raise Transient(ErrorClass.TIMEOUT, "No whole reply.")
        self.answered.append(request.body["question"])  # type: ignore[call-overload]
        return Reply("{}", reported_cost_usd=cost, finish_reason="stop"), 200

    async def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    path = tmp_path_factory.mktemp("histories") / "rosetta.sqlite"
    number, _ = begun(path, corpus(ENTRIES), constant())
    return path, number


def stretch(path: Path, run: int, cap: float, turns: int) -> list[Any] | None:
    """Ask about all outputs; None where it did not come to its end."""
    entries = [Entry(id=n, source=f"entry {n}", reference="r") for n in range(ENTRIES)]
    with closing(open_store(path)) as connection:
        spending = Spending(cap, spent_usd(connection, run))
        number = begin_stretch(connection, run)

        def keep(writer: sqlite3.Connection, replies: Any, rows: Any, committed: float) -> None:
            add_replies(writer, replies)
            keep_annotations(writer, run, rows)
            pay_stretch(writer, number, committed)

        def known(_: object) -> dict[int, AnnotationRow]:
            rows = read_annotations(connection, run, annotator="judge_semantic")
            return {r.position: r for r in rows if r.position is not None and r.value is not None}

        places = {entry.id: place for place, entry in enumerate(entries)}
        run_options = RunOptions(concurrency=3)
        asked = Asking(run_options, spending, NO_CORPUS, store=path, keep=keep, places=places, known=known)
        asked.policy = QUICK
        try:
            return asked(Numbered(turns), [Translation(entry, "an output") for entry in entries])
        except (Killed, HarnessError, CallError):
            return None


STEP = st.tuples(st.sampled_from(["answer", "answer", "answer", "429", "lost", "kill"]), st.floats(0, 1))


@examples(12, 1000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(STEP, max_size=25), calls=st.floats(0.5, 12),
    stretches=st.integers(1, 5), turns=st.integers(1, 3),
)  # fmt: skip
def test_budget_holds_and_nothing_is_asked_twice(
    fresh: tuple[Path, int], tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, float]], calls: float, stretches: int, turns: int,
) -> None:  # fmt: skip
    first, run = fresh
    path = tmp_path_factory.mktemp("history") / "rosetta.sqlite"
    shutil.copy(first, path)
    cap = calls * most_cost(question("entry 0.0"))
    endpoint = Endpoint(steps, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking_module, "EndpointClient", endpoint)
        for _ in range(stretches):
            endpoint.store, endpoint.copy = path, None
            found = stretch(path, run, cap, turns)
            assert endpoint.charged <= cap * (1 + 1e-9)
            if endpoint.copy is not None:  # all that the process did after its end never was
                path = endpoint.copy
            with closing(open_store(path)) as connection:
                assert spent_usd(connection, run) >= endpoint.charged * (1 - 1e-9)
            if found is not None:
                assert len(found) == ENTRIES
    if not any(what == "kill" for what, _ in steps):
        assert len(endpoint.answered) == len(set(endpoint.answered))
