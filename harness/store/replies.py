"""Requests and replies: kept for the entry screen, and answered from again where that is right.

Only what its method accepted lies under the key that the next one looks for (M3); every other reply lies
under a random one.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgpack
from pydantic import TypeAdapter

from harness.core.calls import Reply, Request, Usage
from harness.core.storable import storable
from harness.store.file.texts import intern_text, read_texts
from harness.store.file.trouble import of_kind, stored_json, unpacked_message, unpacks


def request_key(request: Request, method: str) -> bytes:
    """Return the key under which the answer is found: everything that decides it, and nothing else."""
    identity: Any = {
        "method": method,
        "provider": request.provider,
        "url": request.url,
        "body": request.body,
        "replicate": request.replicate,
    }
    content = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return blake2b(content.encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A reply with what it cost and how long it took when it was made."""

    reply: Reply
    latency_seconds: float
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class NewReply:
    """A reply on its way into the store."""

    key: bytes
    body: Mapping[str, Any] | Sequence[Any]
    stored: StoredReply


def known_keys(connection: sqlite3.Connection) -> set[bytes]:
    """Return the keys of all stored replies, about 100 bytes of memory each."""
    return {row[0] for row in connection.execute("SELECT key FROM replies")}


def find_reply(connection: sqlite3.Connection, key: bytes) -> StoredReply | None:
    """Return the reply that may be used again for this key."""
    row = connection.execute(
        "SELECT t.body, p.facts, p.latency_seconds FROM replies p JOIN texts t ON t.id = p.body"
        " WHERE p.key = ?",
        (key,),
    ).fetchone()
    return None if row is None else _stored(*row)


def add_replies(connection: sqlite3.Connection, replies: Iterable[NewReply]) -> None:
    """Store replies; a newer one takes the key of an older. Called within a transaction."""
    now = time.time()
    connection.executemany(
        "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)",
        [_row(connection, new, now) for new in replies],
    )


def _row(connection: sqlite3.Connection, new: NewReply, now: float) -> tuple[object, ...]:
    head, tail = _split(new.body)
    return (
        new.key,
        intern_text(connection, storable(head)),
        None if tail is None else intern_text(connection, storable(tail)),
        intern_text(connection, storable(new.stored.reply.text)),
        _facts(new.stored),
        new.stored.latency_seconds,
        now,
    )


def _split(body: Mapping[str, Any] | Sequence[Any]) -> tuple[str, str | None]:
    """Part the last message from the rest, which is the same for most entries of a run."""
    messages = body.get("messages") if isinstance(body, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(messages, list) or not messages:
        return json.dumps(body, ensure_ascii=False), None
    last = messages[-1]
    if not isinstance(last, dict) or not isinstance(last.get("content"), str):
        return json.dumps(body, ensure_ascii=False), None
    head = {**body, "messages": [*messages[:-1], {**last, "content": None}]}
    return json.dumps(head, ensure_ascii=False), last["content"]


def _join(head: str, tail: str | None) -> Any:
    body = stored_json(head)
    if tail is not None:
        messages = of_kind(of_kind(body, dict).get("messages"), list)
        of_kind(messages[-1] if messages else None, dict)["content"] = tail
    return body


def _facts(stored: StoredReply) -> bytes:
    reply = stored.reply
    usage = None
    if reply.usage is not None:
        usage = (
            reply.usage.prompt_tokens,
            reply.usage.completion_tokens,
            reply.usage.reasoning_tokens,
            reply.usage.cached_tokens,
        )
    packed: bytes = msgpack.packb(
        (
            usage,
            _word(reply.model_id),
            _word(reply.finish_reason),
            reply.reported_cost_usd,
            json.dumps(reply.tool_calls) if reply.tool_calls else None,
            stored.cost_usd,
        )
    )
    return packed


def _word(text: str | None) -> str | None:
    return None if text is None else storable(text)


_FACTS = TypeAdapter(
    tuple[
        tuple[int, int, int, int] | None,
        str | None,
        str | None,
        float | None,
        str | None,
        float | None,
    ]
)
"""Usage, model, finish reason, reported cost, JSON of the tool calls, cost."""


@unpacks
def _stored(text: str, facts: bytes, latency: float) -> StoredReply:
    usage, model_id, finish_reason, reported, tool_calls, cost = _FACTS.validate_python(
        unpacked_message(facts)
    )
    reply = Reply(
        text=text,
        usage=None if usage is None else Usage(*usage),
        model_id=model_id,
        finish_reason=finish_reason,
        reported_cost_usd=reported,
        tool_calls=tuple(of_kind(stored_json(tool_calls), list)) if tool_calls else (),
    )
    return StoredReply(reply, latency, cost)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was asked and what was answered, as the entry screen shows it."""

    body: Mapping[str, Any] | Sequence[Any]
    stored: StoredReply


def read_exchange(connection: sqlite3.Connection, key: bytes) -> Exchange | None:
    """Return the request and reply behind an attempt."""
    row = connection.execute(
        "SELECT head, tail, body, facts, latency_seconds FROM replies WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    texts = read_texts(connection, [number for number in row[:3] if number is not None])
    tail = None if row[1] is None else texts[row[1]]
    return Exchange(_join(texts[row[0]], tail), _stored(texts[row[2]], row[3], row[4]))
