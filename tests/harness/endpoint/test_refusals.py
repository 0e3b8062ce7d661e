"""What an endpoint says when it refuses: its words are repeated, and its wish for another name is met."""

import asyncio
from typing import Any

import pytest

from harness.endpoint.client import EndpointClient
from tests.harness.endpoint.sending import HERE, KEY, failure, request
from tests.harness.scripted import Answer, Asked, Scripted, completion, error, json_answer


@pytest.mark.parametrize(("body", "words"), [
    ({"detail": [{"loc": ["body", "x"], "msg": "bad", "input": "x"}]}, "body.x: bad"), ({"detail": "bad"}, "bad"),
    ({"errors": [{"message": "bad"}, {"message": "worse"}]}, "bad; worse"), ({"error": "bad"}, "bad"),
    ({"msg": "bad"}, "bad"), ([{"error": {"message": "bad"}}], "bad"), ({"title": "T", "detail": "bad"}, "bad; T"),
    ({"error": {"message": "Provider error", "metadata": {"raw": '{"error": {"message": "bad"}}'}}}, "Provider error; bad"),
    ({"Message": "bad"}, "bad"), ({"info": "bad"}, '{"info": "bad"}'), ({"code": "bad"}, '{"code": "bad"}'),
    ("bad", "bad"), ({"error": {"message": f"key {KEY}"}}, "key •••"),
])  # fmt: skip
def test_words_of_an_error_are_repeated(endpoint: Scripted, body: Any, words: str) -> None:
    endpoint.answer = lambda _: json_answer(body, 422)
    assert str(failure(request(endpoint.url))) == f"HTTP 422: {words}"
    assert str(failure(request(endpoint.url, cacheable=False))) == "HTTP 422"
    wrapped = body if isinstance(body, dict) and "error" in body else {"error": body}
    endpoint.answer = lambda _: json_answer(wrapped)
    told = "The provider answered with error without a code"
    assert str(failure(request(endpoint.url))) == f"{told}: {words}"


LIMIT = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."


@pytest.mark.parametrize("refusal", [
    error(400, LIMIT), json_answer({"detail": LIMIT}, 422), Answer(400, LIMIT.encode()),
])  # fmt: skip
def test_name_of_the_output_limit_is_learned_once(endpoint: Scripted, refusal: Answer) -> None:
    def answer(asked: Asked) -> Answer:
        return refusal if "max_tokens" in asked.body else json_answer(completion("whole"))

    async def ask_often() -> None:
        client = EndpointClient(HERE, timeout_seconds=20)
        try:
            for _ in range(3):
                assert (await client.send(asked))[0].text == "whole"
        finally:
            await client.close()

    endpoint.answer = answer
    asked = request(endpoint.url, body={"model": "m", "max_tokens": 50, "messages": []})
    asyncio.run(ask_often())
    names = [[name for name in each.body if "tokens" in name] for each in endpoint.asked]
    assert names == [["max_tokens"]] + [["max_completion_tokens"]] * 3
    assert "max_tokens" in asked.body  # what is looked up is the request as it was made
    for words, times_asked in ((LIMIT, 2), ("no such model", 1)):
        endpoint.asked.clear()
        endpoint.answer = lambda _, words=words: error(400, words)  # type: ignore[misc]
        assert failure(asked).status == 400
        assert len(endpoint.asked) == times_asked
