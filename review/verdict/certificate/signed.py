"""What others signed, held against what a verdict rests on: the organisation's batches, and each laptop's log.

A batch is in many hands before anybody rates, and says by which policy and with which answer key it will be judged
and who is asked. A laptop signs where its log ends, and whose answers stand where in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.sealed.archive import read_manifest
from harness.sealed.chain import ancestors
from harness.sealed.keys import Signed, verify
from review.files.manifests import BatchManifest, RatingsManifest
from review.log.event import Event
from review.log.payloads import ANSWERS, Kind, ReviewerPayload, Scope
from review.verdict.certificate.certificate import Certificate
from review.verdict.certificate.evidence import OWN, Evidence
from review.verdict.gate.key import differences

LESS_THAN_BOUND = "a certificate of form 1 shows less than its batches bind it to"


@dataclass(frozen=True, slots=True)
class CertificateCheck:
    name: str
    ok: bool | None  # None: it could not be checked
    words: str
    # True where it cannot be checked because the files are of an earlier version, which shows less
    earlier: bool = False


@dataclass(frozen=True)
class HandedOver:
    """One hand-over of a laptop, as it signed it."""

    signed: Signed
    manifest: RatingsManifest

    @property
    def tips(self) -> dict[str, tuple[str, ...]]:
        """Device → the events at which its chain ends; version 1 named that of one device only."""
        if self.manifest.version == 1:
            return {self.manifest.device: (self.manifest.head,)}
        return {device: chain.tips for device, chain in self.manifest.chains.items()}


@dataclass(frozen=True)
class Attested:
    """The signed files of some evidence, read; FileError where one is none."""

    evidence: Evidence

    @cached_property
    def batches(self) -> dict[str, BatchManifest]:
        return {batch: read_manifest(signed.content, BatchManifest) for batch, signed in self.evidence.batches.items()}

    @cached_property
    def hand_overs(self) -> list[HandedOver]:
        return [
            HandedOver(signed, read_manifest(signed.content, RatingsManifest)) for signed in self.evidence.handed_over
        ]

    @cached_property
    def events(self) -> dict[str, Event]:
        return {event.id: event for event in self.evidence.events}

    @property
    def commits(self) -> bool:
        """Return whether every batch of the review commits to all that it should: version 2 does."""
        batches = self.batches
        return all(batch in batches and batches[batch].version != 1 for batch in self.evidence.key.batches)

    def own(self, handed: HandedOver) -> Iterator[str]:
        """Yield the devices of a hand-over whose log its laptop may continue with."""
        keys = self.evidence.speaks_for(handed.manifest.signer)
        for device in handed.tips:
            if self.evidence.devices.get(device) in keys:
                yield device

    def reached(self, hand_overs: Iterable[HandedOver], device: str) -> set[str]:
        """Return the ids of a device's events that hand-overs fix."""
        tips = [tip for hand_over in hand_overs for tip in hand_over.tips.get(device, ())]
        return ancestors(self.events, tips)


def check_batches(attested: Attested, stated: Certificate) -> CertificateCheck:
    """Compare policy, answer key and everybody who was asked with the batches that the certificate's signer gave out."""
    evidence, batch_manifests = attested.evidence, attested.batches
    if stated.version == 1 and any(manifest.version != 1 for manifest in batch_manifests.values()):
        return CertificateCheck("batches", False, LESS_THAN_BOUND)
    missing = [batch for batch in evidence.key.batches if batch not in batch_manifests]
    if len(missing) == len(evidence.key.batches) and stated.version == 1:
        words = "not in the evidence, which an earlier version wrote: policy, answer key and people are the organisation's word"
        return CertificateCheck("batches", None, words, earlier=True)
    signer = stated.organisation.signing_key
    signed = (evidence.key, evidence.policy_sha256, evidence.batches, batch_manifests, signer)
    if wrong := list(differences(*signed)):
        return CertificateCheck("batches", False, "; ".join(wrong))
    if not attested.commits:
        words = "an earlier version made them: they bind the policy, but not the answer key"
        return CertificateCheck("batches", None, words, earlier=True)
    asked = f"the {len(evidence.key.orders)} people who were asked"
    words = f"policy, answer key and {asked} are those of the signed batches"
    return CertificateCheck("batches", True, words)


def check_laptops(attested: Attested, part: Evidence) -> CertificateCheck:
    """Compare the events of some certified part with what laptops signed; the organisation's own against its office."""
    own = (event for event in part.events if event.device in part.own_devices)
    if forged := sum(event.kind not in OWN for event in own):
        words = f"{forged:,} answers are in the organisation's own log"
        return CertificateCheck("laptops", False, words)
    if wrong := next(_wrong_hand_overs(attested), None):
        return CertificateCheck("laptops", False, wrong)
    left = _unsigned(attested, part)
    if left and attested.commits:
        words = f"{_events(left)} of {_logs(left)} no laptop signed"
        return CertificateCheck("laptops", False, words)
    if left:
        words = (
            f"{_events(left)} of {_logs(left)} came without a signature that was kept, as earlier versions did: "
            "that these people said this is the organisation's word"
        )
        return CertificateCheck("laptops", None, words, earlier=True)
    if apart := len(_in_no_whole_hand_over(attested, part)):
        words, earlier = (f"{apart:,} answers are in no hand-over that was certified whole", not attested.commits)
        return CertificateCheck("laptops", None if earlier else False, words, earlier=earlier)
    count = len({event.device for event in part.events} - part.own_devices)
    words = f"{count} logs, each signed by its laptop"
    # Laptops that signed the log of another
    devices, keys = {event.device for event in part.events}, attested.evidence.devices
    signed = ((over.manifest.signer, d) for over in attested.hand_overs for d in attested.own(over))
    if others := len({signer for signer, d in signed if d in devices and keys[d] != signer}):
        words += f"; {others} continued with the log of another, as the organisation says"
    return CertificateCheck("laptops", True, words)


