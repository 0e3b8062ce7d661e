"""What taking ratings in costs: each file of a review with many people, from the first to the last.

``python -m benchmarks.review_import [PEOPLE] [ITEMS]`` prints the median time of the first and of the last tenth of
the files, and how many events were read of the office's file for each. The times are of this machine; the goal is
that the last files cost no more than the first.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity, seal
from review.files.batch import Batch, make_batch
from review.files.identities import make_codes, new_salt, place_of, tag_of
from review.files.manifests import BatchItem, BatchManifest, Organisation
from review.files.ratings import sign_ratings
from review.log import table
from review.log.event import Event, make_event, read_event
from review.log.payloads import Consent, Rate
from review.office.intake.importing import import_bytes
from review.office.store.store import Office
from review.verdict.gate.key import AnswerKey
from review.verdict.gate.policy import proposed

WALL = "2026-01-01T00:00:00Z"
TENTH = 10


def manifest_of(organisation: Identity, persons: list[str], items: list[BatchItem]) -> BatchManifest:
    """Ask everybody about every item."""
    order = tuple(each.id for each in items)
    return BatchManifest(
        batch="be" * 8,
        review="import",
        title="Import",
        created=WALL,
        source_language="en",
        target_language="eo",
        organisation=Organisation(
            name="Benchmark",
            signing_key=organisation.public.signing_key,
            recipients=tuple(sorted((organisation.public.recipient, AgeIdentity.make().recipient))),
        ),
        policy_sha256="0" * 64,
        consent="Agreed.",
        guide="",
        language="en",
        secret=False,
        orders={place_of(person): order for person in persons},
        members={},
    )


def keep(office: Office, batch: Batch, persons: list[str], items: list[BatchItem]) -> None:
    """Let the office know the review of a batch."""
    orders = {person: batch.manifest.order(person) for person in persons}
    name = batch.manifest.batch
    key = AnswerKey(
        review="import", batches=(name,), batch_sha256={name: batch.sha256}, runs=(), items={},
        core=(), orders=orders, seed=1, panel="", salt="0" * 64,
    )  # fmt: skip
    office.create_review(key, proposed()[1], {name: batch.signed}, items)


def hand_over(batch: Batch, person: str, number: int) -> tuple[Identity, bytes]:
    """Agree, rate every item on a laptop of one's own, and give it with what it hands in."""
    place = {"wall": WALL, "reviewer": person, "batch": batch.manifest.batch}
    said: list[Consent | Rate] = [
        Consent.model_validate({**place, "consent_sha256": "0" * 64, "language": "en", "share_corrections": True})
    ]
    said += [
        Rate.model_validate({**place, "item": item, "position": at, "active_ms": 4000, "face": "lines",
                             "version": "0", "rating": "gist"})
        for at, item in enumerate(batch.manifest.order(person))
    ]  # fmt: skip
    events: list[Event] = []
    for payload in said:
        event = make_event(
            payload, device=f"{number:016x}", seq=len(events), lamport=len(events) + 1,
            prev=events[-1].id if events else "", salt=bytes(16),
        )  # fmt: skip
        events.append(event)
    laptop = Identity.make(Role.LAPTOP)
    return laptop, seal(sign_ratings(events, batch, laptop), batch.manifest.organisation.recipients)


def measure(folder: Path, people: int, count: int) -> tuple[list[float], list[int]]:
    """Take everybody's file in; gives the milliseconds of each, and how many events were read for it."""
    organisation, salt = Identity.make(Role.ORGANISATION), new_salt()
    persons = [tag_of(code, salt) for code in make_codes(people)]
    items = [BatchItem(id=f"{n:016x}", source=f"A dog ({n}).", candidate="Hundo.") for n in range(count)]
    batch = make_batch(manifest_of(organisation, persons, items), items, [], organisation, salt)
    waits, read, asked = [], [], 0
    real = read_event

    def counted(line: bytes) -> Event:
        nonlocal asked
        asked += 1
        return real(line)

    with Office.open(folder) as office:
        keep(office, batch, persons, items)
        for number, person in enumerate(persons):
            laptop, data = hand_over(batch, person, number)
            office.enrol(laptop.public.signing_key, f"laptop {number}")
            asked = 0
            vars(table)["read_event"] = counted
            begun = time.perf_counter()
            report = import_bytes(office, [organisation.age], data, "x")
            waits.append((time.perf_counter() - begun) * 1000)
            vars(table)["read_event"] = real
            read.append(asked)
            if report.added != count + 1:
                raise SystemExit(f"The file was not taken: {report}")
    return waits, read


def main() -> None:
    """Measure and print."""
    people, items = map(int, (sys.argv[1:3] + ["40", "200"][len(sys.argv) - 1 :])[:2])
    with tempfile.TemporaryDirectory() as name:
        waits, read = measure(Path(name), people, items)
    some = max(1, people // TENTH)
    for what, part in (("first", slice(0, some)), ("last", slice(-some, None))):
        print(
            f"{what} {some} of {people} files: {median(waits[part]):.0f} ms each, {median(read[part]):,.0f} events read"
        )
    print("goal: the last cost what the first did")


if __name__ == "__main__":
    main()
