"""Replies of chat-completions endpoints, well-formed and not."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.calls import Reply
from harness.core.failures import CallError, ErrorClass, NoCredit, RateLimited, Refused, Transient
from harness.methods.completions import cleaned, output_of, read_completion
from tests.harness.methods.conftest import completion


def choice(message: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message} | more]}


def test_a_whole_reply() -> None:
    reply = read_completion(completion("tânisi"))
    assert reply.text == "tânisi"
    assert reply.model_id == "model-2025-01-01"
    assert reply.finish_reason == "stop"
    assert reply.complete
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (19, 10)


@pytest.mark.parametrize(
    ("reply", "kind", "error_class"),
    [
        # OpenRouter reports the upstream's failure inside a reply of status 200
        ({"error": {"code": 429, "message": "Rate limit"}}, RateLimited, ErrorClass.RATE_LIMIT),
        ({"error": {"code": 502, "message": "Bad gateway"}}, Transient, ErrorClass.SERVER),
        ({"error": {"code": 408, "message": "Timed out"}}, Transient, ErrorClass.TIMEOUT),
        ({"error": {"code": "401", "message": "No auth"}}, Refused, ErrorClass.AUTH),
        ({"error": {"code": 402, "message": "Credits"}}, NoCredit, ErrorClass.REQUEST),
        ({"error": {"code": 400, "message": "Bad model"}}, Refused, ErrorClass.REQUEST),
        (
            {"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["x"]}}},
            Refused,
            ErrorClass.FILTERED,
        ),
        ({"error": "overloaded"}, Transient, ErrorClass.SERVER),
        ({"error": {"code": "server_error"}}, Transient, ErrorClass.SERVER),
        (
            {"choices": [{"error": {"code": 502, "message": "cut"}, "message": {"content": "x"}}]},
            Transient,
            ErrorClass.SERVER,
        ),
        ({}, Transient, ErrorClass.MALFORMED),
        ([], Transient, ErrorClass.MALFORMED),
        ("text", Transient, ErrorClass.MALFORMED),
        ({"choices": []}, Transient, ErrorClass.MALFORMED),
        ({"choices": {}}, Transient, ErrorClass.MALFORMED),
        ({"choices": [None]}, Transient, ErrorClass.MALFORMED),
        ({"choices": [{"text": "old shape"}]}, Transient, ErrorClass.MALFORMED),
        (choice({"content": 5}), Transient, ErrorClass.MALFORMED),
        (choice({"content": None, "tool_calls": [{"id": 1}]}), Transient, ErrorClass.MALFORMED),
        (choice({"content": None, "tool_calls": {}}), Transient, ErrorClass.MALFORMED),
    ],
)
def test_errors_within_a_200(reply: Any, kind: type[CallError], error_class: ErrorClass) -> None:
    with pytest.raises(kind) as caught:
        read_completion(reply)
    assert caught.value.error_class is error_class


def test_the_provider_s_words_about_a_secret_text_are_not_repeated() -> None:
    reply = {"error": {"code": 400, "message": "cannot translate 'the secret sentence'"}}
    with pytest.raises(Refused, match="the secret sentence"):
        read_completion(reply, quote=True)
    with pytest.raises(Refused) as caught:
        read_completion(reply, quote=False)
    assert "secret" not in str(caught.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "choices", "message", "content", "usage", "code", "tool_calls"]
            ),
            inside,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_gives_a_reply_or_a_named_failure(reply: Any) -> None:
    with suppress(CallError):
        assert isinstance(read_completion(reply), Reply)


def test_contents_in_parts_and_refusals() -> None:
    parts = [{"type": "text", "text": "tân"}, {"type": "image"}, {"type": "text", "text": "isi"}]
    assert read_completion(choice({"content": parts})).text == "tânisi"
    refused = read_completion(choice({"content": None, "refusal": "I cannot"}))
    assert output_of(refused).error_class is ErrorClass.FILTERED
    assert read_completion(choice({"content": "a\ud800b"})).text == "a\ufffdb"


@pytest.mark.parametrize(
    ("text", "finish_reason", "error_class"),
    [
        ("half a sen", "length", ErrorClass.TRUNCATED),
        ("", "content_filter", ErrorClass.FILTERED),
        (" \n", "stop", ErrorClass.EMPTY),
        ("<think>on and on", None, ErrorClass.EMPTY),
        ("```\n```", "stop", ErrorClass.EMPTY),
    ],
)
def test_no_output(text: str, finish_reason: str | None, error_class: ErrorClass) -> None:
    output = output_of(Reply(text, finish_reason=finish_reason))
    assert output.text is None
    assert output.error_class is error_class


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (" tânisi \n", "tânisi"),
        ("```\ntânisi\n```", "tânisi"),
        ("```text\ntânisi\nnitôtêm\n```", "tânisi\nnitôtêm"),
        ("<think>hello is tânisi</think>\n\ntânisi", "tânisi"),
        ("hello is tânisi\n</think>\ntânisi", "tânisi"),
        ("<think>a</think>```\ntânisi\n```", "tânisi"),
        # what may belong to the translation stays
        ("“tânisi”", "“tânisi”"),
        ('"tânisi"', '"tânisi"'),
        ("Here is the translation: tânisi", "Here is the translation: tânisi"),
        ("Use ```code``` here", "Use ```code``` here"),
        ("```\na\n```\nand\n```\nb\n```", "```\na\n```\nand\n```\nb\n```"),
        ("a <think> b </think> c", "a <think> b </think> c"),
    ],
)
def test_only_provable_wrapping_is_taken_off(reply: str, kept: str) -> None:
    assert cleaned(reply) == kept
