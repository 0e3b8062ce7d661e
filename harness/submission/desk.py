"""The desk: submissions that came to this computer, each with its file and with what was done with it, in the data folder.

What is written down holds no text and no score. A note is on the disk before what it says of is begun, so that a kill
leaves a run that was begun, and never one that nobody knows of.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Final

import filelock
from pydantic import ValidationError

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import PRIVATE, append_line, private_folder, write_file
from harness.method.method_names import BUNDLE_SUFFIX, NUMBER_LETTERS
from harness.sealed.strict_records import FileError, FileProblem, Short, StrictRecord
from harness.submission import FOLDER, UNPACKED
from harness.submission.bundle import (
    Moment,
    Submission,
    SubmissionManifest,
    Words,
    bundle_bytes,
    naming,
    parse_submission,
    read_head,
    read_submission,
)

# ---- What a run of a submission that was killed leaves unpacked: its members, and the store of a
# rehearsal that is kept nowhere.

LOCK: Final = "run.lock"
"""Beside it: held by the process that runs it."""


def remove_leftovers(home: Path) -> None:
    """Remove what kills left unpacked in a data folder, sentences among it; a run that is under way keeps its own."""
    for left in (home / FOLDER).glob(f"*/{UNPACKED}"):
        with suppress(OSError):  # another program is at it, or the disk cannot be written
            if any(left.iterdir()):
                with filelock.FileLock(left.with_name(LOCK), timeout=0, mode=PRIVATE):
                    shutil.rmtree(left)


NOTES: Final = "notes.jsonl"
_WHOLE: Final = 64
_MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"


class SubmissionEvent(StrEnum):
    RECEIVED = "received"
    """It came; ``words`` are the SHA-256 of its file, and that of its manifest."""
    REHEARSED = "rehearsed"
    """Run over open entries, and its scores are those that were claimed; ``words``: the model that it could ask."""
    NOT_REPEATED = "not_repeated"
    """The same, and they are not."""
    BEGUN = "begun"
    """A run over secret entries was begun."""
    NOT_BEGUN = "not_begun"
    """It was refused before the method had a text: the note that it was begun before this one does not count."""
    NOT_RUN = "not_run"
    """It did not come to its end through no fault of the method; it may be tried again, which is free."""
    REFUSED = "refused"
    """The method gave nothing that could be scored; its maker was told so, which counts as an answer."""
    SCORED = "scored"
    """It has scores, which nobody outside knows."""
    TOLD = "told"
    """Its maker was told its scores, or where it stopped, as far as the budget allows."""


class EventRecord(StrictRecord):
    what: SubmissionEvent
    when: Moment
    run: Short = ""
    """Of the store, where there is one."""
    corpus: Short = ""
    words: Words = ""


_JUDGED: Final = (SubmissionEvent.SCORED, SubmissionEvent.REFUSED)


@dataclass(frozen=True)
class KeptSubmission:
    """A submission at the desk, by its signed manifest; the rest of its file is read when it is asked for."""

    folder: Path
    manifest: SubmissionManifest
    notes: tuple[EventRecord, ...]
    """The oldest first."""
    whole: Submission | None = field(default=None, repr=False)
    """The bundle, where it was read already."""

    @cached_property
    def submission(self) -> Submission:
        """The whole bundle, checked; raises FileError where its file is not the one that came."""
        if self.whole is not None:
            return self.whole
        submission = read_submission(self.path)
        if not submission.sha256.startswith(_sha256(self.folder, self.notes)):
            raise _changed(self.path)
        return submission

    @property
    def sha256(self) -> str:
        """Of the bundle's file, as it came."""
        noted = _sha256(self.folder, self.notes)
        return noted if len(noted) == _WHOLE else self.submission.sha256

    @property
    def number(self) -> str:
        """The beginning of the bundle's SHA-256, by which people name it."""
        return self.folder.name

    @property
    def path(self) -> Path:
        return bundle_of(self.folder)

    @property
    def _done(self) -> list[EventRecord]:
        """The notes without those that it was begun where the command was refused then."""
        done: list[EventRecord] = []
        for note in self.notes:
            if note.what is not SubmissionEvent.NOT_BEGUN:
                done.append(note)
            elif begun := [place for place, e in enumerate(done) if e.what is SubmissionEvent.BEGUN]:
                del done[begun[-1]]
        return done

    @property
    def state(self) -> EventRecord:
        """Where it stands: what its last run over secret entries gave, and else the latest note.

        What was scored or told stays so, whatever is rehearsed or not run later; only a run that is under way or was cut
        is said in its place.
        """
        done = self._done
        judged = [e for e in done if e.what in (*_JUDGED, SubmissionEvent.TOLD)]
        return done[-1] if not judged or done[-1].what is SubmissionEvent.BEGUN else judged[-1]

    @property
    def rehearsed(self) -> bool:
        """Return whether the last rehearsal gave the scores that were claimed."""
        return (last := self.last_rehearsal) is not None and last.what is SubmissionEvent.REHEARSED

    def rehearsed_with(self, model: str) -> bool:
        """Return whether the last rehearsal did so with this model; empty: with none."""
        last = self.last_rehearsal
        return last is not None and (last.what, last.words) == (SubmissionEvent.REHEARSED, model)

    @property
    def judged(self) -> EventRecord:
        """The note of the last run of which something can be told; raises UsageError where there is none."""
        event_record = self.last_judged
        if event_record is None:
            raise UsageError(f"Submission {self.number} has no run over secret entries that came to its end. Begin one: rosetta submission run {self.number} CORPUS --terms FILE.")  # fmt: skip
        return event_record

    @property
    def last_judged(self) -> EventRecord | None:
        """The same; None where there is no such run."""
        return self._last(_JUDGED)

    @property
    def last_rehearsal(self) -> EventRecord | None:
        """The note of the last rehearsal that came to its end; None where there was none."""
        return self._last((SubmissionEvent.REHEARSED, SubmissionEvent.NOT_REPEATED))

    def _last(self, acts: Collection[SubmissionEvent]) -> EventRecord | None:
        return next((note for note in reversed(self.notes) if note.what in acts), None)

    @property
    def runs(self) -> int:
        """Runs over secret entries that were begun; a command that was refused is none."""
        return sum(event_record.what is SubmissionEvent.BEGUN for event_record in self._done)

    @property
    def answers(self) -> int:
        """Answers that its maker had: scores and refusals."""
        return len({note.run for note in self.notes if note.what is SubmissionEvent.TOLD})


