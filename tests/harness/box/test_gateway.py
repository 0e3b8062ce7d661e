"""The gateway: a method asks the models that the custodian set, and no others, no more often than allowed."""

import asyncio
import json
import socket
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from corpora.model.entry import Entry
from harness.box.boxed import BoxedMethod, boxed_method
from harness.box.engine import BoxedCode, BoxFailure, BoxStage, Inside, Launch, Limits
from harness.box.engines import find_engine
from harness.box.gateway import Gateway, gateway
from harness.core.calls import Calls, Reply, Request
from harness.core.failures import ErrorClass, HarnessError, Refused, RunState, UsageError
from harness.endpoint.client import EndpointClient
from harness.endpoint.endpoints import no_key
from harness.method.method import Output
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from tests.harness.box.making import SMALL, asked, boxed, entry, needs_engine, setup, written
from tests.harness.endpoint.sending import ANYWHERE
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
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
        client = EndpointClient(ANYWHERE, timeout_seconds=20)
        try:
            return (await client.send(request))[0]
        finally:
            await client.close()


def made(endpoint: Scripted) -> Gateway:
    return gateway(endpoint.url, ["mock"], no_key)


@needs_engine
def test_model_that_was_set_answers_and_no_other(tmp_path: Path, endpoint: Scripted) -> None:
    calls = Carried()
    [[output]] = asked(boxed(tmp_path, ASKS, gateway=made(endpoint)), ["saluton"], calls=calls)
    assert output.text == "SALUTON"
    [request] = calls.requests
    messages = [{"role": "user", "content": "saluton"}]
    assert request.body == {"model": "mock", "messages": messages, "temperature": 0.0, "max_tokens": 2048}
    method = boxed(tmp_path, ASKS, gateway=made(endpoint), options={"model": "other"})
    [[output]] = asked(method, ["saluton"], calls=Carried())
    assert output.error_class is ErrorClass.METHOD
    assert "no model of this name" in method.words
    assert len(endpoint.asked) == 1


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
def test_what_is_no_question(tmp_path: Path, endpoint: Scripted, attempt: str, status: str) -> None:
    code = f"{RAW}\ndef translate(texts):\n    return [{attempt}]\n"
    calls = Carried()
    method = boxed(tmp_path, code, gateway=made(endpoint))
    [[output]] = asked(method, ["a"], calls=calls)
    assert output.text in status.split(" or "), method.words
    assert len(calls.requests) == (status == "200")
    ours = {"model", "messages", "temperature", "max_tokens"}
    assert all(set(request.body) == ours for request in calls.requests)


@needs_engine
def test_many_questions_and_connections_hold_nobody_up(tmp_path: Path, endpoint: Scripted) -> None:
    code = f"{RAW}\ndef translate(texts):\n    return [' '.join(post({{'model': 'mock', 'messages': TURN}}) for _ in range(4))]\n"
    few = Gateway(made(endpoint).models, calls_for_entry=2)
    [[first], [second]] = asked(boxed(tmp_path, code, gateway=few), ["a"], ["b"], calls=Carried())
    assert (first.text, second.text) == ("200 200 429 429", "200 200 429 429")
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
def test_questions_end_too(tmp_path: Path, endpoint: Scripted, caplog: pytest.LogCaptureFixture) -> None:
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
def test_refusal_by_model_or_budget_is_the_methods(tmp_path: Path, endpoint: Scripted) -> None:
    for failure in (Refused(ErrorClass.REQUEST, "no", 400), HarnessError("The budget is up.")):
        method = boxed(tmp_path, ASKS, gateway=made(endpoint))
        [[output]] = asked(method, ["a"], calls=Carried(failure))
        assert output.error_class is ErrorClass.METHOD


def test_models_are_named_and_local() -> None:
    elsewhere = "https://llm.example.org/v1"
    refuses(UsageError, "on another machine", gateway, elsewhere, ["mock"], no_key)
    refuses(UsageError, "Name the models", gateway, "http://127.0.0.1:9/v1", [], no_key)


RUN = RunOptions(concurrency=4, most_attempts=1, timeout_seconds=20)
PLAN = Plan(method="copy-source", options=MethodOptions(**LANGUAGES), run=RUN)
TELLS_ALL = """
import json, sys
seen = []
def translate(texts):
    frame = sys._getframe(1)
    seen.append([each["source"] for each in frame.f_locals["batch"]])
    return [json.dumps({"told": frame.f_locals["batch"], "number": len(seen)})]
"""


@needs_engine
def test_it_gets_sources_alone_and_in_another_order(store_path: Path, tmp_path: Path) -> None:
    given, orders, ids = corpus(12), [], []
    for _ in range(2):
        heard = run_corpus(store_path, given, PLAN, method=boxed(tmp_path, TELLS_ALL))
        told = [json.loads(result.output or "") for result in heard.scored]
        told.sort(key=lambda each: each["number"])
        assert [each["number"] for each in told] == list(range(1, 13))
        texts = [text for each in told for text in each["told"]]
        assert len(texts) == 12
        assert all(text.keys() == {"id", "source"} for text in texts)
        orders.append([text["source"] for text in texts])
        ids.append({text["id"] for text in texts})
    assert orders[0] != orders[1]
    assert orders[0] != [entry.source for entry in given.reveal_here()]
    assert not ids[0] & ids[1]


