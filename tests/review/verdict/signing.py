"""What the organisation and the laptops of a made-up review sign."""

from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256

from harness.core.canonical import canonical_bytes
from harness.sealed.keys import Identity, Role, Signed
from harness.sealed.sealing import AgeIdentity
from review.files.identities import place_of
from review.files.manifests import BatchManifest, Organisation, RatingsManifest, Sender
from review.files.ratings import chains_of, contents_of
from review.log.event import Event
from review.verdict.gate.key import AnswerKey

MADE = "2026-05-05T10:00:00Z"
ORGANISER = Identity(Role.ORGANISATION, b"organisation".ljust(32), AgeIdentity.make())
LAPTOP = Identity(Role.LAPTOP, b"laptop".ljust(32), AgeIdentity.make())
"""One laptop at which everybody sits, whatever the device."""


RECIPIENTS = (AgeIdentity.of(bytes(32)).recipient, AgeIdentity.of(b"1" * 32).recipient)


@cache
def laptop_of(device: str, *, apart: bool = True) -> Identity:
    """Return the laptop that a device belongs to: one of its own, or the one at which everybody sits."""
    return Identity(Role.LAPTOP, device.encode().ljust(32), LAPTOP.age) if apart else LAPTOP


def signed(manifest: BatchManifest | RatingsManifest, identity: Identity) -> Signed:
    content = canonical_bytes(manifest.model_dump(mode="json"))
    return Signed(content, identity.sign(content))


def with_batches(
    key: AnswerKey,
    policy: bytes,
    identity: Identity = ORGANISER,
    recipients: tuple[str, str] = RECIPIENTS,
    **changes: object,
) -> tuple[AnswerKey, dict[str, Signed]]:
    """Sign the batches of a review; gives the key that names them. Everybody is asked in each."""
    salted = key.model_copy(update={"salt": key.salt or "5a" * 32})
    organisation = Organisation(name="Kultura Centro", signing_key=identity.public.signing_key, recipients=recipients)
    facts = {
        "review": key.review, "title": "Spring", "created": MADE, "source_language": "en",
        "target_language": "eo", "organisation": organisation, "policy_sha256": sha256(policy).hexdigest(),
        "consent": "Do you agree?", "guide": "", "language": "en", "secret": False,
        "orders": {place_of(who): order for who, order in key.orders.items()},
        "key_commitment": salted.commitment, "looks": salted.looks, "members": {},
    }  # fmt: skip
    batches = {
        batch: signed(BatchManifest.model_validate({"batch": batch} | facts | changes), identity)
        for batch in key.batches
    }
    hashes = {batch: each.sha256 for batch, each in batches.items()}
    return salted.model_copy(update={"batch_sha256": hashes}), batches


def hand_overs(
    events: Iterable[Event],
    batches: Mapping[str, Signed],
    identity: Identity = LAPTOP,
    without: Iterable[str] = (),
    *,
    apart: bool = False,
) -> list[Signed]:
    """Let a laptop hand in each device's events for each batch; ``without`` are devices that are not its own."""
    every = [event for event in events if event.device not in without]
    laptops = {e.device: laptop_of(e.device) if apart else identity for e in every}
    return [
        hand_over([e for e in every if e.device == device], each, laptops[device])
        for each in batches.values()
        for device in sorted(laptops)
    ]


def hand_over(events: list[Event], batch: Signed, identity: Identity = LAPTOP) -> Signed:
    manifest = BatchManifest.model_validate_json(batch.content)
    last = max(events, key=lambda event: event.order)
    said = RatingsManifest(
        batch=manifest.batch, batch_sha256=batch.sha256, review=manifest.review, device=last.device,
        events=len(events), head=last.id, chains=chains_of(events), contents=contents_of(events, manifest),
        laptop=Sender(signing_key=identity.public.signing_key, recipient="age1"),
        recipients=RECIPIENTS, members={},
    )  # fmt: skip
    return signed(said, identity)
