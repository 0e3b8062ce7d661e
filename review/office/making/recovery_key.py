"""The recovery key: opens all ratings where this computer is lost; kept by people, not by a computer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.core.failures import UsageError
from review.office.store.store import Office, utc_now
from review.sealed.sealing import AgeIdentity


@dataclass(frozen=True)
class RecoveryKey:
    """Who else can open ratings, where nobody is named."""

    recipient: str
    """age recipient."""
    made: str
    """UTC, ISO 8601."""
    place: Path
    """Where a new one is written to."""
    new: AgeIdentity | None = None
    """The key itself where it was made just now; it is in no store of ours."""

    @property
    def text(self) -> str:
        """Return a new key as a file that ``age --identity`` reads too; empty for one that was made before."""
        return "" if self.new is None else _HEAD + self.new.text()


_HEAD = (
    "# Recovery key of an organisation that makes reviews with Rosetta. Lock it away.\n"
    "# It opens all ratings: rosetta review import FILES --identity THIS-FILE, or age --decrypt.\n"
)


def recovery_key(office: Office, place: Path) -> RecoveryKey:
    """Return the organisation's recovery key, or a new one that is kept nowhere yet."""
    row = _known(office)
    if row is not None:
        return RecoveryKey(row[0], row[1], place)
    key = AgeIdentity.make()
    return RecoveryKey(key.recipient, utc_now(), place, key)


def keep_recipient(office: Office, key: RecoveryKey) -> None:
    """Keep the public half of a new key; UsageError where another program was faster."""
    if key.new is None:
        return
    with office.transaction():
        if _known(office) is not None:
            raise UsageError("Another window has just made a recovery key. Do this once more.")
        office.connection.execute(
            "INSERT INTO recovery (recipient, made) VALUES (?, ?)", (key.recipient, key.made)
        )


def _known(office: Office) -> tuple[str, str] | None:
    row = office.connection.execute("SELECT recipient, made FROM recovery").fetchone()
    return None if row is None else (row[0], row[1])
