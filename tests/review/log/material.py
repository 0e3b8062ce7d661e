"""Events for tests, and devices that write them without any file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from review.log.event import FIRST, Event, make_event
from review.log.laptop import Laptop
from review.log.payloads import (
    Adjudicate,
    AnyPayload,
    Comment,
    Consent,
    Export,
    Face,
    HarmFlag,
    LaptopWord,
    NotJudged,
    OrganiserLook,
    Rate,
    Reasons,
    Related,
    Scope,
    SittingBegan,
    Skip,
    Speaks,
    Suggest,
    Train,
    Translate,
    Undo,
    Withdraw,
)
from review.rating import CannotJudge, Rating, Reason

ANN, BEN, CLO = "ANN0000A", "BEN0000B", "CX00000C"
BATCH, OTHER_BATCH = "b" * 15 + "1", "b" * 15 + "2"
ITEMS = tuple(f"{number:016x}" for number in range(6))
WALL = "2026-03-01T10:00:00Z"


def kept_draft(laptop: Laptop, batch: str, reviewer: str, item: str, field: str) -> str | None:
    drafts = laptop.drafts(batch, reviewer)
    return next((each.text for each in drafts if (each.item, each.field) == (item, field)), None)


def who(reviewer: str = ANN, batch: str = BATCH, wall: str = WALL) -> dict[str, Any]:
    return {"reviewer": reviewer, "batch": batch, "wall": wall}


def rate(item: int, rating: Rating, **place: Any) -> Rate:
    return Rate(
        **who(**place), item=ITEMS[item], rating=rating, position=item, active_ms=1500,
        face=Face.LINES, version="0.1.0",
    )  # fmt: skip


def cannot(item: int, why: CannotJudge = CannotJudge.UNSAID, **place: Any) -> NotJudged:
    return NotJudged(
        **who(**place), item=ITEMS[item], why=why, position=item, active_ms=900, face=Face.TERMINAL,
        version="0.1.0", override=True,
    )  # fmt: skip


def translate(item: int, text: str, **place: Any) -> Translate:
    return Translate(
        **who(**place), item=ITEMS[item], text=text, position=item, active_ms=4200,
        face=Face.DESKTOP, font="Noto Sans 20 px", version="0.1.0",
    )  # fmt: skip


def skip(item: int, **place: Any) -> Skip:
    return Skip(**who(**place), item=ITEMS[item])


def undo(target: Event, **place: Any) -> Undo:
    return Undo(**who(**place), target=target.id)


def comment(item: int, text: str, **place: Any) -> Comment:
    return Comment(**who(**place), item=ITEMS[item], text=text)


def suggest(item: int, text: str, **place: Any) -> Suggest:
    return Suggest(**who(**place), item=ITEMS[item], text=text)


def withdraw(scope: Scope, batch: str | None = BATCH, reviewer: str = ANN) -> Withdraw:
    return Withdraw(wall=WALL, reviewer=reviewer, batch=batch, scope=scope)


def one_of_each() -> tuple[AnyPayload, ...]:
    """Return one payload of every kind, with every optional field filled."""
    item, hexes = {"item": ITEMS[0]}, "c" * 64
    return (
        Consent(**who(), consent_sha256=hexes, language="fr", text_language="fr", share_corrections=True),
        Related(**who(), relation="knows"),
        SittingBegan(**who(), order_sha256=hexes, face=Face.DESKTOP, version="1", language="en"),
        Train(**who(), **item, rating=Rating.GIST),
        Rate(
            **who(), **item, rating=Rating.REJECT, position=3, active_ms=10, face=Face.DESKTOP,
            font="Noto 14", version="1", override=True,
        ),
        cannot(1, CannotJudge.SUBJECT),
        translate(1, "ᓂᐚᐸᒫᐤ ᐊᑎᒼ\nniwâpamâw atim"),
        skip(2),
        Undo(**who(), target=hexes),
        Reasons(**who(), **item, reasons=(Reason.ADDED, Reason.GRAMMAR)),
        comment(0, "ᐊᑎᒼ \u0000 “x”"),
        suggest(0, "niwâpamâw"),
        HarmFlag(**who(), **item, harmful=True),
        withdraw(Scope.COMMENTS),
        Export(wall=WALL, batch=BATCH, events=12, head=hexes),
        Adjudicate(wall=WALL, batch=BATCH, **item, harmful=False, note="seen by two", reason="used so", by="Ann"),
        OrganiserLook(wall=WALL, batch=BATCH, run_id="run-1", events_sha256=hexes),
        LaptopWord(
            wall=WALL, batch=BATCH, laptop=hexes, heard=False, instead_of="d" * 64, reason="lost",
        ),
        Speaks(wall=WALL, batch=BATCH, reviewer=ANN, laptops=(hexes, "d" * 64)),
    )  # fmt: skip


class Device:
    """A laptop without a file: it writes a chain, and may be copied."""

    def __init__(self, name: str, *, seed: int = 0, days_off: int = 0) -> None:
        self.name, self.days_off = name, days_off
        self.events: list[Event] = []
        self._random = Random(f"{name} {seed}")

    def say(self, payload: AnyPayload) -> Event:
        before = self.events[-1] if self.events else None
        event = make_event(
            payload,
            device=self.name,
            seq=before.seq + 1 if before else 0,
            lamport=before.lamport + 1 if before else 1,
            prev=before.id if before else FIRST,
            salt=self._random.randbytes(16),
        )
        self.events.append(event)
        return event

    def wall(self, minute: int) -> str:
        time = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=self.days_off, minutes=minute)
        return time.strftime("%Y-%m-%dT%H:%M:%SZ")

    def copy(self) -> Device:
        twin = Device(self.name, seed=1)
        twin.events = list(self.events)
        return twin


def chain(*payloads: AnyPayload, name: str = "a" * 16) -> list[Event]:
    device = Device(name)
    return [device.say(payload) for payload in payloads]


def lines(events: Iterable[Event]) -> list[bytes]:
    return [event.line() for event in events]
