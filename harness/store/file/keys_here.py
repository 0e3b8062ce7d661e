"""The keys of this computer, for whom and by which secret texts are sealed on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from harness.store.file.sealing import own_key


def recipients_here(folder: Path) -> list[str]:
    """Return for whom secret texts are sealed here, this computer's key made where there is none; KeyStoreError in words.

    It may ask the keyring, so it is called before a transaction.
    """
    own_key(folder)
    return [age_identity.recipient for age_identity in keys_here(folder)]


def keys_here(folder: Path) -> Iterator[AgeIdentity]:
    """Yield the keys that are here, this computer's first; none is made."""
    if Identity.known(folder, Role.COMPUTER):
        yield own_key(folder)
    if Identity.known(folder, Role.ORGANISATION):
        yield Identity.load(folder, Role.ORGANISATION).age