class SubmissionStore:
    def __init__(self, home: Path) -> None:
        self._home = home
        self.folder = home / FOLDER

    def receive(self, path: Path) -> KeptSubmission:
        """Read a bundle, keep its file, and return it; one that is here already is the same again. Raises FileError.

        Where the file at the desk was changed since, it is put back.
        """
        data = bundle_bytes(path)
        with naming(path, data):
            submission = parse_submission(data)
        if not path.name.endswith(BUNDLE_SUFFIX):
            words = f"{path.name}: a submission is called NAME{BUNDLE_SUFFIX}. Name it so."
            raise UsageError(words)
        folder = self.folder / submission.sha256[:NUMBER_LETTERS]
        if not _lines(folder / NOTES):
            private_folder(self.folder)
            private_folder(folder)
            # a name that any stick takes and anybody can type: the keepers' request is called by it
            stem = re.sub(r"[^\w.-]+", "-", path.name.removesuffix(BUNDLE_SUFFIX))[:50].strip("-._") or "submission"
            write_file(folder / f"{stem}{BUNDLE_SUFFIX}", data, overwrite=True)
            words = f"{submission.sha256} {_manifest_sha256(submission.manifest)}"
            self.note(submission, SubmissionEvent.RECEIVED, words=words)
        elif not submission.sha256.startswith(_sha256(folder, _notes(folder))):
            raise FileError(
                FileProblem.INVALID,
                f"{path.name}: another submission with the number {folder.name} is here already, which nobody meets by chance. Ask its maker for one that was packed again.",
            )
        else:
            there = b""
            with suppress(UsageError):
                there = bundle_bytes(bundle_of(folder))
            if there != data:
                write_file(bundle_of(folder), data, overwrite=True)
        return self._read(folder, submission)

    def note(
        self, submission: Submission, what: SubmissionEvent, run: str = "", corpus: str = "", words: str = ""
    ) -> None:
        """Write down what is done; on the disk before this returns. Raises FileError where the disk refuses."""
        folder = self.folder / submission.sha256[:NUMBER_LETTERS]
        now = datetime.now(UTC).strftime(_MOMENT)
        short = {"run": run[:200], "corpus": corpus[:200], "words": words[:2000]}
        made = EventRecord(what=what, when=now, **short)
        try:
            with filelock.FileLock(folder / "notes.lock", mode=PRIVATE):
                end = sum(len(line) + 1 for line in _lines(folder / NOTES))
                line = canonical_bytes(made.model_dump(mode="json"))
                append_line(folder / NOTES, end, line + b"\n")
        except OSError as error:
            raise FileError(
                FileProblem.INVALID,
                f"{folder / NOTES} cannot be written ({error.strerror}). Make room there, and try again.",
            ) from None

    def all(self) -> list[KeptSubmission]:
        return self.listed()[0]

    def listed(self) -> tuple[list[KeptSubmission], list[str]]:
        """Return the same, and of each submission that cannot be read what is wrong with it; of a bundle its manifest alone is read."""
        kept_submissions, wrong = list[KeptSubmission](), list[str]()
        for folder in self._folders():
            if (folder / NOTES).exists():
                try:
                    kept_submissions.append(self._read(folder))
                except UsageError as error:
                    wrong.append(str(error))
        return sorted(kept_submissions, key=lambda kept: kept.notes[-1].when, reverse=True), wrong

    def find(self, name: str) -> KeptSubmission:
        """Return the submission of a number, or of its beginning; raises UsageError where that is none, or several."""
        paths = [folder for folder in self._folders() if folder.name.startswith(name.lower()) and name]
        if len(paths) != 1:
            which = "no submission has" if not paths else f"{len(paths)} submissions have"
            there = "; nor is there a file of this name" if not paths else ""
            raise UsageError(f"{which} a number that begins with {name[:64]!r}{there}. See: rosetta submission show.")
        kept = self._read(paths[0])
        _ = kept.submission  # whole, and the one that came, or it is said now
        return kept

    def _folders(self) -> Iterator[Path]:
        if self.folder.is_dir():
            yield from (path for path in sorted(self.folder.iterdir()) if path.is_dir())

    def _read(self, folder: Path, whole: Submission | None = None) -> KeptSubmission:
        notes = _notes(folder)
        if whole is not None:
            return KeptSubmission(folder, whole.manifest, notes, whole)
        manifest = read_head(bundle_of(folder))
        if _came(notes)[1:] not in ([], [_manifest_sha256(manifest)]):
            raise _changed(bundle_of(folder))
        return KeptSubmission(folder, manifest, notes)


