"""A real local HTTP server, and a carrier of calls that really sends to it."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from corpora.model.entry import Entry, Segment
from harness.core.calls import Reply, Request
from harness.endpoint.endpoints import known_variables
from harness.method.options import MethodOptions
from tests.keyring_in_memory import MemoryKeyring, memory_keyring

PLUGIN = """
from harness.method.method import MethodClass, Output, Setup
class M:
    endpoint = None
    def __init__(self, options):
        self.setup = Setup(method="m", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
                           model_slug="m", condition="c")
    async def translate(self, entries, calls):
        return [Output(each.source) for each in entries]
"""
"""A method that copies its sources, as a plug-in: class M."""


@pytest.fixture(autouse=True)
def ring(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryKeyring]:
    """No test sees the keyring or the keys of the person who runs it."""
    for variable in known_variables().values():
        monkeypatch.delenv(variable, raising=False)
    with memory_keyring() as fake:
        yield fake


@dataclass
class Received:
    path: str
    body: Any
    headers: dict[str, str]


@dataclass
class Server:
    """Answers each POST with what ``answer`` makes of its body, and keeps what it received."""

    url: str = ""
    answer: Callable[[Any], Any] = lambda body: body
    received: list[Received] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on a free port of this machine."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            lowered = {name.lower(): value for name, value in self.headers.items()}
            state.received.append(Received(self.path, body, lowered))
            payload = json.dumps(state.answer(body)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_port}"
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


@dataclass
class HttpCalls:
    """Sends each request once over HTTP and remembers requests and replies."""

    requests: list[Request] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    async def send(self, request: Request) -> Reply:
        self.requests.append(request)
        body = request.body
        if request.body_secrets:
            assert isinstance(body, dict)
            body = body | dict(request.body_secrets)
        # it makes no context for TLS
        async with httpx.AsyncClient(trust_env=False, verify=False) as client:
            answer = await client.post(request.url, json=body, headers=dict(request.headers))
        self.replies.append(request.read(answer.json()))
        return self.replies[-1]


@pytest.fixture
def calls() -> HttpCalls:
    return HttpCalls()


def options(**given: Any) -> MethodOptions:
    """Options for English to Plains Cree in roman letters."""
    return MethodOptions(source_language="en", target_language="crk-Latn", **given)


def entry(source: str, place: int | str = 1, segment: Segment | None = None) -> Entry:
    return Entry(id=place, source=source, reference="never examined", segment=segment)


def completion(text: str | None, **more: Any) -> dict[str, Any]:
    """A chat-completions reply as OpenAI documents it."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "model": "model-2025-01-01",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29},
    } | more  # fmt: skip
