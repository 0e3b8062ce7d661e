"""What people write about the secret sentences of a review: at a laptop, and at the office that takes their file in."""

from __future__ import annotations

from pathlib import Path

from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import seal
from review.files.batch import Batch
from review.files.manifests import BatchManifest
from review.files.ratings import sign_ratings
from review.log.laptop import Draft, Laptop
from review.log.merge import export_events
from review.log.payloads import Adjudicate, Comment, Suggest, Translate
from review.office.intake.importing import import_bytes
from review.office.store.store import Office
from tests.guards.canaries.brought import said
from tests.review.office.made import WALL, vouch_for

WRITTEN = {"comment", "wording", "translated", "draft", "noted"}


def speak(folder: Path) -> set[str]:
    """Comment, word better, translate, type and decide in the newest review; gives what can be read through the program.

    Laptop and office have one data folder.
    """
    organisation = Identity.load(folder, Role.ORGANISATION)
    with Office.open(folder) as office, Laptop.open(folder) as laptop:
        review = office.review("last")
        [(batch, manifest), *_] = review.manifests.items()
        head = BatchManifest.model_validate_json(manifest)
        person, order = next((who, head.order(who)) for who in review.key.orders if head.order(who))
        laptop.add_batch(manifest, b"", secret=True)
        about = {"wall": WALL, "reviewer": person, "batch": batch, "item": order[0]}
        judged = {"position": 0, "active_ms": 1, "face": "lines", "version": "0"}
        laptop.record(
            [Comment(**about, text=said("comment", 0)), Suggest(**about, text=said("wording", 0)),
             Translate(**about, **judged, text=said("translated", 0))],
            (batch, person),
            [Draft(order[1], "comment", said("draft", 0))],
        )  # fmt: skip
        events = export_events(laptop, batch)
        opened = Batch(head, manifest, (), (), b"")
        archive = sign_ratings(events, opened, Identity.load(folder, Role.LAPTOP))
        data = seal(archive, head.organisation.recipients)
        vouch_for(office, organisation, data)
        import_bytes(office, [organisation.age], data, "a file")
        decided = {"wall": WALL, "batch": batch, "item": order[0]}
        office.append(review, Adjudicate(**decided, harmful=None, note=said("noted", 0)))
        office.append(
            review, Adjudicate(**decided, harmful=True, note="", reason="It is published", by="us")
        )
        told = [str(each.payload) for each in (*office.events(review), *laptop.events())]
        told += [str(each.text) for each in laptop.drafts(batch, person)]
        return {what for what in WRITTEN if any(said(what, 0) in each for each in told)}
