"""The gateway: a method asks the models that the custodian set, and no others, no more often than allowed."""

import asyncio
from pathlib import Path
from typing import Any, NoReturn

import pytest

from harness.box.failures import BoxFailure, BoxStage, WhoseFault
from harness.box.gateway import Gateway, gateway
from harness.core.calls import Reply, Request
from harness.core.failures import ErrorClass, HarnessError, Refused, Transient, UsageError
from harness.endpoint.client import EndpointClient
from harness.endpoint.keys import no_key
from harness.method.method import Output
from tests.harness.box.making import asked, boxed, entry, needs_engine
from tests.harness.scripted import Scripted
from tests.harness.sealed.refusals import refuses

ASKS = """
from rosetta_box import ask, models

def translate(texts, options):
    return [ask(options.get("model", "mock"), [{"role": "user", "content": text}]) for text in texts]
"""
RAW = """
import json, os, socket, threading, time

def said(head, body=b""):
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(20)
        one.connect(os.environ["ROSETTA_GATEWAY"])
        try:
            one.sendall(head + b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body if head.endswith(b"\\r\\n") else head)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was refused before it was read to its end
        got = b""
        try:
            while part := one.recv(65536):
                got += part
        except ConnectionResetError:
            pass  # closed while there was more to read
        return got.split(b" ")[1].decode() if got else "nothing"

POST = b"POST /v1/chat/completions HTTP/1.1\\r\\n"
def post(asked):
    return said(POST, json.dumps(asked).encode())
TURN = [{"role": "user", "content": "text"}]
"""


