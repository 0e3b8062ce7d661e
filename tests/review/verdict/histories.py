"""Random reviews: answer keys, panels and event logs with everything that people do."""

from dataclasses import dataclass, replace
from hashlib import sha256
from random import Random
from typing import Any

from review.files.identities import make_codes
from review.log import payloads as say
from review.log.event import FIRST, Event, covered, events_sha256, make_event, withdrawals
from review.rating import CannotJudge, Rating, Relation
from review.verdict.certificate.evidence import Evidence, gather
from review.verdict.gate.key import AnswerKey, ControlKind, KeyItem, KeyRun
from review.verdict.gate.policy import proposed
from tests.review.verdict.signing import ORGANISER, hand_overs, laptop_of, with_batches

ORGANISATION = "0f" * 8
WALL = "2026-05-04T10:00:00Z"
RUN = "6f1c3a52-0000-4000-8000-000000000001"
OTHER_RUN = "6f1c3a52-0000-4000-8000-000000000002"
OTHER_BATCH = "0b" * 8
REASONS = ("An insult here, as three elders say.", "Used so in the north.", "« Nobody » says it ÿ")

UNSAID = CannotJudge.UNSAID
"""Why people of these reviews cannot judge an item."""


def random_id(rng: Random) -> str:
    return f"{rng.getrandbits(64):016x}"


class Chain:
    """One device that writes events; clocks of a review's devices grow as they hear of each other."""

    def __init__(self, rng: Random, device: str | None = None) -> None:
        self.rng = rng
        self.device = device or random_id(rng)
        self.events: list[Event] = []
        self.lamport = 0

    def write(self, payload: say.AnyPayload) -> Event:
        self.lamport += self.rng.choice((1, 1, 1, 7))
        event = make_event(
            payload, device=self.device, seq=len(self.events), lamport=self.lamport,
            prev=self.events[-1].id if self.events else FIRST, salt=self.rng.randbytes(16),
        )  # fmt: skip
        self.events.append(event)
        return event


@dataclass(frozen=True)
class Shape:
    reviewers: int = 5
    items: int = 60
    strata: tuple[int, ...] = (1, 2, 3)
    runs: int = 1
    quality: float = 0.85
    bad: int = 6
    repeats: int = 6
    anchors: int = 3
    segments: str = "gold_standard"
    mischief: float = 1.0
    """How often people undo, skip, flag, withdraw; 0 for never."""
    looks: int = 1
    other_looks: int = 0
    """Looks at the run in a batch of another review."""
    careless: float = 0.15
    """Chance of each person to rate without reading."""
    repeats_flagged: float = 0.002
    """How often a translation is called harmful when it is shown again."""
    apart: bool = False
    """Whether each device is a laptop of its own, about which the organisation may say something."""


def random_shape(rng: Random) -> Shape:
    return Shape(
        reviewers=rng.choice((1, 2, 3, 4, 5, 5, 6, 6)), items=rng.choice((20, 51, 60, 64, 72)),
        strata=rng.choice(((3,), (0,), (1, 2), (1, 2, 3, 4))), runs=rng.choice((1, 1, 2)),
        quality=rng.choice((0.0, 0.15, 0.4, 0.7, 0.85, 0.93, 0.97, 0.99, 1.0)),
        bad=rng.choice((0, 3, 6, 9)), repeats=rng.choice((0, 5, 8)), anchors=rng.choice((0, 3)),
        mischief=rng.choice((0.0, 0.1, 0.3, 1.0)), looks=rng.choice((0, 1, 2, 3)),
        careless=rng.choice((0.15, 0.15, 0.15, 1.0)), repeats_flagged=0.05, apart=rng.random() < 0.5,
        other_looks=rng.choice((0, 0, 1, 2)),
    )  # fmt: skip


