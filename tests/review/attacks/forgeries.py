"""What an organiser can forge in evidence: each play takes honest evidence and gives a doctored one."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.core.canonical import canonical_bytes
from harness.sealed.keys import Identity, Role, Signed
from review.files.manifests import RatingsManifest
from review.log.event import Event, make_event
from review.log.payloads import AnyPayload, LaptopWord, Rate
from review.rating import Rating
from review.verdict.certificate.evidence import Evidence
from review.verdict.gate.key import AnswerKey, ControlKind
from tests.review.attacks.ground import ISSUED, Ground, last_of, rewritten, stripped, without_laptops

MEMBERS = (
    "certificate.json", "certificate.sig", "policy.toml", "key.json", "devices.json", "events.jsonl",
    "signed.json", "rosetta_verify.py", "README.txt",
)  # fmt: skip


def softer(evidence: Evidence) -> Evidence:
    policy = evidence.policy.replace(b"share = 0.70", b"share = 0.20")
    return replace(evidence, policy=policy)


def with_key(evidence: Evidence, **changes: Any) -> Evidence:
    return replace(evidence, key=evidence.key.model_copy(update=changes))


def with_run(evidence: Evidence, **changes: Any) -> Evidence:
    return with_key(evidence, runs=(evidence.key.runs[0].model_copy(update=changes),))


def better(event: Event) -> AnyPayload:
    said = event.payload
    assert said is not None
    if isinstance(said, Rate) and said.rating in {Rating.GIST, Rating.REJECT}:
        return said.model_copy(update={"rating": Rating.EXCELLENT})
    return said


def ratings_rewritten(evidence: Evidence, _: Ground) -> Evidence:
    return replace(evidence, events=rewritten(evidence.events, better))


def one_rating_rewritten(evidence: Evidence, played: Ground) -> Evidence:
    """Of the very last event of a laptop, behind which no other stands that would name it."""
    last = last_of(evidence, played.strict[0])
    assert isinstance(last.payload, Rate)
    other = Rating.REJECT if last.payload.rating is Rating.EXCELLENT else Rating.EXCELLENT
    anew = make_event(
        last.payload.model_copy(update={"rating": other}),
        device=last.device, seq=last.seq, lamport=last.lamport, prev=last.prev, salt=bytes(16),
    )  # fmt: skip
    return replace(evidence, events=tuple(anew if e.id == last.id else e for e in evidence.events))


def last_ratings_left_out(evidence: Evidence, played: Ground) -> Evidence:
    end = last_of(evidence, played.strict[0])
    kept = (e for e in evidence.events if e.device != end.device or e.seq < end.seq - 20)
    return replace(evidence, events=tuple(kept))


def a_rating_between_two_hand_overs_left_out(evidence: Evidence, played: Ground) -> Evidence:
    """Behind the end of the first hand-over, so that what stands before is signed for all the same."""
    end = last_of(evidence, played.strict[0])
    first = min(
        RatingsManifest.model_validate_json(each.content).events
        for each in evidence.handed_over
        if end.device.encode() in each.content
    )
    gone = {e.id for e in evidence.events if e.device == end.device and e.seq == first}
    return replace(evidence, events=tuple(e for e in evidence.events if e.id not in gone))


def disliked_called_spoilt(evidence: Evidence, _: Ground) -> Evidence:
    items = dict(evidence.key.items)
    for item in _of_the_largest_difficulty(evidence.key, 4):
        items[item] = items[item].model_copy(
            update={"control": ControlKind.BAD, "made_by": "phrase swap", "run_id": None}
        )
    return with_key(evidence, items=items)


def _of_the_largest_difficulty(key: AnswerKey, count: int) -> list[str]:
    """Return real items, of which enough stay for a verdict."""
    real = {item: each.stratum for item, each in key.items.items() if each.control is None}
    [(largest, _)] = Counter(real.values()).most_common(1)
    return sorted(item for item, stratum in real.items() if stratum == largest)[:count]


def items_left_out(evidence: Evidence, _: Ground) -> Evidence:
    gone = _of_the_largest_difficulty(evidence.key, 4)
    items = {i: each for i, each in evidence.key.items.items() if i not in gone}
    return with_key(evidence, items=items, core=tuple(i for i in evidence.key.core if i in items))


def strict_people_left_out(evidence: Evidence, played: Ground) -> Evidence:
    orders = {who: each for who, each in evidence.key.orders.items() if who not in played.strict}
    return with_key(without_laptops(evidence, played.strict), orders=orders)


def fewer_items_asked(evidence: Evidence, played: Ground) -> Evidence:
    orders = dict(evidence.key.orders)
    orders[played.strict[0]] = orders[played.strict[0]][:5]
    return with_key(evidence, orders=orders)


def resigned(evidence: Evidence, played: Ground, **changes: Any) -> Evidence:
    """Sign the batch anew as if it had always said so, and let the key name that."""
    [(batch, old)] = evidence.batches.items()
    raw = json.loads(old.content) | changes
    raw = {name: value for name, value in raw.items() if value is not None}
    content = canonical_bytes(raw)
    anew = Signed(content, played.organiser.sign(content))
    key = evidence.key.model_copy(update={"batch_sha256": {batch: anew.sha256}})
    return replace(evidence, key=key, batches={batch: anew})


def batch_signed_anew(evidence: Evidence, played: Ground) -> Evidence:
    soft = softer(evidence)
    return resigned(soft, played, policy_sha256=soft.policy_sha256)


def batch_of_the_first_version(evidence: Evidence, played: Ground) -> Evidence:
    """Which commits to no answer key, so that the key may be another."""
    first = {"format": "rosetta-batch/1", "key_commitment": None}
    later = {name: None for name in json.loads(next(iter(evidence.batches.values())).content) if name not in _FIRST}
    return resigned(disliked_called_spoilt(evidence, played), played, **(later | first))


_FIRST = {
    "batch", "review", "title", "created", "source_language", "target_language", "organisation",
    "policy_sha256", "consent", "guide", "labels", "language", "task", "letters", "secret",
    "orders", "members", "format",
}  # fmt: skip


def batch_signed_by_another(evidence: Evidence, _: Ground) -> Evidence:
    [(batch, old)] = evidence.batches.items()
    other = Identity.make(Role.ORGANISATION).sign(old.content)
    return replace(evidence, batches={batch: Signed(old.content, other)})


def laptop_signature_forged(evidence: Evidence, played: Ground) -> Evidence:
    soft = ratings_rewritten(evidence, played)
    return replace(soft, handed_over=tuple(_restated(each, soft) for each in soft.handed_over))


def _restated(each: Signed, evidence: Evidence, identity: Identity | None = None) -> Signed:
    """Let a hand-over fix the chain as it is now; signed by nobody, or by somebody else."""
    said = RatingsManifest.model_validate_json(each.content)
    known = sorted((e for e in evidence.events if e.device == said.device), key=lambda e: e.seq)
    tip = known[min(said.chains[said.device].events, len(known)) - 1]
    chain = said.chains[said.device].model_copy(update={"tips": (tip.id,)})
    update: dict[str, Any] = {"head": tip.id, "chains": {said.device: chain}}
    if identity is not None:
        laptop = said.laptop.model_copy(update={"signing_key": identity.public.signing_key})
        update["laptop"] = laptop
    content = canonical_bytes(said.model_copy(update=update).model_dump(mode="json"))
    return Signed(content, each.signature if identity is None else identity.sign(content))


def device_keys_swapped(evidence: Evidence, _: Ground) -> Evidence:
    keys = sorted(set(evidence.devices.values()))
    swap = dict(zip(keys, [*keys[1:], keys[0]], strict=True))
    devices = {device: swap[key] for device, key in evidence.devices.items()}
    own = evidence.organisation_device
    return replace(evidence, devices=devices | {own: evidence.devices[own]})


def another_laptops_signature(evidence: Evidence, played: Ground) -> Evidence:
    """Ratings of one person rewritten, and signed by a laptop that nobody calls that of the device."""
    soft = ratings_rewritten(evidence, played)
    other = Identity.make(Role.LAPTOP)
    return replace(soft, handed_over=tuple(_restated(each, soft, other) for each in soft.handed_over))


def hand_over_of_another_batch(evidence: Evidence, played: Ground) -> Evidence:
    """A hand-over that the laptop really signed, for a batch of the same id that said something else."""
    person = played.people[0]
    said = next(
        RatingsManifest.model_validate_json(each.content)
        for each in evidence.handed_over
        if person.laptop.device.encode() in each.content
    )
    other = said.model_copy(update={"batch_sha256": "0" * 64})
    content = canonical_bytes(other.model_dump(mode="json"))
    more = Signed(content, person.identity.sign(content))
    return replace(evidence, handed_over=(*evidence.handed_over, more))


def answers_in_its_own_log(evidence: Evidence, played: Ground) -> Evidence:
    """Ratings in the name of strict people, later than their own, on the organisation's device."""
    own = evidence.organisation_device
    chain = sorted((e for e in evidence.events if e.device == own), key=lambda e: e.seq)
    late = max(e.lamport for e in evidence.events)
    for said in [e.payload for e in evidence.events if isinstance(e.payload, Rate)]:
        if said.reviewer in played.strict:
            late += 1
            chain.append(
                make_event(
                    said.model_copy(update={"rating": Rating.EXCELLENT}), device=own,
                    seq=len(chain), lamport=late, prev=chain[-1].id if chain else "", salt=bytes(16),
                )
            )  # fmt: skip
    rest = (e for e in evidence.events if e.device != own)
    return replace(evidence, events=tuple(sorted((*rest, *chain), key=lambda e: e.order)))


