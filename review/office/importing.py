"""Taking ratings back: any file, in any order, any number of times; each is taken whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from harness.failures import UsageError
from review.files.batch_form import BatchManifest
from review.files.finding import BATCH_SUFFIX, RATINGS_SUFFIX
from review.files.keys import key_phrase
from review.files.problem import FileError, FileProblem
from review.files.ratings import RatingsFile, open_ratings
from review.files.ratings_contents import chains_of, contents_of
from review.files.ratings_form import Sender
from review.files.sealing import AgeIdentity, SealError, checked_recipient
from review.files.stick import StickError, read_file
from review.log.event import Event, EventError, read_event
from review.log.merge import MOST_EVENTS, MergeReport, merge
from review.log.payloads import Withdraw
from review.log.saving import NotSaved, saying
from review.log.table import insert_event, read_events
from review.log.withdrawal import known_withdrawals
from review.office.arrivals import Arrival, mark_recompute, note_arrival
from review.office.attaching import suspend_withdrawn
from review.office.database import note_unclean, rewrite
from review.office.file_report import FileReport, Outcome
from review.office.objections import closed_devices, objection
from review.office.quarantine import drop_reached, holds_reached, set_aside
from review.office.received import KnownLaptop
from review.office.speaking import note_laptops, speaking
from review.office.store import Office, Review

__all__ = ["FileReport", "Outcome", "enrol_laptop", "find_ratings", "import_bytes", "import_files"]

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

_BATCH = (
    "this is the batch that you sent out. What came back is in a file whose name ends in "
    f"{RATINGS_SUFFIX}; the program writes it when the speaker presses x."
)

MOST_FILES = 10_000
"""Files of one import; a folder may be a whole disk by mistake."""


def find_ratings(paths: Sequence[Path]) -> list[Path]:
    """Give the files that are named, and those of ratings in folders that are named and one below.

    A file that is reached twice, by a link or another name of its folder, is given once.
    UsageError for a path that is not there, and for more files than any review has.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = (*path.glob(f"*{RATINGS_SUFFIX}"), *path.glob(f"*/*{RATINGS_SUFFIX}"))
            found += sorted(each for each in inside if each.is_file())
        else:
            found.append(path)
    if len(found) > MOST_FILES:
        raise FileError(
            FileProblem.TOO_LARGE, f"{len(found):,} files are too many. Name the right folder."
        )
    return list({os.path.realpath(path): path for path in reversed(found)}.values())[::-1]


def import_files(
    office: Office,
    identities: Sequence[AgeIdentity],
    paths: Iterable[Path],
    *,
    now: datetime | None = None,
) -> Iterator[FileReport]:
    """Take files in, one after the other; what is wrong with one is in its report and stops no other."""
    for path in paths:
        try:
            data = read_file(path)
            yield import_bytes(office, identities, data, path.name, now=now)
        except NotSaved as error:
            yield FileReport(path.name, Outcome.REFUSED, f"{path.name}: {error}")
        except StickError as error:
            yield FileReport(path.name, Outcome.REFUSED, str(error))


def import_bytes(
    office: Office,
    identities: Sequence[AgeIdentity],
    data: bytes,
    name: str,
    *,
    now: datetime | None = None,
) -> FileReport:
    """Take one file in; when this returns, all of it is on the disk. NotSaved where it cannot be kept."""
    try:
        ratings = open_ratings(data, identities)
    except FileError as error:
        why = _BATCH if name.lower().endswith(BATCH_SUFFIX) else str(error)
        return FileReport(name, Outcome.REFUSED, f"{name}: {why}")
    with saying(office.path):
        now = now or datetime.now(UTC)
        report = _received(office, ratings, data, name, now)
        if not report.withdrawn:
            return report
        waiting = drop_reached(office, identities, known_withdrawals(office.connection))
        rewrite(office.connection)
        return replace(report, dropped=waiting.files, unopened=waiting.unopened)


