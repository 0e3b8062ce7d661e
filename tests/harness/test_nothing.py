"""A run in which nothing worked is not sealed; one whose outputs are worthless is."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.events import RunState
from tests.harness.evaluation import chat_plan, corpus, resume, run_corpus
from tests.harness.scripted import Asked, Scripted, completion, json_answer


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_run_without_any_output_is_not_sealed_and_can_be_mended(
    endpoint: Scripted, store_path: Path, status: int
) -> None:
    endpoint.answer = lambda _: json_answer({"error": {"message": "no such thing"}}, status)
    first = run_corpus(store_path, corpus(2), chat_plan(endpoint.url))
    assert first.finished.state is RunState.STOPPED
    assert first.finished.card_hash is None
    assert f"HTTP {status}" in (first.finished.reason or "")

    again = resume(store_path)
    assert again.finished.state is RunState.STOPPED, "asking for nothing mends nothing"

    endpoint.answer = lambda asked: json_answer(completion(asked.source.upper()))
    mended = resume(store_path, retry_failed=True)
    assert mended.finished.state is RunState.COMPLETE
    assert mended.finished.failed == 0


def test_one_output_is_enough_for_a_card(endpoint: Scripted, store_path: Path) -> None:
    def answer(asked: Asked) -> object:
        good = asked.source.endswith("1")
        return json_answer(completion("x") if good else {"error": "no"}, 200 if good else 400)

    endpoint.answer = answer  # type: ignore[assignment]
    assert run_corpus(store_path, corpus(3), chat_plan(endpoint.url)).finished.card_hash


def test_empty_outputs_are_a_result(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda _: json_answer(completion(""))
    heard = run_corpus(store_path, corpus(3), chat_plan(endpoint.url))
    assert heard.finished.failed == 3
    assert heard.finished.card_hash


def test_a_local_server_that_is_not_there_is_asked_after(store_path: Path) -> None:
    plan = chat_plan("http://127.0.0.1:9/v1")
    reason = run_corpus(store_path, corpus(2), plan).finished.reason or ""
    assert "Is the server running?" in reason
