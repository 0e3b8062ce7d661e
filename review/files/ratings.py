"""The file of ratings: all events of a batch on a laptop, signed by it and sealed for the organisation.

It is cumulative, so any one of them is enough. The laptop also signs where each chain ends, and whose answers stand where.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.sealed.archive import MANIFEST, SignedArchive, pack_signed, unpack_signed
from harness.sealed.chain import tips_of
from harness.sealed.keys import Identity, Signed, key_phrase
from harness.sealed.phrase import phrase
from harness.sealed.sealing import AgeIdentity, Lock, checked_recipient, lock_of, seal, unseal
from harness.sealed.stick import RATINGS_SUFFIX, READABLE, write_file
from harness.sealed.strict_records import FileError, FileProblem
from review.files.batch import Batch
from review.files.manifests import (
    MOST_EVENTS,
    BatchManifest,
    Places,
    RatingsManifest,
    Sender,
    SignedChain,
    ratings_readme,
)
from review.log.event import Event, reach
from review.log.payloads import ANSWERS, ItemPayload, ReviewerPayload, Withdraw


def chains_of(events: Iterable[Event]) -> dict[str, SignedChain]:
    devices: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        devices[event.device].append(event)
    return {
        device: SignedChain(events=len(every), tips=tuple(tips_of(every))) for device, every in sorted(devices.items())
    }


def contents_of(events: Iterable[Event], manifest: BatchManifest) -> dict[str, dict[str, Places]]:
    """Return reviewer → device → the stretches of places that hold this person's answers to a batch.

    A stretch runs over heads of other kinds, such as comments, and ends before an answer of somebody else.
    """
    contents: dict[str, dict[str, list[tuple[int, int]]]] = {}
    last: dict[str, tuple[str, int] | None] = {}
    for event in sorted(events, key=lambda event: (event.device, event.seq, event.id)):
        if event.kind not in ANSWERS:
            continue
        who = answers(event, manifest)
        before = last.get(event.device)
        last[event.device] = None if who is None else (who, event.seq)
        if who is None:
            continue
        stretches = contents.setdefault(who, {}).setdefault(event.device, [])
        if before is not None and before[0] == who:
            stretches[-1] = (stretches[-1][0], event.seq)
        else:
            stretches.append((event.seq, event.seq))
    return {
        who: {device: tuple(stretches) for device, stretches in sorted(devices.items())}
        for who, devices in sorted(contents.items())
    }


def answers(event: Event, manifest: BatchManifest) -> str | None:
    """Return whose answer to a batch an event is; None for what the batch did not ask, or has no content."""
    payload = event.payload
    if not isinstance(payload, ReviewerPayload | Withdraw) or not manifest.order(payload.reviewer):
        return None
    batch = reach(payload) if isinstance(payload, Withdraw) else payload.batch
    if batch not in {manifest.batch} | ({None} if isinstance(payload, Withdraw) else set()):
        return None
    if isinstance(payload, ItemPayload) and payload.item not in manifest.order(payload.reviewer):
        return None
    return payload.reviewer


EVENTS: Final = "events.jsonl"
README: Final = "README.txt"

_MEMBERS = {EVENTS: 50 * 2**20, README: 2**16}
# Hexadecimal digits in a file's name that tell which event of which batch is its last
_MARK_DIGITS = 12
# Hexadecimal digits in a file's name that tell the people of one batch apart, and nothing else of
# them
_PERSON_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Written:
    """A file of ratings that is on the stick, read back and whole."""

    path: Path
    phrase: str  # Six words of its content, which the organisation's import says too
    events: int
    head: str  # Id of the last event in it


@dataclass(frozen=True)
class RatingsFile:
    """A file of ratings whose signature was checked; whether the laptop is known is not said here."""

    manifest: RatingsManifest
    signed: Signed  # The manifest's bytes and the laptop's signature over them
    # One event each, as it was written, for `review.log.event.read_event`
    lines: tuple[bytes, ...] = field(repr=False)

    def phrase(self, *, earlier: bool = False) -> str:
        """Return six words of its content, as the laptop showed them; ``earlier`` as the batch has ``earlier_words``."""
        return _phrase(self.signed.content, earlier=earlier)

    def laptop_phrase(self, *, earlier: bool = False) -> str:
        return key_phrase(self.manifest.laptop.signing_key, earlier=earlier)


def write_ratings(folder: Path, events: Sequence[Event], batch: Batch, identity: Identity, reviewer: str) -> Written:
    """Write ``TITLE-PERSON-MARK.rosetta-ratings`` into a folder, flushed and read back.

    A stick passes through many hands, so the reviewer's code is no part of the name: anyone who has it can
    speak as its person. Files of this reviewer from before are taken away where this one holds all that
    they held, which their marks tell. Raises StickError for a stick that is full, gone or locked, and FileError where there is
    nothing to write; then nothing has changed.
    """
    # Name a person by where the batch lists them: the same each time, and a riddle to who has
    # no batch.
    own, people = batch.manifest.place(reviewer), sorted(batch.manifest.orders)
    if own not in people:
        raise FileError(FileProblem.INVALID, "The code is none of this review's. Open it again.")
    place = f"{batch.manifest.batch} person {people.index(own)}"
    person = hashlib.sha256(place.encode()).hexdigest()[:_PERSON_DIGITS]
    # The title as a part of a file's name that every system takes: letters, digits, hyphens
    letters = unicodedata.normalize("NFC", batch.manifest.title)
    kept = "".join(letter if unicodedata.category(letter)[0] in "LNM" else "-" for letter in letters)
    stem = f"{re.sub('-+', '-', kept)[:40].strip('-') or 'review'}-{person}"
    archive = sign_ratings(events, batch, identity)
    opened = _checked(archive)
    head = opened.manifest.head
    path = folder / f"{stem}-{_mark(batch, head)}{RATINGS_SUFFIX}"
    write_file(path, seal(archive, batch.manifest.organisation.recipients), READABLE)
    _drop_older(folder, stem, path, {_mark(batch, event.id) for event in events})
    words = _phrase(opened.signed.content, earlier=batch.manifest.earlier_words)
    return Written(path, words, opened.manifest.events, head)


def sign_ratings(events: Iterable[Event], batch: Batch, identity: Identity) -> bytes:
    """Return the signed archive that is to be sealed; the same events give the same bytes."""
    ordered = sorted({event.id: event for event in events}.values(), key=lambda event: event.order)
    if not ordered:
        raise FileError(FileProblem.INVALID, "There are no answers to save yet.")
    public = identity.public
    manifest = RatingsManifest(
        batch=batch.manifest.batch,
        batch_sha256=batch.sha256,
        review=batch.manifest.review,
        device=ordered[-1].device,
        events=len(ordered),
        head=ordered[-1].id,
        chains=chains_of(ordered),
        contents=contents_of(ordered, batch.manifest),
        laptop=Sender(signing_key=public.signing_key, recipient=public.recipient),
        recipients=batch.manifest.organisation.recipients,
        members={},
    )
    content = b"".join(event.line() + b"\n" for event in ordered)
    return pack_signed(manifest, {EVENTS: content, README: ratings_readme(manifest)}, identity)


def open_ratings(data: bytes, identities: Iterable[AgeIdentity]) -> RatingsFile:
    """Open a file of ratings and check its signature, hashes and count; raises FileError in words."""
    identities = list(identities)
    if lock_of(data) is Lock.PASSPHRASE:
        raise FileError(FileProblem.NOT_OURS, "This is another kind of file: ratings are sealed for keys.")
    opened = _checked(unseal(data, identities))
    if not {identity.recipient for identity in identities}.intersection(opened.manifest.recipients):
        raise FileError(
            FileProblem.WRONG_KEY,
            "These ratings were meant for another organisation; somebody sealed them again for this one.",
        )
    lines = opened.members[EVENTS].split(b"\n")[:-1]
    return RatingsFile(opened.manifest, opened.signed, tuple(lines))


def _checked(archive: bytes) -> SignedArchive[RatingsManifest]:
    opened = unpack_signed(archive, RatingsManifest, _MEMBERS)
    content = opened.members[EVENTS]
    count = content.count(b"\n")
    if count != opened.manifest.events or not content.endswith(b"\n") or count > MOST_EVENTS:
        raise FileError(FileProblem.INVALID, f"{EVENTS}: not as many events as {MANIFEST} says. Ask for a new copy.")
    checked_recipient(opened.manifest.laptop.recipient)
    return opened


def _phrase(manifest_bytes: bytes, *, earlier: bool) -> str:
    return phrase(hashlib.sha256(manifest_bytes).hexdigest(), earlier=earlier)


def _mark(batch: Batch, event: str) -> str:
    """Return a few digits that identify the last event of a batch; other batches share a device's events."""
    return hashlib.sha256(f"{batch.manifest.batch} {event}".encode()).hexdigest()[:_MARK_DIGITS]


def _drop_older(folder: Path, stem: str, newest: Path, marks: set[str]) -> None:
    """Remove files whose last event the newest one holds too: its chain holds all before it."""
    files: list[Path] = []
    with contextlib.suppress(OSError):
        files = [
            path for path in folder.iterdir() if path.name.startswith(f"{stem}-") and path.suffix == RATINGS_SUFFIX
        ]
    for path in files:
        if path.name != newest.name and path.stem.removeprefix(f"{stem}-") in marks:
            with contextlib.suppress(OSError):
                path.unlink()