class Carried:
    """Carries calls as a run does, without a store."""

    def __init__(self, failure: HarnessError | None = None) -> None:
        self.requests: list[Request] = []
        self.failure = failure

    async def send(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.failure is not None:
            raise self.failure
        client = EndpointClient(timeout_seconds=20, offline=False)
        try:
            return (await client.send(request))[0]
        finally:
            await client.close()


def made(endpoint: Scripted, **more: Any) -> Gateway:
    return gateway(f"{endpoint.url}", ["mock"], no_key, **more)


@needs_engine
def test_a_model_answers(tmp_path: Path, endpoint: Scripted) -> None:
    calls = Carried()
    [[output]] = asked(boxed(tmp_path, ASKS, gateway=made(endpoint)), ["saluton"], calls=calls)
    assert output.text == "SALUTON"
    [request] = calls.requests
    messages = [{"role": "user", "content": "saluton"}]
    assert request.body == {"model": "mock", "messages": messages, "temperature": 0.0, "max_tokens": 2048}  # fmt: skip


@needs_engine
def test_model_that_nobody_set_is_not_asked(tmp_path: Path, endpoint: Scripted) -> None:
    method = boxed(tmp_path, ASKS, gateway=made(endpoint), options={"model": "other"})
    [[output]] = asked(method, ["saluton"], calls=Carried())
    assert output.error_class is ErrorClass.METHOD
    assert "no model of this name" in method.words
    assert endpoint.asked == []


@needs_engine
@pytest.mark.parametrize(("attempt", "status"), [
    ('said(b"GET /etc/passwd HTTP/1.1\\r\\n")', "404"),
    ('said(b"POST http://192.0.2.1/v1/chat/completions HTTP/1.1\\r\\nHost: 192.0.2.1\\r\\n", b"{}")', "404"),
    ('said(b"CONNECT 192.0.2.1:443 HTTP/1.1\\r\\n")', "404"),
    ('said(b"no question\\r\\n\\r\\n\\n")', "400"),
    ('said(POST + b"Content-Length: 99999999999\\r\\n\\r\\n\\n")', "400"),
    ('said(POST + b"Content-Length: -1\\r\\n\\r\\n\\n")', "400"),
    ('said(POST + b"Transfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n\\n")', "400"),
    ('said(POST, b"x" * 600000)', "400 or nothing"),
    ('said(POST + b"X: " + b"x" * 100000)', "400 or nothing"),
    ('said(POST, b"[" * 100000)', "400"), ('post({"model": "mock", "messages": []})', "400"),
    ('post({"model": ["mock"], "messages": TURN})', "400"),
    ('post({"model": "mock", "messages": [{"role": "tool", "content": "x"}]})', "400"),
    ('post({"model": "mock", "messages": [{"role": "user", "content": {"image": "x"}}]})', "400"),
    ('post({"model": "\\ud800", "messages": TURN})', "404"),
    ('said(POST + b"Content-Length: 0\\r\\nContent-Length: 1\\r\\n", b"{")', "400"),
    ('post({"model": "mock", "messages": TURN, "api_key": "x", "stream": True})', "200"),
])  # fmt: skip
def test_no_question_is_refused(
    tmp_path: Path, endpoint: Scripted, attempt: str, status: str
) -> None:
    code = f"{RAW}\ndef translate(texts):\n    return [{attempt}]\n"
    calls = Carried()
    method = boxed(tmp_path, code, gateway=made(endpoint))
    [[output]] = asked(method, ["a"], calls=calls)
    assert output.text in status.split(" or "), method.words
    assert len(calls.requests) == (status == "200")
    ours = {"model", "messages", "temperature", "max_tokens"}
    assert all(set(request.body) == ours for request in calls.requests)


@needs_engine
def test_no_more_questions_than_allowed(tmp_path: Path, endpoint: Scripted) -> None:
    code = f"{RAW}\ndef translate(texts):\n    return [' '.join(post({{'model': 'mock', 'messages': TURN}}) for _ in range(4))]\n"
    few = Gateway(made(endpoint).models, calls_for_entry=2)
    [[first], [second]] = asked(boxed(tmp_path, code, gateway=few), ["a"], ["b"], calls=Carried())
    assert (first.text, second.text) == ("200 200 429 429", "200 200 429 429")


@needs_engine
def test_many_connections_and_slow_ones_hold_nobody_up(tmp_path: Path, endpoint: Scripted) -> None:
    code = f"""{RAW}
held = []
def translate(texts):
    for _ in range(15):
        one = socket.socket(socket.AF_UNIX)
        one.connect(os.environ["ROSETTA_GATEWAY"])
        one.send(b"POST ")
        held.append(one)
    return [post({{"model": "mock", "messages": TURN}})]
"""
    [[output]] = asked(boxed(tmp_path, code, gateway=made(endpoint)), ["a"], calls=Carried())
    assert output.text == "200"


class Endless:
    """Carries calls that are never answered, and counts those that are broken off."""

    def __init__(self) -> None:
        self.broken_off = 0

    async def send(self, request: Request) -> NoReturn:
        del request
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.broken_off += 1
            raise
        raise AssertionError


@needs_engine
def test_questions_end_with_their_text(
    tmp_path: Path, endpoint: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    """A method that answers before its question is answered asks on for nobody, and nothing is written about it."""
    code = f"""{RAW}
def translate(texts):
    one = socket.socket(socket.AF_UNIX)
    one.connect(os.environ["ROSETTA_GATEWAY"])
    body = json.dumps({{"model": "mock", "messages": TURN}}).encode()
    one.sendall(POST + b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    while said(POST, body) != "429":
        pass  # until the only question that is allowed was heard
    return texts
"""
    calls: Any = Endless()
    one = Gateway(made(endpoint).models, calls_for_entry=1)
    method = boxed(tmp_path, code, gateway=one)

    async def ask() -> tuple[int, Output]:
        try:
            [output] = await method.translate([entry("saluton")], calls)
            await asyncio.sleep(0)
            return calls.broken_off, output
        finally:
            await method.close_box()

    broken_off, output = asyncio.run(ask())
    assert (broken_off, output.text) == (1, "saluton")
    assert caplog.records == []


@needs_engine
def test_missing_model_is_no_fault_of_the_method(tmp_path: Path, endpoint: Scripted) -> None:
    down = Carried(Transient(ErrorClass.CONNECTION, "nobody listens"))
    method = boxed(tmp_path, ASKS, gateway=made(endpoint))
    error = refuses(BoxFailure, "", asked, method, ["a"], calls=down)
    assert (error.stage, error.fault) == (BoxStage.GATEWAY, WhoseFault.CUSTODIAN)


@needs_engine
@pytest.mark.parametrize("failure", [Refused(ErrorClass.REQUEST, "too long", 400), HarnessError("The budget is reached.")])  # fmt: skip
def test_question_refused_by_model_or_budget_is_the_methods(
    tmp_path: Path, endpoint: Scripted, failure: HarnessError
) -> None:
    method = boxed(tmp_path, ASKS, gateway=made(endpoint))
    [[output]] = asked(method, ["a"], calls=Carried(failure))
    assert output.error_class is ErrorClass.METHOD


def test_models_are_named_and_local_unless_said() -> None:
    elsewhere = "https://llm.example.org/v1"
    refuses(UsageError, "on another machine", gateway, elsewhere, ["mock"], no_key)
    assert gateway(elsewhere, ["mock"], no_key, elsewhere=True).url
    refuses(UsageError, "Name the models", gateway, "http://127.0.0.1:9/v1", [], no_key)
