"""For methods in a box: ``from rosetta_box import ask`` asks a model of the gateway. The standard library is enough."""

from __future__ import annotations

import http.client
import json
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any


class _Gateway(http.client.HTTPConnection):
    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ["ROSETTA_GATEWAY"])


def ask(model: str, messages: Sequence[Mapping[str, str]]) -> str:
    """Return what a model answers to messages (each with ``role`` and ``content``); RuntimeError where it gives no answer."""
    reply = _asked("POST", "/v1/chat/completions", {"model": model, "messages": list(messages)})
    return str(reply["choices"][0]["message"]["content"])


def models() -> list[str]:
    """Return the names of the models that may be asked."""
    return [model["id"] for model in _asked("GET", "/v1/models", None)["data"]]


def _asked(method: str, path: str, body: Any) -> Any:
    connection = _Gateway("gateway")
    try:
        connection.request(method, path, None if body is None else json.dumps(body))
        reply = connection.getresponse()
        reply_json = json.loads(reply.read())
    finally:
        connection.close()
    if reply.status != http.client.OK:
        raise RuntimeError(reply_json["error"]["message"])
    return reply_json
