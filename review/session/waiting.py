"""What is on a computer that nobody else has yet, and handing over: one batch, or all of it at once.

Everything about one batch goes into one sealed file on the stick, written and read back. Anyone who deletes everything
must know what would be lost. No review has to be opened for that: the heads of the batches are open, and their texts
are not needed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from harness.sealed.keys import Identity, Role
from review.files.batch import Batch
from review.files.manifests import BatchManifest
from review.files.ratings import write_ratings
from review.log.event import Event
from review.log.fold import ReviewerState, fold
from review.log.laptop import Laptop
from review.log.merge import export_events
from review.log.payloads import Export, Withdraw
from review.log.table import NotSaved
from review.log.withdrawal import reach


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


@dataclass(frozen=True, slots=True)
class StoredReviews:
    """What a computer keeps of all its reviews."""

    batches: int = 0
    answers: int = 0
    """Answers of all people, handed over or not."""
    waiting: int = 0
    """Sentences about which something was said that was not handed over since."""
    drafts: int = 0
    """Texts that somebody wrote and did not save: no file holds them."""
    taken_back: bool = False
    """True where something was taken back of what an organisation has, and it was not told yet."""
    reviewers: Mapping[str, str] = field(default_factory=dict)
    """Batch of which something waits → one of its people, for the file's name."""


def kept(laptop: Laptop) -> StoredReviews:
    """Count what is stored on this computer; raises NotSaved where its file cannot be read."""
    events = list(laptop.events())
    batches = [stored.id for stored in laptop.batches()]
    waiting = {batch: _changed(events, batch) for batch in batches}
    untold = {batch: code for batch in batches if (code := _untold(events, batch))}
    people = {batch: next(iter(changed)) for batch, changed in waiting.items() if changed}
    return StoredReviews(
        batches=len(batches),
        answers=sum(len(state.decided) for state in fold(events).reviewers.values()),
        drafts=laptop.count_drafts(),
        waiting=sum(sum(changed.values()) for changed in waiting.values()),
        taken_back=bool(untold),
        reviewers=untold | people,
    )


def hand_over_all(laptop: Laptop, folder: Path) -> list[Exported]:
    """Write one sealed file for each review of which something waits, and read each back.

    Raises StickError, FileError or KeyStoreError; what was written before that stays written, and is noted.
    """
    wall = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        hand_over(laptop, _without_texts(laptop, batch), reviewer, folder, wall)
        for batch, reviewer in kept(laptop).reviewers.items()
    ]


def _without_texts(laptop: Laptop, batch: str) -> Batch:
    """Return a kept batch as far as it is open: enough for whom ratings are sealed."""
    head = laptop.batch(batch).manifest
    return Batch(BatchManifest.model_validate_json(head), head, (), (), b"")


def _last_export(events: Sequence[Event], batch: str) -> int:
    """Return the number of events before the last file of a batch was written, 0 where none was."""
    places = (
        place
        for place, event in enumerate(events)
        if isinstance(event.payload, Export) and event.payload.batch == batch
    )
    return max(places, default=0)


def _changed(events: Sequence[Event], batch: str) -> dict[str, int]:
    """Return the people of a batch → how many sentences stand otherwise than when it was submitted."""
    before = fold(events[: _last_export(events, batch)], [batch]).reviewers
    now = fold(events, [batch]).reviewers
    changed = {
        place[1]: _differences(_said(now[place]), _said(before.get(place, ReviewerState())))
        for place in now
    }
    return {code: count for code, count in changed.items() if count}


def _said(state: ReviewerState) -> dict[str, tuple[object, ...]]:
    """Return the sentences of one person → everything that now holds of each."""
    maps = (
        state.judgements,
        state.translations,
        state.reasons,
        state.comments,
        state.suggestions,
    )
    items = set(state.harmful).union(*maps)
    return {
        item: (item in state.harmful, *(by_item.get(item) for by_item in maps)) for item in items
    }


def _differences(one: Mapping[str, object], other: Mapping[str, object]) -> int:
    return sum(one.get(item) != other.get(item) for item in {*one, *other})


def _untold(events: Sequence[Event], batch: str) -> str:
    """Return who took something back after the batch was submitted, and not since; empty for nobody."""
    last = _last_export(events, batch)
    if not last:
        return ""
    since = [event.payload for event in events[last:]]
    codes = (
        withdrawal.reviewer
        for withdrawal in since
        if isinstance(withdrawal, Withdraw) and reach(withdrawal) in {None, batch}
    )
    return next(codes, "")
