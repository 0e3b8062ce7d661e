"""One event of the log: a head that stays for ever, and a payload that its person may erase (DESIGN R4).

The head commits to the payload by SHA-256 over a random salt and the payload's canonical bytes, and names
the head before it, so that each device's events form a chain which still verifies after an erasure.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter, ValidationError

from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError, StoreError, UsageError
from review.log.payloads import AnyPayload, Kind

VERSION = 1
SALT_BYTES = 16
FIRST = ""
"""What the first event of a device names as the one before it."""

MOST_LINE = 65_536
"""Bytes of one event as a line."""

_HEAD = ("v", "device", "seq", "lamport", "prev", "kind", "commit")
_DEVICE = re.compile(r"[0-9a-f]{16}")
_HEX64 = re.compile(r"[0-9a-f]{64}")
_MOST = 2**40
_PAYLOAD: TypeAdapter[AnyPayload] = TypeAdapter(AnyPayload)


class EventError(HarnessError):
    """One event that cannot be believed; the message never quotes its text."""


@dataclass(frozen=True)
class Event:
    """One event; equal ids mean equal heads."""

    device: str
    """Random id of the installation that wrote it, 16 hexadecimal digits."""
    seq: int
    """Place in its device's chain, from 0."""
    lamport: int
    """Logical time: larger than that of every event that the device knew."""
    prev: str
    """Id of the device's event before it, ``FIRST`` for the first."""
    kind: Kind
    commit: str
    """SHA-256 over salt and canonical payload, hexadecimal."""
    payload: AnyPayload | None
    """None where it was erased."""
    salt: bytes | None
    shut: bool = False
    """True where its words are stored encrypted and no key available opens them; a mark stands for them, and nothing was checked."""

    @property
    def head(self) -> dict[str, Any]:
        """The part that the chain covers, as JSON values."""
        return {
            "v": VERSION,
            "device": self.device,
            "seq": self.seq,
            "lamport": self.lamport,
            "prev": self.prev,
            "kind": str(self.kind),
            "commit": self.commit,
        }

    @cached_property
    def id(self) -> str:
        """SHA-256 over the canonical head, hexadecimal."""
        return hashlib.sha256(canonical_bytes(self.head)).hexdigest()

    @property
    def order(self) -> tuple[int, str, int, str]:
        """The one order in which every computer reads the same events."""
        return (self.lamport, self.device, self.seq, self.id)

    def erased(self) -> Event:
        """Return the event without its payload and salt."""
        return Event(
            self.device, self.seq, self.lamport, self.prev, self.kind, self.commit, None, None
        )

    def line(self) -> bytes:
        """Return the event as one canonical JSON line, without the line feed; StoreError where it is shut."""
        if self.shut:
            raise StoreError("What was written is sealed, and no key available opens it.")
        payload = None if self.payload is None else self.payload.model_dump(mode="json")
        salt = None if self.salt is None else self.salt.hex()
        return canonical_bytes({"head": self.head, "payload": payload, "salt": salt})


def make_event(
    payload: AnyPayload, *, device: str, seq: int, lamport: int, prev: str, salt: bytes
) -> Event:
    """Make the next event of a device; ``salt`` is fresh and random."""
    return Event(
        device, seq, lamport, prev, payload.kind, _commitment(payload, salt), payload, salt
    )


def read_event(line: bytes) -> Event:
    """Read one event and check it against itself; raises EventError in words."""
    try:
        raw = json.loads(line) if len(line) <= MOST_LINE else None
    except (ValueError, RecursionError):
        raise EventError("is not JSON") from None
    if not isinstance(raw, dict) or set(raw) != {"head", "payload", "salt"}:
        raise EventError("is not an event of this form")
    event = _event(raw["head"], raw["payload"], raw["salt"])
    try:
        same = event.line() == line
    except UsageError:
        same = False
    if not same:
        raise EventError("is not written in the one canonical form")
    return event


def shut_event(head: dict[str, Any], payload: object) -> Event:
    """Return an event whose words stay sealed, so that its content cannot be held against its head; EventError in words."""
    _check_head(head)
    return Event(*_facts(head), payload=read_payload(payload, head["kind"]), salt=None, shut=True)


def _event(head: object, payload: object, salt: object) -> Event:
    if not isinstance(head, dict) or set(head) != set(_HEAD) or head["v"] != VERSION:
        raise EventError("has a head of another form or version")
    _check_head(head)
    if payload is None and salt is None:
        return Event(*_facts(head), payload=None, salt=None)
    if not (isinstance(salt, str) and re.fullmatch(r"[0-9a-f]{32}", salt)):
        raise EventError("has no salt")
    said = read_payload(payload, head["kind"])
    event = Event(*_facts(head), payload=said, salt=bytes.fromhex(salt))
    if _commitment(said, bytes.fromhex(salt)) != event.commit:
        raise EventError("was changed after it was written: its content does not match its head")
    return event


def _facts(head: dict[str, Any]) -> tuple[str, int, int, str, Kind, str]:
    return (
        head["device"],
        head["seq"],
        head["lamport"],
        head["prev"],
        Kind(head["kind"]),
        head["commit"],
    )


def _check_head(head: dict[str, Any]) -> None:
    numbers = (head["seq"], head["lamport"])
    texts = (head["device"], head["prev"], head["commit"], head["kind"])
    if not all(type(number) is int and 0 <= number < _MOST for number in numbers):
        raise EventError("has a number in its head that is none")
    if not all(isinstance(text, str) for text in texts):
        raise EventError("has a head of another form or version")
    first = head["seq"] == 0
    if (head["prev"] == FIRST) != first or not (first or _HEX64.fullmatch(head["prev"])):
        raise EventError("does not name the event before it")
    if not (_DEVICE.fullmatch(head["device"]) and _HEX64.fullmatch(head["commit"])):
        raise EventError("has an id in its head that is none")
    if head["kind"] not in set(Kind):
        raise EventError("is of a kind that this version does not know")


def read_payload(payload: object, kind: str) -> AnyPayload:
    """Read what an event of a kind says, as JSON values; raises EventError in words."""
    if not isinstance(payload, dict) or payload.get("kind") != kind:
        raise EventError("has no content of its kind")
    try:
        return _PAYLOAD.validate_json(json.dumps(payload), strict=True)
    except (ValidationError, ValueError):
        raise EventError("has content of another form") from None


def _commitment(payload: AnyPayload, salt: bytes) -> str:
    content = canonical_bytes(payload.model_dump(mode="json"))
    return hashlib.sha256(salt + content).hexdigest()


def events_sha256(ids: Iterable[str]) -> str:
    """Return one hash for a set of events: SHA-256 over their ids, sorted, each followed by a line feed."""
    return hashlib.sha256("".join(f"{id_}\n" for id_ in sorted(set(ids))).encode()).hexdigest()
