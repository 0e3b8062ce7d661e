"""What became of a method after its gate: where it is used, by whom, since when, and when that ended (specification §1.1).

Speakers say whether outputs are good; whether a method helps, only its use tells. Each record is signed by the organisation
that certified the method; one that ends a use names the record of its beginning, and both stay.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from harness.card.load import load_card
from harness.consent.given import newest_day
from harness.consent.notice import Words, one_line
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.keys import Identity, key_phrase
from harness.sealed.signed_archive import SignedRecord, read_signed_record, signed_record
from harness.sealed.strict_records import FileError, FileProblem, Hex64, Short, StrictRecord
from harness.store.runs import find_run
from harness.store.signed_records import (
    KeptRecord,
    RecordKind,
    keep_signed,
    signed_file,
    signed_files,
)
from harness.vault.log import moment
from harness.vault.records import Moment
from review.records.agreeing import gate_of, organisation_keys, shown_certificate

SUFFIX: Final = ".rosetta-use"
MOST_BYTES: Final = 16 * 1024

Day = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]


class UseRecord(StrictRecord):
    """One use of a method, begun or ended."""

    format: Literal["rosetta-use/1"] = "rosetta-use/1"
    salt: Hex64
    run_id: Short
    card: Hex64
    """The ``run_card_hash`` of the card that was certified."""
    certificate: Hex64
    """SHA-256 of the certificate of the passed gate that stood when it was recorded; over secret entries of the coarse one."""
    where: Words
    """What it is used for, or where: “the school's dictionary”."""
    by_whom: Words
    since: Day
    ended: Day | Literal[""] = ""
    """When it was withdrawn from use; empty where it is in use."""
    reason: Annotated[str, Field(max_length=200)] = ""
    """Why it ended."""
    begun: Hex64 | Literal[""] = ""
    """Id of the record of its beginning; empty for that itself."""
    organisation: Words
    when: Moment
    by: Hex64
    """Signing key of the organisation."""

    @cached_property
    def id(self) -> str:
        """SHA-256 over what was signed, hexadecimal."""
        return sha256(
            canonical_bytes(self.model_dump(mode="json", exclude={"signature"}))
        ).hexdigest()

    @property
    def words(self) -> str:
        """Return it in one line."""
        until = f" until {self.ended}: {self.reason}" if self.ended else ""
        return f"{self.where}, by {self.by_whom}, since {self.since}{until}"


class SignedUse(UseRecord, SignedRecord):
    """The record with its signature."""

    def data(self) -> bytes:
        """Return the bytes of the file."""
        return canonical_bytes(self.model_dump(mode="json")) + b"\n"


def read_use(data: bytes) -> SignedUse:
    """Read a record of use and check it; raises FileError in words."""
    signed_record = read_signed_record(
        data, SignedUse, "the record of a use", most=MOST_BYTES, end=b"\n"
    )
    days = [
        day_of(stated_day)
        for stated_day in (signed_record.since, signed_record.ended)
        if stated_day
    ]
    if days != sorted(days) or bool(signed_record.ended) is not bool(signed_record.begun):
        raise FileError(
            FileProblem.INVALID,
            "The record contradicts itself: it ends before it begins, or what never began.",
        )
    return signed_record


def day_of(text: str) -> date:
    """Return a day of the calendar; FileError where there is no such day."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise FileError(
            FileProblem.INVALID, f"{text} is no day of the calendar. Write it as 2026-11-23."
        ) from None


def record_use(
    connection: sqlite3.Connection, name: str, home: Path, *, where: str, by_whom: str, since: str
) -> SignedUse:
    """Sign and keep that a method with a passed gate is used; ``name``: its run. Raises UsageError where it has none.

    What is recorded already in the same words is given again, to be written into a file.
    """
    run = find_run(connection, name)
    card = load_card(connection, run.id).as_json()
    review = gate_of(connection, run, card)
    if review is None or not review.passed:
        raise UsageError(
            f"Run {run.run_id[:8]} has no passed gate that stands, so there is no use after it. Speakers decide first: "
            "rosetta review gate"
        )
    identity = organisation_keys(home)
    if review.certificate.organisation.signing_key != identity.public.signing_key:
        raise UsageError(
            "Another organisation certified this run: the one that certified it records its use."
        )
    fields = {
        "where": one_line(where, "Where it is used"),
        "by_whom": one_line(by_whom, "By whom it is used"),
        "since": _past_day(since),
    }
    known = (signed_use for signed_use in uses(connection) if not signed_use.begun)
    about = fields | {"run_id": run.run_id, "by": identity.public.signing_key}
    if (
        same := next((signed_use for signed_use in known if _says(signed_use, about)), None)
    ) is not None:
        return same
    made = UseRecord(
        salt=secrets.token_hex(32),
        run_id=run.run_id,
        card=card["run_card_hash"],
        certificate=shown_certificate(review, home),
        **fields,
        organisation=review.certificate.organisation.name,
        when=moment(datetime.now(UTC)),
        by=identity.public.signing_key,
    )
    return _kept(connection, made, identity)


def end_use(
    connection: sqlite3.Connection, number: str, home: Path, *, ended: str, reason: str
) -> SignedUse:
    """Sign and keep that a use ended; ``number``: the record's id, or its beginning. Said again, the record that is kept is given."""
    begun = find_use(connection, number)
    identity = organisation_keys(home)
    if begun.by != identity.public.signing_key:
        raise UsageError(
            "Another organisation recorded this use: the one that recorded it ends it."
        )
    day, why = _past_day(ended), one_line(reason, "The reason")
    if (known := end_known(begun, uses(connection))) is not None:
        if _says(known, {"ended": day, "reason": why}):
            return known
        raise UsageError(f"This use ended already ({known.words}).")
    if day < begun.since:
        raise UsageError(
            f"It has been in use since {begun.since}, so it cannot have ended on {ended}."
        )
    plain = UseRecord.model_validate(begun.model_dump(exclude={"signature"}))
    changed = {
        "salt": secrets.token_hex(32),
        "ended": day,
        "reason": why,
        "begun": begun.id,
        "when": moment(datetime.now(UTC)),
    }
    return _kept(connection, UseRecord.model_validate(plain.model_dump() | changed), identity)


