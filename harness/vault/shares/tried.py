"""What keepers say of their shares: a small signed file that a keeper's program opened their share, and that it was right.

It lies in the vault's folder, beside what the vault's head names, and is no part of the vault. All that it has of the
share is the hash that the log has as well. A computer keeps what it saw of such files, so that a copy on a stick that
went from keeper to keeper tells it of the vault at home too.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from harness.core.failures import HarnessError
from harness.core.user_file import read_bytes
from harness.core.written_files import PUBLISHED, private_folder, write_file
from harness.sealed.keys import Identity
from harness.sealed.signed_archive import SignedRecord, read_signed_record, signed_record
from harness.sealed.strict_records import Hex64, StrictRecord
from harness.vault.folder import VaultState
from harness.vault.log import moment
from harness.vault.records import Moment
from harness.vault.shares.dealing import own_share
from harness.vault.shares.split import KeyShare

MOST_BYTES: Final = 2**12
_WHAT: Final = "what a keeper says of their share"


class ShareTried(StrictRecord):
    """That a keeper's keys opened the share that was dealt to them."""

    format: Literal["rosetta-share-tried/1"] = "rosetta-share-tried/1"
    vault: Hex64
    check: Hex64
    """SHA-256 of the share's words, as the log has it: it says which dealing the share is of."""
    when: Moment
    by: Hex64


class SignedShareTried(ShareTried, SignedRecord):
    """It with the keeper's signature."""


def try_share(
    state: VaultState, identity: Identity, memory: Path, now: datetime
) -> tuple[KeyShare, str]:
    """Open a keeper's own share and sign that it is right; return it, and why the vault's folder did not take that, if so.

    ``memory``: the folder of this computer for what it saw of vaults. VaultError where the share is not right.
    """
    share = own_share(state, identity)
    by = identity.public.signing_key
    statement = ShareTried(vault=state.head.vault, check=share.check, when=moment(now), by=by)
    data, name = signed_record(statement, identity), _name(state, by)
    write_file(private_folder(memory) / name, data, overwrite=True)
    try:
        write_file(state.folder / name, data, overwrite=True, mode=PUBLISHED)
    except (HarnessError, OSError) as error:
        return share, str(error)
    return share, ""


def read_tried(data: bytes) -> SignedShareTried:
    """Read what a keeper says of their share and check its signature; raises FileError in words."""
    return read_signed_record(data, SignedShareTried, _WHAT, most=MOST_BYTES)


def shares_tried(state: VaultState, memory: Path) -> Mapping[str, str]:
    """Return when keepers last tried the share that they have now, by signing key; what is no right file counts nothing.

    A newer file in the vault's folder is kept in ``memory``.
    """
    tried: dict[str, str] = {}
    for key, sealed in state.split.shares.items() if state.split else ():
        name = _name(state, key)
        for folder in (memory, state.folder):
            with suppress(HarnessError, OSError):
                data = read_bytes(folder / name, _WHAT, MOST_BYTES)
                statement = read_tried(data)
                right = (statement.vault, statement.by, statement.check) == (
                    state.head.vault,
                    key,
                    sealed.check,
                )
                if right and statement.when > tried.get(key, ""):
                    tried[key] = statement.when
                    if folder != memory:
                        write_file(private_folder(memory) / name, data, overwrite=True)
    return tried


def _name(state: VaultState, key: str) -> str:
    return f"tried-{state.head.vault[:16]}-{key[:16]}.json"
