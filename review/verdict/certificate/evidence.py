"""Everything from which a verdict follows, and no text: what anybody needs to compute it again.

Texts, comments, suggested wordings and notes stay with the organisation; of events that bear on no
number only the heads travel, so that the chains can still be checked. ``NAME.rosetta-evidence`` holds it
with the certificate that rests on it and the program that recomputes that.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import usage_errors
from harness.sealed.archive import MOST_BYTES, pack, unpack
from harness.sealed.chain import ancestors, tips_of
from harness.sealed.keys import Signed
from review.log.event import FIRST, Event, EventError, events_sha256, read_event
from review.log.fold import State, fold
from review.log.merge import OWN_WORDS, AssignedLaptops, heard, may_go_on_with
from review.log.payloads import ANSWERS, Adjudicate, AnyPayload, Kind, LaptopWord, OrganiserLook, Scope
from review.verdict.gate.key import AnswerKey
from review.verdict.gate.panel import run_of

# Kinds of events that bear on a verdict; of all others only the head is evidence
DECIDING = ANSWERS | OWN_WORDS

# Kinds that the organisation's own devices write: nobody answers there
OWN = OWN_WORDS | {Kind.WITHDRAW}

# Kinds whose change makes another look at the numbers a new one: new ratings are new chances of
# luck, and so is hearing other laptops
_WORTH_A_LOOK = frozenset({Kind.RATE, Kind.CANNOT_JUDGE, Kind.UNDO, Kind.LAPTOP, Kind.SPEAKS})

MOST_EVENTS = 1_000_000


@dataclass(frozen=True, slots=True)
class RunLooks:
    """The looks at the numbers of one run, over all its reviews in the organisation's log."""

    before: int  # Looks before this review was made, as its batches state
    here: frozenset[str]  # SHA-256 of each set of this review's ratings that was examined
    # Batch of another review of the run → looks at its ratings, 1 or more
    others: Mapping[str, int]

    @property
    def total(self) -> int:
        """How often the run was examined; what the batches state counts where the log shows fewer."""
        return max(self.before, sum(self.others.values())) + len(self.here)


