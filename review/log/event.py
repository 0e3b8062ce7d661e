"""One event of the log: a head that stays for ever, and a payload that its person may erase (DESIGN R4).

The head commits to the payload by SHA-256 over a random salt and the payload's canonical bytes, and names
the head before it, so that each device's events form a chain which still verifies after an erasure.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from pydantic import TypeAdapter, ValidationError

from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError, StoreError, UsageError
from harness.store.sqlite.trouble import transaction
from review.log.payloads import AnyPayload, Kind, Scope, Withdraw

VERSION = 1
SALT_BYTES = 16
FIRST = ""  # What the first event of a device names as the one before it

MOST_LINE = 65_536  # Bytes of one event as a line

_HEAD = ("v", "device", "seq", "lamport", "prev", "kind", "commit")
_DEVICE = re.compile(r"[0-9a-f]{16}")
_HEX64 = re.compile(r"[0-9a-f]{64}")
_MOST = 2**40
_PAYLOAD: TypeAdapter[AnyPayload] = TypeAdapter(AnyPayload)


class EventError(HarnessError):
    """One event that cannot be believed; the message never quotes its text."""


class LaterEventError(EventError):
    """An event that is whole, and says something that this version does not know."""


@dataclass(frozen=True)
class Event:
    """One event; equal ids mean equal heads."""

    device: str  # Random id of the installation that wrote it, 16 hexadecimal digits
    seq: int  # Place in its device's chain, from 0
    lamport: int  # Logical time: larger than that of every event that the device knew
    prev: str  # Id of the device's event before it, `FIRST` for the first
    kind: Kind
    commit: str  # SHA-256 over salt and canonical payload, hexadecimal
    payload: AnyPayload | None  # None where it was erased
    salt: bytes | None
    # True where its words are stored encrypted and no key available opens them; a mark stands for
    # them, and nothing was checked
    shut: bool = False

    @property
    def head(self) -> dict[str, int | str]:
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
        return Event(self.device, self.seq, self.lamport, self.prev, self.kind, self.commit, None, None)

    def line(self) -> bytes:
        """Return the event as one canonical JSON line, without the line feed; StoreError where it is shut."""
        if self.shut:
            raise StoreError("What was written is sealed, and no key available opens it.")
        payload = None if self.payload is None else self.payload.model_dump(mode="json")
        salt = None if self.salt is None else self.salt.hex()
        return canonical_bytes({"head": self.head, "payload": payload, "salt": salt})


def make_event(payload: AnyPayload, *, device: str, seq: int, lamport: int, prev: str, salt: bytes) -> Event:
    """Make the next event of a device; ``salt`` is fresh and random."""
    return Event(device, seq, lamport, prev, payload.kind, _commitment(payload, salt), payload, salt)


def read_event(line: bytes) -> Event:
    """Read one event and check it against itself; raises EventError in words."""
    try:
        raw = json.loads(line) if len(line) <= MOST_LINE else None
    except (ValueError, RecursionError):
        raise EventError("is not JSON") from None
    if not isinstance(raw, dict) or set(raw) != {"head", "payload", "salt"}:
        raise EventError("is not an event of this form")
    facts, payload, salt = _read_head(raw["head"]), raw["payload"], raw["salt"]
    if payload is None and salt is None:
        event = Event(*facts, payload=None, salt=None)
    else:
        if not (isinstance(salt, str) and re.fullmatch(r"[0-9a-f]{32}", salt)):
            raise EventError("has no salt")
        try:
            said = read_payload(payload, raw["head"]["kind"])
        except EventError as error:
            with suppress(UsageError):
                if facts[-1] == hashlib.sha256(bytes.fromhex(salt) + canonical_bytes(payload)).hexdigest():
                    raise LaterEventError(f"{error}: a newer version wrote it") from None
            raise
        event = Event(*facts, payload=said, salt=bytes.fromhex(salt))
        if event.payload is None or _commitment(event.payload, bytes.fromhex(salt)) != event.commit:
            raise EventError("was changed after it was written: its content does not match its head")
    try:
        same = event.line() == line
    except UsageError:
        same = False
    if not same:
        raise EventError("is not written in the one canonical form")
    return event


def is_later(line: bytes) -> bool:
    """Return whether a line is an event that only a newer version can read."""
    try:
        read_event(line)
    except EventError as error:
        return isinstance(error, LaterEventError)
    return False


def shut_event(head: object, payload: object) -> Event:
    """Return an event whose words stay sealed, so that its content cannot be held against its head; EventError in words."""
    device, seq, lamport, prev, kind, commit = _read_head(head)
    return Event(device, seq, lamport, prev, kind, commit, read_payload(payload, kind), salt=None, shut=True)


def _read_head(head: object) -> tuple[str, int, int, str, Kind, str]:
    """Read the facts of an event from its head, in the order of its fields; EventError in words."""
    if not isinstance(head, dict) or set(head) != set(_HEAD) or head["v"] != VERSION:
        raise EventError("has a head of another form or version")
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
        raise LaterEventError("is of a kind that this version does not know")
    return (head["device"], head["seq"], head["lamport"], head["prev"], Kind(head["kind"]), head["commit"])


def read_payload(payload: object, kind: str) -> AnyPayload:
    """Read what an event of a kind says, as JSON values; raises EventError in words."""
    if not isinstance(payload, dict) or payload.get("kind") != kind:
        raise EventError("has no content of its kind")
    try:
        return _PAYLOAD.validate_json(json.dumps(payload), strict=True)
    except (ValidationError, ValueError):
        raise EventError("has content of another form") from None


def _commitment(payload: AnyPayload, salt: bytes) -> str:
    return hashlib.sha256(salt + canonical_bytes(payload.model_dump(mode="json"))).hexdigest()


def events_sha256(ids: Iterable[str]) -> str:
    """Return one hash for a set of events: SHA-256 over their ids, sorted, each followed by a line feed."""
    return hashlib.sha256("".join(f"{id_}\n" for id_ in sorted(set(ids))).encode()).hexdigest()


# ---- What a person took back, which events that reaches, and erasing those from a store (DESIGN
# R4).
#
# A withdrawal reaches every event of its person in scope, whenever it was made and whenever it
# arrives. The heads stay, so that chains still verify; the withdrawal itself stays too and
# travels, so that a later import of an old file is erased on arrival.

# By reviewer and batch (None: all): what was taken back
Withdrawals = Mapping[tuple[str, str | None], frozenset[Scope]]

WORDS = frozenset({Kind.COMMENT, Kind.SUGGEST})  # What `Scope.COMMENTS` reaches


def withdrawals(events: Iterable[Event]) -> dict[tuple[str, str | None], frozenset[Scope]]:
    """Return what the withdrawals among the events take back."""
    return taken_back(event.payload for event in events if isinstance(event.payload, Withdraw))


def taken_back(said: Iterable[Withdraw]) -> dict[tuple[str, str | None], frozenset[Scope]]:
    """Return what these withdrawals take back."""
    scopes: dict[tuple[str, str | None], set[Scope]] = defaultdict(set)
    for withdraw in said:
        scopes[withdraw.reviewer, reach(withdraw)].add(withdraw.scope)
    return {key: frozenset(scopes[key]) for key in sorted(scopes, key=lambda key: (key[0], key[1] or ""))}


def reach(withdraw: Withdraw) -> str | None:
    """Return the batch that a withdrawal reaches, None for every batch."""
    return None if withdraw.scope is Scope.EVERYTHING else withdraw.batch


def covered(event: Event, withdrawn: Withdrawals) -> bool:
    """Return whether an event was taken back; one without payload says nothing that could be."""
    payload = event.payload
    if payload is None or not withdrawn:
        return False
    reviewer, batch = getattr(payload, "reviewer", None), getattr(payload, "batch", None)
    return reached(event.kind, reviewer, batch, withdrawn)


def reached(kind: Kind, reviewer: str | None, batch: str | None, withdrawn: Withdrawals) -> bool:
    """Return whether withdrawals reach what a person says in a batch; never a withdrawal itself."""
    if reviewer is None or kind is Kind.WITHDRAW:
        return False
    everywhere = withdrawn.get((reviewer, None), frozenset())
    scopes = everywhere | withdrawn.get((reviewer, batch), frozenset())
    return kind in WORDS if scopes == {Scope.COMMENTS} else bool(scopes)


def known_withdrawals(connection: sqlite3.Connection, reviewer: str | None = None) -> Withdrawals:
    """Read what was taken back according to a store; of one reviewer, or of all."""
    rows = connection.execute(
        "SELECT payload FROM event WHERE kind = 'withdraw' AND payload IS NOT NULL"
        " AND reviewer = coalesce(?, reviewer)",
        (reviewer,),
    )
    return taken_back(Withdraw.model_validate_json(row[0]) for row in rows.fetchall())


def erase_covered(connection: sqlite3.Connection) -> int:
    """Erase what known withdrawals reach, within the caller's transaction; gives how many events."""
    return sum(
        _erase_reached(connection, reviewer, batch, scopes)
        for (reviewer, batch), scopes in known_withdrawals(connection).items()
    )