@needs_engine
def test_method_failing_at_some_texts_is_scored(store_path: Path, tmp_path: Path) -> None:
    code = "def translate(texts):\n    if texts[0].endswith('3'):\n        raise ValueError(texts)\n    return texts\n"
    heard = run_corpus(store_path, corpus(6), PLAN, method=boxed(tmp_path, code))
    assert [result.position for result in heard.scored if result.failed] == [3]
    assert heard.scored[0].error_class in {None, ErrorClass.METHOD}
    assert heard.finished.done == 6
    secret = corpus(3, segment="gold_standard")  # a rehearsal is for open entries
    heard = run_corpus(store_path, secret, PLAN, method=boxed(tmp_path, code))
    assert all(result.failed for result in heard.scored)


class Broken:
    """An engine that is there and makes no box."""

    name = "broken"

    def lacking(self) -> None:
        return None

    def launch(self, inside: Inside, limits: Limits) -> AbstractContextManager[Launch]:
        raise NotImplementedError


class NeverRun(BoxedMethod):
    """A box that the computer cannot make."""

    said: BoxFailure

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Sequence[Output]:
        raise self.said


class Liar(BoxFailure):
    def __str__(self) -> str:
        return "a secret sentence"


@pytest.mark.parametrize("failure", [BoxFailure, Liar])
def test_custodians_fault_stops_the_run(store_path: Path, tmp_path: Path, failure: type[BoxFailure]) -> None:
    code = BoxedCode(written(tmp_path, ""), "method:translate")
    method = NeverRun(code, SMALL, Broken(), None, setup(), open_data=False)
    method.said = failure(BoxStage.ENGINE)
    if failure is Liar:
        heard = run_corpus(store_path, corpus(3, segment="gold_standard"), PLAN, method=method)
        assert {result.error for result in heard.scored} == {"The method failed (method)."}
        return
    heard = run_corpus(store_path, corpus(3), PLAN, method=method)
    assert heard.scored == []
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.reason == str(BoxFailure(BoxStage.ENGINE))


@needs_engine
def test_a_note_for_the_next_run_is_not_found(store_path: Path, tmp_path: Path) -> None:
    code = """
import os
PLACES = ["/tmp/note", "/dev/shm/note", "/tmp/site/note", "/box/code/note", "/box/run/note", "/note", "/dev/note"]
found = [place for place in PLACES if os.path.exists(place)]
for place in PLACES:
    try:
        open(place, "w").write("a note")
    except OSError:
        pass
def translate(texts):
    return ["found " + " ".join(found) for _ in texts]
"""
    for _ in range(2):
        heard = run_corpus(store_path, corpus(1), PLAN, method=boxed(tmp_path, code))
        assert [result.output for result in heard.scored] == ["found "]


@needs_engine
def test_failure_says_the_same_whatever_it_is(store_path: Path, tmp_path: Path) -> None:
    """Exit codes, signals, words, sizes, and how long it took: none is told."""
    code = """
import os, sys, time
def translate(texts):
    number = int(texts[0].split()[-1])
    if number % 4 == 0:
        os._exit(number + 1)
    if number % 4 == 1:
        sys.stderr.write(texts[0] * 1000)
        raise ValueError(texts[0])
    if number % 4 == 2:
        os.kill(os.getpid(), 1 + number)
    time.sleep(number / 100)
    sys.exit(texts[0])
"""
    limits = replace(SMALL, restarts=100)
    code_folder = BoxedCode(written(tmp_path / "code", code), "method:translate")
    method = boxed_method(code_folder, limits, find_engine(), None, setup())
    heard = run_corpus(store_path, corpus(8), PLAN, method=method)
    assert {(result.error_class, result.error) for result in heard.scored} == {
        (ErrorClass.METHOD, "The method failed at a text: it ended.")
    }
    assert method.words == ""


@needs_engine
def test_secret_run_asks_here(store_path: Path, tmp_path: Path, endpoint: Scripted) -> None:
    """Also with the door to other machines shut; each call stands with the entry for which it was made."""
    models = gateway(endpoint.url, ["mock"], no_key)
    code = BoxedCode(written(tmp_path / "code", ASKS), "method:translate")
    method = boxed_method(code, SMALL, find_engine(), models, setup())
    heard = run_corpus(store_path, corpus(4, segment="gold_standard"), PLAN, method=method)
    assert [result.error for result in heard.scored] == [None] * 4
    assert len(endpoint.asked) == 4
    assert {result.total_tokens for result in heard.scored} == {30}
    assert {result.attempts for result in heard.scored} == {1}


@needs_engine
def test_model_that_is_down_stops_the_run(store_path: Path, tmp_path: Path) -> None:
    """Whatever the method makes of it: it was not judged."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    models = gateway(f"http://127.0.0.1:{port}/v1", ["mock"], no_key)
    code = ASKS.replace("return [", "try:\n        return [")
    code = code.replace("texts]\n", "texts]\n    except RuntimeError:\n        return texts\n")
    method = boxed(tmp_path, code, gateway=models)
    heard = run_corpus(store_path, corpus(4), PLAN, method=method)
    assert heard.scored == []
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.reason == str(BoxFailure(BoxStage.GATEWAY))