def laptops_called_its_own(evidence: Evidence, played: Ground) -> Evidence:
    """What stands in the organisation's own log needs no laptop's signature."""
    soft = ratings_rewritten(evidence, played)
    own = evidence.devices[evidence.organisation_device]
    return replace(soft, devices=dict.fromkeys(soft.devices, own), handed_over=())


def replaced_by_a_laptop_of_its_own(evidence: Evidence, played: Ground) -> Evidence:
    """Say that another laptop came instead, without anything that it signed."""
    soft = ratings_rewritten(evidence, played)
    own = sorted((e for e in soft.events if e.device in soft.own_devices), key=lambda e: e.seq)
    late = max(e.lamport for e in soft.events)
    added: list[Event] = []
    for key in sorted(set(soft.devices.values()) - {soft.devices[soft.organisation_device]}):
        late += 1
        said = LaptopWord(
            wall=ISSUED, batch=soft.key.batches[0], heard=True, instead_of=key,
            laptop=Identity.make(Role.LAPTOP).public.signing_key,
        )  # fmt: skip
        before = [*own, *added][-1]
        added.append(
            make_event(
                said, device=before.device, seq=before.seq + 1, lamport=late, prev=before.id, salt=bytes(16)
            )
        )  # fmt: skip
    return replace(soft, events=(*soft.events, *added))


