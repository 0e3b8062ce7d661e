"""Real reviews for tests: sealed runs of the demo corpus in a real store, and laptops that rate them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from corpora.formats.load import load
from corpora.model.entry import Entry
from corpora.samples import DEMO_CORPUS, DEMO_STRONG, DEMO_WEAK, sample_path
from harness.card.checking.verify_card import seal
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from harness.sealed.sealing import seal as seal_for
from harness.sealed.strict_records import FileError
from harness.store.sqlite.database import open_store
from review.files.batch import Batch
from review.files.ratings import open_ratings, sign_ratings
from review.log.laptop import Laptop
from review.log.merge import export_events
from review.log.own_file import fingerprint
from review.log.payloads import Consent, Face, NotJudged, Rate, Scope, Withdraw
from review.office.intake.importing import import_bytes
from review.office.intake.speaking import FileReport
from review.office.making.batches import PreparedReview, ReviewDescription, make
from review.office.making.creating import ReviewDraft, Size, draft_review
from review.office.making.reviewed_runs import ReviewedRuns, read_runs
from review.office.making.texts import review_texts, texts_of
from review.office.store.arrivals import free_name
from review.office.store.database import FILE
from review.office.store.store import Office, Review
from review.rating import CannotJudge, Rating
from review.verdict.gate.policy import proposed
from tests.harness.card import factory

RUNS = ("6f1c3a52-8a4e-4c55-9a77-0c3a5b1d2e4f", "7f1c3a52-8a4e-4c55-9a77-0c3a5b1d2e4f")
WALL = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
"""An hour ago: reviews are made, and files taken in, by the clock of this machine."""


_kept: dict[str, TemporaryDirectory[str]] = {}
"""Folders that were made once in this process, by what is in them."""


def kept(name: str, fill: Callable[[Path], None]) -> Path:
    """Return a folder that is filled when it is first asked for, to be copied and not changed."""
    if name not in _kept:
        folder = TemporaryDirectory(prefix="rosetta-made-", ignore_cleanup_errors=True)
        fill(Path(folder.name))
        _kept[name] = folder
    return Path(_kept[name].name)


def copied(made: Path, folder: Path) -> Path:
    """Copy a folder that was made once. Its office stays itself, not one that was restored elsewhere."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    path = folder / FILE
    if path.exists():
        with closing(sqlite3.connect(path)) as office, office:
            office.execute("UPDATE own_device SET fingerprint = ?", (fingerprint(path),))
    return folder


@cache
def demo_entries() -> tuple[Entry, ...]:
    return tuple(load(sample_path(DEMO_CORPUS)).reveal_here())


@cache
def demo_outputs(weak: bool = False) -> Mapping[object, str | None]:
    lines = sample_path(DEMO_WEAK if weak else DEMO_STRONG).read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return {row["id"]: row.get("output") for row in rows if "id" in row}


def store_runs(
    home: Path, entries: Sequence[Entry] | None = None, outputs: Sequence[Sequence[str | None]] | None = None
) -> None:
    """Seal a run for each list of outputs; by default one of the demo's strong system."""
    chosen = demo_entries() if entries is None else entries
    given = [[demo_outputs()[entry.id] for entry in chosen]] if outputs is None else outputs

    def fill(folder: Path) -> None:
        with closing(open_store(folder / "rosetta.sqlite")) as connection:
            for run_id, texts in zip(RUNS, given, strict=False):
                seal(connection, factory.add_run(connection, chosen, texts, run_id=run_id))

    copied(kept(f"runs {hash((tuple(map(repr, chosen)), repr(given)))}", fill), home)


def reviewed(home: Path, names: Sequence[str] = RUNS[:1]) -> ReviewedRuns:
    with closing(open_store(home / "rosetta.sqlite")) as connection:
        return read_runs(connection, names)


def draft(runs: ReviewedRuns, seed: int = 7, **size: Any) -> ReviewDraft:
    policy, _ = proposed()
    return draft_review(runs, policy, Size(**size), seed, review_texts("en"))


def said(identity: Identity, name: str = "demo", *, secret: bool = False) -> ReviewDescription:
    return ReviewDescription(
        name=name, title="Sentences", organisation="The council", texts=texts_of("en", {}, {}),
        language="en", panel="Everyone who came.",
        recipients=(identity.public.recipient, AgeIdentity.make().recipient), secret=secret,
    )  # fmt: skip


