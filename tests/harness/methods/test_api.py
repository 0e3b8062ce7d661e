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
from tests.review.thorough import examples

KEY = "k-secret"
REPLIES: dict[str, Any] = {
    "deepl": {"translations": [{"text": "Hund"}, {"text": "Katze"}]},
    "google": {"data": {"translations": [{"translatedText": "Hund"}, {"translatedText": "Katze"}]}},
    "microsoft": [{"translations": [{"text": each, "to": "de"}]} for each in ("Hund", "Katze")],
    "libretranslate": {"translatedText": ["Hund", "Katze"]},
}
GOOGLE = {"q": ["dog", "cat"], "source": "en", "target": "de", "format": "text"}
BODIES: dict[str, Any] = {
    "deepl": {"text": ["dog", "cat"], "source_lang": "EN", "target_lang": "DE"},
    "google": GOOGLE,
    "microsoft": [{"Text": "dog"}, {"Text": "cat"}],
    "libretranslate": {**GOOGLE, "api_key": KEY},
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
    method = make("microsoft", server.url, "zh", region="canadacentral")
    await method.translate([entry("dog")], calls)
    assert server.received[0].path == "/?api-version=3.0&from=en&to=zh-Hans"
    assert server.received[0].headers["ocp-apim-subscription-region"] == "canadacentral"


WRONG: list[Any] = [{}, [], "x", None, {"translations": None}, {"data": []}, [{"translations": []}], [None, None]]  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
async def test_other_shapes_are_malformed(server: Server, calls: HttpCalls, name: str) -> None:
    method = make(name, server.url)
    for reply in WRONG:
        server.answer = lambda _, reply=reply: reply  # type: ignore[misc]
        with pytest.raises(Transient) as caught:
            await method.translate([entry("dog"), entry("cat")], calls)
        assert caught.value.error_class is ErrorClass.MALFORMED
    server.answer = lambda _: REPLIES[name]
    with pytest.raises(CallError):
        await method.translate([entry("dog")], calls)


async def test_empty_secret_and_printed_requests(server: Server, calls: HttpCalls) -> None:
    server.answer = lambda _: {"translatedText": ["", "Katze"]}
    both = [entry("dog"), entry("cat", 2, Segment.HELD_OUT)]
    first, second = await make("libretranslate", server.url).translate(both, calls)
    assert (first.error_class, second.text) == (ErrorClass.EMPTY, "Katze")
    assert calls.requests[0].cacheable is False
    for name, reply in REPLIES.items():
        server.answer = lambda _, reply=reply: reply  # type: ignore[misc]
        await make(name, server.url).translate([entry("dog"), entry("cat", 2)], calls)
    assert KEY not in repr(calls.requests)


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
    assert google.price.per_million_characters == 20
    assert "local" in libre.price.source
    assert not libre.body_secrets


def test_wrong_usage() -> None:
    asked = MethodOptions(source_language="en", target_language="de")
    for name, more, words in (
        ("api", {}, r"api:deepl\|google\|microsoft\|libretranslate"),
        ("api:deepl", {}, "DEEPL_API_KEY"),
        ("api:deepl", {"batch_size": 51}, "at most 50"),
        ("api:deepl", {"region": "x"}, "--region does not apply"),
        ("api:deepl", {"service": "google"}, "does not fit"),
    ):
        with pytest.raises(UsageError, match=words):
            build(name, asked.model_copy(update=more))
    libre = build("api", asked.model_copy(update={"service": "libretranslate"}))
    assert libre.setup.method == "api:libretranslate"


def choice(message: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message} | more]}


def test_whole_reply_parts_and_secret_words() -> None:
    reply = read_completion(completion("tânisi"))
    assert (reply.text, reply.model_id) == ("tânisi", "model-2025-01-01")
    assert reply.finish_reason == "stop"
    assert reply.complete
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (19, 10)
    refusal = {"error": {"code": 400, "message": "cannot translate 'the secret sentence'"}}
    with pytest.raises(Refused, match="the secret sentence"):
        read_completion(refusal, quote=True)
    with pytest.raises(Refused) as caught:
        read_completion(refusal, quote=False)
    assert "secret" not in str(caught.value)
    parts = [{"type": "text", "text": "tân"}, {"type": "image"}, {"type": "text", "text": "isi"}]
    assert read_completion(choice({"content": parts})).text == "tânisi"
    refused = read_completion(choice({"content": None, "refusal": "I cannot"}))
    assert output_of(refused).error_class is ErrorClass.FILTERED
    assert read_completion(choice({"content": "a\ud800b"})).text == "a\ufffdb"


def test_errors_within_a_200() -> None:
    reply: Any
    for reply, kind, error_class in [
        # OpenRouter reports the upstream's failure inside a reply of status 200
        ({"error": {"code": 429, "message": "Rate limit"}}, RateLimited, ErrorClass.RATE_LIMIT),
        ({"error": {"code": 502, "message": "Bad gateway"}}, Transient, ErrorClass.SERVER),
        ({"error": {"code": 408, "message": "Timed out"}}, Transient, ErrorClass.TIMEOUT),
        ({"error": {"code": "401", "message": "No auth"}}, Refused, ErrorClass.AUTH),
        ({"error": {"code": 402, "message": "Credits"}}, NoCredit, ErrorClass.REQUEST),
        ({"error": {"code": 400, "message": "Bad model"}}, Refused, ErrorClass.REQUEST),
        ({"error": {"code": 403, "metadata": {"reasons": ["x"]}}}, Refused, ErrorClass.FILTERED),
        ({"error": "overloaded"}, Transient, ErrorClass.SERVER),
        ({"error": {"code": "server_error"}}, Transient, ErrorClass.SERVER),
        (
            choice({"content": "x"}, error={"code": 502, "message": "cut"}),
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
    ]:
        with pytest.raises(kind) as failure:
            read_completion(reply)
        assert vars(failure.value)["error_class"] is error_class


FIELDS = st.sampled_from(["error", "choices", "message", "content", "usage", "code", "tool_calls"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(FIELDS, inside, max_size=4),
    max_leaves=12,
)


@examples(18, 300)
@given(json_values)
def test_any_json_gives_a_reply_or_a_named_failure(reply: Any) -> None:
    with suppress(CallError):
        assert isinstance(read_completion(reply), Reply)


def test_wrapping_is_taken_off_and_no_output_has_a_reason() -> None:
    for text, finish_reason, error_class in [
        ("half a sen", "length", ErrorClass.TRUNCATED),
        ("", "content_filter", ErrorClass.FILTERED),
        (" \n", "stop", ErrorClass.EMPTY),
        ("<think>on and on", None, ErrorClass.EMPTY),
        ("```\n```", "stop", ErrorClass.EMPTY),
    ]:
        output = output_of(Reply(text, finish_reason=finish_reason))
        assert output.text is None
        assert output.error_class is error_class
    for reply, kept in [
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
    ]:
        assert cleaned(reply) == kept
