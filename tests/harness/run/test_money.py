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
from harness.card.load import load_card
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


@pytest.mark.parametrize(
    "reply",
    [
        {"error": FILTERED, "usage": USAGE},
        {"error": {"code": 502, "message": "upstream"}, "usage": USAGE},
        {"error": {"code": 429, "message": "slow"}, "usage": USAGE},
        {"choices": [{"error": {"code": 502}, "message": {"content": "h"}}], "usage": USAGE},
        {"choices": "none", "usage": USAGE},
        {"error": FILTERED, "usage": {"prompt_tokens": 1, "cost": COST}},
    ],
)
def test_a_failure_that_says_what_it_used_costs_that(
    endpoint: Scripted, store_path: Path, prices: Path, reply: dict[str, Any]
) -> None:
    endpoint.answer = lambda _: json_answer(reply)
    heard = run_corpus(store_path, corpus(2), budgeted(endpoint.url, prices))
    assert heard.finished.failed == 2
    assert not heard.finished.budget_reached
    assert heard.progress[-1].spent_usd == pytest.approx(2 * COST)
    assert heard.progress[-1].cost_usd == pytest.approx(2 * COST)
    assert query(store_path, SPENT) == [(pytest.approx(2 * COST),)]


@pytest.mark.parametrize(("code", "stored"), [(402, 0), (403, 0), (400, 2), (502, 2), (None, 2)])
def test_a_failure_in_a_good_reply_that_says_nothing_may_have_cost_all(
    endpoint: Scripted, store_path: Path, prices: Path, code: int | None, stored: int
) -> None:
    """A refused key and an empty account stop the run before an entry is stored as failed."""
    endpoint.answer = lambda _: json_answer({"error": {"code": code, "message": "no"}})
    heard = run_corpus(store_path, corpus(2), budgeted(endpoint.url, prices))
    assert heard.progress[-1].spent_usd == pytest.approx(sum(map(most, endpoint.asked)))
    attempts = kept(store_path).attempts
    assert [[each.status for each in tried] for tried in attempts.values()] == stored * [[None]]


@pytest.mark.thorough
def test_a_kill_forgets_no_call_that_may_be_charged(
    endpoint: Scripted, store_path: Path, prices: Path
) -> None:
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


def test_once_a_call_cost_more_than_it_may_calls_go_alone_and_nearer_to_the_cap(
    endpoint: Scripted, store_path: Path, prices: Path
) -> None:
    endpoint.answer = dear
    plan = budgeted(endpoint.url, prices, 20.0, concurrency=4)
    heard = run_corpus(store_path, corpus(40), plan)
    assert heard.finished.state is RunState.STOPPED
    assert "could cost" in (heard.finished.reason or "")
    assert heard.finished.budget_reached
    assert heard.progress[-1].spent_usd <= 20.0
    assert endpoint.most_under_way == 1


@pytest.mark.parametrize("times", [1.0, 50.0, 5000.0])
@pytest.mark.parametrize("connections", [1, 64])
def test_an_endpoint_whose_price_lies_passes_the_cap_by_one_call_at_most(
    endpoint: Scripted, store_path: Path, prices: Path, times: float, connections: int
) -> None:
    cost = times * COST

    def billed(_: Asked) -> Answer:
        return json_answer(completion("x", usage={**USAGE, "cost": cost}), seconds=0.02)

    endpoint.answer = billed
    plan = budgeted(endpoint.url, prices, 8.0, concurrency=connections)
    heard = run_corpus(store_path, corpus(100), plan)
    taken = len(endpoint.asked) * cost
    assert taken <= 8.0 + cost
    assert taken == pytest.approx(query(store_path, SPENT)[0][0])
    if times == 1.0:
        assert heard.finished.done == 100
        assert connections == 1 or endpoint.most_under_way > 1
    else:
        assert heard.finished.budget_reached
        assert f"{times:,g} times its listed price" in (heard.finished.reason or "")


def test_the_money_of_all_stretches_counts(
    endpoint: Scripted, store_path: Path, prices: Path
) -> None:
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


