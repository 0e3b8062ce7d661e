"""Handing over: everything about one batch in one sealed file on the stick, written and read back."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from review.files.batch import Batch
from review.files.ratings import write_ratings
from review.log.laptop import Laptop
from review.log.merge import export_events
from review.log.payloads import Export
from review.log.saving import NotSaved
from review.sealed.keys import Identity, Role


@dataclass(frozen=True, slots=True)
class Exported:
    """A file of ratings that was written and read back."""

    path: Path
    phrase: str
    """Six words that the organisation reads from its copy."""
    events: int


def hand_over(laptop: Laptop, batch: Batch, reviewer: str, folder: Path, wall: str) -> Exported:
    """Seal and write the ratings of a batch; raises StickError or FileError, with nothing changed.

    That it was written is noted afterwards: a note that cannot be kept takes nothing from the file.
    """

    identity = Identity.load(laptop.path.parent, Role.LAPTOP)
    events = export_events(laptop, batch.manifest.batch)
    written = write_ratings(folder, events, batch, identity, reviewer)
    note = Export(wall=wall, batch=batch.manifest.batch, events=written.events, head=written.head)
    with contextlib.suppress(NotSaved):
        laptop.append(note)
    return Exported(written.path, written.phrase, written.events)
