"""One review as its organisation has it, its certificates, and the laptops and files that came for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from corpora.model.vocabularies import SECRET_SEGMENTS
from harness.core.failures import HarnessError
from harness.sealed.archive import read_manifest
from harness.sealed.keys import Signed
from harness.sealed.strict_records import FileError
from review.files.manifests import BatchItem, BatchManifest
from review.log.event import Event, reach
from review.log.payloads import OrganiserLook, Withdraw
from review.log.sealed_words import WordKeys
from review.verdict.gate.key import AnswerKey, differences


@dataclass(frozen=True, slots=True)
class KnownLaptop:
    signing_key: str  # Ed25519 public key, hexadecimal
    recipient: str | None  # age recipient; None where it is known by its ratings only
    name: str  # What the organisation calls it
    enrolled: str
    # Signing key of the laptop whose log this one continues with; None for its own log
    instead_of: str | None = None
    removed: str | None = None  # UTC, since when it is not heard; None where it is
    reason: str = ""  # Why it is not heard, in the organisation's words


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A file that was set aside because nobody has vouched for its laptop yet."""

    sha256: str
    signing_key: str
    received: str
    name: str  # Of the file
    content: bytes  # The file as it came, still sealed
    phrase: str  # Its six words, as the laptop showed them; they stand for the laptop's key too


@dataclass(frozen=True, slots=True)
class Import:
    sha256: str
    received: str
    name: str
    signing_key: str
    batch: str
    added: int  # Events that were new


@dataclass(frozen=True)
class Review:
    number: int  # The store's own number
    name: str
    created: str  # UTC, ISO 8601
    key: AnswerKey
    policy: bytes  # The gate's policy as it was read when the review was made
    manifests: Mapping[str, bytes]  # Batch → its manifest's bytes
    _read_texts: Callable[[], Mapping[str, BatchItem]]
    # Batch → the organisation's signature over its manifest; absent or empty where it was not kept
    signatures: Mapping[str, bytes] = field(default_factory=dict)
    # Person → code on the card; empty for reviews whose log names people by their codes
    codes: Mapping[str, str] = field(default_factory=dict)
    # Ids of its runs where they are from a vault, with which alone its texts are opened
    vault_runs: tuple[str, ...] = ()

    def code(self, person: str) -> str:
        return self.codes.get(person, person)

    def person(self, code: str) -> str | None:
        """Return who has a code, as the log names this person; None where the review has no such code."""
        return next((who for who in self.key.orders if self.code(who) == code), None)

    def batches_of(self, person: str) -> list[str]:
        """Return the batches in which a person is asked something."""
        return [
            batch
            for batch, manifest in self.manifests.items()
            if BatchManifest.model_validate_json(manifest).order(person)
        ]

    @property
    def policy_sha256(self) -> str:
        return sha256(self.policy).hexdigest()

    @property
    def signed(self) -> dict[str, Signed]:
        """Batch → its manifest with its signature."""
        return {batch: Signed(manifest, self.signatures.get(batch, b"")) for batch, manifest in self.manifests.items()}

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """Return what is not as the batches have it that went out: somebody changed it here since."""
        try:
            batch_manifests = {b: read_manifest(manifest, BatchManifest) for b, manifest in self.manifests.items()}
        except FileError as error:
            return (str(error),)
        return tuple(differences(self.key, self.policy_sha256, self.signed, batch_manifests, self.manifest.signer))

    def require_unchanged(self) -> None:
        """Raise HarnessError where ``changed``: what follows from it would be no verdict on what people were asked."""
        if self.changed:
            raise HarnessError(
                f"Review {self.name!r} is not what was handed out: {'; '.join(self.changed)}. Nothing is read from it. "
                "Put back a copy of the data folder from before that was changed."
            )

    @cached_property
    def texts(self) -> Mapping[str, BatchItem]:
        """Item → what reviewers see of it; of secret entries too, so never to be logged or printed."""
        return self._read_texts()

    @property
    def translating(self) -> bool:
        return self.manifest.task == "translate"

    @property
    def is_agreement(self) -> bool:
        """Return whether second speakers are asked about translations of a corpus in the making, so that it has no verdict."""
        return not (self.translating or self.is_second_look or self.key.runs)

    @property
    def is_second_look(self) -> bool:
        """Return whether it asks once more about what split the panel of another, so that it has no own verdict."""
        return self.manifest.second_of is not None

    @property
    def secret(self) -> bool:
        """True where its texts are not to be shown around, and its numbers leave in steps only: an entry is secret, or its batches were sealed."""
        return is_secret(self.key, self.manifest)

    @cached_property
    def manifest(self) -> BatchManifest:
        """The first batch's manifest; what it says of the review is the same in all."""
        return BatchManifest.model_validate_json(next(iter(self.manifests.values())))


