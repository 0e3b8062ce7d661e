"""The ledger: what was released to whom, in signed lines that name each other, next to the store.

A line is on the disk before its file leaves, which names it, so that two files show that a ledger was begun again, or cut
short. Deleting it would bring back all answers: so the log of a vault, which every keeper checks, gets its head and length
each time that scores of the vault's texts are released, and the ledger must fit that before it releases more.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, TypeVar

from harness.consent.withdrawals_in_force import standing
from harness.core.storage import append_line, exclusive, private_folder
from harness.core.version import VERSION
from harness.release import FOLDER, ledger_records
from harness.release.budget import MOMENT, History, NotReleased
from harness.release.ledger_records import LedgerLine
from harness.sealed.chain import chained_lines
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.data_key import DataKey
from harness.vault.folder import VaultState
from harness.vault.log import signers, splits_of
from harness.vault.opening import vault_at
from harness.vault.vault_records import LedgerStood

_Act = TypeVar("_Act", bound=ledger_records.Act)
LEDGER: Final = "ledger.jsonl"
LOCK: Final = "ledger.lock"
BUSY_SECONDS: Final = 60
STEP: Final = timedelta(minutes=5)  # a clock that is set back by less was set right


@dataclass(frozen=True)
class ReleaseLedger:
    """The ledger of a data folder, as its keeper opens it, whose keys sign, and by which entries are known again."""

    folder: Path
    identity: Identity
    clock: Callable[[], datetime]
    clock_was_wrong: bool = False
    """The custodian says that the clock of earlier lines was: a line notes it, and no pause is counted by what is in the future then."""

    @property
    def path(self) -> Path:
        return self.folder / LEDGER

    @property
    def key(self) -> str:
        return self.identity.public.signing_key

    def digest(self, source: str) -> str:
        """Return what an entry is known by in the ledger; without the keys it confirms no guess."""
        return DataKey(self.identity.seed).digest(source).hex()

    def read(self) -> History:
        """Return what was released so far; FileError as ``lines``."""
        return history(self.lines())

    def lines(self) -> list[LedgerLine]:
        """Return every line, none where it was not begun; FileError where it is damaged or another keeper's."""
        try:
            content = self.path.read_bytes() if self.path.exists() else b""
        except OSError as error:
            raise FileError(FileProblem.INVALID, f"{self.path} cannot be read ({error.strerror}). Make it readable.") from None  # fmt: skip
        return checked_lines(content, str(self.path), self.key)

    @contextmanager
    def changing(self) -> Iterator[LedgerChange]:
        """Lock the ledger against other programs within the block; begins it where there is none."""
        busy = FileError(FileProblem.LOCKED, f"Another program is using the ledger in {self.folder}. Try again when it is done.")  # fmt: skip
        try:
            with exclusive(private_folder(self.folder) / LOCK, busy, BUSY_SECONDS):
                change = LedgerChange(self, lines := self.lines(), self._now(lines))
                if not lines:
                    change.write(ledger_records.Begun(salt=secrets.token_hex(32)))
                elif change.now < datetime.fromisoformat(lines[-1].when):
                    change.write(ledger_records.ClockCorrected())
                yield change
        except OSError as error:
            raise FileError(FileProblem.INVALID, f"The ledger in {self.folder} cannot be written ({error.strerror}), so nothing is released. Make room there, and try again.") from None  # fmt: skip

    def _now(self, lines: list[LedgerLine]) -> datetime:
        """Return the time of the next line; FileError where it is earlier than the last one's, and no custodian says why."""
        now = self.clock().astimezone(UTC).replace(microsecond=0)
        last = datetime.fromisoformat(lines[-1].when) if lines else now
        if now >= last - STEP:
            return max(now, last)
        if self.clock_was_wrong:
            return now
        raise FileError(
            FileProblem.INVALID,
            f"The clock of this computer shows {now.strftime(MOMENT)}, but the last release was at {lines[-1].when}, which is "
            "later. Set the clock right: pauses are counted by it. If it was wrong then and is right now, say so with --clock-was-wrong; the ledger notes it.",
        )


@dataclass
class LedgerChange:
    """The ledger while it is kept from others, and the time of its next line."""

    ledger: ReleaseLedger
    lines: list[LedgerLine]
    now: datetime

    @property
    def history(self) -> History:
        return history(self.lines)

    @property
    def place(self) -> ledger_records.InLedger:
        """Where the next line will stand."""
        return ledger_records.InLedger(ledger=self.lines[0].id, line=len(self.lines), prev=self.lines[-1].id)

    @property
    def stated(self) -> ledger_records.Released:
        """The fields of any file that leaves with the next line."""
        return ledger_records.Released(rosetta=VERSION, issued=self.now.date().isoformat(), place=self.place, by=self.ledger.key)  # fmt: skip

    def write(self, act: _Act) -> _Act:
        """Write one more line, on the disk before this returns the act; NotReleased where the key that signs was withdrawn."""
        if (notice := standing(self.ledger.folder.parent).of_key(self.ledger.key)) is not None:
            raise NotReleased(
                f"Consent was withdrawn for {notice.said}: this computer's keeper signs with it, so nobody believes its scores. "
                "Tell scores from a computer whose keeper has other keys; where it was a mistake, `rosetta community lift` takes it back."
            )
        unsigned = LedgerLine(
            seq=len(self.lines), prev=self.lines[-1].id if self.lines else "", when=self.now.strftime(MOMENT),
            by=self.ledger.key, act=act, signature="0" * 128,
        )  # fmt: skip
        line = unsigned.model_copy(update={"signature": self.ledger.identity.sign(unsigned.content()).hex()})
        append_line(self.ledger.path, sum(len(line.data) + 1 for line in self.lines), line.data + b"\n")
        self.lines.append(line)
        return act


