"""A small signed batch, a laptop and clocks that tests can turn."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from review.files.batch import Batch, make_batch, write_batch
from review.files.identities import make_codes, place_of, tag_of
from review.files.manifests import BatchItem, BatchManifest, Organisation, Task, TrainingItem
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import Rating
from review.session.session import Session
from review.session.view import ShownItem, View
from review.session.words import build
from review.session.words.catalogue import DOMAIN, Words

CODE, OTHER_CODE, STRANGER = make_codes(3, random.Random(11).randrange)
ORGANISATION = Identity.make(Role.ORGANISATION)
CUSTODIANS = (AgeIdentity.make(), AgeIdentity.make())
CONSENT = "You may stop at any time."
GUIDE = "Read it aloud first."


tag = cache(tag_of)
"""The tag of a code, worked out once."""


def item_id(number: int) -> str:
    return f"{number:016x}"


def items_of(count: int) -> list[BatchItem]:
    return [BatchItem(id=item_id(n), source=f"Source {n}.", candidate=f"Candidate {n}.") for n in range(1, count + 1)]


def training_of(answers: Sequence[Rating]) -> list[TrainingItem]:
    return [
        TrainingItem(
            id=item_id(0xE000 + n),
            source=f"Lesson {n}.",
            candidate=f"Answer {n}.",
            rating=answer,
            explanation=f"Because of {n}.",
        )
        for n, answer in enumerate(answers, 1)
    ]


def sentences_of(count: int) -> list[BatchItem]:
    return [item.model_copy(update={"candidate": ""}) for item in items_of(count)]


def batch_of(
    items: Sequence[BatchItem] = tuple(items_of(4)),
    training: Sequence[TrainingItem] = (),
    *,
    batch: str = "ba" * 8,
    language: str = "en",
    secret: bool = False,
    title: str = "Spring sentences",
    consent: str = CONSENT,
    task: Task = "rate",
    letters: Sequence[str] = (),
    salt: bytes = b"",
    policy_sha256: str = "0" * 64,
    **added: Any,
) -> Batch:
    """Make a batch for two people; without a salt one of version 1, which lists their codes.

    ``added`` are fields that a later version has, for one with a salt.
    """
    ids = tuple(item.id for item in items)
    places = [place_of(tag(each, salt)) if salt else each for each in (CODE, OTHER_CODE)]
    organisation = Organisation(
        name="Language Council",
        signing_key=ORGANISATION.public.signing_key,
        recipients=tuple(sorted(each.recipient for each in CUSTODIANS)),
    )
    manifest = BatchManifest(
        **added,
        format="rosetta-batch/3" if added else "rosetta-batch/2" if salt else "rosetta-batch/1",
        batch=batch, review="spring", title=title, created="2026-03-01T00:00:00Z",
        source_language="en", target_language="eo", organisation=organisation,
        policy_sha256=policy_sha256, consent=consent, guide=GUIDE, language=language, task=task,
        letters=tuple(letters), secret=secret, members={},
        orders=dict(zip(places, (ids, tuple(reversed(ids))), strict=True)),
    )  # fmt: skip
    return make_batch(manifest, items, training, ORGANISATION, salt)


def write_file(batch: Batch, folder: Path, name: str | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name or batch.manifest.title}.rosetta-batch"
    path.write_bytes(write_batch(batch))
    return path


def asked_sharing(laptop: Laptop, person: str = CODE) -> None:
    """Let a person have said already that better translations may not be used."""
    laptop.set_setting("asked sharing", person)


def item_of(view: View) -> ShownItem:
    assert view.item is not None, view.phase
    return view.item


@dataclass
class Clock:
    """Monotonic seconds that pass only when a test says so."""

    seconds: float = 1000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Sitting:
    """A session on a laptop in a folder; ``see`` paints what is shown and lets a second pass."""

    folder: Path
    batch: Batch = field(default_factory=batch_of)
    code: str = CODE
    words: Words = field(default_factory=lambda: Words.load("en"))
    clock: Clock = field(default_factory=Clock)
    agreed: bool = True

    def __post_init__(self) -> None:
        self.laptop = Laptop.open(self.folder, busy_seconds=0.05)
        self.begin()
        if self.agreed:
            self.session.agree(share_corrections=False)

    def begin(self) -> None:
        self.session = Session(
            self.laptop,
            self.batch,
            self.code,
            Face.LINES,
            self.words,
            clock=self.clock,
            now=lambda: datetime(2026, 3, 2, tzinfo=UTC) + timedelta(seconds=self.clock()),
        )

    def restart(self) -> None:
        """Close and open everything, as after a power cut: only what is on the disk is left."""
        self.laptop.close()
        self.laptop = Laptop.open(self.folder, busy_seconds=0.05)
        self.begin()

    def see(self, seconds: float = 1.0) -> str:
        item = item_of(self.session.view)
        self.session.painted(item.id)
        self.clock.seconds += seconds
        return item.id

    def rate(self, rating: Rating = Rating.GIST, seconds: float = 1.0) -> View:
        return self.session.rate(self.see(seconds), rating)


def catalogue(folder: Path, tag: str, po: str) -> Path:
    """Compile a catalogue as a community would: any code, only some of the words."""
    path = folder / tag / "LC_MESSAGES" / f"{DOMAIN}.mo"
    path.parent.mkdir(parents=True)
    source = path.with_suffix(".po")
    source.write_text(f'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n{po}')
    path.write_bytes(build.compiled(build.read(source)))
    return path


def entry(msgid: str, msgstr: str) -> str:
    return f'msgid "{msgid}"\nmsgstr "{msgstr}"\n\n'


collected = cache(build.collect)
"""All words of the code, read once."""
