"""What is on a computer that nobody else has yet: handing it in, one batch or all at once, and deleting everything.

No review has to be opened for that: the heads of the batches are open. A sealed file on the stick is read back.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from harness.core.failures import HarnessError, KeyStoreError
from harness.core.storage import StorageProblem
from harness.sealed.keys import SERVICE, Identity, Role, forget_entry, key_files, key_pointer
from review.files.batch import Batch
from review.files.manifests import BatchManifest
from review.files.ratings import write_ratings
from review.log.event import Event, reach
from review.log.fold import ReviewerState, fold
from review.log.laptop import FILE_NAME, Laptop
from review.log.merge import export_events
from review.log.own_file import FILE_NAME as PRESENCE
from review.log.payloads import Export, Skip, Withdraw
from review.log.table import NotSaved, saying
from review.session.words.catalogue import Words
from review.session.words.troubles import Trouble, trouble


@dataclass(frozen=True, slots=True)
class Exported:
    """A file of ratings that was written and read back."""

    path: Path
    phrase: str  # Six words that the organisation reads from its copy
    events: int


def hand_over(laptop: Laptop, batch: Batch, reviewer: str, folder: Path, wall: str) -> Exported:
    """Seal and write the ratings of a batch; raises StickError or FileError, with nothing changed.

    That it was written is noted afterwards: a note that cannot be kept takes nothing from the file.
    """

    identity = Identity.load(laptop.path.parent, Role.LAPTOP)
    every = export_events(laptop, batch.manifest.batch)
    events = [event.erased() if _skips_practice(event, batch.manifest) else event for event in every]
    written = write_ratings(folder, events, batch, identity, reviewer)
    note = Export(wall=wall, batch=batch.manifest.batch, events=written.events, head=written.head)
    with contextlib.suppress(NotSaved):
        laptop.append(note)
    return Exported(written.path, written.phrase, written.events)


def _skips_practice(event: Event, manifest: BatchManifest) -> bool:
    """Return whether an event leaves a practice item aside, which concerns nobody else."""
    payload = event.payload
    return isinstance(payload, Skip) and payload.item not in manifest.order(payload.reviewer)


@dataclass(frozen=True, slots=True)
class StoredReviews:
    """What a computer keeps of all its reviews."""

    batches: int = 0
    answers: int = 0  # Answers of all people, handed in or not
    waiting: int = 0  # Sentences about which something was said that was not handed in since
    drafts: int = 0  # Texts that somebody wrote and did not save: no file holds them
    # True where something was taken back of what an organisation has, and it was not told yet
    taken_back: bool = False
    # Batch of which something waits → one of its people, for the file's name
    reviewers: Mapping[str, str] = field(default_factory=dict)


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
    exported = []
    for batch, reviewer in kept(laptop).reviewers.items():
        # a kept batch as far as it is open: enough for whom ratings are sealed
        head = laptop.batch(batch).manifest
        bare = Batch(BatchManifest.model_validate_json(head), head, (), (), b"")
        exported.append(hand_over(laptop, bare, reviewer, folder, wall))
    return exported


def _last_export(events: Sequence[Event], batch: str) -> int:
    """Return the number of events before the last file of a batch was written, 0 where none was."""
    exports = [event.payload for event in events]
    places = (n for n, e in enumerate(exports) if isinstance(e, Export) and e.batch == batch)
    return max(places, default=0)


def _changed(events: Sequence[Event], batch: str) -> dict[str, int]:
    """Return the people of a batch → how many sentences stand otherwise than when it was submitted."""
    before = fold(events[: _last_export(events, batch)], [batch]).reviewers
    now = fold(events, [batch]).reviewers
    changed = {}
    for place, state in now.items():
        one, other = _said(state), _said(before.get(place, ReviewerState()))
        if count := sum(one.get(item) != other.get(item) for item in {*one, *other}):
            changed[place[1]] = count
    return changed


def _said(state: ReviewerState) -> dict[str, tuple[object, ...]]:
    """Return the sentences of one person → everything that now holds of each."""
    maps = (state.judgements, state.translations, state.reasons, state.comments, state.suggestions)
    items = set(state.harmful).union(*maps)
    return {item: (item in state.harmful, *(by_item.get(item) for by_item in maps)) for item in items}


def _untold(events: Sequence[Event], batch: str) -> str:
    """Return who took something back after the batch was submitted, and not since; empty for nobody."""
    if not (last := _last_export(events, batch)):
        return ""
    since = [event.payload for event in events[last:]]
    codes = (w.reviewer for w in since if isinstance(w, Withdraw) and reach(w) in {None, batch})
    return next(codes, "")


# ---- Deleting everything of a reviewer from a computer: answers, reviews, settings and the
# laptop's keys.
#
# Every file is overwritten before it is deleted. What a disk keeps of it in places that no
# program can reach (a flash disk moves what is written) is beyond this. An organisation's keys,
# runs and catalogues that lie in the same folder stay.

# The name that the answers' file takes first: whoever finds it finishes the deletion
BEGUN: Final = f"{FILE_NAME}.deleting"

_PIECE = 2**20  # Bytes that are overwritten at once
_JOURNALS = ("-journal", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class UndeletedItem:
    """Something that could not be deleted."""

    name: str  # Path, or the name of the entry in the operating system's keyring
    detail: str  # Why, in one technical line
    in_keyring: bool = False


def erase_everything(laptop: Laptop) -> tuple[UndeletedItem, ...]:
    """Delete everything of the reviewers on this computer, and give what could not be deleted.

    Raises NotSaved (``StorageProblem.BUSY``) where another program has the file open: then nothing was changed.
    Afterwards the laptop is closed; what remains, ``finish_erasing`` tries to delete once more.
    """
    folder = laptop.path.parent
    presence = laptop.close_alone()
    try:
        remains = [*_begin(folder), *_erase_rest(folder)]
        remains += [] if remains else _erased([folder / BEGUN])
    finally:
        presence.close()
    _leave(folder)
    return tuple(remains)


def finish_erasing(folder: Path) -> tuple[UndeletedItem, ...]:
    """Finish a deletion that was cut off or left something; call it before the laptop's file is opened.

    Where none was begun, nothing happens; answers that were given since are not touched. Raises NotSaved
    where the folder does not let itself be looked into.
    """
    with saying(folder / BEGUN):
        if not (folder / BEGUN).exists():
            return ()
        begun_anew = (folder / FILE_NAME).exists()
    remains = [] if begun_anew else _erase_rest(folder)
    remains += _erased([folder / BEGUN])
    _leave(folder)
    return tuple(remains)


def open_laptop(folder: Path) -> Laptop:
    """Open the laptop's file after finishing a deletion that was cut off; raises as ``Laptop.open`` does."""
    finish_erasing(folder)
    return Laptop.open(folder)