def _notes(folder: Path) -> tuple[EventRecord, ...]:
    """Return what was done with a submission, a note at least; raises FileError that names the line that is wrong."""
    notes: list[EventRecord] = []
    for number, line in enumerate(_lines(folder / NOTES), 1):
        try:
            notes.append(EventRecord.model_validate_json(line))
        except ValidationError:
            raise FileError(
                FileProblem.DAMAGED,
                f"{folder / NOTES}: line {number} is damaged. Put back a copy of the file; without one, delete the folder {folder.name} and take the submission in again (its answers are in the ledger).",
            ) from None
    if not notes:
        raise FileError(
            FileProblem.CUT_SHORT,
            f"{folder / NOTES} has no line. Take the submission in again from the file that you were sent.",
        )
    return tuple(notes)


def _came(notes: tuple[EventRecord, ...]) -> list[str]:
    """Return the hashes that were noted when a bundle came: of its file, and of its manifest."""
    return next((note.words.split() for note in notes if note.what is SubmissionEvent.RECEIVED), [])


def _sha256(folder: Path, notes: tuple[EventRecord, ...]) -> str:
    """Return the SHA-256 of the bundle that came, or its beginning where no note has it whole."""
    came = _came(notes)
    return came[0] if came and came[0].startswith(folder.name) else folder.name


def _manifest_sha256(manifest: SubmissionManifest) -> str:
    return hashlib.sha256(canonical_bytes(manifest.model_dump(mode="json"))).hexdigest()


def _changed(path: Path) -> FileError:
    return FileError(
        FileProblem.DAMAGED,
        f"{path} is not the submission that came: it was changed. Take it in again from the file that you were sent.",
    )


def bundle_of(folder: Path) -> Path:
    """Return the file of the bundle that a folder of the desk holds, which is called nearly as it came."""
    return next(folder.glob(f"*{BUNDLE_SUFFIX}"), folder / f"bundle{BUNDLE_SUFFIX}")


def _lines(path: Path) -> list[bytes]:
    """Return the whole lines of a file; what a write that was stopped left at the end does not count."""
    try:
        return path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
