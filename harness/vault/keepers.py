"""Who can open a vault: keepers, their cards, and the recovery key that belongs to nobody's computer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, TypeAdapter, ValidationError

from corpora.text.comparison import normalised
from harness.core.canonical import canonical_bytes
from harness.core.failures import KeyStoreError, UsageError
from harness.core.storage import exclusive, private_folder, write_file
from harness.sealed.archive import read_record, signed_record
from harness.sealed.keys import Identity, Role, says_key, write_private
from harness.sealed.phrase import read_words
from harness.sealed.sealing import checked_recipient
from harness.sealed.strict_records import FileProblem
from harness.vault.folder import BUSY_SECONDS, VaultState
from harness.vault.log import VaultError
from harness.vault.vault_records import MOST_KEEPERS, MOST_WORDS, Keeper, KeeperCard, SignedCard

CARD_SUFFIX: Final = ".rosetta-keeper"
RECOVERY_NAME: Final = "recovery key"
TOGETHER_NAME: Final = "the keepers together"
"""Who wrote a line of the log that as many signed together as open the vault; no keeper is called so."""
LEAST: Final = 2
"""Keepers of a vault, the recovery key among them."""


def keeper_of(identity: Identity, name: str, *, recovery: bool = False) -> Keeper:
    public = identity.public
    if not 0 < len(name) <= MOST_WORDS:
        raise VaultError(
            FileProblem.INVALID, f"The name of a keeper has {len(name):,} characters. Take 1 to {MOST_WORDS}."
        )
    keys = {"signing_key": public.signing_key, "recipient": public.recipient}
    return Keeper(name=name, **keys, recovery=recovery)


def write_card(identity: Identity, name: str) -> bytes:
    """Return the bytes of a keeper's card, to be kept as ``NAME.rosetta-keeper``."""
    return signed_record(KeeperCard(keeper=keeper_of(identity, name)), identity)


def read_card(data: bytes) -> Keeper:
    """Read a card and check its signature; raises FileError in words.

    A card that calls itself a recovery key is refused: that one has none, and its six words are compared with nobody.
    """
    card = read_record(data, SignedCard, "the card of a keeper")
    whole = canonical_bytes(card.model_dump(mode="json")) == data
    if not whole or not card.is_signed_by(card.keeper.signing_key):
        raise VaultError(
            FileProblem.DAMAGED,
            "This keeper's card was changed after it was written: its signature does not fit. Ask for it once more.",
        )
    if card.keeper.recovery:
        raise VaultError(
            FileProblem.INVALID,
            "This card calls itself a recovery key, and none has a card. Ask for the card of a keeper.",
        )
    checked_recipient(card.keeper.recipient)
    return card.keeper


def recovery_identity(path: Path) -> Identity:
    """Make the recovery key in a new file; raises VaultError where it cannot be written, or a file is there already.

    Such a file is never taken: somebody may have put a key there that they have too.
    """
    made = Identity.make(Role.KEEPER)
    try:
        write_private(path, made.text())
    except FileExistsError:
        raise VaultError(
            FileProblem.INVALID,
            f"{path} is there already. Anyone who put a key there could open everything, so it is not used. Name a new file; "
            "if it is from an init of yours that was stopped, delete it.",
        ) from None
    except OSError as error:
        raise VaultError(
            FileProblem.INVALID,
            f"The recovery key cannot be written to {path} ({error.strerror}). Name a file on a stick that you can "
            "write to.",
        ) from None
    return made


def check_words(keeper: Keeper, typed: str) -> None:
    """Raise UsageError where six words, as somebody read them out, are not those of a keeper's key."""
    if not says_key(read_words(typed), keeper.signing_key):
        raise VaultError(
            FileProblem.WRONG_KEY,
            f"These are not the six words of this card, whose name is {keeper.name!r}. Somebody may have put another card in "
            "its place: ask for it again, by another way. Nothing was changed.",
        )


def check_keepers(keepers: Sequence[Keeper]) -> None:
    """Raise VaultError where two keepers are one, one is called like all of them, or too few are left when one is lost."""
    if any(normalised(keeper.name) == normalised(TOGETHER_NAME) for keeper in keepers):
        raise VaultError(
            FileProblem.INVALID,
            f"No keeper is called {TOGETHER_NAME!r}: so the log calls those who sign a line together. Take another name.",
        )
    for of in ("name", "signing_key", "recipient"):
        given = [getattr(keeper, of) for keeper in keepers]
        alike = [normalised(name) or name for name in given] if of == "name" else given
        most, times = Counter(alike).most_common(1)[0]
        if times > 1:
            raise VaultError(
                FileProblem.INVALID,
                f"Two keepers have the same {of.replace('_', ' ')}, {given[alike.index(most)]!r}. Each keeper is another person, with a card "
                "made on their own computer.",
            )
    if len(keepers) > MOST_KEEPERS:
        raise VaultError(FileProblem.INVALID, f"A vault has {MOST_KEEPERS} keepers at most. Remove somebody first.")
    if len(keepers) < LEAST:
        raise VaultError(
            FileProblem.INVALID,
            "A vault needs two keepers or more, the recovery key among them: what one alone can open is lost with "
            "that one's keys.",
        )