def why_not_erased(words: Words, error: HarnessError) -> Trouble:
    """Return why nothing was deleted."""
    if isinstance(error, NotSaved) and error.problem is StorageProblem.BUSY:
        message = words(
            "Nothing was deleted: the program is open in another window. Close that window, then try again."
        )
        return Trouble(message, error.detail)
    return trouble(words, error)


def _begin(folder: Path) -> list[UndeletedItem]:
    """Overwrite the answers under a name that nobody opens; it stays, empty, until all else is deleted."""
    file, begun = folder / FILE_NAME, folder / BEGUN
    try:
        file.replace(begun)
        _overwrite(begun)
    except FileNotFoundError:
        return [UndeletedItem(str(file), "moved to another place")]
    except OSError:
        renamed = os.path.exists(begun)  # noqa: PTH110  where one may not look, that of a Path fails
        return _erased([begun if renamed else file])
    return []


def _erase_rest(folder: Path) -> list[UndeletedItem]:
    """Delete keys and journals; the name of an entry that the keyring keeps is kept too, to try again."""
    journals = [folder / f"{FILE_NAME}{ending}" for ending in _JOURNALS]
    pointer = key_pointer(folder, Role.LAPTOP)
    files = [path for path in key_files(folder, Role.LAPTOP) if path != pointer]
    try:
        forget_entry(folder, Role.LAPTOP)
    except KeyStoreError as error:
        return [UndeletedItem(SERVICE, str(error), in_keyring=True), *_erased([*files, *journals])]
    return _erased([*files, pointer, *journals])


def _erased(paths: Iterable[Path]) -> list[UndeletedItem]:
    """Erase files, and give those that could not be deleted."""
    remains = []
    for path in paths:
        try:
            with contextlib.suppress(OSError):  # what may not be written may yet be deleted
                _overwrite(path)
            path.unlink(missing_ok=True)
        except OSError as error:
            remains.append(UndeletedItem(str(path), error.strerror or type(error).__name__))
    return remains


def _overwrite(path: Path) -> None:
    """Write zeros over a file, wait until the disk has them, and leave the file empty."""
    with path.open("r+b") as file:
        left = os.fstat(file.fileno()).st_size
        while left > 0:
            left -= file.write(bytes(min(left, _PIECE)))
        file.flush()
        os.fsync(file.fileno())
        file.truncate(0)
        os.fsync(file.fileno())


def _leave(folder: Path) -> None:
    """Remove the empty files and folders that hold nothing of others."""
    with contextlib.suppress(OSError):  # a program that was started meanwhile holds them, rightly
        for name in (PRESENCE, f"{PRESENCE}-journal"):
            (folder / name).unlink(missing_ok=True)
    for empty in (folder / "locks", folder):
        with contextlib.suppress(OSError):
            empty.rmdir()
