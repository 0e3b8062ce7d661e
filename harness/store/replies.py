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
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

import msgpack
from pydantic import Field, TypeAdapter

from corpora.files.json_types import JsonObject
from corpora.files.problems import StoredValueError
from harness.core.calls import TOKENS, Reply, Request, Usage, token_counts
from harness.core.failures import ErrorClass
from harness.core.storage import storable
from harness.method.method import Attempt
from harness.store.sqlite.database import open_store
from harness.store.sqlite.trouble import (
    intern_text,
    of_kind,
    read_texts,
    stored_json,
    stored_word,
    transaction,
    unpacked_message,
    unpacks,
)


@dataclass(frozen=True, slots=True)
class StoredFindings:
    """A memo in the store; opens it for each look, so that any thread may ask."""

    path: Path

    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
        with closing(open_store(self.path)) as connection:
            return recall_findings(connection, maker, keys)

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        if not found:
            return
        with closing(open_store(self.path)) as connection, transaction(connection):
            keep_findings(connection, maker, found)


def recall_findings(connection: sqlite3.Connection, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
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
    return blake2b(_IDENTITY.encode(identity).encode(), digest_size=16).digest()


_IDENTITY = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A reply with what it cost and how long it took when it was made."""

    reply: Reply
    latency_seconds: float
    cost_usd: float | None
    key: bytes = b""
    """What it is stored under; empty before that."""
    body: JsonObject | Sequence[Any] = field(default_factory=dict)
    """Of the request; empty where the reply was looked up to be used again."""


def known_keys(connection: sqlite3.Connection) -> set[bytes]:
    """Return the keys of all stored replies, about 100 bytes of memory each."""
    return {row[0] for row in connection.execute("SELECT key FROM replies")}


def find_reply(connection: sqlite3.Connection, key: bytes) -> StoredReply | None:
    """Return the reply that may be used again for this key."""
    row = connection.execute(
        "SELECT t.body, p.facts, p.latency_seconds FROM replies p JOIN texts t ON t.id = p.body WHERE p.key = ?", (key,)
    ).fetchone()
    return None if row is None else replace(_stored(*row), key=key)


def add_replies(connection: sqlite3.Connection, replies: Iterable[StoredReply]) -> None:
    """Store replies; a newer one takes the key of an older. Called within a transaction."""
    now = time.time()
    connection.executemany(
        "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)",
        [_row(connection, stored, now) for stored in replies],
    )


def _row(connection: sqlite3.Connection, stored: StoredReply, now: float) -> tuple[object, ...]:
    head, tail = _split(stored.body)
    reply = stored.reply
    facts = (
        None if reply.usage is None else token_counts(reply.usage),
        None if reply.model_id is None else storable(reply.model_id),
        None if reply.finish_reason is None else storable(reply.finish_reason),
        reply.reported_cost_usd,
        json.dumps(reply.tool_calls) if reply.tool_calls else None,
        stored.cost_usd,
    )
    return (
        stored.key,
        intern_text(connection, storable(head)),
        None if tail is None else intern_text(connection, storable(tail)),
        intern_text(connection, storable(reply.text)),
        msgpack.packb(facts),
        stored.latency_seconds,
        now,
    )


def _split(body: JsonObject | Sequence[Any]) -> tuple[str, str | None]:
    """Split off the last message from the rest, which is the same for most entries of a run."""
    messages = body.get("messages") if isinstance(body, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(messages, list) or not messages:
        return json.dumps(body, ensure_ascii=False), None
    last = messages[-1]
    if not isinstance(last, dict) or not isinstance(last.get("content"), str):
        return json.dumps(body, ensure_ascii=False), None
    head = {**body, "messages": [*messages[:-1], {**last, "content": None}]}
    return json.dumps(head, ensure_ascii=False), last["content"]


_FACTS = TypeAdapter(
    tuple[
        Annotated[tuple[int, ...], Field(min_length=4, max_length=len(TOKENS))] | None,
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
    usage, model_id, finish_reason, reported, tool_calls, cost = _FACTS.validate_python(unpacked_message(facts))
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


def read_exchange(connection: sqlite3.Connection, key: bytes) -> StoredReply | None:
    """Return the request and reply behind an attempt."""
    row = connection.execute(
        "SELECT head, tail, body, facts, latency_seconds FROM replies WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    texts = read_texts(connection, [number for number in row[:3] if number is not None])
    tail = None if row[1] is None else texts[row[1]]
    stored = _stored(texts[row[2]], row[3], row[4])
    head = texts[row[0]]
    body = stored_json(head)
    if tail is not None:
        messages = of_kind(of_kind(body, dict).get("messages"), list)
        of_kind(messages[-1] if messages else None, dict)["content"] = tail
    return replace(stored, key=key, body=body)


# ---- What a row keeps of each try: packed in one value, and the words in it apart where they are
# to be sealed.


def pack_attempts(attempts: Sequence[Attempt]) -> bytes | None:
    """Return the attempts as a trace; None where there are none."""
    if not attempts:
        return None
    packed: bytes = msgpack.packb([_fields(attempt) for attempt in attempts])
    return packed


def _fields(attempt: Attempt) -> list[object]:
    """Return an attempt's fields without the empty ones at the end, which most attempts have."""
    fields: list[object] = [
        attempt.reply_key,
        attempt.status,
        attempt.latency_seconds,
        attempt.waited_seconds or None,
        attempt.cached or None,
        attempt.error_class,
        attempt.error,
        attempt.note,
    ]
    while fields and fields[-1] is None:
        fields.pop()
    return fields


def unpack_attempts(packed: bytes) -> list[Attempt]:
    """Read the attempts out of a row's trace; StoredValueError where it is none."""
    return [_attempt(*fields) for fields in tries_in(packed)]


_NUMBER = int | float
_KINDS: tuple[Any, ...] = (bytes, int, _NUMBER, _NUMBER, bool, str, str, str)
"""Types of the fields of an attempt, each of which may be absent."""


def tries_in(packed: bytes) -> list[list[Any]]:
    """Return the fields of each attempt in a trace, without those at the end that are absent."""
    tries = of_kind(unpacked_message(packed), list)
    for attempt in tries:
        places = zip(of_kind(attempt, list), _KINDS, strict=False)
        sound = all(value is None or isinstance(value, kind) for value, kind in places)
        if len(attempt) > len(_KINDS) or not sound:
            raise StoredValueError
    return tries


def _attempt(
    key: bytes | None = None,
    status: int | None = None,
    latency: float | None = None,
    waited: float | None = None,
    cached: bool | None = None,
    error_class: str | None = None,
    error: str | None = None,
    note: str | None = None,
) -> Attempt:
    kind = None if error_class is None else stored_word(error_class, ErrorClass)
    return Attempt(key, status, latency, waited or 0.0, bool(cached), kind, error, note)


def rate_limited(trace: bytes | None) -> int:
    """Count the tries that were answered with 429."""
    tries = [] if trace is None else tries_in(trace)
    return sum((attempt[1:2] or [None])[0] == 429 for attempt in tries)


ReviewDescription = Sequence[Sequence[str | None]]  # Error and note of each attempt


def said_in(attempts: Sequence[Attempt]) -> ReviewDescription:
    """Return the words in some attempts, which may quote a text."""
    return [[attempt.error, attempt.note] for attempt in attempts]


def unsaid(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """Return attempts without their words; a note that is there is empty."""
    return tuple(replace(attempt, error=None, note=None if attempt.note is None else "") for attempt in attempts)


def said_again(attempts: Sequence[Attempt], said: ReviewDescription) -> list[Attempt]:
    """Restore the words that ``said_in`` took out; StoredValueError where they are of others."""
    if len(attempts) != len(said):
        raise StoredValueError
    return [replace(attempt, error=error, note=note) for attempt, (error, note) in zip(attempts, said, strict=True)]