def _wrong_hand_overs(attested: Attested) -> Iterator[str]:
    """Return what is wrong with hand-overs: their signature, their laptop, their batch, or events that they fix."""
    lengths: dict[str, int] = {}  # Event → how many there are from the first of its chain up to it
    for event in sorted(attested.evidence.events, key=lambda event: event.seq):
        lengths[event.id] = lengths.get(event.prev, 0) + 1
    batches = attested.evidence.key.batch_sha256
    for hand_over in attested.hand_overs:
        manifest = hand_over.manifest
        if not verify(manifest.signer, hand_over.signed.content, hand_over.signed.signature):
            yield f"a hand-over of device {manifest.device} is not signed by its laptop"
        if manifest.batch_sha256 != batches.get(manifest.batch, manifest.batch_sha256):
            yield f"the laptop of device {manifest.device} rated another batch"
        if manifest.version == 1:
            continue
        for device in attested.own(hand_over):
            chain = manifest.chains[device]
            if len(chain.tips) == 1:
                length = lengths.get(chain.tips[0], 0)
            else:
                length = len(attested.reached([hand_over], device))
            if length != chain.events and manifest.batch in batches:
                yield f"of the {chain.events:,} events of device {device} that its laptop signed, {length:,} are here"


def _unsigned(attested: Attested, part: Evidence) -> list[Event]:
    fixed: set[str] = set()
    signing: dict[str, list[HandedOver]] = defaultdict(list)
    for hand_over in attested.hand_overs:
        for device in attested.own(hand_over):
            signing[device].append(hand_over)
    for device, every in signing.items():
        fixed |= attested.reached(every, device)
    own = part.own_devices
    return [event for event in part.events if event.device not in own and event.id not in fixed]


def _in_no_whole_hand_over(attested: Attested, part: Evidence) -> set[str]:
    """Return the answers whose laptop signed for them only in hand-overs that are certified in part, or of other batches.

    A hand-over is imported as a whole, so that nobody chooses where a person's answers end.
    """
    key, certified = part.key, {event.id for event in part.events}
    answers = {
        event.id: (event, event.payload)
        for event in part.events
        if event.kind in ANSWERS
        and isinstance(event.payload, ReviewerPayload)
        and event.device not in part.own_devices
        and event.payload.batch in key.batches
        and event.payload.reviewer in key.orders
    }
    for hand_over in sorted(attested.hand_overs, key=lambda over: -over.manifest.events):
        manifest, open_devices = hand_over.manifest, {e.device for e, _ in answers.values()}
        fixed = {d: attested.reached([hand_over], d) for d in attested.own(hand_over)}
        if not open_devices & fixed.keys() or not certified >= set().union(*fixed.values()):
            continue
        for name, (event, answer) in list(answers.items()):
            places = manifest.contents.get(answer.reviewer, {}).get(event.device, ())
            stands = manifest.version == 1 or any(a <= event.seq <= b for a, b in places)
            own = answer.batch == manifest.batch and name in fixed.get(event.device, ())
            if stands and own:
                del answers[name]
    return set(answers)


def check_contents(attested: Attested, part: Evidence, taken: Evidence) -> CertificateCheck:
    """Compare answers without content with whose they are; ``taken`` has the withdrawals that explain them."""
    own = part.own_devices
    bare = {
        event.id: event
        for event in part.events
        if event.payload is None and event.kind in ANSWERS and event.device not in own
    }
    if bare and not attested.commits:
        words = (
            f"whose the {len(bare):,} answers without content are cannot be told: earlier versions did not sign for it"
        )
        return CertificateCheck("contents", None, words, earlier=True)
    withdrawn = {place for place, s in taken.state.withdrawn.items() if s - {Scope.COMMENTS}}
    lost = set()
    for hand_over in attested.hand_overs:
        manifest = hand_over.manifest
        if manifest.batch not in part.key.batches:
            continue
        for device in {event.device for event in bare.values()} & set(attested.own(hand_over)):
            fixed = attested.reached([hand_over], device)
            for who, chains in manifest.contents.items():
                if {(who, None), (who, manifest.batch)} & withdrawn:
                    continue
                lost |= {
                    event.id
                    for event in bare.values()
                    if event.id in fixed
                    and event.device == device
                    and any(first <= event.seq <= last for first, last in chains.get(device, ()))
                }
    if lost:
        words = f"{len(lost):,} answers are missing whose people took nothing back"
        return CertificateCheck("contents", False, words)
    words = "none is missing but those of people who took them back"
    return CertificateCheck("contents", True, words)


def _events(events: Sequence[Event]) -> str:
    return f"{len(events):,} event{'s' if len(events) > 1 else ''}"


def _logs(events: Sequence[Event]) -> str:
    count = len({event.device for event in events})
    return f"{count} log{'s' if count > 1 else ''}"


def check_looks(stated: Certificate, part: Evidence) -> CertificateCheck:
    """Check that each look in the organisation's log shows its content, so that none at the run is left out."""
    if stated.version in {1, 2}:
        words = "a certificate of this form counts the looks in one review alone"
        return CertificateCheck("looks", None, words, earlier=True)
    own = (event for event in part.events if event.device in part.own_devices)
    if bare := sum(event.kind is Kind.LOOK and event.payload is None for event in own):
        words = f"{bare:,} looks in the organisation's log do not show at which run they are"
        return CertificateCheck("looks", False, words)
    count = part.looks(stated.run.run_id).total
    words = f"{count} at this run in the organisation's log; nobody can see reviews that were made on another computer"
    return CertificateCheck("looks", True, words)
