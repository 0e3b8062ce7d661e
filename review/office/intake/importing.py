"""Taking ratings back: any file, in any order, any number of times; each is taken whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path

from harness.core.failures import UsageError
from harness.sealed.carried_files import (
    FileSearch,
    FoundFile,
    ReviewFile,
    SkippedFiles,
    SkipReason,
    find_files,
    kind_of_name,
    read_carried,
)
from harness.sealed.keys import key_phrase
from harness.sealed.sealing import AgeIdentity, SealError, checked_recipient
from harness.sealed.stick import RATINGS_SUFFIX, StickError
from harness.sealed.strict_records import FileError, FileProblem
from review.files.manifests import BatchManifest
from review.files.ratings import RatingsFile, chains_of, contents_of, open_ratings
from review.log.event import Event, EventError, is_later, known_withdrawals, read_event
from review.log.merge import MOST_EVENTS, MergeReport, merge
from review.log.payloads import Kind, Withdraw
from review.log.table import NotSaved, devices_of, insert_event, read_device, read_person, saying
from review.office.intake.quarantine import drop_reached, holds_reached, set_aside
from review.office.intake.speaking import FileOutcome, FileReport, closed_devices, note_laptops, objection, speaking_of
from review.office.results.certifying import suspend_withdrawn
from review.office.store.arrivals import Arrival, mark_recompute, note_arrival
from review.office.store.database import note_unclean, rewrite
from review.office.store.review import KnownLaptop
from review.office.store.store import Office, Review

_TOO_MUCH_WAITS = (
    "its laptop is unknown, and more files of unknown laptops wait already than are kept. Enrol its laptop "
    "by its file (NAME.rosetta-laptop), or those that wait, then import it again."
)

_TAKEN_BACK = (
    "its laptop is unknown, and it holds what somebody took back, so it is not kept. If you vouch for the laptop, "
    "enrol it by its key (rosetta review enrol {key}), then import again: what was taken back is erased on arrival."
)

_NOT_SIGNED_FOR = (
    "what its laptop signed is not what it holds. Ask for a new copy; where that is refused too, install the "
    "newest version here and on the laptop."
)

_LATER = (
    "it holds answers that this version cannot read, so nothing of it is taken: {count} of its {events} events were "
    "written by a newer version. Install the newest version here, then import the file again."
)

_BATCH = (
    "this is the batch that you sent out. What came back is in a file whose name ends in "
    f"{RATINGS_SUFFIX}; the program writes it when the speaker presses x."
)

MOST_FILES = 10_000  # Files of one import; a folder may be a whole disk by mistake


def find_ratings(paths: Sequence[Path]) -> FileSearch:
    """Return the files that are named, and those of ratings in folders that are named and three levels below.

    A file that is reached twice, by a link or another name of its folder, is given once.
    FileError for more files than any review has.
    """
    files: dict[str, FoundFile] = {}
    skipped: list[SkippedFiles] = []
    for path in paths:
        search = FileSearch([FoundFile(path, 0, 0.0)], ())
        if path.is_dir():
            search = find_files([path], ReviewFile.RATINGS, seconds=None)
        for file in sorted(search.files, key=lambda file: (file.path, file.inside)):
            files.setdefault(os.path.realpath(file.path), file)
        skipped += search.skipped
    if len(files) > MOST_FILES or any(s.reason is SkipReason.NOT_LOOKED_AT for s in skipped):
        raise FileError(FileProblem.TOO_LARGE, "There are too many files in this folder. Name the right folder.")
    return FileSearch(list(files.values()), skipped)


def import_files(
    office: Office, identities: Sequence[AgeIdentity], files: Iterable[FoundFile], *, now: datetime | None = None
) -> Iterator[FileReport]:
    """Import files, one after the other; what is wrong with one is in its report and stops no other."""
    for file in files:
        name = file.path.name
        try:
            for payload in read_carried(file.path):
                if file.inside and ReviewFile.RATINGS not in payload.kinds:
                    continue  # in a zip of which a folder's search wants the ratings alone
                name = f"{file.path.name}: {payload.inside}" if payload.inside else file.path.name
                report = import_bytes(office, identities, payload.data, name, now=now)
                foreign = report.problem in {FileProblem.WRONG_KEY, FileProblem.NOT_OURS}
                if foreign and not file.is_named:  # only its first bytes made it a candidate
                    report = replace(report, outcome=FileOutcome.PASSED_OVER)
                yield report
        except StickError as error:
            yield FileReport(name, FileOutcome.REFUSED, str(error))
        except (NotSaved, FileError) as error:
            yield FileReport(name, FileOutcome.REFUSED, f"{name}: {error}")


def import_bytes(
    office: Office, identities: Sequence[AgeIdentity], data: bytes, name: str, *, now: datetime | None = None
) -> FileReport:
    """Import one file; when this returns, all of it is on the disk. NotSaved where it cannot be kept.

    Of what is here already only the chains of its devices are read, and what was said in the names of its people:
    the work does not grow with what others submitted.
    """
    try:
        ratings = open_ratings(data, identities)
    except FileError as error:
        why = _BATCH if kind_of_name(name) is ReviewFile.BATCH else str(error)
        return FileReport(name, FileOutcome.REFUSED, f"{name}: {why}", problem=error.problem)
    with saying(office.path):
        now = now or datetime.now(UTC)
        report = _received(office, _Came(name, data, ratings, now, identities))
        if not report.withdrawn:
            return report
        waiting = drop_reached(office, identities, known_withdrawals(office.connection))
        rewrite(office.connection)
        return replace(report, dropped=waiting.files, unopened=waiting.unopened)


@dataclass(frozen=True)
class _Came:
    """A file that opened."""

    name: str
    data: bytes  # As it came, sealed
    ratings: RatingsFile
    now: datetime
    identities: Sequence[AgeIdentity]  # What it was opened with, or could have been

    @cached_property
    def incoming(self) -> Sequence[Event | bytes]:
        """Its events; a line that is none stays a line, so that the merge reports it by its number."""
        incoming: list[Event | bytes] = []
        for line in self.ratings.lines:
            try:
                incoming.append(read_event(line))
            except EventError:
                incoming.append(line)
        return incoming

    @property
    def later(self) -> int:
        """Return how many of its events a newer version wrote, which this one cannot read."""
        return sum(isinstance(line, bytes) and is_later(line) for line in self.incoming)

    @cached_property
    def events(self) -> Sequence[Event]:
        """Those of its lines that are events."""
        return [line for line in self.incoming if isinstance(line, Event)]

    @property
    def signing_key(self) -> str:
        """Key of its laptop."""
        return self.ratings.manifest.signer

    def people(self, *, without: Collection[str] = ()) -> set[str]:
        payloads = (event.payload for event in self.events if event.device not in without)
        return {who for p in payloads if (who := getattr(p, "reviewer", None)) is not None}

    def phrase(self, review: Review) -> str:
        """Return its six words, as the laptop showed them for a batch of a review."""
        return self.ratings.phrase(earlier=review.manifest.earlier_words)

    def refused(self, why: str, review: Review | None = None, *, named: bool = False) -> FileReport:
        """Report that nothing is taken of it, and why; ``named`` says the review too."""
        return FileReport(
            self.name,
            FileOutcome.REFUSED,
            f"{self.name}: {why}",
            review=review.name if review and named else "",
            phrase=self.phrase(review) if review else self.ratings.phrase(),
        )

    def report(self, outcome: FileOutcome, review: Review) -> FileReport:
        return FileReport(
            self.name,
            outcome,
            review=review.name,
            phrase=self.phrase(review),
            signing_key=self.signing_key,
            laptop_phrase=self.ratings.laptop_phrase(earlier=review.manifest.earlier_words),
        )


def _received(office: Office, came: _Came) -> FileReport:
    """Refuse what is of no review here, set aside what nobody vouched for, and take the rest."""
    manifest = came.ratings.manifest
    review = office.review_of_batch(manifest.batch)
    if review is None or manifest.batch_sha256 != review.key.batch_sha256[manifest.batch]:
        return came.refused("these ratings belong to a review that was not made here.")
    if (laptop := _laptop(office, manifest.signer)) is None:
        if holds_reached(came.ratings, known_withdrawals(office.connection)):
            return came.refused(_TAKEN_BACK.format(key=manifest.signer), review)
        if not set_aside(office, manifest.signer, came.name, came.data, came.phrase(review)):
            return came.refused(_TOO_MUCH_WAITS, review)
        return came.report(FileOutcome.SET_ASIDE, review)
    later = _LATER.format(count=came.later, events=manifest.events) if came.later else ""
    if why := later if laptop.removed is None else _taken_out(laptop):
        return came.refused(why, review, named=True)
    return _taken(office, review, laptop, came)


def _laptop(office: Office, signing_key: str) -> KnownLaptop | None:
    return {laptop.signing_key: laptop for laptop in office.laptops()}.get(signing_key)


def _taken_out(laptop: KnownLaptop) -> str:
    reason = f" ({laptop.reason})" if laptop.reason else ""
    return (
        f"its laptop, {laptop.name}, was taken out on {(laptop.removed or '')[:10]}{reason}. If that was a mistake: "
        f"rosetta review enrol --remove --undo {key_phrase(laptop.signing_key)}, then import the file again."
    )


def _taken(office: Office, review: Review, laptop: KnownLaptop, came: _Came) -> FileReport:
    """Merge and keep, in one transaction; then erase what was taken back from every byte of the file."""
    closed = closed_devices(office, came.signing_key)
    if not _is_signed_for(came, closed, review):
        return came.refused(_NOT_SIGNED_FOR, review)
    words = office.ready_to_seal(review, came.identities)
    with office.transaction():
        # Store the key to seal for a laptop, if it is not known yet.
        if laptop.recipient is None:
            with suppress(SealError):  # it can still be heard, only not sealed for
                recipient = checked_recipient(came.ratings.manifest.laptop.recipient)
                office.enrol(laptop.signing_key, laptop.name, recipient)
        # Reviewers in a file of whom another laptop handed something in before.
        others = set(closed) - office.own_devices
        elsewhere = [
            who for who in came.people(without=closed) if not others.isdisjoint(devices_of(office.connection, who))
        ]
        merged = _merged(office, review, came, closed)
        for event in merged.to_keep:
            insert_event(office.connection, event, words)
        ends = _ends(came.events, closed)
        manifest = came.ratings.manifest
        digest = sha256(came.data).hexdigest()
        arrival = Arrival(digest, came.name, manifest.signer, manifest.batch, came.ratings.signed)
        note_arrival(office.connection, arrival, merged.added, ends)
        note_laptops(office, review)
        withdrawals = [e.payload for e in merged.added if isinstance(e.payload, Withdraw)]
        withdrawn = sorted({review.code(withdrawal.reviewer) for withdrawal in withdrawals})
        recompute = mark_recompute(office, withdrawals)
        if withdrawn:
            note_unclean(office.connection)
    rewrite(office.connection)
    if recompute:
        suspend_withdrawn(office)
    report = came.report(FileOutcome.TAKEN, review)
    # new events that came with a content and are kept without it
    had_content = {event.id for event in came.events if event.payload is not None}
    erased = sum(event.payload is None and event.id in had_content for event in merged.added)
    report = replace(
        report,
        withdrawn=withdrawn,
        recompute=recompute,
        unclean=office.unclean,
        erased=erased,
        elsewhere=tuple(sorted(map(review.code, elsewhere))),
    )
    report = _with_voices(report, office, review, came.people())
    return _with_findings(report, merged, ends)


def _merged(office: Office, review: Review, came: _Came, closed: Mapping[str, str]) -> MergeReport:
    """Compare a file with what is known of its devices, and with what its people took back."""
    log = office.connection
    known = [read_device(log, device) for device in sorted({event.device for event in came.events})]
    taken_back = [read_person(log, who, Kind.WITHDRAW) for who in sorted(came.people())]
    return merge(
        chain.from_iterable((*known, *taken_back)),
        came.incoming,
        now=came.now,
        since=datetime.fromisoformat(review.manifest.created),
        objection=objection(review, came.ratings.manifest.batch),
        closed=closed,
    )


def _with_voices(report: FileReport, office: Office, review: Review, people: Collection[str]) -> FileReport:
    """Add for whom the laptop speaks, and who of its people is heard from others too."""
    assignments = speaking_of(office, review, report.signing_key, people)
    codes = set(map(review.code, people))
    return replace(
        report,
        speaks_for=tuple(code for laptop in assignments.shared for code in laptop.people),
        several=tuple(laptops for laptops in assignments.several if laptops.code in codes),
        far_ahead=any(laptop.far_ahead for laptop in assignments.laptops),
    )


def _is_signed_for(came: _Came, closed: Collection[str], review: Review) -> bool:
    """Return whether what a laptop signed of its chains is what its file holds; version 1 signed only the last event."""
    ratings_manifest = came.ratings.manifest
    if ratings_manifest.version == 1:
        return True
    own = [event for event in came.events if _has_place(event) and event.device not in closed]
    devices = {event.device for event in own}
    manifest = BatchManifest.model_validate_json(review.manifests[ratings_manifest.batch])
    signed = {d: chain for d, chain in ratings_manifest.chains.items() if d not in closed}
    answers = {
        who: places
        for who, chains in ratings_manifest.contents.items()
        if (places := {device: chain for device, chain in chains.items() if device in devices})
    }
    return (signed, answers) == (chains_of(own), contents_of(own, manifest))


def _has_place(event: Event) -> bool:
    return max(event.seq, event.lamport) < MOST_EVENTS


def _with_findings(report: FileReport, merged: MergeReport, devices: Collection[str]) -> FileReport:
    chains = [chain for chain in merged.chains.chains if chain.device in devices]
    return replace(
        report,
        added=len(merged.added) - report.erased,
        already_here=merged.already_here,
        aside=merged.set_aside,
        damaged=merged.damaged,
        copied=any(chain.forked for chain in chains),
        gaps=sum(chain.missing + len(chain.broken) for chain in chains),
        clocks=merged.clocks,
    )


def _ends(events: Iterable[Event], closed: Collection[str]) -> dict[str, int]:
    """Return device → the last place of its chain that a file shows; only its own chains."""
    ends: dict[str, int] = {}
    for event in events:
        if event.device not in closed and _has_place(event):
            ends[event.device] = max(event.seq, ends.get(event.device, 0))
    return ends


def enrol_laptop(
    office: Office,
    signing_key: str,
    name: str,
    recipient: str | None,
    identities: Sequence[AgeIdentity],
    now: datetime | None = None,
    instead_of: str | None = None,
) -> list[FileReport]:
    """Accept the ratings of a laptop from now on, and those of it that were set aside.

    ``instead_of`` is the signing key of the laptop whose log it continues with. UsageError for a laptop that was
    taken out.
    """
    known = _laptop(office, signing_key)
    if known is not None and known.removed is not None:
        raise UsageError(f"This laptop is not accepted: {_taken_out(known)}")
    with office.transaction():
        office.enrol(signing_key, name, recipient, instead_of)
        for review in office.reviews():
            note_laptops(office, review)
    waiting = [file for file in office.quarantine() if file.signing_key == signing_key]
    return [import_bytes(office, identities, file.content, file.name, now=now) for file in waiting]