def make_key(rng: Random, shape: Shape, card_hash: str | None = None) -> AnswerKey:
    run_ids = (RUN, OTHER_RUN)[: shape.runs]
    real = {
        random_id(rng): KeyItem(run_id=run, entry=n, stratum=shape.strata[n % len(shape.strata)])
        for run in run_ids
        for n in range(shape.items)
    }
    controls = _controls(rng, shape, real)
    items = {**real, **controls}
    batches = tuple(random_id(rng) for _ in range(rng.choice((1, 1, 2))))
    core = [item for item in items if rng.random() < 0.9]
    orders = {}
    for code in sorted(make_codes(shape.reviewers, rng.randrange)):
        order = list(items)
        rng.shuffle(order)
        orders[code] = tuple(order)
    return AnswerKey(
        review="spring", batches=batches, items=items, core=tuple(core), orders=orders, seed=7,
        batch_sha256={batch: sha256(batch.encode()).hexdigest() for batch in batches},
        runs=tuple(_run(run, shape, rng, card_hash) for run in run_ids),
        panel="Asked at the « winter » meeting; anyone who wanted to.",
    )  # fmt: skip


def _run(run_id: str, shape: Shape, rng: Random, card_hash: str | None) -> KeyRun:
    strata = {stratum: rng.choice((8, 20, 33, 100)) for stratum in shape.strata}
    if rng.random() < 0.2:
        strata[5] = 11  # of the run, but none of it was asked
    return KeyRun(
        run_id=run_id, run_card_hash=card_hash or sha256(run_id.encode()).hexdigest(),
        dataset_id="small-v1", language_pair="EN→EO", strata=strata,
        segments={shape.segments: shape.items},
    )  # fmt: skip


def _controls(rng: Random, shape: Shape, real: dict[str, KeyItem]) -> dict[str, KeyItem]:
    made: dict[Any, Any] = {}
    for kind, count in (
        (ControlKind.BAD, shape.bad),
        (ControlKind.REPEAT, shape.repeats),
        (ControlKind.ANCHOR, shape.anchors),
    ):
        for _ in range(count):
            partner = rng.choice(list(real))
            alone = kind is ControlKind.ANCHOR or (kind is ControlKind.BAD and rng.random() < 0.2)
            made[random_id(rng)] = KeyItem(
                run_id=real[partner].run_id if kind is ControlKind.REPEAT else None,
                entry=f"c{len(made)}", stratum=3, control=kind, partner=None if alone else partner,
                made_by="phrase swap" if kind is ControlKind.BAD else None,
            )  # fmt: skip
    return made


def make_events(rng: Random, shape: Shape, key: AnswerKey) -> list[Event]:
    """Let everybody rate, on one laptop or several, and do what people do."""
    laptops = [Chain(rng) for _ in range(rng.choice((1, 2, 3)))]
    for reviewer in key.orders:
        _sit(rng, shape, key, reviewer, laptops)
    office = Chain(rng, ORGANISATION)
    office.lamport = max(chain.lamport for chain in laptops)
    _decide(rng, shape, key, office, [e for chain in laptops for e in chain.events])
    if shape.apart:
        _say_of_laptops(rng, key, office, [key_of(chain.device) for chain in laptops])
    stranger = rng.choice(laptops)  # only the organisation decides and looks
    stranger.write(look_at_results(key, RUN, "ab" * 32))
    return [event for chain in (*laptops, office) for event in chain.events]


