"""A drill: a throw-away key is split among the keepers, each shows that they can give their share back; nothing is opened.

A drill is a folder, on a stick for example, with ``drill.json`` and one answer for each keeper. Its shares are of a key
that never opened anything and that nobody kept, so answers may hold their words openly. What is sealed begins with another
line than a real share, and an answer is written of such a share only: a drill into which somebody put the sealed share of
the vault itself gets nothing out of a keeper.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.user_file import read_bytes
from harness.core.written_files import PUBLISHED, write_file
from harness.sealed.keys import Identity
from harness.sealed.sealing import seal, unseal
from harness.sealed.signed_archive import (
    SignedRecord,
    read_record,
    read_signed_record,
    signed_record,
)
from harness.sealed.strict_records import FileError, FileProblem, Hex64, Recipient, StrictRecord
from harness.vault.folder import VaultState
from harness.vault.log import VaultError
from harness.vault.records import Base64, Keeper, Moment, Name
from harness.vault.shares.dealing import dealt
from harness.vault.shares.split import NUMBERS, KeyShare, OpeningKey, combine, split

DRILL: Final = "drill.json"
MOST_BYTES: Final = 2**17

_HEADING = b"rosetta-drill-share/1\n"
_WORDS = 300
"""Letters of a share, at most."""


class DrillShare(StrictRecord):
    """The throw-away share of one keeper."""

    keeper: Keeper
    sealed: Base64
    """For this keeper alone."""
    check: Hex64
    """SHA-256 of its words."""


class Drill(StrictRecord):
    """A drill: the question to the keepers."""

    format: Literal["rosetta-drill/1"] = "rosetta-drill/1"
    vault: Hex64
    name: Name
    """Of the vault."""
    when: Moment
    threshold: Annotated[int, Field(ge=2, le=16)]
    recipient: Recipient
    """The public half of the throw-away key."""
    shares: Annotated[tuple[DrillShare, ...], Field(min_length=2, max_length=16)]
    by: Hex64


class SignedDrill(Drill, SignedRecord):
    """The drill with the signature of the keeper who began it."""


class DrillAnswer(StrictRecord):
    """What one keeper gave back."""

    format: Literal["rosetta-drill-answer/1"] = "rosetta-drill-answer/1"
    drill: Hex64
    """SHA-256 of ``drill.json``."""
    when: Moment
    words: Annotated[str, Field(max_length=_WORDS)]
    """Of the throw-away share; empty where the keys that are here do not open it."""
    by: Hex64


class SignedDrillAnswer(DrillAnswer, SignedRecord):
    """The answer with the keeper's signature."""


@dataclass(frozen=True)
class DrillReport:
    """Who could give their share back, and who could not."""

    drill: Drill
    could: tuple[Keeper, ...]
    could_not: Mapping[str, str]
    """Keeper's name → why."""
    silent: tuple[Keeper, ...]
    """Those without an answer so far."""

    @property
    def enough(self) -> bool:
        """Return whether that many could that the vault would open."""
        return len(self.could) >= self.drill.threshold


def begin(state: VaultState, folder: Path, identity: Identity, now: datetime) -> Drill:
    """Split a throw-away key among the keepers of a vault and write the drill to a new folder; the key is forgotten.

    Nothing of the vault is opened, and none of its keys is used. VaultError or UsageError in words.
    """
    threshold, keepers = dealt(state).threshold, [*state.keepers.values()]
    if identity.public.signing_key not in state.keepers:
        raise VaultError(
            FileProblem.WRONG_KEY,
            "Only a keeper of this vault begins a drill. Use a keeper's computer.",
        )
    key = OpeningKey.make()
    shares = split(key, threshold, len(keepers), secrets.randbelow(NUMBERS))
    drill = Drill(
        vault=state.head.vault,
        name=state.founded.name,
        when=_moment(now),
        threshold=threshold,
        recipient=key.recipient,
        shares=tuple(_for_keeper(k, share) for k, share in zip(keepers, shares, strict=True)),
        by=identity.public.signing_key,
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be made ({error.strerror}). Name a folder that you can write to."
        ) from None
    write_file(folder / DRILL, signed_record(drill, identity), overwrite=False, mode=PUBLISHED)
    return drill


