"""A small review for the tests of travelling files; everything in it is the same in every process."""

import hashlib
import random

from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from review.files.batch import Batch, make_batch
from review.files.identities import make_codes, place_of, tag_of
from review.files.manifests import BatchItem, BatchManifest, Organisation, TrainingItem
from review.log.event import Event, make_event
from review.log.payloads import Comment, Face, Rate
from review.rating import Rating

ORGANISATION = Identity(
    Role.ORGANISATION,
    bytes(range(32)),
    AgeIdentity("AGE-SECRET-KEY-1V6HTLVDFWM279CQJCA3GQ5ZZSV2H4S324MQNVKGSKD90YAMGG3ZS6SN450"),
)
LAPTOP = Identity(
    Role.LAPTOP,
    bytes(range(32, 64)),
    AgeIdentity("AGE-SECRET-KEY-1SP8CRP2MHM0CYL48QRKXYUJ70K9VE3EUQEKSQ7TKLDHTXMCAVA8SLWG824"),
)
RECOVERY = AgeIdentity("AGE-SECRET-KEY-1746VFQAZU0VMTV4MW7GPAMA0RZ0AXCXD57AS26VKKJWHLEJ73SLSG5F3DS")
REVIEWERS = make_codes(2, random.Random(4).randrange)
"""Codes of the two reviewers of the small review."""
SALT = bytes(range(32))
PEOPLE = [tag_of(code, SALT) for code in REVIEWERS]
"""The two reviewers, as events name them."""
WALL = "2026-01-02T03:04:05Z"
SOURCES = ("I saw his dog.", "\u1401\u14c2\u1424 e\u0302 \x1b[31m", "a\u202eb\tc")
"""The second and third are texts as they may come: two normal forms, controls, another direction."""


def identifier(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def items() -> list[BatchItem]:
    return [
        BatchItem(id=identifier(f"item {n}"), source=source, candidate=f"Traduko {n}.")
        for n, source in enumerate(SOURCES)
    ]


def training() -> list[TrainingItem]:
    return [
        TrainingItem(
            id=identifier("training"), source="The house.", candidate="La domo.",
            rating=Rating.EXCELLENT, explanation="Nothing is wrong with it.",
        )
    ]  # fmt: skip


def manifest(**changes: object) -> BatchManifest:
    order = tuple(item.id for item in items())
    first = changes.get("format") == "rosetta-batch/1"
    places = REVIEWERS if first else [place_of(tag) for tag in PEOPLE]
    organisation = Organisation(
        name="The council",
        signing_key=ORGANISATION.public.signing_key,
        recipients=(ORGANISATION.public.recipient, RECOVERY.recipient),
    )
    facts: dict[str, object] = {
        "batch": identifier("batch"), "review": "spring", "title": "Spring: \u14c2\u1401\u1424 / 2",
        "created": WALL, "source_language": "en", "target_language": "eo", "organisation": organisation,
        "policy_sha256": hashlib.sha256(b"policy").hexdigest(), "consent": "We ask you.", "guide": "",
        "language": "en", "secret": False, "members": {},
        "orders": dict(zip(places, (order, order[::-1]), strict=True)),
    }  # fmt: skip
    return BatchManifest.model_validate(facts | changes)


def batch(**changes: object) -> Batch:
    return make_batch(manifest(**changes), items(), training(), ORGANISATION, SALT)


def events(count: int, batch_id: str = identifier("batch"), device: str = "0" * 16) -> list[Event]:
    made: list[Event] = []
    for seq in range(count):
        item = identifier(f"item {seq % 3}")
        where = {"wall": WALL, "reviewer": PEOPLE[0], "batch": batch_id, "item": item}
        judged = {"position": 0, "active_ms": 1, "face": Face.LINES, "version": "0"}
        said = Comment(**where, text=f"Word {seq}") if seq % 2 else Rate(**where, **judged, rating=Rating.GIST)
        made.append(
            make_event(
                said, device=device, seq=seq, lamport=seq + 1, prev=made[-1].id if made else "",
                salt=hashlib.sha256(f"salt {seq}".encode()).digest()[:16],
            )
        )  # fmt: skip
    return made
