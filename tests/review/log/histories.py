"""Random histories of six laptops, and what they add up to by the plainest means."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Any

from review.log import payloads as say
from review.log.event import Event
from review.log.withdrawal import covered, withdrawals
from review.rating import Rating, Reason
from tests.review.log.material import (
    ANN,
    BATCH,
    BEN,
    CLO,
    ITEMS,
    OTHER_BATCH,
    Device,
    cannot,
    comment,
    rate,
    skip,
    suggest,
    translate,
)

PEOPLE, BATCHES, RATINGS = (ANN, BEN, CLO), (BATCH, OTHER_BATCH), list(Rating)


@dataclass
class History:
    """What happened on six laptops, and the files that went to the organisation."""

    truth: list[Event]
    """Every event with its content, also of copied laptops."""
    files: list[list[bytes]]


def history(random: Random) -> History:
    """Let people rate on several laptops each, with wrong clocks, undo, copies, and files cut short."""
    laptops = [Device(f"{number:016x}", days_off=random.randint(-11, 11)) for number in range(6)]
    files: list[list[bytes]] = []
    for minute in range(random.randint(10, 60)):
        laptop = random.choice(laptops)
        laptop.say(_payload(random, laptop, minute))
        if random.random() < 0.02:
            laptops.append(laptop.copy())
        if random.random() < 0.15:
            files.append(_file(random, random.choice(laptops)))
    files += [_file(random, laptop) for laptop in laptops if random.random() < 0.7]
    truth = {event.id: event for laptop in laptops for event in laptop.events}
    return History(list(truth.values()), files)


def _payload(random: Random, laptop: Device, minute: int) -> say.AnyPayload:
    place: dict[str, Any] = {
        "reviewer": random.choice(PEOPLE), "batch": random.choice(BATCHES), "wall": laptop.wall(minute),
    }  # fmt: skip
    item, word, rating = random.randrange(6), random.choice(["", "1", "2"]), random.choice(RATINGS)
    reasons = tuple(random.sample(list(Reason), random.randrange(3)))
    yes = random.random() < 0.6
    kinds: tuple[tuple[float, Callable[[], say.AnyPayload]], ...] = (
        (30, lambda: rate(item, rating, **place)),
        (6, lambda: cannot(item, **place)),
        (6, lambda: translate(item, f"word {word}", **place)),
        (6, lambda: skip(item, **place)),
        (14, lambda: _undo(random, laptop, place)),
        (6, lambda: comment(item, word, **place)),
        (6, lambda: suggest(item, word, **place)),
        (4, lambda: say.HarmFlag(**place, item=ITEMS[item], harmful=yes)),
        (4, lambda: say.Reasons(**place, item=ITEMS[item], reasons=reasons)),
        (3, lambda: say.Train(**place, item=ITEMS[item], rating=rating)),
        (3, lambda: say.Consent(**place, consent_sha256="c" * 64, language="en", share_corrections=yes)),
        (1.5, lambda: _withdraw(random, place)),
    )  # fmt: skip
    [made] = random.choices([make for _, make in kinds], [weight for weight, _ in kinds])
    return made()


def _undo(random: Random, laptop: Device, place: dict[str, Any]) -> say.AnyPayload:
    """Undo one of the laptop's last events, mostly as its own person in its own batch."""
    if not laptop.events:
        return skip(0, **place)
    target = random.choice(laptop.events[-8:])
    if isinstance(target.payload, say.OfReviewer) and random.random() < 0.8:
        place = {**place, "reviewer": target.payload.reviewer, "batch": target.payload.batch}
    return say.Undo(**place, target=target.id)


def _withdraw(random: Random, place: dict[str, Any]) -> say.Withdraw:
    scope = random.choice(list(say.Scope))
    return say.Withdraw(**{**place, "batch": random.choice([None, *BATCHES])}, scope=scope)