def is_secret(key: AnswerKey, manifest: BatchManifest) -> bool:
    """Return whether a review asks about a secret entry, or its batches are sealed; ``manifest`` is any of its batches'."""
    return manifest.secret or any(run.segments.get(s) for run in key.runs for s in SECRET_SEGMENTS)


@dataclass(frozen=True, slots=True)
class IssuedCertificate:
    """A certificate that the organisation issued."""

    number: int  # In order of issue
    run_id: str
    certificate: bytes
    signature: bytes
    recompute: bool  # True where ratings that it rests on were withdrawn since

    @property
    def sha256(self) -> str:
        """Hash of its bytes, by which the next one names it."""
        return sha256(self.certificate).hexdigest()


# ---- Which events of the office's one log a review may read ----


@dataclass(frozen=True, slots=True)
class ReviewRead:
    """The events of a review as they were read, and the state of the file then."""

    review: Review
    words: WordKeys
    # Version of the file's data, and rows that this connection has changed
    changes: tuple[int, int]
    events: Sequence[Event]


def events_of(
    review: Review, events: Iterable[Event], connection: sqlite3.Connection, own_devices: Collection[str]
) -> list[Event]:
    """Return whole chains as far as they belong to a review, in the one order; of other reviews heads only.

    Looks of the organisation keep their content: a look at the run in another review counts, and verifiers must see that
    none is left out. ``events`` are all of the log, ``own_devices`` the organisation's.
    """
    batches = set(review.manifests)
    every = sorted(events, key=lambda event: event.order)
    last = _last(review, every, connection, own_devices)
    return [
        event
        if _belongs(event, batches, review)
        or (isinstance(event.payload, OrganiserLook) and event.device in own_devices)
        else event.erased()
        for event in every
        if event.seq <= last.get(event.device, -1)
    ]


def _last(
    review: Review, every: Sequence[Event], connection: sqlite3.Connection, own_devices: Collection[str]
) -> dict[str, int]:
    """Return device → place in its chain of the last event that concerns a review.

    What came with a file of another review, as taking back everything may, is signed for as far as that file goes.
    """
    batches, runs = set(review.manifests), {run.run_id for run in review.key.runs}
    ends: dict[str, int] = {}
    for event in every:
        ends[event.device] = max(event.seq, ends.get(event.device, 0))
    rows = connection.execute(
        "SELECT d.device, max(d.last_seq) FROM delivery d JOIN batch b ON b.batch = d.batch"
        " WHERE b.review = ? GROUP BY d.device",
        (review.number,),
    )
    last: dict[str, int] = dict(rows.fetchall())
    for event in every:
        beyond = event.seq > last.get(event.device, -1) and event.payload is not None
        own = event.device in own_devices
        # A look at one of its runs concerns it, whichever review it was made in
        looks = own and isinstance(event.payload, OrganiserLook) and event.payload.run_id in runs
        if beyond and (_belongs(event, batches, review) or looks):
            last[event.device] = event.seq if own else ends[event.device]
    return last


def _belongs(event: Event, batches: set[str], review: Review) -> bool:
    """Return whether a review may read an event's payload: it is of its batches, or withdraws everything."""
    if event.payload is None:
        return True
    if isinstance(event.payload, Withdraw) and reach(event.payload) is None:
        return event.payload.reviewer in review.key.orders
    return getattr(event.payload, "batch", None) in batches
