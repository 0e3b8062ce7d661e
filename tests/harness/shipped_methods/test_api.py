"""Each service's shape, as its documentation shows it, and replies, well-formed and not, over a real local server."""

import asyncio
import gc
import gzip
import json
import socketserver
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Segment
from harness.core.calls import Reply, Request
from harness.core.failures import CallError, ErrorClass, NoCredit, RateLimited, Refused, Transient, UsageError
from harness.endpoint.client import EndpointClient
from harness.endpoint.transport import FEWEST_BYTES, most_bytes
from harness.method.completions import output_of, read_completion
from harness.method.method import Method, MethodClass
from harness.method.options import MethodOptions
from harness.shipped_methods.chat import by_number, numbered
from harness.shipped_methods.registry import build
from tests.harness.endpoint.sending import ANYWHERE, GOOD, failure, request, send
from tests.harness.scripted import Answer, Scripted
from tests.harness.sealed.refusals import refuses
from tests.harness.shipped_methods.conftest import HttpCalls, Server, completion, entry
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
    "deepl": {"text": ["dog", "cat"], "source_lang": "EN", "target_lang": "DE"}, "google": GOOGLE,
    "microsoft": [{"Text": "dog"}, {"Text": "cat"}], "libretranslate": {**GOOGLE, "api_key": KEY},
}  # fmt: skip
HEADERS = {
    "deepl": ("authorization", f"DeepL-Auth-Key {KEY}"),
    "google": ("x-goog-api-key", KEY),
    "microsoft": ("ocp-apim-subscription-key", KEY),
    "libretranslate": ("content-type", "application/json"),
}


def make(name: str, url: str | None, target: str = "de", **given: Any) -> Method:
    told = {"source_language": "en", "target_language": target, "batch_size": 2, "endpoint": url}
    asked = MethodOptions.model_validate(told | given)
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


WRONG: list[Any] = [{}, [], "x", None, {"translations": None}, {"data": []}, [{"translations": []}], [None, None]]


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
    for name, reply in REPLIES.items():
        server.answer = lambda _, reply=reply: reply  # type: ignore[misc]
        await make(name, server.url).translate([entry("dog"), entry("cat", 2)], calls)
    assert KEY not in repr(calls.requests)
    server.answer = lambda _: REPLIES["microsoft"][:1]
    method = make("microsoft", server.url, "zh", region="canadacentral")
    await method.translate([entry("dog")], calls)
    assert server.received[-1].path == "/?api-version=3.0&from=en&to=zh-Hans"
    assert server.received[-1].headers["ocp-apim-subscription-region"] == "canadacentral"


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
        refuses(UsageError, words, build, name, asked.model_copy(update=more))
    libre = build("api", asked.model_copy(update={"service": "libretranslate"}))
    assert libre.setup.method == "api:libretranslate"


def choice(message: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message} | more]}


def test_whole_replies_and_errors_within_a_200() -> None:
    reply = read_completion(completion("tânisi"))
    assert (reply.text, reply.model_id) == ("tânisi", "model-2025-01-01")
    assert reply.finish_reason == "stop"
    assert reply.complete
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (19, 10)
    refusal = {"error": {"code": 400, "message": "cannot translate 'the secret sentence'"}}
    refuses(Refused, "the secret sentence", read_completion, refusal)
    parts = [{"type": "text", "text": "tân"}, {"type": "image"}, {"type": "text", "text": "isi"}]
    assert read_completion(choice({"content": parts})).text == "tânisi"
    refused = read_completion(choice({"content": None, "refusal": "I cannot"}))
    assert output_of(refused).error_class is ErrorClass.FILTERED
    assert read_completion(choice({"content": "a\ud800b"})).text == "a\ufffdb"
    raw: Any
    for raw, kind, error_class in [
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
        (choice({"content": "x"}, error={"code": 502}), Transient, ErrorClass.SERVER),
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
        assert vars(refuses(kind, "", read_completion, raw))["error_class"] is error_class


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
        ("half a sen", "length", ErrorClass.TRUNCATED), ("", "content_filter", ErrorClass.FILTERED),
        (" \n", "stop", ErrorClass.EMPTY), ("<think>on and on", None, ErrorClass.EMPTY),
        ("```\n```", "stop", ErrorClass.EMPTY),
    ]:  # fmt: skip
        output = output_of(Reply(text, finish_reason=finish_reason))
        assert output.text is None
        assert output.error_class is error_class