def answer(folder: Path, identity: Identity, now: datetime) -> bool:
    """Return the throw-away share of these keys; False where they do not open what was sealed for them.

    The answer says so then, signed as well. VaultError where the drill is damaged, or has nothing for these keys.
    """
    drill, number = _read_drill(folder)
    mine = [
        share for share in drill.shares if share.keeper.signing_key == identity.public.signing_key
    ]
    if len(mine) != 1:
        raise VaultError(
            FileProblem.WRONG_KEY,
            f"This drill of {drill.name!r} has no share for these keys. Use the computer of one of its keepers, or --key FILE.",
        )
    words = _given_back(mine[0], identity)
    made = DrillAnswer(drill=number, when=_moment(now), words=words, by=identity.public.signing_key)
    path = folder / f"answer-{identity.public.signing_key[:16]}.json"
    write_file(path, signed_record(made, identity), overwrite=True, mode=PUBLISHED)
    return bool(words)


def report(folder: Path, state: VaultState) -> DrillReport:
    """Read the answers of a drill of this vault and try the shares; a file that is no right answer counts as none, and is reported."""
    drill, number = _read_drill(folder)
    if drill.vault != state.head.vault:
        raise VaultError(FileProblem.INVALID, "This is a drill of another vault. Name its folder.")
    if {share.keeper.signing_key for share in drill.shares} != state.keepers.keys():
        raise VaultError(
            FileProblem.INVALID,
            "This drill was begun with other keepers than the vault has now. Begin a new one.",
        )
    could: dict[str, KeyShare] = {}
    could_not: dict[str, str] = {}
    for share in drill.shares:
        path = folder / f"answer-{share.keeper.signing_key[:16]}.json"
        if path.exists():
            try:
                could[share.keeper.signing_key] = _checked(path, number, share)
            except UsageError as error:
                could_not[share.keeper.name] = str(error)
    if len(could) >= drill.threshold and combine(could.values()).recipient != drill.recipient:
        raise VaultError(
            FileProblem.DAMAGED,
            "The shares fit, but together they do not give the key of this drill: anyone who began it dealt them wrong. Begin a new "
            "one on another computer.",
        )
    keepers = [share.keeper for share in drill.shares]
    return DrillReport(
        drill,
        tuple(keeper for keeper in keepers if keeper.signing_key in could),
        could_not,
        tuple(k for k in keepers if k.signing_key not in could and k.name not in could_not),
    )


def _for_keeper(keeper: Keeper, share: KeyShare) -> DrillShare:
    sealed = seal(_HEADING + share.words.reveal().encode(), [keeper.recipient])
    return DrillShare(keeper=keeper, sealed=base64.b64encode(sealed).decode(), check=share.check)


def _given_back(share: DrillShare, identity: Identity) -> str:
    """Return the words of a throw-away share; empty where these keys do not open it, VaultError where it is none."""
    try:
        opened = unseal(base64.b64decode(share.sealed), [identity.age])
    except (FileError, binascii.Error):
        return ""
    heading, _, words = opened.partition(b"\n")
    if heading + b"\n" != _HEADING or len(words) > _WORDS:
        raise VaultError(
            FileProblem.DAMAGED,
            "What this drill has for you is no share of a drill. Somebody may want something else opened: nothing was written. "
            "Show it to the other keepers.",
        )
    return words.decode("ascii", "replace")


def _checked(path: Path, number: str, share: DrillShare) -> KeyShare:
    data = read_bytes(path, "an answer to a drill", MOST_BYTES)
    given = read_drill_answer(data)
    if (given.drill, given.by) != (number, share.keeper.signing_key):
        raise UsageError("the answer is one to another drill, or another keeper's")
    if not given.words:
        raise UsageError("their keys do not open what was sealed for them")
    key_share = KeyShare.read(given.words)
    if key_share.check != share.check:
        raise UsageError("what they gave back is not the share that they were given")
    return key_share


def read_drill_answer(data: bytes) -> SignedDrillAnswer:
    """Read what a keeper gave back in a drill and check its signature; raises FileError in words."""
    return read_signed_record(data, SignedDrillAnswer, "an answer to a drill")


def _read_drill(folder: Path) -> tuple[Drill, str]:
    data = read_bytes(folder / DRILL, "a drill", MOST_BYTES)
    return read_drill(data, str(folder / DRILL)), hashlib.sha256(data).hexdigest()


def read_drill(data: bytes, name: str) -> SignedDrill:
    """Read a drill and check its signature, by one of its keepers; raises FileError in words."""
    drill = read_record(data, SignedDrill, "a drill of a vault", most=MOST_BYTES)
    whole = canonical_bytes(drill.model_dump(mode="json")) == data and drill.is_signed_by(drill.by)
    if not whole or drill.by not in _keys(drill.shares):
        raise VaultError(
            FileProblem.DAMAGED,
            f"{name} was changed after it was signed, or not copied to its end. Copy it once more, or begin a new "
            "drill.",
        )
    return drill


def _keys(shares: Sequence[DrillShare]) -> set[str]:
    return {share.keeper.signing_key for share in shares}


def _moment(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