def take_use(
    connection: sqlite3.Connection, data: bytes, home: Path, trusted: str | None
) -> SignedUse:
    """Store a record of use that came from elsewhere.

    Raises UsageError where its key is neither this computer's nor ``trusted``, and for an end whose beginning is not here, or
    was another's.
    """
    signed_use = read_use(data)
    if signed_use.by != (
        organisation_keys(home).public.signing_key if trusted is None else trusted
    ):
        raise UsageError(
            f"The key that signed this record is not trusted here. Its six words are: {key_phrase(signed_use.by)}. Compare them with "
            f"the organisation by another way than the file came, and name the key: --trust {signed_use.by}"
        )
    if signed_use.begun:
        _check_end(signed_use, uses(connection))
    keep_signed(connection, _row(signed_use), signed_use.data())
    return signed_use


def end_known(begun: SignedUse, kept: Sequence[SignedUse]) -> SignedUse | None:
    """Return the record by which a use ended, among those that are kept, by the same key; None where none is known."""
    return next(
        (
            signed_use
            for signed_use in kept
            if (signed_use.begun, signed_use.by) == (begun.id, begun.by)
        ),
        None,
    )


def _check_end(end: SignedUse, kept: Sequence[SignedUse]) -> None:
    begun = next(
        (signed_use for signed_use in kept if signed_use.id == end.begun and not signed_use.begun),
        None,
    )
    if begun is None:
        raise UsageError(
            "The record of the beginning of this use is not here, so nothing shows that its end is by the same organisation. "
            "Take that in first."
        )
    same = ("by", "run_id", "card", "certificate", "where", "by_whom", "since")
    if wrong := [name for name in same if getattr(begun, name) != getattr(end, name)]:
        raise UsageError(
            f"This ends another use than the record of its beginning ({begun.words}): {', '.join(wrong)} "
            f"{'is' if len(wrong) == 1 else 'are'} not the same. It was not imported."
        )
    known = end_known(begun, kept)
    if known is not None and known.id != end.id:
        raise UsageError(
            f"This use has another end here already ({known.words}), and a use ends once. Ask the organisation which of the two "
            "holds. This one was not imported."
        )


def uses(connection: sqlite3.Connection) -> list[SignedUse]:
    """Return all records of use that are kept here."""
    return [read_use(data) for _, data in signed_files(connection, RecordKind.USE)]


def find_use(connection: sqlite3.Connection, number: str) -> SignedUse:
    """Return the record of a beginning by its id, or the start of it; UsageError where none, or several, are."""
    signed_uses = [
        signed_use
        for signed_use in uses(connection)
        if signed_use.id.startswith(number) and not signed_use.begun
    ]
    if len(signed_uses) != 1 or not number:
        raise UsageError(
            f"{'No use has' if not signed_uses else 'Several uses have'} a number that begins with {number!r}. "
            "`rosetta organisation uses` lists them."
        )
    return signed_uses[0]


def _past_day(text: str) -> str:
    """Return a day that has begun as it is in a record; UsageError where it is still to come."""
    day = day_of(text)
    if day > newest_day():
        raise UsageError(f"{day} is still to come. Record it when it has happened.")
    return day.isoformat()


def _says(record: SignedUse, fields: Mapping[str, str]) -> bool:
    return all(getattr(record, name) == value for name, value in fields.items())


def _kept(connection: sqlite3.Connection, record: UseRecord, identity: Identity) -> SignedUse:
    made = SignedUse.model_validate_json(signed_record(record, identity))
    if signed_file(connection, made.id) is None:
        keep_signed(connection, _row(made), made.data())
    return made


def _row(found: SignedUse) -> KeptRecord:
    fields = {
        "where": found.where,
        "by_whom": found.by_whom,
        "since": found.since,
        "ended": found.ended,
        "begun": found.begun,
        "keys": [found.by],
    }
    return KeptRecord(found.id, RecordKind.USE, found.run_id, found.card, fields)