def _sit(rng: Random, shape: Shape, key: AnswerKey, reviewer: str, laptops: list[Chain]) -> None:
    careless = rng.random() < shape.careless
    lenient = rng.gauss(0, 0.4)
    share = rng.choice((1.0, 1.0, 1.0, 0.7)) if shape.mischief else 1.0
    batch = rng.choice(key.batches)
    who: dict[str, Any] = {"reviewer": reviewer, "batch": batch, "wall": WALL}
    chain = rng.choice(laptops)
    if rng.random() > 0.05 * shape.mischief:
        chain.write(say.Consent(**who, consent_sha256="c0" * 32, language="en", share_corrections=False))
    _relate(chain, who)
    chain.write(say.SittingBegan(**who, order_sha256="d0" * 32, face=say.Face.LINES, version="0.1.0", language="en"))
    order = key.orders[reviewer]
    for position, item in enumerate(order[: int(len(order) * share)]):
        if rng.random() < 0.02 * shape.mischief:
            chain = rng.choice(laptops)
            chain.lamport = max(each.lamport for each in laptops)
        _act(rng, shape, key, chain, who, item, position, careless, lenient)
    if rng.random() < 0.1 * shape.mischief:
        scope = rng.choice(list(say.Scope))
        reached = None if rng.random() < 0.3 else batch
        chain.write(say.Withdraw(wall=WALL, reviewer=reviewer, batch=reached, scope=scope))


def _relate(chain: Chain, who: dict[str, Any]) -> None:
    """Let a person say how near they are to the method, once, twice or not at all; draws nothing of the others."""
    shared, chain.rng = chain.rng, Random(who["reviewer"])
    for _ in range(chain.rng.choice((0, 1, 1, 2))):
        chain.write(say.Related(**who, relation=chain.rng.choice(list(Relation))))
    chain.rng = shared


def _act(
    rng: Random, shape: Shape, key: AnswerKey, chain: Chain, who: dict[str, Any], item: str,
    position: int, careless: bool, lenient: float,
) -> None:  # fmt: skip
    about = {**who, "item": item}
    active = rng.randrange(400, 30_000)
    judged = {**about, "position": position, "active_ms": active, "face": say.Face.LINES, "version": "0.1.0"}
    if rng.random() < 0.03 * shape.mischief:
        chain.write(say.Skip(**about))
        return
    if rng.random() < 0.03 * shape.mischief:
        chain.write(say.NotJudged(**judged, why=UNSAID))
        return
    event = chain.write(say.Rate(**judged, rating=_rating(rng, shape, key, item, careless, lenient)))
    for _ in range(3):
        if rng.random() > 0.04 * shape.mischief:
            break
        chain.write(say.Undo(**who, target=event.id))
        event = chain.write(say.Rate(**judged, rating=rng.choice(list(Rating))))
    if rng.random() < 0.01 * shape.mischief:
        chain.write(say.Undo(**who, target=event.id))
    if rng.random() < 0.02:
        chain.write(say.Comment(**about, text="said in private"))
    again = key.items[item].control is ControlKind.REPEAT
    often = shape.repeats_flagged if again else 0.002
    if rng.random() < often * shape.mischief:
        chain.write(say.HarmFlag(**about, harmful=True))
        if rng.random() < 0.3:
            chain.write(say.HarmFlag(**about, harmful=False))


def _rating(rng: Random, shape: Shape, key: AnswerKey, item: str, careless: bool, lenient: float) -> Rating:
    if careless:
        return rng.choice((Rating.ACCEPTABLE, rng.choice(list(Rating))))
    if shape.quality == 1.0:
        return Rating.EXCELLENT
    control = key.items[item].control
    quality = {ControlKind.BAD: 0.05, ControlKind.ANCHOR: 0.98}.get(control, shape.quality)  # type: ignore[arg-type]
    fine = rng.random() < min(max(quality + 0.1 * lenient, 0), 1)
    better = rng.random() < 0.6
    if fine:
        return Rating.EXCELLENT if better else Rating.ACCEPTABLE
    return Rating.GIST if better else Rating.REJECT


