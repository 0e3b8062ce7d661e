"""What a person said, case by case and for any history, whatever the order events are read in."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations
from random import Random
from typing import Any

import pytest

from harness.sealed.chain import check_chain
from review.log import payloads as say
from review.log.event import Event, covered, make_event, read_event, withdrawals
from review.log.fold import Adjudication, Person, ReviewerState, State, fold
from review.log.merge import merge
from review.log.table import create_event_table, insert_event, read_events
from review.rating import CannotJudge, Rating, Reason
from tests.growth import grows_less
from tests.review.log.material import (
    ANN,
    BATCH,
    BEN,
    CLO,
    ITEMS,
    OTHER_BATCH,
    WALL,
    Device,
    cannot,
    chain,
    comment,
    rate,
    skip,
    suggest,
    translate,
    undo,
    who,
    withdraw,
)
from tests.review.thorough import times

REJECT, GIST, ACCEPTABLE, EXCELLENT = Rating


def folded(events: Sequence[Event]) -> State:
    """Fold in several orders and with repeats, and expect one result, mappings in one order too."""
    orders = [events, events[::-1], [*events, *events]]
    if len(events) <= 4:
        orders.extend(permutations(events))
    states = {repr(fold(order)): fold(order) for order in orders}
    assert len(states) == 1
    return states.popitem()[1]


def ann(events: Sequence[Event]) -> ReviewerState:
    return folded(events).reviewers[BATCH, ANN]


def ratings(person: ReviewerState) -> dict[str, Rating | None]:
    return {item: each.rating for item, each in person.judgements.items()}


def test_last_judgement_counts_in_the_order_made() -> None:
    person = ann(chain(rate(0, GIST), rate(1, GIST), cannot(2), rate(0, EXCELLENT)))
    in_order = [(ITEMS[1], GIST), (ITEMS[2], None), (ITEMS[0], EXCELLENT)]
    assert list(ratings(person).items()) == in_order
    assert person.earlier == {}  # the same laptop: a correction, no second opinion
    events = chain(cannot(3, CannotJudge.OTHER_DIALECT))
    [said] = ann(events).judgements.values()  # which keeps how it was made
    assert (said.event, said.rating, said.why_not) == (
        events[0].id, None, CannotJudge.OTHER_DIALECT,
    )  # fmt: skip
    assert (said.position, said.active_ms, said.face, said.override) == (
        3, 900, say.Face.TERMINAL, True,
    )  # fmt: skip


def test_undo_brings_back_what_was_before_and_nothing_else() -> None:
    device = Device("a" * 16)
    made = [device.say(rate(0, GIST)), device.say(skip(1)), device.say(rate(0, REJECT))]
    assert ann(device.events).undoable == tuple(event.id for event in made)
    seen = [ratings(ann(device.events)).get(ITEMS[0])]
    for target in reversed(made):
        device.say(undo(target))
        seen.append(ratings(ann(device.events)).get(ITEMS[0]))
    assert seen == [REJECT, GIST, GIST, None]
    assert ann(device.events).undoable == ()
    assert ann(device.events).skipped == ()
    said = device.say(comment(0, "stays"))
    first = device.say(rate(0, GIST))
    second = device.say(rate(1, GIST))
    bens = device.say(rate(2, GIST, reviewer=BEN))
    elsewhere = device.say(rate(2, GIST, batch=OTHER_BATCH))
    taken = device.say(undo(first))
    for target in (first, taken, said, bens, elsewhere):
        device.say(undo(target))
    device.say(undo(chain(rate(5, GIST), name="f" * 16)[0]))
    state = folded(device.events)
    assert state.reviewers[BATCH, ANN].undoable == (second.id,)
    assert state.reviewers[BATCH, ANN].comments == {ITEMS[0]: "stays"}
    assert state.reviewers[BATCH, BEN].undoable == (bens.id,)
    assert state.reviewers[OTHER_BATCH, ANN].undoable == (elsewhere.id,)
    for events in ([taken], [taken, first]):  # an undo waits for its target
        assert ann(events).judgements == {}


def two_laptops(*said: tuple[str, int, Rating | None]) -> list[Event]:
    """Return ratings (None: cannot judge) of one item by one person at given logical times."""
    return [
        make_event(
            rate(0, rating) if rating else cannot(0),
            device=device * 16, seq=0 if time == 1 else time, lamport=time,
            prev="" if time == 1 else "e" * 64, salt=bytes(16),
        )
        for device, time, rating in said
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "last", "earlier"),
    [
        ((("a", 1, GIST), ("b", 1, REJECT)), REJECT, (GIST,)),
        ((("a", 1, GIST), ("b", 2, GIST)), GIST, ()),
        ((("b", 1, GIST), ("a", 2, REJECT)), REJECT, (GIST,)),
        ((("a", 1, GIST), ("b", 2, REJECT), ("a", 3, EXCELLENT)), EXCELLENT, (REJECT,)),
        ((("a", 1, GIST), ("b", 2, None)), None, ()),
        ((("a", 1, None), ("b", 2, GIST)), GIST, ()),
    ],
    ids=["tie", "agrees", "later", "three", "then-cannot", "cannot-then"],
)
def test_other_rating_is_kept(said: Any, last: Rating | None, earlier: tuple[Rating, ...]) -> None:
    person = ann(two_laptops(*said))
    assert person.judgements[ITEMS[0]].rating is last
    assert person.earlier.get(ITEMS[0], ()) == earlier


def test_skipped_items_wait_in_the_order_of_their_last_skip() -> None:
    device = Device("a" * 16)
    for item in (0, 1, 2, 0):
        device.say(skip(item))
    judged = device.say(rate(2, GIST))
    assert ann(device.events).skipped == (ITEMS[1], ITEMS[0])
    device.say(undo(judged))
    assert ann(device.events).skipped == (ITEMS[1], ITEMS[2], ITEMS[0])
    other = Device("b" * 16)
    for _ in range(6):
        other.say(rate(2, REJECT))
    assert ann(device.events + other.events).earlier == {}  # what was undone is no earlier rating


def test_the_last_words_count_and_empty_ones_take_them_back() -> None:
    person = ann(
        chain(
            comment(0, "first"), comment(0, "second"), comment(1, "gone"), comment(1, ""),
            suggest(0, "better"), suggest(1, "gone"), suggest(1, ""),
            say.Reasons(**who(), item=ITEMS[0], reasons=(Reason.MISSING,)),
            say.Reasons(**who(), item=ITEMS[0], reasons=(Reason.ADDED, Reason.MISSING)),
            say.Reasons(**who(), item=ITEMS[1], reasons=(Reason.ADDED,)),
            say.Reasons(**who(), item=ITEMS[1], reasons=()),
            say.HarmFlag(**who(), item=ITEMS[0], harmful=True),
            say.HarmFlag(**who(), item=ITEMS[1], harmful=True),
            say.HarmFlag(**who(), item=ITEMS[1], harmful=False),
            say.Train(**who(), item=ITEMS[5], rating=GIST),
        )
    )  # fmt: skip
    assert (person.comments, person.suggestions) == ({ITEMS[0]: "second"}, {ITEMS[0]: "better"})
    assert person.reasons == {ITEMS[0]: (Reason.ADDED, Reason.MISSING)}
    assert (person.harmful, person.trained) == ({ITEMS[0]}, {ITEMS[5]: GIST})
    assert (person.judgements, person.undoable) == ({}, ())
    about = {"order_sha256": "c" * 64, "face": say.Face.LINES, "version": "1", "language": "en"}
    assert not ann(chain(say.SittingBegan(**who(), **about))).consented
    person = ann(
        chain(
            *(
                say.Consent(**who(), consent_sha256=sha * 64, language="en", share_corrections=share)
                for sha, share in (("1", True), ("2", False))
            )
        )
    )
    assert (person.consented, person.share_corrections) == (True, False)


@pytest.mark.parametrize(
    ("taken", "left"),
    [
        (withdraw(say.Scope.COMMENTS), {(BATCH, ANN): 1, (OTHER_BATCH, ANN): 3, (BATCH, BEN): 3}),
        (withdraw(say.Scope.COMMENTS, None), {(BATCH, ANN): 1, (OTHER_BATCH, ANN): 1, (BATCH, BEN): 3}),
        (withdraw(say.Scope.BATCH), {(OTHER_BATCH, ANN): 3, (BATCH, BEN): 3}),
        (withdraw(say.Scope.BATCH, None), {(BATCH, BEN): 3}),
        (withdraw(say.Scope.EVERYTHING), {(BATCH, BEN): 3}),
        (withdraw(say.Scope.EVERYTHING, None), {(BATCH, BEN): 3}),
    ],
    ids=["words", "words-everywhere", "batch", "batch-everywhere", "everything-here", "everything"],
)
def test_withdrawal_reaches_what_came_before_and_after(taken: Any, left: Any) -> None:
    said = [
        make(0, *what, **place)  # type: ignore[arg-type]
        for place in ({}, {"batch": OTHER_BATCH}, {"reviewer": BEN})
        for make, *what in ((rate, GIST), (comment, "c"), (suggest, "s"))
    ]
    for payloads in ([taken, *said], [*said, taken]):
        state = folded(chain(*payloads))
        counts = {
            place: len(person.judgements) + len(person.comments) + len(person.suggestions)
            for place, person in state.reviewers.items()
        }
        assert counts == left
        assert [scope for scopes in state.withdrawn.values() for scope in scopes] == [taken.scope]


def test_only_the_batches_asked_for_are_read() -> None:
    events = chain(
        rate(0, GIST), rate(1, GIST, batch=OTHER_BATCH),
        withdraw(say.Scope.COMMENTS, OTHER_BATCH, BEN), withdraw(say.Scope.EVERYTHING, OTHER_BATCH, BEN),
        say.OrganiserLook(wall=WALL, batch=OTHER_BATCH, run_id="r", events_sha256="1" * 64),
    )  # fmt: skip
    state = fold(events, {BATCH})
    assert set(state.reviewers) == {(BATCH, ANN)}
    assert (state.withdrawn, state.looks) == ({(BEN, None): {say.Scope.EVERYTHING}}, {})
    assert fold(events, ()).reviewers == {}


def test_adjudications_and_looks() -> None:
    def decide(item: int, harmful: bool | None, note: str) -> say.Adjudicate:
        return say.Adjudicate(wall=WALL, batch=BATCH, item=ITEMS[item], harmful=harmful, note=note)

    def look(run: str, events: str) -> say.OrganiserLook:
        return say.OrganiserLook(wall=WALL, batch=BATCH, run_id=run, events_sha256=events * 64)

    state = folded(
        chain(
            decide(0, True, "yes"), decide(0, False, "no"), decide(1, None, "split"),
            look("r1", "1"), look("r1", "1"), look("r1", "2"), look("r2", "1"),
        )
    )  # fmt: skip
    assert state.adjudications == {ITEMS[0]: Adjudication(False, "no"), ITEMS[1]: Adjudication(None, "split")}
    assert state.looks == {"r1": 2, "r2": 1}


def test_the_time_of_folding_grows_as_the_log_does() -> None:
    device = Device("a" * 16)
    for number in range(5_000):
        device.say(rate(number % 6, GIST, reviewer=f"ANN{number % 50:04}A"))
    assert len(fold(device.events).reviewers) == 50
    assert grows_less(lambda size: fold(device.events[:size]), 1_000, 5_000, 2.5)


# random histories of six laptops, and what they add up to by the plainest means


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
    if isinstance(target.payload, say.ReviewerPayload) and random.random() < 0.8:
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
        if batch in {None, getattr(event.payload, "batch", None)} or isinstance(event.payload, say.Withdraw)
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
    shared = {each["device"]: each["share_corrections"] for each in mine if each["kind"] == "consent"}
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


class Heap:
    def __init__(self) -> None:
        self.events: dict[str, Event] = {}

    def take(self, file: Iterable[bytes | Event]) -> None:
        for event in merge(self.events.values(), file).to_keep:
            self.events[event.id] = event
        withdrawn = withdrawals(self.events.values())
        for event in self.events.values():
            if covered(event, withdrawn):
                self.events[event.id] = event.erased()


def through_a_store(files: Iterable[list[bytes]]) -> list[Event]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as store:
        create_event_table(store)
        for file in files:
            for event in merge(read_events(store), file).to_keep:
                insert_event(store, event)
        return list(read_events(store))


def arrivals(random: Random, files: list[Any]) -> list[Any]:
    return random.sample(files, len(files)) + random.choices(files, k=min(3, len(files)))


SAME = ("earlier", "comments", "suggestions", "reasons", "harmful", "trained", "consented")


def summary(person: ReviewerState) -> dict[str, Any]:
    return {name: getattr(person, name) for name in SAME} | {
        "judgements": {item: (each.event, each.rating) for item, each in person.judgements.items()},
        "translations": dict(person.translations), "order": list(person.decided),
        "skipped": list(person.skipped), "undoable": list(person.undoable),
        "share": person.share_corrections,
    }  # fmt: skip


def check(random: Random, made: History) -> None:
    """Let the files of a history arrive in several ways, and compare all that comes out."""
    read = [[read_event(line) for line in file] for file in made.files]
    ends = [{event.id: event for event in through_a_store(arrivals(random, made.files))}]
    for _ in range(3):
        heap = Heap()
        for file in arrivals(random, read):
            heap.take(file)
        ends.append(heap.events)
    states = [fold(end.values()) for end in ends]
    assert states.count(states[0]) == len(states)
    contents = [{event.line() for event in end.values()} for end in ends]
    assert contents.count(contents[0]) == len(contents)
    assert fold(event for file in read for event in file) == states[0]  # without any merging
    people = states[0].reviewers.items()
    assert {place: summary(person) for place, person in people} == plainly(made.files)
    withdrawn = withdrawals(ends[0].values())
    check_one_by_one(ends[0].values())
    known = set(ends[0])
    assert known <= {event.id for event in made.truth}
    if known == {event.id for event in made.truth}:
        assert check_chain(ends[0].values()).whole
        reached = {event.id for event in made.truth if covered(event, withdrawn)}
        assert not [each for each in reached if ends[0][each].payload]


def check_one_by_one(events: Iterable[Event]) -> None:
    """Fold a history event by event, and compare after each with the fold of everything until then."""
    withdrawn = withdrawals(events)
    left = [event for event in events if event.payload and not covered(event, withdrawn)]
    live: dict[tuple[str, str], Person] = defaultdict(Person)
    for count, event in enumerate(sorted(left, key=lambda each: each.order), 1):
        if isinstance(said := event.payload, say.ReviewerPayload):
            live[said.batch, said.reviewer].add(event)
        if count % 7 == 0 or count == len(left):
            whole = fold(sorted(left, key=lambda each: each.order)[:count]).reviewers
            assert {place: person.state() for place, person in live.items()} == whole
            assert list(map(repr, whole.values())) == [repr(live[p].state()) for p in whole]


def test_any_order_of_arrival_gives_one_state() -> None:
    count = times(8, 10_000)
    seen = {"events": 0, "copied": 0, "withdrawals": 0, "undone": 0, "files": 0}
    for number in range(count):
        random = Random(number)
        made = history(random)
        check(random, made)
        seen["events"] += len(made.truth)
        seen["files"] += len(made.files)
        seen["copied"] += any(chain.forked for chain in check_chain(made.truth).chains)
        seen["withdrawals"] += any(event.kind is say.Kind.WITHDRAW for event in made.truth)
        seen["undone"] += sum(event.kind is say.Kind.UNDO for event in made.truth)
    print(f"{count} histories, {seen}")
    assert all(seen.values())