def made(drafted: ReviewDraft, identity: Identity, name: str = "demo", *, one_each: bool = False) -> PreparedReview:
    _, policy = proposed()
    asked = said(identity, name, secret=drafted.secret)
    return make(drafted, asked, identity, policy, one_each=one_each)


@dataclass
class Desk:
    folder: Path
    office: Office
    identity: Identity
    review: Review
    batch: Batch

    @property
    def codes(self) -> list[str]:
        """People as the log names them; ``review.code`` gives what is on their cards."""
        return list(self.review.key.orders)

    def card(self, person: Person) -> str:
        return self.review.code(person.code)


_batches: dict[str, tuple[Identity, Batch]] = {}


def desk(folder: Path, entries: Sequence[Entry] = (), **size: Any) -> Desk:
    """Copy an organisation with a review of the demo run, or of other entries, made once for each size."""
    name = f"desk {len(entries)} {size}"

    def fill(folder: Path) -> None:
        store_runs(folder, entries or None)
        identity = Identity.make(Role.ORGANISATION)
        ready = made(draft(reviewed(folder), **size), identity)
        _batches[name] = identity, ready.batches[0]
        with Office.open(folder) as office:
            office.create_review(ready.key, proposed()[1], ready.manifests, ready.texts, ready.codes)

    office = Office.open(copied(kept(name, fill), folder))
    return Desk(folder, office, _batches[name][0], office.review("demo"), _batches[name][1])


def codes_of(home: Path, review: str = "last") -> dict[str, str]:
    with Office.open(home) as office:
        return dict(office.review(review).codes)


def take_vouched(
    office: Office, identity: Identity, data: bytes, name: str = "x", now: datetime | None = None
) -> FileReport:
    vouch_for(office, identity, data)
    return import_bytes(office, [identity.age], data, name, now=now)


def vouch_for(office: Office, identity: Identity, data: bytes) -> None:
    with suppress(FileError):
        key = open_ratings(data, [identity.age]).manifest.signer
        if key not in {each.signing_key for each in office.laptops()}:
            office.enrol(key, free_name(office))


class Person:
    """A reviewer at a laptop of their own; ``code`` is as the log names them."""

    def __init__(self, folder: Path, batch: Batch, code: str, card: str = "") -> None:
        self.card = card
        """The code on this person's card, where a test needs it."""
        self.laptop = Laptop.open(folder)
        self.identity = Identity.make(Role.LAPTOP)
        self.batch, self.code = batch, code
        manifest = batch.manifest
        self.order = manifest.order(code)
        self.place = {"wall": WALL, "reviewer": code, "batch": manifest.batch}
        self.laptop.append(Consent(**self.place, consent_sha256="0" * 64, language="en", share_corrections=True))

    def rate(self, ratings: Iterable[Rating], start: int = 0) -> None:
        """Rate items, saved at once: as one after the other, and cheaper."""
        places = enumerate(ratings, start)
        self.laptop.record([Rate(**self._about(n, Face.LINES), rating=each) for n, each in places])

    def leave_out(self, position: int) -> None:
        about = self._about(position, Face.DESKTOP)
        self.laptop.append(NotJudged(**about, why=CannotJudge.NOT_SHOWN))

    def _about(self, position: int, face: Face) -> dict[str, Any]:
        return {
            **self.place, "item": self.order[position], "position": position,
            "active_ms": 4000, "face": face, "version": "0",
        }  # fmt: skip

    def withdraw(self, scope: Scope = Scope.BATCH) -> None:
        batch = None if scope is Scope.EVERYTHING else self.batch.manifest.batch
        self.laptop.append(Withdraw(wall=WALL, reviewer=self.code, batch=batch, scope=scope))

    def handed_over(self) -> bytes:
        events = export_events(self.laptop, self.batch.manifest.batch)
        archive = sign_ratings(events, self.batch, self.identity)
        return seal_for(archive, self.batch.manifest.organisation.recipients)


def random_ratings(count: int, seed: int) -> list[Rating]:
    return Random(seed).choices(list(Rating), k=count)
