"""Each service's shape, as its documentation shows it, and replies, well-formed and not, over a real local server."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Segment
from harness.core.calls import Reply, Request
from harness.core.failures import (
    CallError,
    ErrorClass,
    NoCredit,
    RateLimited,
    Refused,
    Transient,
    UsageError,
)
from harness.method.completions import cleaned, output_of, read_completion
from harness.method.method import Method, MethodClass
from harness.method.options import MethodOptions
from harness.methods.registry import build
from tests.harness.methods.conftest import HttpCalls, Server, completion, entry

KEY = "k-secret"
REPLIES: dict[str, Any] = {
    "deepl": {
        "translations": [
            {"detected_source_language": "EN", "text": "Hund"},
            {"detected_source_language": "EN", "text": "Katze"},
        ]
    },
    "google": {"data": {"translations": [{"translatedText": "Hund"}, {"translatedText": "Katze"}]}},
    "microsoft": [
        {"translations": [{"text": "Hund", "to": "de"}]},
        {"translations": [{"text": "Katze", "to": "de"}]},
    ],
    "libretranslate": {"translatedText": ["Hund", "Katze"]},
}
BODIES: dict[str, Any] = {
    "deepl": {"text": ["dog", "cat"], "source_lang": "EN", "target_lang": "DE"},
    "google": {"q": ["dog", "cat"], "source": "en", "target": "de", "format": "text"},
    "microsoft": [{"Text": "dog"}, {"Text": "cat"}],
    "libretranslate": {
        "q": ["dog", "cat"],
        "source": "en",
        "target": "de",
        "format": "text",
        "api_key": KEY,
    },
}
HEADERS = {
    "deepl": ("authorization", f"DeepL-Auth-Key {KEY}"),
    "google": ("x-goog-api-key", KEY),
    "microsoft": ("ocp-apim-subscription-key", KEY),
    "libretranslate": ("content-type", "application/json"),
}


def make(name: str, url: str | None, target: str = "de", **given: Any) -> Method:
    asked = MethodOptions(
        source_language="en", target_language=target, batch_size=2, endpoint=url, **given
    )
    return build(f"api:{name}", asked, (), lambda _: KEY)


@pytest.mark.parametrize("name", REPLIES)
async def test_each_service(server: Server, calls: HttpCalls, name: str) -> None:
    server.answer = lambda _: REPLIES[name]
    method = make(name, server.url + "/t")
    outputs = await method.translate([entry("dog"), entry("cat", 2)], calls)
    assert [output.text for output in outputs] == ["Hund", "Katze"]
    [received] = server.received
    assert received.body == BODIES[name]
    header, value = HEADERS[name]
    assert received.headers[header] == value
    assert KEY not in received.path
    [request] = calls.requests
    assert KEY not in repr(request.body)
    assert request.characters == 6
    assert method.setup.method_class is MethodClass.API
    assert method.setup.model_slug == name


async def test_microsoft_names_languages_and_region(server: Server, calls: HttpCalls) -> None:
    server.answer = lambda _: REPLIES["microsoft"][:1]
    await make("microsoft", server.url, "zh", region="canadacentral").translate(
        [entry("dog")], calls
    )
    assert server.received[0].path == "/?api-version=3.0&from=en&to=zh-Hans"
    assert server.received[0].headers["ocp-apim-subscription-region"] == "canadacentral"


@pytest.mark.parametrize("name", REPLIES)
@pytest.mark.parametrize(
    "reply",
    [{}, [], "x", None, {"translations": None}, {"data": []}, [{"translations": []}], [None, None]],
)
async def test_other_shapes_are_malformed(
    server: Server, calls: HttpCalls, name: str, reply: Any
) -> None:
    server.answer = lambda _: reply
    with pytest.raises(Transient) as caught:
        await make(name, server.url).translate([entry("dog"), entry("cat")], calls)
    assert caught.value.error_class is ErrorClass.MALFORMED


@pytest.mark.parametrize("name", REPLIES)
async def test_a_wrong_number_of_translations_is_never_matched_up(
    server: Server, calls: HttpCalls, name: str
) -> None:
    server.answer = lambda _: REPLIES[name]
    with pytest.raises(CallError):
        await make(name, server.url).translate([entry("dog")], calls)


async def test_empty_and_secret(server: Server, calls: HttpCalls) -> None:
    server.answer = lambda _: {"translatedText": ["", "Katze"]}
    hidden = entry("cat", 2, Segment.HELD_OUT)
    first, second = await make("libretranslate", server.url).translate(
        [entry("dog"), hidden], calls
    )
    assert first.error_class is ErrorClass.EMPTY
    assert second.text == "Katze"
    assert calls.requests[0].cacheable is False


async def test_where_the_calls_go_and_what_they_cost() -> None:
    sent: list[Request] = []

    class Keep:
        async def send(self, request: Request) -> Any:
            sent.append(request)
            raise Transient(ErrorClass.OFFLINE, "not sent")

    for name, key in (("deepl", "k:fx"), ("deepl", "k"), ("google", "k"), ("libretranslate", "")):
        asked = MethodOptions(source_language="en", target_language="pt-BR")
        method = build(f"api:{name}", asked, (), lambda _, key=key: key or None)  # type: ignore[misc]
        with pytest.raises(Transient):
            await method.translate([entry("dog")], Keep())
    free, paid, google, libre = sent
    assert free.url == "https://api-free.deepl.com/v2/translate"
    assert paid.url == "https://api.deepl.com/v2/translate"
    assert paid.body["target_lang"] == "PT-BR"  # type: ignore[call-overload]
    assert google.price is not None
    assert google.price.per_million_characters == 20
    assert libre.price is not None
    assert "local" in libre.price.source
    assert not libre.body_secrets


def test_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = MethodOptions(source_language="en", target_language="de")
    with pytest.raises(UsageError, match=r"api:deepl\|google\|microsoft\|libretranslate"):
        build("api", asked)
    with pytest.raises(UsageError, match="DEEPL_API_KEY"):
        build("api:deepl", asked)
    with pytest.raises(UsageError, match="at most 50"):
        build("api:deepl", asked.model_copy(update={"batch_size": 51}))
    with pytest.raises(UsageError, match="--region does not apply"):
        build("api:deepl", asked.model_copy(update={"region": "x"}))
    with pytest.raises(UsageError, match="does not fit"):
        build("api:deepl", asked.model_copy(update={"service": "google"}))
    assert build("api", asked.model_copy(update={"service": "libretranslate"})).setup.method == (
        "api:libretranslate"
    )


async def test_no_key_shows_when_a_request_is_printed(server: Server, calls: HttpCalls) -> None:
    for name, reply in REPLIES.items():
        server.answer = lambda _, reply=reply: reply  # type: ignore[misc]
        await make(name, server.url).translate([entry("dog"), entry("cat", 2)], calls)
    assert KEY not in repr(calls.requests)


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
