"""What was answered before: replies to requests, and what annotators found.

Requests and replies are kept for the entry screen, and answered from again where that is right. Only what its
method accepted lies under the key that the next one looks for (M3); every other reply lies under a random one.
Findings of annotators are kept for later runs (``harness.annotators.annotator.Memo``).
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgpack
from pydantic import TypeAdapter

from harness.core.calls import Reply, Request, Usage
from harness.core.storage_problems import storable
from harness.store.file.database import open_store
from harness.store.file.transaction import intern_text, read_texts, transaction
from harness.store.file.trouble import of_kind, stored_json, unpacked_message, unpacks


class StoredFindings:
    """A memo in the store; opens it for each look, so that any thread may ask."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
        with closing(open_store(self._path)) as connection:
            return recall_findings(connection, maker, keys)

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        if not found:
            return
        with closing(open_store(self._path)) as connection, transaction(connection):
            keep_findings(connection, maker, found)


def recall_findings(
    connection: sqlite3.Connection, maker: str, keys: Sequence[str] | None = None
) -> dict[str, bytes]:
    """Return what a maker found for these keys; for all of its keys where None."""
    query = "SELECT key, value FROM findings WHERE maker = (SELECT id FROM makers WHERE name = ?)"
    if keys is None:
        return dict(connection.execute(query, (maker,)))
    values: dict[str, bytes] = {}
    for start in range(0, len(keys), 500):
        chunk = [storable(key) for key in keys[start : start + 500]]
        marks = ",".join("?" * len(chunk))
        values.update(connection.execute(f"{query} AND key IN ({marks})", (maker, *chunk)))
    return values


def keep_findings(connection: sqlite3.Connection, maker: str, found: Mapping[str, bytes]) -> None:
    """Store what a maker found; called within a transaction."""
    connection.execute("INSERT OR IGNORE INTO makers (name) VALUES (?)", (maker,))
    number = connection.execute("SELECT id FROM makers WHERE name = ?", (maker,)).fetchone()[0]
    connection.executemany(
        "INSERT OR REPLACE INTO findings VALUES (?, ?, ?)",
        [(number, storable(key), value) for key, value in found.items()],
    )


def forget_findings(connection: sqlite3.Connection) -> None:
    """Erase all findings: their keys may be words of a text that is to be gone."""
    connection.execute("DELETE FROM findings")
    connection.execute("DELETE FROM makers")


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
    """Split off the last message from the rest, which is the same for most entries of a run."""
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


@unpacks
def named_models(connection: sqlite3.Connection, keys: Iterable[bytes]) -> Counter[str]:
    """Count the models that the endpoint named in the replies with these keys."""
    named: Counter[str] = Counter()
    for key in keys:
        row = connection.execute("SELECT facts FROM replies WHERE key = ?", (key,)).fetchone()
        model = None if row is None else _FACTS.validate_python(unpacked_message(row[0]))[1]
        if model is not None:
            named[model] += 1
    return named


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
