"""The gateway: the only thing a box can talk to. It asks the models that the custodian set, and no others.

It speaks HTTP over a socket in the file system, in the shape of chat completions: ``POST /v1/chat/completions`` with
``model`` and ``messages``, and ``GET /v1/models``. A method names a model and says messages; address, key and everything
else are the custodian's. Each call goes through the run's own ``Calls``: it is in the record of attempts, is counted
against the budget, and keeps to the run's pace.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from corpora.files.json_types import JsonObject
from harness.box.engine import SOCKET
from harness.core.calls import Calls
from harness.core.failures import CallError, ErrorClass, HarnessError, NoCredit, UsageError
from harness.endpoint.budget import LOCAL, Prices
from harness.endpoint.endpoints import KeySource, chat_endpoint
from harness.method.completions import Completions, Message

_MOST_HEAD: Final = 16 * 1024
_MOST_BODY: Final = 512 * 1024
_MOST_AT_ONCE: Final = 16
"""Connections that are open at once; more are closed unheard."""
_PATIENCE: Final = 30.0
"""Seconds in which a question must have come in whole."""
_CUSTODIANS: Final = frozenset({ErrorClass.CONNECTION, ErrorClass.AUTH, ErrorClass.OFFLINE})
"""Failures that no question can bring about."""
_ROLES: Final = frozenset({"system", "user", "assistant"})


@dataclass(frozen=True, slots=True)
class Gateway:
    """The models that a method in a box may ask."""

    models: Mapping[str, Completions]
    """How each is asked, by the name that the method uses."""
    calls_for_entry: int = 20
    """How often models may be asked for each text."""

    @property
    def url(self) -> str:
        return next(iter(self.models.values())).endpoint.url


def gateway(endpoint: str, models: Sequence[str], find_key: KeySource) -> Gateway:
    """Return a gateway to models of one endpoint, a preset's name or a URL.

    UsageError where it is on another machine, or where no model is named.
    """
    chat = chat_endpoint(endpoint)
    if not chat.local:
        raise UsageError(
            f"{chat.name} is on another machine, and a box sends texts to models of this one only. "
            "Name an endpoint on this machine."
        )
    if not models:
        raise UsageError("Name the models that the method may ask.")
    table = Prices()

    def asked(model: str) -> Completions:
        price = table.price(chat.name, model) or LOCAL
        return Completions(chat, model, 0.0, 2048, {}, find_key(chat), price, 0)

    return Gateway({model: asked(model) for model in models})


class GatewayServer:
    """Answers one box; belongs to one event loop. Open only while a method is asked for translations."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._folder = tempfile.TemporaryDirectory(prefix="rosetta-gateway-")
        self.socket_folder = Path(self._folder.name) / "shown"
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[Any]] = set()
        self._calls: Calls | None = None
        self._left = 0
        self.asked = 0
        """Questions that went to a model."""
        self.down = False
        """True where a model could not be reached, which is no fault of the method's."""

    async def start(self) -> None:
        """Start to listen. The folder around the socket's is this user's alone; the box has its own user."""
        self.socket_folder.mkdir(mode=0o755)
        socket = self.socket_folder / SOCKET
        self._server = await asyncio.start_unix_server(self._hear, socket, limit=_MOST_HEAD)
        socket.chmod(0o666)

    def open_for(self, calls: Calls, entries: int) -> None:
        """Allow calls of models for the texts under way."""
        self._calls = calls
        self._left = self._gateway.calls_for_entry * entries

    def shut(self) -> None:
        """Refuse all calls until the next texts, and break off what is under way.

        A method that answers before its questions are answered would else ask on, and no record of its entry would say so.
        """
        self._calls = None
        for connection_task in self._open:
            connection_task.cancel()

    async def close(self) -> None:
        """Listen no more, and break off what is under way."""
        if self._server is not None:
            self._server.close()
        self.shut()
        await asyncio.gather(*self._open, return_exceptions=True)
        self._folder.cleanup()

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  a server makes one for each connection
        self._open.add(task)
        try:
            if len(self._open) <= _MOST_AT_ONCE:
                status, answer_body = await self._answered(reader)
                content = json.dumps(answer_body).encode()
                head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {len(content)}"
                writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode() + content)
                async with asyncio.timeout(_PATIENCE):
                    await writer.drain()
        except (OSError, TimeoutError, asyncio.CancelledError):
            pass  # it went away, or the time for questions is over
        finally:
            self._open.discard(task)
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _answered(self, reader: asyncio.StreamReader) -> tuple[int, JsonObject]:
        try:
            async with asyncio.timeout(_PATIENCE):
                method, path, body = await _read(reader)
        except (TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return _refusal(400, "This is no question that the gateway understands.")
        if (method, path) == ("GET", "/v1/models"):
            models = [{"id": name, "object": "model"} for name in self._gateway.models]
            return 200, {"object": "list", "data": models}
        if (method, path) != ("POST", "/v1/chat/completions"):
            return _refusal(404, "The gateway knows POST /v1/chat/completions and GET /v1/models.")
        try:
            model, messages = _question(body)
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            return _refusal(400, "Give 'model' and 'messages', each with 'role' and 'content', both texts.")
        return await self._ask(model, messages)

    async def _ask(self, model: str, messages: Sequence[Message]) -> tuple[int, JsonObject]:
        completions = self._gateway.models.get(model)
        if completions is None:
            return _refusal(404, "The gateway has no model of this name.")
        if self._calls is None or self._left <= 0:
            return _refusal(
                429, "No model may be asked now: no text is under way, or models were asked too often for it."
            )
        self._left -= 1
        self.asked += 1
        request = completions.request(messages, accept=lambda reply: reply.complete)
        try:
            reply = await self._calls.send(request)
        except CallError as failure:
            self.down |= failure.error_class in _CUSTODIANS or isinstance(failure, NoCredit)
            return _refusal(502, "The model gave no answer.")
        except HarnessError:  # the budget is reached: the run ends by that, in its own words
            return _refusal(502, "The model gave no answer.")
        message = {"role": "assistant", "content": reply.text}
        choice: JsonObject = {"index": 0, "message": message, "finish_reason": reply.finish_reason or "stop"}
        return 200, {"object": "chat.completion", "model": model, "choices": [choice]}


def _question(body: bytes) -> tuple[str, list[Message]]:
    """Return model and messages; raises for any other shape. What else a method says is not heard."""
    asked = json.loads(body)
    messages: list[Message] = [{name: turn[name] for name in ("role", "content")} for turn in asked["messages"]]
    model = asked["model"]
    texts = [model, *(message["content"] for message in messages)]
    if not messages or not all(isinstance(text, str) for text in texts):
        raise ValueError("texts are wanted")
    if not all(message["role"] in _ROLES for message in messages):
        raise ValueError("a role that is none")
    return model, messages


async def _read(reader: asyncio.StreamReader) -> tuple[str, str, bytes]:
    """Read one HTTP request; ValueError where it is none, or too long."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *rest = head.split("\r\n")
    method, path, _ = first.split(" ")
    pairs = (line.partition(":") for line in rest)
    fields = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = fields.get("content-length", "0")
    if not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > _MOST_BODY:
        raise ValueError("too long")
    return method, path, await reader.readexactly(int(length))


def _refusal(status: int, words: str) -> tuple[int, JsonObject]:
    return status, {"error": {"message": words}}