def erase_reached(connection: sqlite3.Connection, withdraw: Withdraw) -> int:
    """Erase what one withdrawal reaches, within the caller's transaction; gives how many events."""
    scopes = frozenset({withdraw.scope})
    return _erase_reached(connection, withdraw.reviewer, reach(withdraw), scopes)


def _erase_reached(connection: sqlite3.Connection, reviewer: str, batch: str | None, scopes: frozenset[Scope]) -> int:
    return connection.execute(
        "UPDATE event SET payload = NULL, salt = NULL, batch = NULL, reviewer = NULL"
        " WHERE reviewer = :reviewer AND batch = coalesce(:batch, batch) AND kind <> 'withdraw'"
        " AND (NOT :only_words OR kind IN ('comment', 'suggest'))",
        {"reviewer": reviewer, "batch": batch, "only_words": scopes == {Scope.COMMENTS}},
    ).rowcount


def erase(connection: sqlite3.Connection) -> int:
    """Erase what known withdrawals reach, and every byte of it from the file; gives how many events.

    The connection is outside a transaction. Raises sqlite3.Error where the file cannot be rewritten, which
    needs as much free space as it has bytes; what was taken back is overwritten even then.
    """
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")  # no copy in another folder
    with transaction(connection):
        erased = erase_covered(connection)
    connection.execute("VACUUM")
    return erased