def _decide(rng: Random, shape: Shape, key: AnswerKey, office: Chain, before: list[Event]) -> None:
    flagged = {e.payload.item for e in before if isinstance(e.payload, say.HarmFlag)}
    batch = key.batches[0]
    for item in sorted(flagged):
        if rng.random() < 0.7:
            about: dict[str, Any] = {"wall": WALL, "batch": batch, "item": item}
            office.write(say.Adjudicate(**about, harmful=None, note="said in the office"))
            given = {"reason": rng.choice(REASONS), "by": "Elder"} if rng.random() < 0.7 else {}
            office.write(say.Adjudicate(**about, harmful=rng.random() < 0.3, note="", **given))
    for look in range(shape.looks):
        office.write(look_at_results(key, RUN, events_sha256([str(look)])))
        if rng.random() < 0.5:
            office.write(look_at_results(key, RUN, events_sha256([str(look)])))
    for look in range(shape.other_looks):
        said = look_at_results(key, RUN, events_sha256([str(look)]))
        office.write(said.model_copy(update={"batch": OTHER_BATCH}))


def key_of(device: str) -> str:
    return laptop_of(device, apart=True).public.signing_key


def _say_of_laptops(rng: Random, key: AnswerKey, office: Chain, laptops: list[str]) -> None:
    """Decide who speaks for most people, take laptops out and put them back, and join some."""
    for reviewer in rng.sample(list(key.orders), rng.randrange(len(key.orders) + 1)):
        for batch in key.batches:
            named = tuple(rng.sample(laptops, rng.randint(1, len(laptops))))
            office.write(say.AssignLaptop(wall=WALL, batch=batch, reviewer=reviewer, laptops=named))
    for _ in range(rng.choice((0, 0, 1, 2, 3))):
        before = rng.choice((None, rng.choice(laptops)))
        office.write(
            say.LaptopWord(
                wall=WALL, batch=rng.choice(key.batches), laptop=rng.choice(laptops),
                heard=rng.random() < 0.6, instead_of=before, reason=rng.choice(("", "lost", "« perdu »")),
            )
        )  # fmt: skip


def look_at_results(key: AnswerKey, run: str, seen: str) -> say.OrganiserLook:
    return say.OrganiserLook(wall=WALL, batch=key.batches[0], run_id=run, events_sha256=seen)


def erase_withdrawn(events: list[Event]) -> list[Event]:
    """Do what a store does when a withdrawal arrives."""
    taken = withdrawals(events)
    return [event.erased() if covered(event, taken) else event for event in events]


def history(rng: Random, shape: Shape | None = None, card_hash: str | None = None) -> Evidence:
    chosen = shape or random_shape(rng)
    key = make_key(rng, chosen, card_hash)
    events = make_events(rng, chosen, key)
    before = events
    if rng.random() < 0.5:
        events = erase_withdrawn(events)
    rng.shuffle(events)
    return evidence_of(key, events, before=before, apart=chosen.apart)


def evidence_of(
    key: AnswerKey,
    events: list[Event],
    policy: bytes | None = None,
    before: list[Event] | None = None,
    *,
    apart: bool = False,
) -> Evidence:
    """Gather the evidence of a review as its office would; ``before`` is what laptops held when they handed in."""
    rule = policy or proposed()[1]
    named, batches = with_batches(key, rule)
    devices = {event.device: laptop_of(event.device, apart=apart).public.signing_key for event in events}
    devices[ORGANISATION] = ORGANISER.public.signing_key
    laptops = hand_overs(before or events, batches, without=[ORGANISATION], apart=apart)
    return gather(rule, named, events, ORGANISATION, devices, batches, laptops)


def later(evidence: Evidence, events: list[Event]) -> Evidence:
    """Gather what the office has of a review later on: what laptops handed in before stays."""
    now = evidence_of(evidence.key, events)
    return replace(now, handed_over=(*evidence.handed_over, *now.handed_over))


def with_run(key: AnswerKey, **changes: Any) -> AnswerKey:
    return key.model_copy(update={"runs": (key.runs[0].model_copy(update=changes), *key.runs[1:])})


__all__ = ["Shape", "evidence_of", "history", "make_events", "make_key", "replace", "with_run"]