Attack = Callable[[Evidence, Ground], Evidence]

DETECTED: dict[str, tuple[Attack, str]] = {
    "softer policy": (lambda e, _: softer(e), "batches"),
    "batch signed again": (batch_signed_anew, "laptops"),
    "batch of the first version": (batch_of_the_first_version, "laptops"),
    "batch signed by another": (batch_signed_by_another, "batches"),
    "batch left out": (lambda e, _: replace(e, batches={}), "batches"),
    "disliked called spoilt": (disliked_called_spoilt, "batches"),
    "items left out": (items_left_out, "batches"),
    "fewer items asked": (fewer_items_asked, "batches"),
    "strict people left out": (strict_people_left_out, "batches"),
    "weights changed": (lambda e, _: with_run(e, strata={h: n if h == 1 else 1 for h, n in e.key.runs[0].strata.items()}), "batches"),
    "another card": (lambda e, _: with_run(e, run_card_hash="0" * 64), "batches"),
    "core shrunk": (lambda e, _: with_key(e, core=e.key.core[:30]), "batches"),
    "words about the panel": (lambda e, _: with_key(e, panel="Drawn by lot from all speakers."), "batches"),
    "another salt": (lambda e, _: with_key(e, salt="0" * 64), "batches"),
    "ratings rewritten": (ratings_rewritten, "laptops"),
    "one rating rewritten": (one_rating_rewritten, "laptops"),
    "last ratings left out": (last_ratings_left_out, "laptops"),
    "a rating left out in between": (a_rating_between_two_hand_overs_left_out, "laptops"),
    "laptops left out": (lambda e, _: replace(e, handed_over=()), "laptops"),
    "laptop's signature forged": (laptop_signature_forged, "laptops"),
    "another laptop's signature": (another_laptops_signature, "laptops"),
    "keys of devices swapped": (device_keys_swapped, "laptops"),
    "hand-over of another batch": (hand_over_of_another_batch, "laptops"),
    "replaced by its own laptop": (replaced_by_a_laptop_of_its_own, "laptops"),
    "answers in its own log": (answers_in_its_own_log, "laptops"),
    "laptops called its own": (laptops_called_its_own, "laptops"),
    "contents taken out": (lambda e, played: stripped(e, "rate", played.strict), "contents"),
    "consent taken out": (lambda e, played: stripped(e, "consent", played.strict), "contents"),
}  # fmt: skip