def own_identity(home: Path, file: Path | None) -> Identity:
    """Return the keys of this computer's keeper, or those of a file; KeyStoreError, or UsageError of the file, where there are none."""
    if file is not None:
        try:
            return Identity.read(file, Role.KEEPER)
        except KeyStoreError as error:
            raise UsageError(str(error)) from None
    if not Identity.known(home, Role.KEEPER):
        raise KeyStoreError(
            "This computer has no keeper's keys. Use the computer of a keeper, name the recovery key with --key FILE, "
            "or make keys here with 'rosetta vault card' for a vault that is still to be made."
        )
    return Identity.load(home, Role.KEEPER)


def keeper_named(state: VaultState, name: str) -> Keeper:
    """Return a keeper by name or signing key; VaultError where none has it, or two."""
    everybody = state.keepers.values()
    keepers = [keeper for keeper in everybody if name in {keeper.name, keeper.signing_key}]
    if len(keepers) == 1:
        return keepers[0]
    known = ", ".join(keeper.name for keeper in state.keepers.values())
    many = "are two keepers" if keepers else "is no keeper"
    raise VaultError(FileProblem.INVALID, f"There {many} {name!r}. There are: {known}.")


# ---- What one computer saw of vaults: how far the log of each went, and in which folder it lay.
#
# By this an older copy is known, and another vault in a vault's place. It is in the data folder,
# a file for each vault; two programs that see a vault grow at once write it one after the other,
# so that it never goes back.

LOCK: Final = "seen.lock"

SeenVault = tuple[Annotated[int, Field(ge=1)], str, str]
"""Lines of a vault's log, the id of the last, and the folder in which this computer saw it."""
_SEEN: TypeAdapter[SeenVault] = TypeAdapter(SeenVault)


@dataclass(frozen=True)
class VaultsSeen:
    """The files of one computer."""

    folder: Path

    def all(self) -> Iterator[tuple[Path, SeenVault]]:
        """Yield each file and what it says; what is damaged of it is written again when its vault is seen."""
        for path in sorted(self.folder.glob("[0-9a-f]*.json")):
            with suppress(ValidationError):
                yield path, _SEEN.validate_json(path.read_bytes())

    def compare(self, state: VaultState) -> None:
        """Refuse another vault than this computer saw in this folder, and a copy that knows less than it saw, or other things."""
        for path, (lines, head, folder) in self.all():
            if path == self._path(state):
                if lines > state.head.lines or state.lines[lines - 1].id != head:
                    raise VaultError(
                        FileProblem.DAMAGED,
                        f"This is an older copy of the vault, or one that was used elsewhere meanwhile: this computer saw {lines:,} "
                        f"lines of its log, and here there are {state.head.lines:,}, or others. Use the newest copy. If that is lost "
                        f"for good, delete {path}; openings since then are not in the log.",
                    )
            elif folder == str(state.folder.resolve()):
                raise VaultError(
                    FileProblem.DAMAGED,
                    f"Another vault is in {state.folder} than this computer saw there. Somebody may have put theirs in its place: "
                    f"ask the other keepers for its number (rosetta vault list). If it is right, delete {path}.",
                )

    def remember(self, state: VaultState) -> None:
        """Record how far this computer saw the log, and where; another program may have seen more meanwhile."""
        now = (state.head.lines, state.head.log_head, str(state.folder.resolve()))
        path = self._path(state)
        if dict(self.all()).get(path) == now:
            return
        with self._locked():
            known = dict(self.all()).get(path)
            if known is None or known[0] <= now[0]:
                write_file(path, canonical_bytes(now), overwrite=True)

    def forget(self, folder: Path) -> None:
        """Forget the vault that lay in a folder, where a new one was made."""
        with self._locked():
            for path, (_, _, where) in self.all():
                if where == str(folder.resolve()):
                    path.unlink()

    def _path(self, state: VaultState) -> Path:
        return self.folder / f"{state.head.vault[:16]}.json"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Prevent other programs of this computer from writing what they saw meanwhile."""
        words = f"Another program of this computer is writing what it saw of vaults in {self.folder}. Try again when it is done."
        try:
            lock = private_folder(self.folder) / LOCK
            with exclusive(lock, VaultError(FileProblem.LOCKED, words), BUSY_SECONDS):
                yield
        except OSError as error:
            raise VaultError(
                FileProblem.INVALID,
                f"This computer cannot keep what it saw of the vault in {self.folder} ({error.strerror}). Name another folder "
                "in ROSETTA_HOME.",
            ) from None
