"""Tokens and money of calls: parted among entries, added up again, nothing twice and nothing lost."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from harness.core.run_state import RunState
from tests.harness.evaluation import chat_plan, corpus, kept, run_corpus
from tests.harness.scripted import Answer, Asked, Scripted, completion, error, json_answer


def test_one_lost_batch_is_one_failure_however_large(endpoint: Scripted, store_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        return error(500) if asked.number == 1 else json_answer(completion(batch_reply(asked)))

    endpoint.answer = answer
    plan = chat_plan(endpoint.url, batch_size=20, run={"concurrency": 1})
    heard = run_corpus(store_path, corpus(100), plan)
    assert heard.finished.state is RunState.COMPLETE
    assert heard.finished.failed == 20


def batch_reply(asked: Asked) -> str:
    """Answer a batch, a JSON object keyed by number, in capitals."""
    found = json.loads(asked.source)
    return json.dumps({number: text.upper() for number, text in found.items()})


def test_tokens_and_cost_of_a_batch_are_parted_without_a_rest(
    endpoint: Scripted, store_path: Path
) -> None:
    usage = {
        "prompt_tokens": 101, "completion_tokens": 53, "cost": 0.0077,
        "prompt_tokens_details": {"cached_tokens": 31},
        "completion_tokens_details": {"reasoning_tokens": 22},
    }  # fmt: skip
    endpoint.answer = lambda asked: json_answer(completion(batch_reply(asked), usage=usage))
    run_corpus(store_path, corpus(7), chat_plan(endpoint.url, batch_size=7))
    rows = kept(store_path).results
    assert len(endpoint.asked) == 1
    assert [each.output for each in rows] == [f"ENTRY NUMBER {n}" for n in range(7)]
    assert sum(each.prompt_tokens or 0 for each in rows) == 101
    assert sum(each.completion_tokens or 0 for each in rows) == 53
    assert sum(each.cached_tokens or 0 for each in rows) == 31
    assert sum(each.reasoning_tokens or 0 for each in rows) == 22
    assert max(r.prompt_tokens or 0 for r in rows) - min(r.prompt_tokens or 0 for r in rows) == 1
    assert sum(each.cost_usd or 0 for each in rows) == pytest.approx(0.0077)
    assert {each.batch_size for each in rows} == {7}


SHAPES: list[tuple[dict[str, Any], tuple[int, int, int, int]]] = [
    ({"prompt_tokens": 9, "completion_tokens": 4}, (9, 4, 0, 0)),
    (
        {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 20,
         "prompt_tokens_details": {"cached_tokens": 5}},
        (9, 11, 7, 5),
    ),
    (
        {"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5,
         "output_tokens": 3},
        (105, 3, 0, 90),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("usage", "tokens"), SHAPES)
def test_each_providers_tokens_reach_the_rows_once(
    endpoint: Scripted, store_path: Path, usage: dict[str, Any], tokens: tuple[int, int, int, int]
) -> None:
    endpoint.answer = lambda asked: json_answer(completion("x", usage=usage))
    run_corpus(store_path, corpus(1), chat_plan(endpoint.url))
    [row] = kept(store_path).results
    found = (row.prompt_tokens, row.completion_tokens, row.reasoning_tokens, row.cached_tokens)
    assert found == tokens


def test_costs_and_tokens_of_the_rows_add_up_to_the_runs(
    endpoint: Scripted, store_path: Path
) -> None:
    dice = random.Random(7)

    def answer(asked: Asked) -> Answer:
        usage = {"prompt_tokens": dice.randrange(999), "completion_tokens": dice.randrange(99),
                 "cost": dice.random() / 100}  # fmt: skip
        return json_answer(completion("x", usage=usage))

    endpoint.answer = answer
    heard = run_corpus(store_path, corpus(40), chat_plan(endpoint.url))
    rows, card = kept(store_path).results, kept(store_path).card
    assert card is not None
    cost = sum(each.cost_usd or 0 for each in rows)
    assert heard.progress[-1].cost_usd == pytest.approx(cost)
    assert heard.progress[-1].spent_usd == pytest.approx(cost)
    assert heard.progress[-1].tokens == sum(each.total_tokens or 0 for each in rows)
    assert card["cost"]["total_cost_usd"] == pytest.approx(cost)