def run_looks(looks: Iterable[OrganiserLook], key: AnswerKey, run_id: str) -> RunLooks:
    """Count looks of the organisation at a run; ``key`` is of the review from which they are counted."""
    sets: dict[str, set[str]] = defaultdict(set)
    for look in looks:
        if look.run_id == run_id:
            sets[look.batch].add(look.events_sha256)
    here = frozenset(events_hash for batch in key.batches for events_hash in sets.pop(batch, ()))
    others = {batch: len(sets[batch]) for batch in sorted(sets)}
    return RunLooks(run_of(key, run_id).looks, here, others)


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on."""

    policy: bytes  # The gate's policy, a TOML file as it was read
    key: AnswerKey
    # In the one order, without the content of events that bear on no number
    events: tuple[Event, ...]
    # The organisation's first device; adjudications and looks count of all that have the same key
    organisation_device: str
    # Device → public key of the laptop (or of the organisation) that answers for it
    devices: Mapping[str, str]
    # Whether what several laptops say of one person waits for the organisation; certificates of
    # version 1 took the last word of any
    weighs_laptops: bool = True
    # Batch → its manifest, as the organisation signed it; none in evidence of an earlier version
    batches: Mapping[str, Signed] = field(default_factory=dict)
    # The manifests of what laptops handed in, as they signed them
    handed_over: tuple[Signed, ...] = ()
    witnesses: tuple[bytes, ...] = ()  # Statements of witnesses, as files.witness reads them
    # Run → batches of its other reviews in the organisation's office; an evidence file has none
    other_batches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def key_bytes(self) -> bytes:
        """The answer key as canonical JSON."""
        return canonical_bytes(self.key.model_dump(mode="json"))

    @property
    def key_sha256(self) -> str:
        return sha256(self.key_bytes).hexdigest()

    @property
    def policy_sha256(self) -> str:
        return sha256(self.policy).hexdigest()

    @cached_property
    def devices_bytes(self) -> bytes:
        """The devices that wrote these events as canonical JSON; unknown ones have no key."""
        wrote = sorted({event.device for event in self.events} | {self.organisation_device})
        keys = {device: self.devices.get(device) for device in wrote}
        return canonical_bytes({"organisation": self.organisation_device, "devices": keys})

    @property
    def devices_sha256(self) -> str:
        """Hash of the list of devices."""
        return sha256(self.devices_bytes).hexdigest()

    @cached_property
    def state(self) -> State:
        return fold(self._heard[0], set(self.key.batches))

    @property
    def counted(self) -> Sequence[Event]:
        """The events of the laptops that are heard."""
        return self._heard[0]

    @property
    def voices(self) -> AssignedLaptops:
        return self._heard[1]

    @cached_property
    def _heard(self) -> tuple[list[Event], AssignedLaptops]:
        own = self.own_devices
        if self.weighs_laptops:
            return heard(self.events, self.devices, own, self.key.batches)
        kept = [e for e in self.events if e.kind not in OWN_WORDS or e.device in own]
        return kept, AssignedLaptops()

    @cached_property
    def own_devices(self) -> frozenset[str]:
        """The organisation's devices: its first one, and those after its file was moved or restored."""
        first = self.organisation_device
        key = self.devices.get(first)
        same = {d for d, owner in self.devices.items() if key is not None and owner == key}
        return frozenset(same | {first})

    @cached_property
    def _own(self) -> list[AnyPayload | None]:
        """Payloads of the organisation's own devices."""
        return [event.payload for event in self.events if event.device in self.own_devices]

    def looks(self, run_id: str) -> RunLooks:
        """Return the looks at a run that the organisation's own devices wrote down."""
        return run_looks((p for p in self._own if isinstance(p, OrganiserLook)), self.key, run_id)

    @property
    def ratings_sha256(self) -> str:
        """SHA-256 of the ratings that a look is at (``looked_at``)."""
        return events_sha256(looked_at(self.events, self.key.batches))

    def speaks_for(self, signing_key: str) -> set[str]:
        """Return the keys whose logs a laptop may continue with: its own, and those that it came instead of."""
        words = (payload for payload in self._own if isinstance(payload, LaptopWord))
        return may_go_on_with(signing_key, {word.laptop: word.instead_of for word in words})

    @property
    def withheld(self) -> int:
        """How many events would bear on a number but have no content, for it was withdrawn or is another review's."""
        return sum(event.payload is None and event.kind in DECIDING for event in self.events)

    @property
    def taken_back(self) -> frozenset[tuple[str, str | None]]:
        """Return (reviewer, batch, None for every one) of each person of this review who took ratings back."""
        return frozenset(
            place
            for place, scopes in self.state.withdrawn.items()
            if place[0] in self.key.orders and scopes - {Scope.COMMENTS}
        )

    @property
    def tips(self) -> list[str]:
        """Return the ids that no other event names as the one before it: they fix the whole set."""
        return tips_of(self.events)

    def gaps(self) -> int:
        """Count the events whose predecessor is missing."""
        places = {event.id: (event.device, event.seq + 1) for event in self.events}
        return sum(event.prev != FIRST and places.get(event.prev) != (event.device, event.seq) for event in self.events)

    def up_to(self, tips: Collection[str]) -> Evidence:
        """Return the part that some tips fix: these events and all before them."""
        reached = ancestors({event.id: event for event in self.events}, tips)
        return replace(self, events=tuple(e for e in self.events if e.id in reached))