def history(lines: Iterable[LedgerLine]) -> History:
    return History(tuple((line.when, line.act) for line in lines))


def checked_lines(content: bytes, where: str, mine: str = "") -> list[LedgerLine]:
    """Return the whole lines of a ledger by its bytes; FileError names the one that is wrong.

    ``mine``: key that must have signed; empty: that of the first line. Missing newest lines are not noticed.
    """

    def wrong(place: int, reason: str) -> FileError:
        return FileError(FileProblem.DAMAGED, f"{where}: line {place + 1}: {reason}. Nothing is released without a whole ledger: put back a copy of the newest one.")  # fmt: skip

    lines, contents = list[LedgerLine](), content.split(b"\n")[:-1]
    for line, _ in chained_lines(contents, LedgerLine, "a line of a ledger", wrong, most=len(content)):
        if mine and line.by != mine:
            words = f"{where} was begun with other keys than this computer's keeper has now. Put back those keys (keeper.key, or the entry of the keyring)"
            raise FileError(FileProblem.WRONG_KEY, f"{words}: without them nobody knows which entries were released.")
        if not line.is_signed_by(mine or (lines or [line])[0].by):
            raise wrong(len(lines), "it was changed after it was signed")
        if (line.seq == 0) is not isinstance(line.act, ledger_records.Begun):
            raise wrong(len(lines), "only the first line says that the ledger was begun")
        if lines and line.when < lines[-1].when and not isinstance(line.act, ledger_records.ClockCorrected):
            raise wrong(len(lines), "its time is earlier than that of the line before it")
        lines.append(line)
    return lines


def own_ledger(home: Path, *, clock_was_wrong: bool = False) -> ReleaseLedger:
    """Return the ledger of a data folder with the keys of this computer's keeper; makes both where there are none."""
    identity = Identity.load(private_folder(home), Role.KEEPER)
    return ReleaseLedger(home / FOLDER, identity, lambda: datetime.now(UTC), clock_was_wrong)


def told_so_far(home: Path) -> History:
    """Return what the ledger of a data folder has, nothing where it was not begun; FileError where its keys are not here."""
    if not (home / FOLDER / LEDGER).is_file():
        return History()
    if not Identity.known(home, Role.KEEPER):
        raise FileError(FileProblem.WRONG_KEY, f"{home / FOLDER} has a ledger, but no keeper's keys are on this computer to read it with.")  # fmt: skip
    return own_ledger(home).read()


# The anchor in the vault's log


@contextmanager
def anchored(ledger: ReleaseLedger, vault: Path | None) -> Iterator[None]:
    """Check the ledger against the vault's log (None: there is none) before the block, and write its head there after.

    FileError as ``check_anchor``. A keeper of another vault's keys writes no line.
    """
    state = None if vault is None else check_anchor(ledger, vault)
    yield
    if vault is not None and state is not None and ledger.key in signers(state.keepers, splits_of(state.lines)):
        lines = ledger.lines()
        stood = LedgerStood(ledger=lines[0].id, lines=len(lines), head=lines[-1].id)
        at = vault_at(vault, ledger.folder.parent, clock_was_wrong=ledger.clock_was_wrong)
        with at.changing(ledger.identity) as now:
            at.write(now, stood, ledger.identity)


def check_anchor(ledger: ReleaseLedger, vault: Path) -> VaultState:
    """Return the vault; FileError where its log says that the ledger was another one, or longer."""
    state = vault_at(vault, ledger.folder.parent, clock_was_wrong=ledger.clock_was_wrong).read()
    lines = ledger.lines()
    own = (line.record.act for line in reversed(state.lines) if line.record.by == ledger.key)
    stood = next((act for act in own if isinstance(act, LedgerStood)), None)
    if stood and (
        not 0 < stood.lines <= len(lines) or (lines[0].id, lines[stood.lines - 1].id) != (stood.ledger, stood.head)
    ):
        raise FileError(
            FileProblem.DAMAGED,
            f"The ledger in {ledger.folder} is not the one that released scores of this vault before: the vault's log says that it had {stood.lines:,} lines. "
            "Nothing is released without them, because nobody knows who received which answer. Put back the newest copy of that folder. Where it is lost for good, "
            "exchange the entries (rosetta vault check-up) and release from the computer of another keeper.",
        )
    return state