def _received(
    office: Office, ratings: RatingsFile, data: bytes, name: str, now: datetime
) -> FileReport:
    """Refuse what is of no review here, set aside what nobody vouched for, and take the rest."""
    said = ratings.manifest
    review = office.review_of_batch(said.batch)
    if review is None or said.batch_sha256 != review.key.batch_sha256[said.batch]:
        why = f"{name}: these ratings belong to a review that was not made here."
        return FileReport(name, Outcome.REFUSED, why, phrase=ratings.phrase)
    laptop = _laptop(office, ratings.manifest.signer)
    if laptop is None:
        if holds_reached(ratings, known_withdrawals(office.connection)):
            why = _TAKEN_BACK.format(key=ratings.manifest.signer)
            return FileReport(name, Outcome.REFUSED, f"{name}: {why}")
        if not set_aside(office, ratings.manifest.signer, name, data, ratings.phrase):
            return FileReport(name, Outcome.REFUSED, f"{name}: {_TOO_MUCH_WAITS}")
        return _report(name, Outcome.SET_ASIDE, review, ratings)
    if laptop.removed is not None:
        why = f"{name}: {_taken_out(laptop)}"
        return FileReport(name, Outcome.REFUSED, why, review=review.name, phrase=ratings.phrase)
    return _taken(office, review, laptop, ratings, data, name, now)


def _laptop(office: Office, signing_key: str) -> KnownLaptop | None:
    return {laptop.signing_key: laptop for laptop in office.laptops()}.get(signing_key)


def _taken_out(laptop: KnownLaptop) -> str:
    reason = f" ({laptop.reason})" if laptop.reason else ""
    return (
        f"its laptop, {laptop.name}, was taken out on {(laptop.removed or '')[:10]}{reason}. If that was a mistake: "
        f"rosetta review enrol --remove --undo {key_phrase(laptop.signing_key)}, then import the file again."
    )


def _learn_recipient(office: Office, laptop: KnownLaptop, sender: Sender) -> None:
    """Keep the key to seal for a laptop, where it is not known yet."""
    if laptop.recipient is None:
        with suppress(SealError):  # it can still be heard, only not sealed for
            office.enrol(laptop.signing_key, laptop.name, checked_recipient(sender.recipient))


def _report(name: str, outcome: Outcome, review: Review, ratings: RatingsFile) -> FileReport:
    return FileReport(
        name,
        outcome,
        review=review.name,
        phrase=ratings.phrase,
        signing_key=ratings.manifest.signer,
        laptop_phrase=ratings.laptop_phrase,
    )


def _taken(
    office: Office,
    review: Review,
    laptop: KnownLaptop,
    ratings: RatingsFile,
    data: bytes,
    name: str,
    now: datetime,
) -> FileReport:
    """Merge and keep, in one transaction; then erase what was taken back from every byte of the file."""
    batch = ratings.manifest.batch
    incoming = [_event_or_line(line) for line in ratings.lines]
    closed = closed_devices(office, ratings.manifest.signer)
    if not _is_signed_for(ratings, incoming, closed, review):
        return FileReport(
            name, Outcome.REFUSED, f"{name}: {_NOT_SIGNED_FOR}", phrase=ratings.phrase
        )
    with office.transaction():
        _learn_recipient(office, laptop, ratings.manifest.laptop)
        elsewhere = _elsewhere(office, incoming, closed)
        merged = merge(
            read_events(office.connection),
            incoming,
            now=now,
            since=datetime.fromisoformat(review.manifest.created),
            objection=objection(review, batch),
            closed=closed,
        )
        for event in merged.to_keep:
            insert_event(office.connection, event)
        arrival = Arrival(
            sha256(data).hexdigest(), name, ratings.manifest.signer, batch, ratings.signed
        )
        ends = _ends(incoming, closed)
        note_arrival(office.connection, arrival, merged.added, ends)
        note_laptops(office, review)
        withdrawals = [each.payload for each in merged.added if isinstance(each.payload, Withdraw)]
        withdrawn = sorted({review.code(each.reviewer) for each in withdrawals})
        recompute = mark_recompute(office, withdrawals)
        if withdrawn:
            note_unclean(office.connection)
    rewrite(office.connection)
    if recompute:
        suspend_withdrawn(office)
    report = _report(name, Outcome.TAKEN, review, ratings)
    report = replace(report, withdrawn=withdrawn, recompute=recompute, unclean=office.unclean)
    report = replace(report, erased=_erased_on_arrival(incoming, merged))
    report = _with_voices(report, office, review, incoming, elsewhere)
    return _with_findings(report, merged, ends)