def gather(
    policy: bytes,
    key: AnswerKey,
    events: Iterable[Event],
    organisation_device: str,
    devices: Mapping[str, str],
    batches: Mapping[str, Signed] = MappingProxyType({}),
    handed_over: Iterable[Signed] = (),
    witnesses: Iterable[bytes] = (),
    other_batches: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Evidence:
    """Collect the evidence of a review from everything that its organisation has.

    Raises UsageError for a decision about harm that carries a note: the note would have to travel with it.
    """
    bare: dict[str, Event] = {}
    for event in events:
        decision = event.payload if isinstance(event.payload, Adjudicate) and event.payload.note else None
        if decision is not None and decision.harmful is not None:
            raise UsageError(
                "A decision about a flagged item carries a note, which must not leave this machine. "
                "Decide it once more: `rosetta review adjudicate`."
            )
        counts = event.kind in DECIDING and event.payload is not None and decision is None
        bare[event.id] = event if counts else event.erased()
    in_order = tuple(sorted(bare.values(), key=lambda event: event.order))
    return Evidence(
        policy,
        key,
        in_order,
        organisation_device,
        devices,
        batches=batches,
        handed_over=tuple(handed_over),
        witnesses=tuple(witnesses),
        other_batches=other_batches,
    )


def looked_at(events: Iterable[Event], batches: Collection[str]) -> list[str]:
    """Return the ids of the events whose change makes another look at the numbers a new one."""
    return sorted(
        event.id for event in events if event.kind in _WORTH_A_LOOK and getattr(event.payload, "batch", None) in batches
    )


def events_bytes(events: Iterable[Event]) -> bytes:
    """Write events as lines, in the one order."""
    return b"".join(event.line() + b"\n" for event in sorted(events, key=lambda e: e.order))


def read_events_bytes(data: bytes) -> tuple[Event, ...]:
    """Read the lines of events; raises UsageError with the number of the first bad one."""
    events = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            events.append(read_event(line))
        except EventError as error:
            raise UsageError(f"events.jsonl, line {number}: this event {error}.") from None
        if number > MOST_EVENTS:
            raise UsageError(f"events.jsonl holds more than {MOST_EVENTS:,} events.")
    return tuple(sorted({event.id: event for event in events}.values(), key=lambda e: e.order))


def read_key(data: bytes, name: str) -> AnswerKey:
    with usage_errors(name):
        key = AnswerKey.model_validate_json(data)
    if canonical_bytes(key.model_dump(mode="json")) != data:
        raise UsageError(f"{name} is not written in the one canonical form.")
    if not key.runs:
        raise UsageError(f"{name} is of a review without runs, of which there is no verdict.")
    return key


def read_devices(data: bytes, name: str) -> tuple[str, dict[str, str]]:
    """Read the organisation's device and the keys of all; raises UsageError in words."""
    try:
        raw: Any = json.loads(data)
        own, keys = raw["organisation"], raw["devices"]
        fits = set(raw) == {"organisation", "devices"} and isinstance(own, str)
        fits = fits and all(key is None or isinstance(key, str) for key in keys.values())
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        fits = False
    if not fits:
        raise UsageError(f"{name} is not a list of devices. Ask for the evidence file as it was issued.")
    return own, {device: key for device, key in keys.items() if key is not None}


def signed_bytes(evidence: Evidence) -> bytes:
    """Write what others signed as canonical JSON, each manifest as the very text that was signed."""

    def shown(signed: Signed) -> dict[str, str]:
        return {"manifest": signed.content.decode(), "signature": signed.signature.hex()}

    batches = {batch: shown(signed) for batch, signed in evidence.batches.items()}
    laptops = list(map(shown, evidence.handed_over))
    witnesses = [witness.decode() for witness in evidence.witnesses]
    return canonical_bytes({"batches": batches, "laptops": laptops, "witnesses": witnesses})


def read_signed(data: bytes, name: str) -> tuple[dict[str, Signed], tuple[Signed, ...], tuple[bytes, ...]]:
    """Read what others signed: batches by their ids, hand-overs of laptops, statements of witnesses; UsageError."""

    def signed(raw: Mapping[str, str]) -> Signed:
        return Signed(raw["manifest"].encode(), bytes.fromhex(raw["signature"]))

    try:
        raw = json.loads(data)
        batches = {str(batch): signed(manifest) for batch, manifest in raw["batches"].items()}
        handed_over = tuple(map(signed, raw["laptops"]))
        witnesses = tuple(text.encode() for text in raw["witnesses"])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise UsageError(
            f"{name} is not a list of signed manifests. Ask for the evidence file as it was issued."
        ) from None
    return batches, handed_over, witnesses


EVIDENCE_SUFFIX: Final = ".rosetta-evidence"

_DATA = ("certificate.json", "certificate.sig", "policy.toml", "key.json", "devices.json")
_EVENTS = "events.jsonl"
_SIGNED = "signed.json"
# The certificate that left in its place, of a review of secret entries, and its signature
_COARSE = ("coarse.json", "coarse.sig")
_PROGRAM = "rosetta_verify.py"
_README = "README.txt"

# SHA-256 of each second verifier that was given out before the present one
EARLIER_PROGRAMS: Final = {
    "3418c2f0066947cb3dc7dd09f97039e92cf3b694a946224e213e1cb5669febd1": "of certificates of version 1",
    "e505dffdc78267fc7219a9195d774d8bc5e96189996a1af89f114146b42911ac": "that knows no coarse certificates",
    "1c8850d68794caf2c95b9ca29448e0d3c5b0e1c497c9320fe5764685b59ab023": "of certificates of version 2",
}


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """What an evidence file holds."""

    certificate: bytes
    signature: bytes
    evidence: Evidence
    # The second verifier as it is in the file; None where there is none, as in what an office keeps
    program: bytes | None = None
    # The coarse certificate that left in its place; None where none did
    coarse: Signed | None = None


def own_program() -> bytes:
    """Return the second verifier as it is installed here."""
    return resources.files("review.verdict.stand_alone").joinpath(_PROGRAM).read_bytes()


def own_program_sha256() -> str:
    """Return its hash, which certificates and docs/internals/certificate.md state."""
    return sha256(own_program()).hexdigest()


def pack_evidence(certificate: bytes, signature: bytes, evidence: Evidence, coarse: Signed | None = None) -> bytes:
    """Write an evidence file; the same contents give the same bytes."""
    data = (certificate, signature, evidence.policy, evidence.key_bytes, evidence.devices_bytes)
    members = dict(zip(_DATA, data, strict=True))
    members |= {_EVENTS: events_bytes(evidence.events), _SIGNED: signed_bytes(evidence)}
    readme = resources.files("review.verdict.stand_alone").joinpath(_README).read_bytes()
    members |= {_PROGRAM: own_program(), _README: readme}
    if coarse:
        members |= zip(_COARSE, (coarse.content, coarse.signature), strict=True)
    return pack(members)


def unpack_evidence(data: bytes) -> EvidenceFile:
    """Read an evidence file, nothing of it believed yet; raises UsageError in words."""
    members = unpack(data, (*_DATA, _EVENTS), (_SIGNED, _PROGRAM, _README, *_COARSE))
    certificate, signature, policy, key, devices = (members[name] for name in _DATA)
    own, keys = read_devices(devices, "devices.json")
    events = read_events_bytes(members[_EVENTS])
    evidence = Evidence(policy, read_key(key, "key.json"), events, own, keys)
    if _SIGNED in members:
        batches, handed_over, witnesses = read_signed(members[_SIGNED], _SIGNED)
        evidence = replace(evidence, batches=batches, handed_over=handed_over, witnesses=witnesses)
    coarse = None
    if missing := set(_COARSE).difference(members):
        if len(missing) == 1:
            raise UsageError(f"{missing.pop()} is missing. Ask for the evidence file as it was issued.")
    else:
        coarse = Signed(*(members[name] for name in _COARSE))
    return EvidenceFile(certificate, signature, evidence, members.get(_PROGRAM), coarse)


def read_evidence_file(path: Path) -> EvidenceFile:
    """Read an evidence file from the disk; raises UsageError in words that name it."""
    try:
        with path.open("rb") as file:
            return unpack_evidence(file.read(2 * MOST_BYTES))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}. Name the right file.") from None
    except UsageError as error:
        raise UsageError(f"{path.name}: {error}") from None