def test_a_batch_shares_what_it_spent(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    endpoint.answer = lambda _: json_answer(completion("no", usage={**USAGE, "cost": 0.9}))
    plan = chat_plan(
        endpoint.url, prices=prices, max_tokens=40, batch_size=3, run={"budget_usd": 50.0}
    )
    run_corpus(store_path, corpus(9), plan)
    spent = [amount for (amount,) in query(store_path, "SELECT spent_usd FROM results")]
    assert len(spent) == 9
    assert sum(spent) == pytest.approx(0.9 * len(endpoint.asked))
    assert sum(spent) == pytest.approx(query(store_path, SPENT)[0][0])


@pytest.mark.parametrize("retried", [False, True])
@pytest.mark.parametrize("budget", [None, 50.0])
def test_money_that_a_broken_call_may_have_taken_is_unknown(
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
    with closing(open_store(store_path)) as connection:
        whole = load_card(connection, kept(store_path).run.id).as_json()
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


def test_a_broken_call_to_an_endpoint_that_charges_nothing_was_free(
    endpoint: Scripted, store_path: Path
) -> None:
    endpoint.answer = lambda asked: replace(
        json_answer(completion("x")), cut_after=20 if asked.number == 1 else None
    )
    run_corpus(store_path, corpus(3), chat_plan(endpoint.url))
    assert [row.cost_usd for row in kept(store_path).results] == [0.0] * 3


def test_a_429_within_a_good_reply_gives_its_money_back_but_what_it_used(
    endpoint: Scripted, store_path: Path, prices: Path
) -> None:
    """The error says nothing of usage, so that nothing was used; its second try is answered."""

    def answer(asked: Asked) -> Answer:
        if asked.number == 0:
            return json_answer({"error": {"code": 429, "message": "slow"}})
        return json_answer(completion("x", usage=USAGE))

    endpoint.answer = answer
    heard = run_corpus(store_path, corpus(2), budgeted(endpoint.url, prices, most_attempts=2))
    assert heard.finished.failed == 0
    assert query(store_path, SPENT) == [(pytest.approx(2 * COST),)]


def test_why_a_run_stopped_is_known_when_it_is_opened_again_until_it_went_on(
    endpoint: Scripted, store_path: Path, prices: Path
) -> None:
    endpoint.answer = dear
    stopped = run_corpus(store_path, corpus(8), budgeted(endpoint.url, prices, 5.0)).finished
    again = followed(store_path)
    assert (again.reason, again.budget_reached) == (stopped.reason, True)
    assert "could cost" in (stopped.reason or "")

    def stop(_: Event, control: Control) -> None:
        control.stop()

    resume(store_path, Heard(react=stop), budget_usd=100.0)
    again = followed(store_path)
    assert (again.state, again.reason, again.budget_reached) == (RunState.STOPPED, None, False)


def followed(path: Path) -> Finished:
    """Return the end of the newest run as another process sees it."""
    with (
        closing(open_store(path)) as store,
        closing(Follower(path, find_run(store, "last").run_id)) as run,
    ):
        end = run.drain()[-1]
    assert isinstance(end, Finished)
    return end


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


@pytest.mark.parametrize("method", UNKNOWN)
def test_a_budget_without_a_known_price_is_refused_before_anything_is_stored(
    store_path: Path, method: str
) -> None:
    with pytest.raises(UsageError, match=r"price of this model is unknown.*prices\.toml"):
        run_corpus(store_path, corpus(3), planned(method, 1.0, **UNKNOWN[method]))
    assert query(store_path, "SELECT count(*) FROM runs") == [(0,)]


def test_a_budget_without_a_bound_on_the_output_is_refused(store_path: Path, prices: Path) -> None:
    options = {"endpoint": "http://127.0.0.1:9/v1", "model": "mock", "prices": prices}
    with pytest.raises(UsageError, match="--max-tokens"):
        begun(store_path, corpus(3), planned("chat", 1.0, **options, max_tokens=None))
    begun(store_path, corpus(3), planned("chat", 1.0, **options))


def test_a_budget_that_cannot_be_kept_is_refused_on_going_on_too(store_path: Path) -> None:
    begun(store_path, corpus(3), planned("chat", None, **UNKNOWN["chat"]))
    before = kept(store_path).run
    with pytest.raises(UsageError, match="price of this model is unknown"):
        resume(store_path, budget_usd=1.0)
    assert kept(store_path).run.plan == before.plan
