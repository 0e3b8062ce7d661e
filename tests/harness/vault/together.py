"""A vault for tests whose five keepers, the recovery key among them, open in threes."""

from collections.abc import Sequence
from pathlib import Path

from harness.sealed.keys import Identity, Role
from harness.vault.folder import VaultState, read_state
from harness.vault.keepers import keeper_of
from harness.vault.shares.dealing import combined, own_share
from harness.vault.shares.split import OpeningKey
from harness.vault.vault import Vault
from tests.harness.vault.made import corpus, vault

NAMES = ("Office", "School", "Library", "Church", "recovery key")
PEOPLE = {
    name: Identity.make(Role.KEEPER) for name in (*NAMES, "Council", "<b>Ofis & co\u202e</b>")
}
OFFICE = PEOPLE["Office"]
THRESHOLD = 3


def founded(folder: Path, threshold: int = THRESHOLD, names: Sequence[str] = NAMES) -> Vault:
    """A vault without a corpus, each of whose keepers has a share."""
    made = vault(folder)
    keepers = [keeper_of(PEOPLE[each], each, recovery=each == names[-1]) for each in names]
    made.found("Words of the elders", keepers, PEOPLE[names[0]], threshold)
    return made


def filled_together(folder: Path) -> Vault:
    """The vault with one corpus, for which nobody had to come together."""
    made = founded(folder)
    made.add(corpus(), "greetings", OFFICE)
    return made


def key_of(state: VaultState, *names: str) -> OpeningKey:
    """What these keepers have together; VaultError where they are too few."""
    return combined(state, [own_share(state, PEOPLE[each]) for each in names])


def at(folder: Path) -> VaultState:
    """Return the vault of a folder as it stands there."""
    return read_state(folder / "vault")