def _with_voices(
    report: FileReport,
    office: Office,
    review: Review,
    incoming: Iterable[Event | bytes],
    elsewhere: Iterable[str],
) -> FileReport:
    """Add for whom the laptop speaks, and who of its people is heard from others too."""
    found = speaking(office, review)
    said = (getattr(each.payload, "reviewer", "") for each in incoming if isinstance(each, Event))
    people = {review.code(person) for person in said}
    mine = [each for each in found.laptops if each.signing_key == report.signing_key]
    return replace(
        report,
        elsewhere=tuple(sorted(map(review.code, elsewhere))),
        speaks_for=tuple(code for each in mine if len(each.people) > 1 for code in each.people),
        several=tuple(each for each in found.several if each.code in people),
        far_ahead=any(each.far_ahead for each in mine),
    )


def _erased_on_arrival(incoming: Iterable[Event | bytes], merged: MergeReport) -> int:
    """Count the new events that came with a content and are kept without it."""
    came = {each.id for each in incoming if isinstance(each, Event) and each.payload is not None}
    return sum(event.payload is None and event.id in came for event in merged.added)


def _is_signed_for(
    ratings: RatingsFile, incoming: Iterable[Event | bytes], closed: Collection[str], review: Review
) -> bool:
    """Tell whether what a laptop signed of its chains is what its file holds; version 1 signed only the last event."""
    said = ratings.manifest
    if said.version == 1:
        return True
    own = [e for e in incoming if isinstance(e, Event) and _has_place(e) and e.device not in closed]
    devices = {event.device for event in own}
    manifest = BatchManifest.model_validate_json(review.manifests[said.batch])
    signed = {device: chain for device, chain in said.chains.items() if device not in closed}
    answers = {
        who: places
        for who, chains in said.contents.items()
        if (places := {device: each for device, each in chains.items() if device in devices})
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


def _event_or_line(line: bytes) -> Event | bytes:
    """Read a line; what is no event stays a line, so that the merge reports it by its number."""
    try:
        return read_event(line)
    except EventError:
        return line


def _ends(incoming: Iterable[Event | bytes], closed: Collection[str]) -> dict[str, int]:
    """Give device → the last place of its chain that a file tells of; only chains that are its own."""
    ends: dict[str, int] = {}
    for event in incoming:
        if isinstance(event, Event) and event.device not in closed and _has_place(event):
            ends[event.device] = max(event.seq, ends.get(event.device, 0))
    return ends


def _elsewhere(
    office: Office, incoming: Iterable[Event | bytes], closed: Collection[str]
) -> tuple[str, ...]:
    """Give the reviewers in a file of whom another laptop handed something over before."""
    said = {
        getattr(event.payload, "reviewer", None)
        for event in incoming
        if isinstance(event, Event) and event.device not in closed
    }
    rows = office.connection.execute(
        "SELECT DISTINCT reviewer, device FROM event WHERE reviewer IS NOT NULL"
    ).fetchall()
    others = set(closed) - office.own_devices
    return tuple(sorted({who for who, device in rows if device in others and who in said}))


def enrol_laptop(
    office: Office,
    signing_key: str,
    name: str,
    recipient: str | None,
    identities: Sequence[AgeIdentity],
    now: datetime | None = None,
    instead_of: str | None = None,
) -> list[FileReport]:
    """Take the ratings of a laptop from now on, and those of it that were set aside.

    ``instead_of`` is the signing key of the laptop whose log it goes on with. UsageError for a laptop that was
    taken out.
    """
    known = _laptop(office, signing_key)
    if known is not None and known.removed is not None:
        raise UsageError(f"This laptop is not accepted: {_taken_out(known)}")
    with office.transaction():
        office.enrol(signing_key, name, recipient, instead_of)
        for review in office.reviews():
            note_laptops(office, review)
    return [
        import_bytes(office, identities, waiting.content, waiting.name, now=now)
        for waiting in office.quarantine()
        if waiting.signing_key == signing_key
    ]