@pytest.mark.parametrize(("reasons", "error_class"), [
    (["stop", "STOP", "eos_token", "end_turn", "stop_sequence", "tool_calls", "function_call", "", "null", None,
      "COMPLETE", "FINISH_REASON_STOP", "eosFound", "endoftext"], None),
    (["length", "model_length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded", "incomplete",
      "token_limit", "ERROR_LIMIT", "maxPredictedTokensReached"],
     ErrorClass.TRUNCATED),
    (["content_filter", "SAFETY", "RECITATION", "refusal", "sensitive", "guardrail_intervened", "MODEL_ARMOR", "ERROR_TOXIC"], ErrorClass.FILTERED),
    (["error", "abort", "cancelled", "timeout", "insufficient_system_resource", "OTHER", "unheard of", "?", 7, True, {}],
     ErrorClass.SERVER),
])  # fmt: skip
def test_only_known_good_ends_make_an_answer(reasons: list[Any], error_class: ErrorClass | None) -> None:
    for reason in reasons:
        choice = {"message": {"content": "ati"}, "finish_reason": reason}
        if error_class is ErrorClass.SERVER:  # asked again
            broken = refuses(Transient, "", read_completion, {"choices": [choice]})
            assert broken.error_class is error_class
        else:
            output = output_of(read_completion({"choices": [choice]}))
            assert (output.text, output.error_class) == (None if error_class else "ati", error_class)
    assert output_of(read_completion({"choices": [{"message": {"content": "atim"}}]})).text == "atim"


