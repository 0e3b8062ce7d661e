"""A budget in a whole run: against failures that cost, kills, and endpoints that charge more than they may."""

from __future__ import annotations

import json
import os
import signal
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.card.checking.verify import verify_card
from harness.card.seal import card_hash
from harness.core.failures import UsageError
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.following import Follower
from harness.events.kinds import EntryScored, Event, Finished
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.store.file.database import open_store
from harness.store.runs import find_run
from rosetta_tui.report.card import card_text
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
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer

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


def dear(asked: Asked) -> Answer:
    """Charge far more than the price and the length of the call allow."""
    return json_answer(completion("x", usage={**USAGE, "cost": 3.0}), seconds=0.02)


def test_dear_calls_go_alone(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    endpoint.answer = dear
    plan = budgeted(endpoint.url, prices, 20.0, concurrency=4)
    heard = run_corpus(store_path, corpus(40), plan)
    assert heard.finished.state is RunState.STOPPED
    assert "could cost" in (heard.finished.reason or "")
    assert heard.finished.budget_reached
    assert heard.progress[-1].spent_usd <= 20.0
    assert endpoint.most_under_way == 1


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
    plan = chat_plan(
        endpoint.url, prices=prices, max_tokens=40, batch_size=3, run={"budget_usd": 50.0}
    )
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
    heard = run_corpus(
        store_path, corpus(4), chat_plan(endpoint.url, prices=prices, max_tokens=40, run=run)
    )
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


def test_broken_call_to_a_free_endpoint_is_free(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: replace(
        json_answer(completion("x")), cut_after=20 if asked.number == 1 else None
    )
    run_corpus(store_path, corpus(3), chat_plan(endpoint.url))
    assert [row.cost_usd for row in kept(store_path).results] == [0.0] * 3


def test_429_in_a_reply_costs_nothing(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    """The error says nothing of usage, so that nothing was used; its second try is answered."""

    def answer(asked: Asked) -> Answer:
        if asked.number == 0:
            return json_answer({"error": {"code": 429, "message": "slow"}})
        return json_answer(completion("x", usage=USAGE))

    endpoint.answer = answer
    heard = run_corpus(store_path, corpus(2), budgeted(endpoint.url, prices, most_attempts=2))
    assert heard.finished.failed == 0
    assert query(store_path, SPENT) == [(pytest.approx(2 * COST),)]


def test_reason_of_a_stop_is_kept(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    def followed(path: Path) -> Finished:
        with (
            closing(open_store(path)) as store,
            closing(Follower(path, find_run(store, "last").run_id)) as run,
        ):
            end = run.drain()[-1]
        assert isinstance(end, Finished)
        return end

    endpoint.answer = dear
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


def test_budget_without_a_known_price_is_refused(store_path: Path) -> None:
    for method, options in UNKNOWN.items():
        with pytest.raises(UsageError, match=r"price of this model is unknown.*prices\.toml"):
            run_corpus(store_path, corpus(3), planned(method, 1.0, **options))
    assert query(store_path, "SELECT count(*) FROM runs") == [(0,)]
    begun(store_path, corpus(3), planned("chat", None, **UNKNOWN["chat"]))
    before = kept(store_path).run
    with pytest.raises(UsageError, match="price of this model is unknown"):
        resume(store_path, budget_usd=1.0)
    assert kept(store_path).run.plan == before.plan


def test_budget_without_max_tokens_is_refused(store_path: Path, prices: Path) -> None:
    options = {"endpoint": "http://127.0.0.1:9/v1", "model": "mock", "prices": prices}
    with pytest.raises(UsageError, match="--max-tokens"):
        begun(store_path, corpus(3), planned("chat", 1.0, **options, max_tokens=None))
    begun(store_path, corpus(3), planned("chat", 1.0, **options))
