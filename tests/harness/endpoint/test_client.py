"""The client against a real server that misbehaves in every way it can."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.core.calls import Reply
from harness.core.failures import CallError, ErrorClass, NoCredit, RateLimited, Refused, Transient
from harness.endpoint.client import EndpointClient
from harness.endpoint.endpoints import is_loopback
from harness.endpoint.transport import MOST_BYTES
from harness.method.completions import read_completion
from tests.harness.endpoint.sending import GOOD, KEY, SECRET_SOURCE, failure, request, send
from tests.harness.scripted import Answer, Scripted, completion, error, json_answer, serving


def test_a_good_reply_comes_back_with_its_status_and_the_body_went_out_whole(
    endpoint: Scripted,
) -> None:
    text = "ᓀᐦᐃᔭᐍᐏᐣ \U0001f9ed \x00 e\u0301 \ud800"
    messages = [{"role": "user", "content": text}]
    endpoint.answer = lambda _: json_answer(completion("tânisi"), 201)
    reply, status = send(request(endpoint.url, body={"messages": messages}))
    assert (reply.text, status) == ("tânisi", 201)
    [asked] = endpoint.asked
    assert asked.body == {"messages": messages}
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["content-type"] == "application/json"


def test_secrets_of_the_body_go_out_but_stay_out_of_the_request(endpoint: Scripted) -> None:
    asked = request(endpoint.url, body={"q": "x"}, body_secrets={"api_key": KEY})
    endpoint.answer = lambda _: json_answer(completion("y"))
    send(asked)
    assert endpoint.asked[0].body == {"q": "x", "api_key": KEY}
    assert asked.body == {"q": "x"}


@pytest.mark.parametrize(
    ("status", "kind", "error_class"),
    [
        (400, Refused, ErrorClass.REQUEST),
        (401, Refused, ErrorClass.AUTH),
        (402, NoCredit, ErrorClass.REQUEST),
        (403, Refused, ErrorClass.AUTH),
        (404, Refused, ErrorClass.REQUEST),
        (408, Transient, ErrorClass.TIMEOUT),
        (413, Refused, ErrorClass.REQUEST),
        (422, Refused, ErrorClass.REQUEST),
        (425, Transient, ErrorClass.SERVER),
        (429, RateLimited, ErrorClass.RATE_LIMIT),
        (500, Transient, ErrorClass.SERVER),
        (502, Transient, ErrorClass.SERVER),
        (503, Transient, ErrorClass.SERVER),
        (529, Transient, ErrorClass.SERVER),
        (599, Transient, ErrorClass.SERVER),
    ],
)
def test_statuses(
    endpoint: Scripted, status: int, kind: type[CallError], error_class: ErrorClass
) -> None:
    endpoint.answer = lambda _: error(status, "the words of the endpoint")
    found = failure(request(endpoint.url))
    assert type(found) is kind
    assert (found.error_class, found.status) == (error_class, status)
    assert str(found) == f"HTTP {status}: the words of the endpoint"


@pytest.mark.parametrize("status", [429, 503])
def test_the_hint_comes_with_the_failure(endpoint: Scripted, status: int) -> None:
    endpoint.answer = lambda _: error(status, headers={"Retry-After": "17"})
    found = failure(request(endpoint.url))
    assert isinstance(found, RateLimited | Transient)
    assert found.retry_after == 17


def test_an_empty_purse_is_no_rate_limit(endpoint: Scripted) -> None:
    """OpenAI answers 429 where the account is empty: waiting would not help."""
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    endpoint.answer = lambda _: json_answer(body, 429)
    found = failure(request(endpoint.url))
    assert type(found) is NoCredit
    assert found.status == 429


@pytest.mark.parametrize(
    ("answer", "error_class"),
    [
        (Answer(body=GOOD, cut_after=20), ErrorClass.TRUNCATED),
        (Answer(body=GOOD, cut_after=0), ErrorClass.CONNECTION),
        (Answer(body=b""), ErrorClass.MALFORMED),
        (Answer(body=b"<html>Bad gateway</html>"), ErrorClass.MALFORMED),
        (Answer(body=b'{"choices": ['), ErrorClass.MALFORMED),
        (Answer(body=b"\xff\xfe\x00"), ErrorClass.MALFORMED),
        (Answer(body=b"[" * 200_000), ErrorClass.MALFORMED),
        (Answer(body=b"null"), ErrorClass.MALFORMED),
        (Answer(body=b'{"choices": [{"message": {"content": 7}}]}'), ErrorClass.MALFORMED),
        (Answer(body=b"9" * 5000), ErrorClass.MALFORMED),
        (Answer(raw=b"I am no HTTP server\r\n\r\n"), ErrorClass.MALFORMED),
        (Answer(raw=b"HTTP/1.1 200 OK\r\nbroken header\r\n\r\n"), ErrorClass.MALFORMED),
        (Answer(raw=b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000 + b"\r\n\r\n"), ErrorClass.MALFORMED),
        (Answer(raw=b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"), ErrorClass.MALFORMED),
        (
            Answer(raw=b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
            ErrorClass.MALFORMED,
        ),
        (Answer(raw=b""), ErrorClass.CONNECTION),
        (
            Answer(body=b"no gzip at all", headers={"content-encoding": "gzip"}),
            ErrorClass.MALFORMED,
        ),
        (Answer(body=GOOD, seconds=30), ErrorClass.TIMEOUT),
        (Answer(body=GOOD, drip=0.05), ErrorClass.TIMEOUT),
    ],
    ids=lambda value: str(value)[:60],
)
def test_broken_replies_are_tried_again_and_named(
    endpoint: Scripted, answer: Answer, error_class: ErrorClass
) -> None:
    endpoint.answer = lambda _: answer
    found = failure(
        request(endpoint.url), timeout=0.3 if error_class is ErrorClass.TIMEOUT else 60.0
    )
    assert isinstance(found, Transient)
    assert found.error_class is error_class
    assert KEY not in str(found)
    assert SECRET_SOURCE not in str(found)


def test_a_reply_that_never_ends_is_not_read_to_its_end(endpoint: Scripted) -> None:
    endpoint.answer = lambda _: Answer(body=b" " * (MOST_BYTES + 2**16))
    found = failure(request(endpoint.url))
    assert found.error_class is ErrorClass.MALFORMED
    assert "16 MiB" in str(found)


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        found = failure(request(f"http://127.0.0.1:{port}/v1"))
    assert isinstance(found, Transient)
    assert found.error_class is ErrorClass.CONNECTION
    assert str(found) == f"No connection to 127.0.0.1:{port}."


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "http://[::1",
        f"http://user:{KEY}@127.0.0.1:9/",
        "ftp://127.0.0.1/x",
        "no url",
        "http://a b/",
        "http://127.0.0.1\n/",
    ],
)
def test_what_is_no_url_is_said(url: str) -> None:
    found = failure(request(url))
    assert isinstance(found, Refused | Transient)
    assert KEY not in str(found)


def test_a_redirect_is_not_followed(endpoint: Scripted) -> None:
    """It could lead the key and the text to another machine."""
    with serving() as elsewhere:
        target = {"location": f"{elsewhere.url}/chat/completions"}
        endpoint.answer = lambda _: Answer(307, headers=target)
        found = failure(request(endpoint.url))
    assert isinstance(found, Refused)
    assert found.status == 307
    assert elsewhere.asked == []


def test_a_key_that_the_endpoint_repeats_stays_out_of_the_message(endpoint: Scripted) -> None:
    endpoint.answer = lambda _: error(401, f"Incorrect API key provided: {KEY}. See\nthe docs.")
    found = failure(request(endpoint.url))
    assert KEY not in str(found)
    assert str(found) == "HTTP 401: Incorrect API key provided: •••. See the docs."


def test_a_key_in_the_body_stays_out_of_the_message_too(endpoint: Scripted) -> None:
    endpoint.answer = lambda _: Answer(403, f"bad key {KEY}!".encode())
    found = failure(request(endpoint.url, headers={}, body_secrets={"api_key": KEY}))
    assert str(found) == "HTTP 403: bad key •••!"


@pytest.mark.parametrize("before", range(150, 210, 5))
@pytest.mark.parametrize("form", ["text", "error", "error in a good reply"])
def test_no_beginning_of_a_key_is_left_where_words_are_cut(
    endpoint: Scripted, form: str, before: int
) -> None:
    words = f"{'x' * before} {KEY} and more words after it " + "y" * 600
    if form == "text":
        endpoint.answer = lambda _: Answer(401, words.encode())
    else:
        endpoint.answer = lambda _: error(401 if form == "error" else 200, words)
    message = str(failure(request(endpoint.url)))
    assert KEY[:2] not in message
    assert len(message) < 300


def test_long_words_of_an_endpoint_are_shortened_and_can_be_stored(endpoint: Scripted) -> None:
    endpoint.answer = lambda _: error(500, "\ud800 long " * 1000)
    message = str(failure(request(endpoint.url)))
    assert len(message) < 230
    assert message.encode("utf-8")


@pytest.mark.parametrize("status", [200, 400, 429, 500])
def test_of_a_secret_entry_the_endpoint_is_never_quoted(endpoint: Scripted, status: int) -> None:
    endpoint.answer = lambda asked: error(status, f"cannot translate {asked.source}")
    read: Callable[[Any], Reply] = lambda reply: read_completion(reply, quote=False)  # noqa: E731
    found = failure(request(endpoint.url, cacheable=False, read=read))
    assert SECRET_SOURCE not in str(found)
    assert "cannot translate" not in str(found)


@pytest.mark.parametrize(
    "host",
    [
        "localhost.evil.example", "127.0.0.1.evil.example", "evil.example", "10.0.0.1", "0.0.0.0",
        "127.0.0.1@evil.example", "[::ffff:93.184.216.34]", "[2001:db8::1]",
        "xn--localhost-.example", "ⓛocalhost.example", "169.254.169.254",
    ],
)  # fmt: skip
def test_offline_refuses_another_machine_before_any_connection(host: str) -> None:
    found = failure(request(f"http://{host}:9/v1"), offline=True)
    assert isinstance(found, Refused)
    assert found.error_class is ErrorClass.OFFLINE
    assert not is_loopback(f"http://{host}:9/v1")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1", "[::1]", "LOCALHOST"])
def test_this_machine_is_not_another(host: str) -> None:
    assert is_loopback(f"http://{host}:11434/v1")


def test_offline_allows_this_machine(endpoint: Scripted) -> None:
    endpoint.answer = lambda _: json_answer(completion("y"))
    assert send(request(endpoint.url), offline=True)[0].text == "y"


def test_offline_allows_this_machine_over_ipv6() -> None:
    try:
        with serving(lambda _: json_answer(completion("six")), host="::1") as six:
            assert send(request(six.url), offline=True)[0].text == "six"
    except (OSError, AssertionError):
        pytest.skip("this machine has no IPv6 loopback")


@pytest.mark.parametrize("offline", [True, False])
def test_this_machine_is_never_asked_through_a_proxy(
    endpoint: Scripted, monkeypatch: pytest.MonkeyPatch, offline: bool
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.1:3128")
    endpoint.answer = lambda _: json_answer(completion("y"))
    assert send(request(endpoint.url), offline=offline)[0].text == "y"


def test_another_machine_is_asked_through_the_proxy_of_the_environment(
    endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", endpoint.url.removesuffix("/v1"))
    monkeypatch.delenv("no_proxy", raising=False)
    endpoint.answer = lambda _: json_answer(completion("by proxy"))
    assert send(request("http://model.example/v1"))[0].text == "by proxy"
    assert endpoint.asked[0].path == "http://model.example/v1/chat/completions"
    monkeypatch.setenv("http_proxy", endpoint.url.replace("//", "//me:pass@").removesuffix("/v1"))
    send(request("http://model.example/v1"))
    assert endpoint.asked[1].headers["proxy-authorization"] == "Basic bWU6cGFzcw=="
    monkeypatch.setenv("no_proxy", ".example")
    assert failure(request("http://model.example/v1")).error_class is ErrorClass.CONNECTION


@pytest.mark.parametrize("proxy", ["127.0.0.1:3128", "socks5://127.0.0.1:1080", "ftp://127.0.0.1"])
def test_a_proxy_that_cannot_be_used_is_said(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    found = failure(request("http://model.example/v1"))
    assert isinstance(found, Refused)
    assert found.error_class is ErrorClass.REQUEST
    assert "The proxy that the environment names" in str(found)


def test_passwords_of_a_netrc_file_go_nowhere(
    endpoint: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login me password hunter2hunter2")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    endpoint.answer = lambda _: json_answer(completion("y"))
    send(request(endpoint.url, headers={}))
    send(request(endpoint.url))
    assert "authorization" not in endpoint.asked[0].headers
    assert endpoint.asked[1].headers["authorization"] == f"Bearer {KEY}"


def test_cookies_are_not_kept(endpoint: Scripted) -> None:
    endpoint.answer = lambda _: json_answer(completion("y"), headers={"set-cookie": "id=1"})

    async def main() -> None:
        client = EndpointClient(timeout_seconds=20, offline=True)
        try:
            for _ in range(2):
                await client.send(request(endpoint.url.replace("127.0.0.1", "localhost")))
        finally:
            await client.close()

    asyncio.run(main())
    assert "cookie" not in endpoint.asked[1].headers


def test_connections_are_kept_and_many_may_be_open_at_once(endpoint: Scripted) -> None:
    endpoint.answer = lambda _: json_answer(completion("y"), seconds=0.2)

    async def main() -> None:
        client = EndpointClient(timeout_seconds=20, offline=True)
        try:
            for _ in range(2):
                await asyncio.gather(*(client.send(request(endpoint.url)) for _ in range(150)))
        finally:
            await client.close()

    asyncio.run(main())
    assert endpoint.most_under_way == 150
    assert len(endpoint.asked) == 300