@pytest.mark.parametrize(("content", "text"), [
    ([{"type": "reasoning", "text": "hmm"}, {"type": "text", "text": "atim"}], "atim"),
    ([{"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}]}, {"text": "atim"}], "atim"),
    ([{"type": "redacted_thinking", "text": "x"}, {"type": "output_text", "text": "ati"}, "m"], "atim"),
    ([{"type": "tool_use", "text": "x"}, {"text": "hmm", "thought": True}, {"type": None, "text": "atim"}], "atim"),
    ([{"type": "image_url", "text": "x"}, {"type": "text", "text": 7}], ""),
    ([{"type": "TEXT", "text": {"value": "atim", "annotations": []}}, {"type": "reference", "text": "x"}], "atim"),
    ([{"type": "citation", "content": "x"}, {"type": "text", "content": "atim"}], "atim"), ({"type": "text", "text": "atim"}, "atim"),
])  # fmt: skip
def test_only_parts_of_text_are_the_answer(content: Any, text: str) -> None:
    assert read_completion({"choices": [{"message": {"content": content}}]}).text == text
    refused = [{"type": "refusal", "refusal": "no"}]
    reply = read_completion({"choices": [{"message": {"content": refused}}]})
    assert output_of(reply).error_class is ErrorClass.FILTERED


def test_largest_reply_follows_its_tokens(endpoint: Scripted) -> None:
    good = json.dumps(completion("whole")).encode()
    for tokens, said in ((1, "512 KiB"), (2048, "1 MiB")):
        asked = request(endpoint.url, most_completion_tokens=tokens)
        most = most_bytes(asked)
        fits, longer = Answer(body=good + b" " * (most - len(good))), Answer(body=b" " * (most + 1))
        endpoint.answer = lambda _, fits=fits: fits  # type: ignore[misc]
        assert send(asked)[0].text == "whole"
        endpoint.answer = lambda _, longer=longer: longer  # type: ignore[misc]
        found = failure(asked)
        assert said in str(found)
        assert "--max-tokens" in str(found)
    assert most_bytes(request(endpoint.url, most_completion_tokens=10**9)) == 16 * 2**20


def test_gzip_of_several_members_is_read_whole_unless_cut(endpoint: Scripted) -> None:
    good = json.dumps(completion("whole")).encode()
    for parts in (1, 3):
        size = -(-len(good) // parts)
        body = b"".join(gzip.compress(good[at : at + size]) for at in range(0, len(good), size))
        whole = Answer(body=body, headers={"content-encoding": "GZIP"})
        endpoint.answer = lambda _, whole=whole: whole  # type: ignore[misc]
        assert send(request(endpoint.url))[0].text == "whole"
    assert endpoint.asked[0].headers["accept-encoding"] == "gzip"
    cut = Answer(body=gzip.compress(GOOD)[:-9], headers={"content-encoding": "gzip"})
    endpoint.answer = lambda _: cut
    assert failure(request(endpoint.url)).error_class is ErrorClass.TRUNCATED


BLANKS = 64 * 2**20
ONCE = gzip.compress(b" " * BLANKS)
PACKED = {
    "gzip, gzip": gzip.compress(ONCE), "gzip,gzip , gzip": gzip.compress(gzip.compress(ONCE)),
    "br": b"\x1b\x00", "zstd": b"\x28\xb5\x2f\xfd", "deflate": b"x", "\x1b[31mred": b"x",
}  # fmt: skip


def test_reply_packed_twice_or_otherwise_is_refused(endpoint: Scripted) -> None:
    for encoding, body in PACKED.items():
        headers = {"content-encoding": encoding}
        good, bad = Answer(body=body, headers=headers), Answer(503, body, headers)
        endpoint.answer = lambda _, good=good: good  # type: ignore[misc]
        found = failure(request(endpoint.url))
        assert isinstance(found, Refused)
        assert found.taken, "it may have been charged"
        assert "Set the endpoint to plain replies or to gzip." in str(found)
        assert "\x1b" not in str(found)
        endpoint.answer = lambda _, bad=bad: bad  # type: ignore[misc]
        assert failure(request(endpoint.url)).status == 503


class Endless(socketserver.StreamRequestHandler):
    """Answers with chunks until the other side has gone."""

    def handle(self) -> None:
        chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            while True:
                self.wfile.write(chunk)


@contextmanager
def endless() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


def peak_of_eight(url: str) -> int:
    """Ask for eight replies at once, each of which may have half a MiB; gives the memory they took."""
    asked = request(url, most_completion_tokens=1)

    async def eight() -> list[BaseException | tuple[Reply, int]]:
        client = EndpointClient(ANYWHERE, timeout_seconds=60)
        try:
            calls = (client.send(asked) for _ in range(8))
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await client.close()

    asyncio.run(eight())  # what is imported and kept is not a reply's
    gc.collect()
    tracemalloc.start()
    try:
        found = asyncio.run(eight())
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        assert all(isinstance(each, CallError) for each in found)


@pytest.mark.thorough
@pytest.mark.parametrize(("body", "encoding"), [
    (ONCE, "gzip"), (PACKED["gzip, gzip"], "gzip, gzip"), (gzip.compress(b"") * 30_000, "gzip"),
], ids=["gzip", "gzip twice", "members of nothing"])  # fmt: skip
def test_no_packed_reply_fills_the_memory(endpoint: Scripted, body: bytes, encoding: str) -> None:
    endpoint.answer = lambda _: Answer(body=body, headers={"content-encoding": encoding})
    assert peak_of_eight(endpoint.url) < 8 * 3 * FEWEST_BYTES


def test_no_endless_reply_fills_the_memory() -> None:
    with endless() as url:
        assert peak_of_eight(url) < 8 * 3 * FEWEST_BYTES


def own(number: int) -> str:
    """The right answer for a number."""
    return f"translation <{number}>"


def written(pairs: list[tuple[int, str]]) -> str:
    return "{" + ",".join(f"{json.dumps(str(n))}:{json.dumps(text)}" for n, text in pairs) + "}"


KINDS = st.sampled_from(["drop", "double", "invent", "move", "empty"])
garblings = st.lists(st.tuples(KINDS, st.integers(0, 30), st.integers(0, 30)), max_size=6)


@examples(15, 100)
@given(st.integers(1, 8), garblings)
def test_garbled_numbers_shift_no_text(count: int, operations: list[tuple[str, int, int]]) -> None:
    pairs = [(number, own(number)) for number in range(1, count + 1)]
    for kind, first, second in operations:
        place = first % len(pairs) if pairs else 0
        if kind == "drop" and pairs:
            pairs.pop(place)
        elif kind == "double" and pairs:
            pairs.insert(second % (len(pairs) + 1), pairs[place])
        elif kind == "invent":
            pairs.append((count + 1 + second, own(second)))
        elif kind == "move" and pairs:
            pairs.insert(second % len(pairs), pairs.pop(place))
        elif kind == "empty" and pairs:
            pairs[place] = (pairs[place][0], "")
    for number, text in enumerate(by_number(written(pairs), count), 1):
        assert text in {None, "", own(number)}


@examples(15, 100)
@given(st.integers(2, 8), st.data())
def test_joined_or_split_texts_never_shift_the_rest(count: int, data: st.DataObject) -> None:
    """The model counts on by itself after it joined or split texts."""
    texts = [own(number) for number in range(1, count + 1)]
    place = data.draw(st.integers(0, count - 2))
    if data.draw(st.booleans()):
        texts[place : place + 2] = [texts[place] + " " + texts[place + 1]]
    else:
        texts[place : place + 1] = [texts[place][:5], texts[place][5:]]
    assert by_number(written(list(enumerate(texts, 1))), count) == [None] * count


@examples(24, 300)
@given(st.integers(1, 6), st.data(), st.text(max_size=200))
def test_cut_or_any_reply_gives_no_wrong_text(count: int, data: st.DataObject, reply: str) -> None:
    whole = written([(number, own(number)) for number in range(1, count + 1)])
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    for number, text in enumerate(by_number(cut, count), 1):
        assert text in {None, own(number)}
    assert len(by_number(reply, count)) == count


@examples(24, 300)
@given(st.lists(st.text(min_size=1).filter(lambda text: text == text.strip()), min_size=1))
def test_what_is_asked_can_be_answered(texts: list[str]) -> None:
    """Texts of several lines, with quotes, brackets, numbers, survive the way there and back."""
    assert by_number(numbered(texts), len(texts)) == texts


def test_known_habits_of_models() -> None:
    for reply, expected in [
        ('{"1": "a", "2": "b", "3": "c"}', ["a", "b", "c"]),
        ('{"3": "c", "1": "a", "2": "b"}', ["a", "b", "c"]),
        ('Here you are:\n```json\n{"1": "a", "2": "b", "3": "c"}\n```\nDone.', ["a", "b", "c"]),
        ('<think>{"1": "x"}</think>{"1": "a", "2": "b", "3": "c"}', ["a", "b", "c"]),
        ('{"1": "a", "3": "c"}', ["a", None, "c"]), ('{"1": "a", "2": "b"}', [None, None, None]),
        ('{"1": "a", "2": "b", "2": "x", "3": "c"}', ["a", None, "c"]),
        ('{"1": "a", "01": "b", "2": "b", "3": "c"}', [None, "b", "c"]),
        ('{"1": "a", "2": "b", "3": "c", "4": "d"}', [None, None, None]),
        ('{"1": "a", "2": null, "3": {"text": "c"}}', ["a", None, None]),
        ('{"1": "a", "2": "", "3": "c"}', ["a", "", "c"]), ('["a", "b", "c"]', [None, None, None]),
        ("1. a\n2. b\n3. c", [None, None, None]),
        ('{"1": "\\ud800x", "2": "b", "3": "c"}', ["\ufffdx", "b", "c"]),
        ("{" * 100_000, [None, None, None]), ('{"1": ' + "[" * 100_000 + "}", [None, None, None]),
    ]:  # fmt: skip
        assert by_number(reply, 3) == expected
    # looking through all numbers for each of them would take minutes
    assert by_number(written([(1, own(1))] * 200_000), 1) == [None]
