"""Events for tests, and devices that write them without any file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from review.log import payloads as say
from review.log.event import FIRST, Event, make_event
from review.log.laptop import Laptop
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


def rate(item: int, rating: Rating, **place: Any) -> say.Rate:
    about = {**who(**place), "item": ITEMS[item], "position": item}
    return say.Rate(**about, rating=rating, active_ms=1500, face=say.Face.LINES, version="0.1.0")


def cannot(item: int, why: CannotJudge = CannotJudge.UNSAID, **place: Any) -> say.NotJudged:
    about = {**who(**place), "item": ITEMS[item], "position": item, "version": "0.1.0"}
    return say.NotJudged(**about, why=why, active_ms=900, face=say.Face.TERMINAL, override=True)


def translate(item: int, text: str, **place: Any) -> say.Translate:
    about = {**who(**place), "item": ITEMS[item], "position": item, "version": "0.1.0"}
    return say.Translate(**about, text=text, active_ms=4200, face=say.Face.DESKTOP, font="Noto Sans 20 px")


def skip(item: int, **place: Any) -> say.Skip:
    return say.Skip(**who(**place), item=ITEMS[item])


def undo(target: Event, **place: Any) -> say.Undo:
    return say.Undo(**who(**place), target=target.id)


def comment(item: int, text: str, **place: Any) -> say.Comment:
    return say.Comment(**who(**place), item=ITEMS[item], text=text)


def suggest(item: int, text: str, **place: Any) -> say.Suggest:
    return say.Suggest(**who(**place), item=ITEMS[item], text=text)


def withdraw(scope: say.Scope, batch: str | None = BATCH, reviewer: str = ANN) -> say.Withdraw:
    return say.Withdraw(wall=WALL, reviewer=reviewer, batch=batch, scope=scope)


def one_of_each() -> tuple[say.AnyPayload, ...]:
    """Return one payload of every kind, with every optional field filled."""
    item, hexes = {"item": ITEMS[0]}, "c" * 64
    return (
        say.Consent(**who(), consent_sha256=hexes, language="fr", text_language="fr", share_corrections=True),
        say.Related(**who(), relation="knows"),
        say.SittingBegan(**who(), order_sha256=hexes, face=say.Face.DESKTOP, version="1", language="en"),
        say.Train(**who(), **item, rating=Rating.GIST),
        say.Rate(
            **who(), **item, rating=Rating.REJECT, position=3, active_ms=10, face=say.Face.DESKTOP,
            font="Noto 14", version="1", override=True,
        ),
        cannot(1, CannotJudge.SUBJECT),
        translate(1, "ᓂᐚᐸᒫᐤ ᐊᑎᒼ\nniwâpamâw atim"),
        skip(2),
        say.Undo(**who(), target=hexes),
        say.Reasons(**who(), **item, reasons=(Reason.ADDED, Reason.GRAMMAR)),
        comment(0, "ᐊᑎᒼ \u0000 “x”"),
        suggest(0, "niwâpamâw"),
        say.HarmFlag(**who(), **item, harmful=True),
        withdraw(say.Scope.COMMENTS),
        say.Export(wall=WALL, batch=BATCH, events=12, head=hexes),
        say.Adjudicate(wall=WALL, batch=BATCH, **item, harmful=False, note="seen by two", reason="used so", by="Ann"),
        say.OrganiserLook(wall=WALL, batch=BATCH, run_id="run-1", events_sha256=hexes),
        say.LaptopWord(
            wall=WALL, batch=BATCH, laptop=hexes, heard=False, instead_of="d" * 64, reason="lost",
        ),
        say.AssignLaptop(wall=WALL, batch=BATCH, reviewer=ANN, laptops=(hexes, "d" * 64)),
    )  # fmt: skip


class Device:
    """A laptop without a file: it writes a chain, and may be copied."""

    def __init__(self, name: str, *, seed: int = 0, days_off: int = 0) -> None:
        self.name, self.days_off = name, days_off
        self.events: list[Event] = []
        self._random = Random(f"{name} {seed}")

    def say(self, payload: say.AnyPayload) -> Event:
        before = self.events[-1] if self.events else None
        event = make_event(
            payload, device=self.name, seq=before.seq + 1 if before else 0,
            lamport=before.lamport + 1 if before else 1, prev=before.id if before else FIRST,
            salt=self._random.randbytes(16),
        )  # fmt: skip
        self.events.append(event)
        return event

    def wall(self, minute: int) -> str:
        time = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=self.days_off, minutes=minute)
        return time.strftime("%Y-%m-%dT%H:%M:%SZ")

    def copy(self) -> Device:
        twin = Device(self.name, seed=1)
        twin.events = list(self.events)
        return twin


def chain(*payloads: say.AnyPayload, name: str = "a" * 16) -> list[Event]:
    device = Device(name)
    return [device.say(payload) for payload in payloads]


def lines(events: Iterable[Event]) -> list[bytes]:
    return [event.line() for event in events]