def _file(random: Random, laptop: Device) -> list[bytes]:
    """Export a laptop: one batch or all, whole or cut short, with lost, doubled or erased lines."""
    batch = random.choice([None, *BATCHES])
    home = withdrawals(laptop.events)
    events = [
        event
        if batch in {None, getattr(event.payload, "batch", None)}
        or isinstance(event.payload, say.Withdraw)
        else event.erased()
        for event in laptop.events
    ]
    if random.random() < 0.5:  # what was taken back is erased at home already
        events = [event.erased() if covered(event, home) else event for event in events]
    if random.random() < 0.3:
        events = events[: random.randrange(len(events) + 1)]
    if random.random() < 0.2:
        events = [event for event in events if random.random() < 0.9]
    if random.random() < 0.2:
        events = [event.erased() if random.random() < 0.2 else event for event in events]
    if random.random() < 0.2:
        events = random.sample(events, len(events)) + events[:3]
    return [event.line() for event in events]


def plainly(files: list[list[bytes]]) -> dict[str, Any]:
    """Add up all lines by definition, from their JSON alone and without any of the program's ways."""
    events = {}
    for line in (line for file in files for line in file):
        read = json.loads(line)
        name = json.dumps(read["head"], sort_keys=True)
        if read["payload"] is not None or name not in events:
            events[name] = read
    said = [event["payload"] | event["head"] for event in events.values() if event["payload"]]
    taken = [each for each in said if each["kind"] == "withdraw"]
    left = [each for each in said if each["kind"] != "withdraw" and not _reached(each, taken)]
    # no two events of a test have one place in the order, except those of copies, which their hash parts
    left.sort(key=lambda each: (each["lamport"], each["device"], each["seq"], _id(each)))
    people: dict[Any, dict[str, Any]] = {}
    for batch, reviewer in {(each["batch"], each["reviewer"]) for each in left}:
        mine = [each for each in left if (each["batch"], each["reviewer"]) == (batch, reviewer)]
        people[batch, reviewer] = _person(mine)
    return people


def _id(said: dict[str, Any]) -> str:
    head = {key: said[key] for key in ("v", "device", "seq", "lamport", "prev", "kind", "commit")}
    return sha256(json.dumps(head, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _reached(said: dict[str, Any], taken: list[dict[str, Any]]) -> bool:
    return any(
        each["reviewer"] == said["reviewer"]
        and (each["batch"] in {None, said["batch"]} or each["scope"] == "everything")
        and (each["scope"] != "comments" or said["kind"] in {"comment", "suggest"})
        for each in taken
    )


def _person(mine: list[dict[str, Any]]) -> dict[str, Any]:
    undone = {each["target"] for each in mine if each["kind"] == "undo"}

    def last(kind: str, field: str) -> dict[str, Any]:
        return {each["item"]: each[field] for each in mine if each["kind"] == kind}

    # one laptop's yes cannot speak for a person who said no on another
    shared = {
        each["device"]: each["share_corrections"] for each in mine if each["kind"] == "consent"
    }
    acts = [
        each
        for each in mine
        if each["kind"] in {"rate", "cannot_judge", "translate", "skip"} and _id(each) not in undone
    ]
    judged = {each["item"]: each for each in acts if each["kind"] != "skip"}
    return {
        "judgements": {
            item: (_id(each), each.get("rating"))
            for item, each in judged.items()
            if each["kind"] != "translate"
        },
        "translations": {item: each["text"] for item, each in judged.items() if "text" in each},
        "order": sorted(judged, key=lambda item: acts.index(judged[item])),
        "earlier": {
            item: tuple(values)
            for item, final in judged.items()
            if final["kind"] == "rate"
            and (values := [
                each["rating"] for each in acts
                if each["item"] == item and each["kind"] == "rate"
                and each["device"] != final["device"] and each["rating"] != final["rating"]
            ])
        },
        "skipped": [
            each["item"] for place, each in enumerate(acts)
            if each["kind"] == "skip" and each["item"] not in judged
            and not any(after["item"] == each["item"] for after in acts[place + 1:])
        ],
        "undoable": [_id(each) for each in acts],
        "comments": {item: text for item, text in last("comment", "text").items() if text},
        "suggestions": {item: text for item, text in last("suggest", "text").items() if text},
        "reasons": {item: tuple(some) for item, some in last("reasons", "reasons").items() if some},
        "harmful": {item for item, harmful in last("harm", "harmful").items() if harmful},
        "trained": last("train", "rating"),
        "consented": any(each["kind"] == "consent" for each in mine),
        "share": bool(shared) and all(shared.values()),
    }  # fmt: skip