# ---- What an organiser sees of a laptop's clock by its events; clocks are shown, and never used
# to order or decide anything.

TOLERANCE = timedelta(days=1)
STEP_BACK = timedelta(minutes=5)  # Smaller steps back are a clock that was set right


class ClockFault(StrEnum):
    AHEAD = "ahead"  # Later than the import
    BEHIND = "behind"  # Earlier than the batch was made
    BACKWARDS = "backwards"  # A later event has an earlier time
    NO_TIME = "no_time"  # A time that no calendar has


@dataclass(frozen=True, slots=True)
class WildClock:
    """One device's largest fault of one kind."""

    device: str
    fault: ClockFault
    seconds: int  # By how much; 0 for `NO_TIME`

    @property
    def said(self) -> str:
        if self.fault is ClockFault.NO_TIME:
            return f"The clock of laptop {self.device} gives times that are none."
        words = {
            ClockFault.AHEAD: "is {} ahead",
            ClockFault.BEHIND: "is at least {} behind: it shows a time before the batch was made",
            ClockFault.BACKWARDS: "was set back by {} between two events",
        }[self.fault]
        return f"The clock of laptop {self.device} {words.format(_long(self.seconds))}."


def _long(seconds: int) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour")):
        if seconds >= size:
            count = seconds // size
            return f"{count:,} {name}" + ("s" if count > 1 else "")
    return f"{seconds // 60} minutes"


def wild_clocks(events: Iterable[Event], now: datetime, since: datetime | None = None) -> tuple[WildClock, ...]:
    """Find clocks that cannot be right, by device; ``since`` is when the batch was made, where that is known.

    A time in the past alone is no fault: a stick may take weeks.
    """
    devices: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event.payload is not None:
            devices[event.device].append(event)
    return tuple(
        WildClock(device, fault, seconds)
        for device in sorted(devices)
        for fault, seconds in _faults(devices[device], now, since).items()
    )


def _faults(events: list[Event], now: datetime, since: datetime | None) -> dict[ClockFault, int]:
    events.sort(key=lambda event: (event.seq, event.id))
    times = []
    for wall in (getattr(event.payload, "wall", "") for event in events):
        with suppress(ValueError):
            times.append(datetime.strptime(wall, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC))
    faults = {} if len(times) == len(events) else {ClockFault.NO_TIME: 0}
    if not times:
        return faults
    ahead = max(times) - now
    behind = since - min(times) if since else timedelta(0)
    back = max((a - b for a, b in pairwise(times)), default=timedelta(0))
    for fault, by, most in (
        (ClockFault.AHEAD, ahead, TOLERANCE),
        (ClockFault.BEHIND, behind, TOLERANCE),
        (ClockFault.BACKWARDS, back, STEP_BACK),
    ):
        if by > most:
            faults[fault] = int(by.total_seconds())
    return faults
