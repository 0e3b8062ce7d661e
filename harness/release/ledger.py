"""The ledger: what was told to whom, in signed lines that name each other, in a file of the organisation's own.

It is in the data folder beside the store and not in it: anyone who deletes a run takes nothing out of it. A line is on the
disk before what it tells is given away. Each released file names its line, so that a ledger that was begun again, or cut
short, is seen by anyone who compares two files of the same organisation.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

import filelock

from harness.consent.withdrawals_in_force import standing
from harness.core.canonical import canonical_bytes
from harness.core.written_files import PRIVATE, append_line, private_folder
from harness.release.budget import MOMENT, History, NotReleased, history
from harness.release.records import (
    Act,
    Begun,
    ClockCorrected,
    InLedger,
    LedgerRecord,
    SignedLedgerRecord,
)
from harness.sealed.chain import chained_lines
from harness.sealed.keys import Identity, Role
from harness.sealed.signed_archive import signed_record
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.data_key import DataKey

FOLDER: Final = "releases"
LEDGER: Final = "ledger.jsonl"
LOCK: Final = "ledger.lock"
BUSY_SECONDS: Final = 20
MOST_LINE: Final = 2**25
"""Bytes; a line may name each entry of a corpus."""
STEP: Final = timedelta(minutes=5)
"""A clock that is set back by less was set right."""


@dataclass(frozen=True)
class ReleaseLedger:
    """The ledger of a data folder, as anyone who keeps it opens it."""

    folder: Path
    identity: Identity
    """Keys of this computer's keeper: they sign, and entries are known again by them."""
    clock: Callable[[], datetime]
    clock_was_wrong: bool = False
    """The custodian says that the clock of earlier lines was: a line notes it, and no pause is counted by what is in the future then."""

    @property
    def path(self) -> Path:
        """Its file."""
        return self.folder / LEDGER

    def digest(self, source: str) -> str:
        """Return what an entry is known by in the ledger; without the keys it confirms no guess."""
        return DataKey(self.identity.seed).digest(source).hex()

    def read(self) -> History:
        """Return what was told so far; raises FileError in words where the ledger is damaged or another's."""
        return _history(self._lines())

    def head(self) -> tuple[str, int, str]:
        """Return its number, how many lines it has, and the hash of the last one; the ledger must have been begun."""
        lines = self._lines()
        return _id(lines[0]), len(lines), _id(lines[-1])

    def goes_on_from(self, number: str, lines: int, head: str) -> bool:
        """Return whether it is the ledger that stood at this length and line once."""
        signed_ledger_records = self._lines()
        return (
            0 < lines <= len(signed_ledger_records)
            and _id(signed_ledger_records[0]) == number
            and _id(signed_ledger_records[lines - 1]) == head
        )

    @contextmanager
    def changing(self) -> Iterator[LedgerChange]:
        """Keep other programs from answering meanwhile; begins the ledger where there is none."""
        try:
            private_folder(self.folder)
            with filelock.FileLock(self.folder / LOCK, timeout=BUSY_SECONDS, mode=PRIVATE):
                lines = self._lines()
                now, wrong = self._moment(lines)
                change = LedgerChange(self, lines, _history(lines), now)
                if not lines:
                    change.write(Begun(salt=secrets.token_hex(32)))
                if wrong:
                    change.write(ClockCorrected())
                yield change
        except filelock.Timeout:
            raise FileError(
                FileProblem.LOCKED,
                f"Another program is using the ledger in {self.folder}. Try again when it is done.",
            ) from None
        except OSError as error:
            raise FileError(
                FileProblem.INVALID,
                f"The ledger in {self.folder} cannot be written ({error.strerror}), so nothing is told. Make room there, and try again.",
            ) from None

    def _moment(self, lines: list[SignedLedgerRecord]) -> tuple[datetime, bool]:
        """Return the time of the next line, and whether it is earlier than the last one's and a custodian says why; else FileError."""
        now = self.clock().astimezone(UTC).replace(microsecond=0)
        last = datetime.strptime(lines[-1].when, MOMENT).replace(tzinfo=UTC) if lines else now
        if now >= last - STEP:
            return max(now, last), False
        if not self.clock_was_wrong:
            raise FileError(
                FileProblem.INVALID,
                f"The clock of this computer shows {now.strftime(MOMENT)}, but something was told at {lines[-1].when}, which is "
                "later. Set the clock right: pauses are counted by it. If it was wrong then and is right now, say so with --clock-was-wrong; the ledger notes it.",
            )
        return now, True

    def _lines(self) -> list[SignedLedgerRecord]:
        """Read and check every line; what a write that was stopped left at the end does not count."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise FileError(
                FileProblem.INVALID,
                f"{self.path} cannot be read ({error.strerror}). Make it readable.",
            ) from None
        return checked_lines(content, str(self.path), self.identity.public.signing_key)


def checked_lines(content: bytes, where: str, mine: str = "") -> list[SignedLedgerRecord]:
    """Return the lines of a ledger by its bytes; FileError names the line that is wrong.

    ``mine``: key that must have signed; empty: that of the first line. What a write that was stopped left at the end does
    not count. Whether the newest lines are missing, only the computer knows that wrote them.
    """
    lines: list[SignedLedgerRecord] = []
    contents = content.split(b"\n")[:-1]
    for line, _ in chained_lines(
        contents, SignedLedgerRecord, "a line of a ledger", partial(_wrong, where), most=MOST_LINE
    ):
        _check(line, lines, where, mine)
        lines.append(line)
    return lines


def _check(
    found: SignedLedgerRecord, before: list[SignedLedgerRecord], where: str, mine: str
) -> None:
    """Check that a line is of the keys that are wanted, and belongs behind the ones before it."""
    place = len(before)
    key = mine or (before[0].by if before else found.by)
    if found.by != key and mine:
        raise FileError(
            FileProblem.WRONG_KEY,
            f"{where} was begun with other keys than this computer's keeper has now. Put back those keys (keeper.key, "
            "or the entry of the keyring): without them nobody knows which entries were told of.",
        )
    if not found.is_signed_by(key):
        raise _wrong(where, place, "it was changed after it was signed")
    if (place == 0) is not isinstance(found.act, Begun):
        raise _wrong(where, place, "only the first line says that the ledger was begun")
    if before and found.when < before[-1].when and not isinstance(found.act, ClockCorrected):
        raise _wrong(where, place, "its time is earlier than that of the line before it")


def _wrong(where: str, place: int, reason: str) -> FileError:
    return FileError(
        FileProblem.DAMAGED,
        f"{where}: line {place + 1}: {reason}. Nothing is told without a whole ledger: put back a copy of the newest one.",
    )


def own_ledger(home: Path, *, clock_was_wrong: bool = False) -> ReleaseLedger:
    """Return the ledger of a data folder, as the keeper of this computer has it; makes folder and keys where there are none."""
    identity = Identity.load(private_folder(home), Role.KEEPER)
    return ReleaseLedger(home / FOLDER, identity, lambda: datetime.now(UTC), clock_was_wrong)


@dataclass
class LedgerChange:
    """The ledger while it is kept from others."""

    ledger: ReleaseLedger
    lines: list[SignedLedgerRecord]
    history: History
    now: datetime

    @property
    def issued(self) -> str:
        """The day of the next line, as released files state it."""
        return self.now.date().isoformat()

    @property
    def place(self) -> InLedger:
        """Where the next line will stand."""
        first, last = _id(self.lines[0]), _id(self.lines[-1])
        return InLedger(ledger=first, line=len(self.lines), prev=last)

    def write(self, act: Act) -> None:
        """Write one more line, on the disk before this returns.

        Raises NotReleased where the key that signs was withdrawn: nobody would believe it.
        """
        key = self.ledger.identity.public.signing_key
        if (notice := standing(self.ledger.folder.parent).of_key(key)) is not None:
            raise NotReleased(
                f"Consent was withdrawn for {notice.said}: this computer's keeper signs with it, so nobody believes what is told. "
                "Tell scores from a computer whose keeper has other keys; where it was a mistake, `rosetta consent lift` takes it back."
            )
        record = LedgerRecord(
            seq=len(self.lines),
            prev=_id(self.lines[-1]) if self.lines else "",
            when=self.now.strftime(MOMENT),
            by=key,
            act=act,
        )
        content = signed_record(record, self.ledger.identity)
        if len(content) >= MOST_LINE:
            raise FileError(
                FileProblem.TOO_LARGE,
                "This run has too many secret entries for one line of the ledger. Run over fewer.",
            )
        end = sum(len(_bytes(line)) + 1 for line in self.lines)
        append_line(self.ledger.path, end, content + b"\n")
        self.lines.append(SignedLedgerRecord.model_validate_json(content))
        self.history = self.history.after(act, record.when)


def _history(lines: list[SignedLedgerRecord]) -> History:
    return history((line.when, line.act) for line in lines)


def _id(line: SignedLedgerRecord) -> str:
    """Return the hash by which the next line names this one."""
    return hashlib.sha256(_bytes(line)).hexdigest()


def _bytes(line: SignedLedgerRecord) -> bytes:
    """Return a line as it is in the file: it was checked to be canonical."""
    return canonical_bytes(line.model_dump(mode="json"))
