"""The opening key of a vault, split M of N; any M of its shares give the key back, and fewer tell nothing of it.

The way through it, for anyone who brings the shares of several keepers together:

1. ``split(key, threshold, count, number)`` gives one ``KeyShare`` for each keeper. ``dealing.deal`` seals each of them with
   age for its keeper; a vault keeps them sealed in its folder, and its log has what a right share is known by.
2. ``dealing.own_share(state, identity)`` opens the share of the keeper whose keys these are. ``KeyShare.words`` is what is
   to be sealed for the one machine that is to open: ``share.words.reveal()`` gives 33 words, ``KeyShare.read`` reads them.
3. ``dealing.combined(state, shares)`` says which share is not of this vault, or of before a refresh, who is missing, and
   gives the ``OpeningKey``: ``key.age`` opens the data key of each corpus (``DataKey.opened(sealed, [key.age])``).

Shares have the form of SLIP-39 (one group, no passphrase, 32 bytes), so other programs that know it combine them too.
The key and its shares are in memory only, until their last reference is gone; Python cannot wipe memory. The library
that splits warns that it is not hardened against anyone who measures the computer while it works: docs/internals/security.md.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from harness.sealed.keys import Identity, Role, public_key, sign
from harness.sealed.sealing import AgeIdentity
from harness.sealed.strict_records import FileProblem
from harness.vault.log import VaultError
from harness.vault.secret_text import SecretText

KEY_BYTES: Final = 32
WORDS: Final = 33
"""Of a share: 4 say what it is, 26 hold it, 3 check the others."""
NUMBERS: Final = 2**15
"""Numbers of a splitting, from 0: the shares of two splittings never mix."""
MOST_SHARES: Final = 16
LEAST_THRESHOLD: Final = 2

_CHECKS = 3
"""Words of a share that check the others."""
_WORD = 10
"""Bits of a word."""
_LETTERS = 4
"""No two words of the list begin with the same four."""


@dataclass(frozen=True)
class OpeningKey:
    """What M keepers have together: it opens the data key of every corpus, and signs what only they may change."""

    secret: bytes = field(repr=False)
    """32 bytes; the secret half of an age identity."""

    @classmethod
    def make(cls) -> OpeningKey:
        return cls(secrets.token_bytes(KEY_BYTES))

    @cached_property
    def age(self) -> AgeIdentity:
        return AgeIdentity.of(self.secret)

    @property
    def recipient(self) -> str:
        """Return the recipient that data keys are sealed for, ``age1…``."""
        return self.age.recipient

    @property
    def signing_key(self) -> str:
        """The public half of the key with which M keepers sign together, hexadecimal."""
        return public_key(self._seed)

    def sign(self, data: bytes) -> bytes:
        """Sign bytes as only M keepers together can: 64 bytes, Ed25519."""
        return sign(self._seed, data)

    @property
    def identity(self) -> Identity:
        """The keys with which keepers act together where none of them has keys of their own any more, but words on paper."""
        return Identity(Role.KEEPER, self._seed, self.age)

    @property
    def _seed(self) -> bytes:
        label = b"rosetta-vault/2 signing"
        return HKDF(SHA256(), length=KEY_BYTES, salt=None, info=label).derive(self.secret)

    def __getstate__(self) -> object:
        raise TypeError("The opening key of a vault is not copied or pickled.")


@dataclass(frozen=True)
class KeyShare:
    """One share of an opening key; alone, or with too few others, it tells nothing of the key."""

    words: SecretText = field(repr=False)
    """33 words with one space between them: the share itself."""
    number: int
    """Of the splitting, 0 to 32,767."""
    place: int
    """Of the share in the splitting, from 0."""
    threshold: int
    """How many shares give the key."""
    check: str
    """SHA-256 of the words: by it a share is known, and as they are random it tells nothing of them."""

    @classmethod
    def read(cls, typed: str) -> KeyShare:
        """Read the words of a share as people type them: any case, any spaces, numbers or commas between them.

        VaultError says how many words there are, or which one is wrong; it never quotes the others.
        """
        typed_words = "".join(c if c.isalpha() else " " for c in typed).lower().split()
        listed = _slip39().wordlist.WORD_INDEX_MAP
        for place, word in enumerate(typed_words, 1):
            if word not in listed:
                near = [one for one in listed if one.startswith(word[:_LETTERS])]
                near = near or [one for one in listed if one.startswith(word[:2])]
                hint = f" Is it {' or '.join(near)}?" if 0 < len(near) <= _LETTERS else ""
                raise VaultError(
                    FileProblem.INVALID,
                    f"Word {place}, {word[:20]!r}, is not on the list of words.{hint} Look at the card once more.",
                )
        if len(typed_words) != WORDS:
            raise VaultError(
                FileProblem.INVALID,
                f"A share has {WORDS} words, and there are {len(typed_words):,} here. Type all of them, in their order.",
            )
        try:
            return cls.of(_slip39().Share.from_mnemonic(" ".join(typed_words)))
        except _slip39().MnemonicError:
            raise VaultError(FileProblem.INVALID, _where_wrong(typed_words)) from None

    @classmethod
    def of(cls, share: Any) -> KeyShare:
        """Return a share as the library has it; VaultError where it is of groups, or not split at all."""
        words = str(share.mnemonic())
        if (share.group_count, share.group_index) != (1, 0) or share.member_threshold < 2:
            raise VaultError(
                FileProblem.NOT_OURS,
                "These words are a share of another kind, such as a cryptocurrency wallet makes. Type those of this vault's card.",
            )
        check = hashlib.sha256(words.encode()).hexdigest()
        return cls(SecretText(words), share.identifier, share.index, share.member_threshold, check)


# ---- How a key is split (Shamir 1979, in the form of SLIP-39).
#
# Each byte of the key is a value of a polynomial whose degree is one less than the threshold, with coefficients drawn
# at random; the shares are its values at other places. As many points as the threshold fix the polynomial, and with it
# the key. With one point fewer there is one polynomial for every key, so they tell nothing at all, not merely little.
#
# In whole numbers modulo 11, two of three: for the key 7 the slope 4 is drawn, f(x) = 7 + 4x. The shares are f(1) = 0,
# f(2) = 4 and f(3) = 8. From f(1) and f(3) follow the slope (8 - 0) / 2 = 4 and the key f(0) = 0 - 4 = 7 (mod 11).
# f(1) = 0 alone fits every key k, with the slope 11 - k. The library counts in the field of 256 elements, so that a
# share's bytes are bytes, and keeps beside the key a hash of it, by which wrong shares are noticed.


def split(key: OpeningKey, threshold: int, count: int, number: int) -> tuple[KeyShare, ...]:
    """Split a key into ``count`` shares of which each ``threshold`` give it back.

    ``number``: of the splitting, one that this vault did not have yet, so that its shares mix with no earlier ones.
    """
    check_threshold(threshold, count)
    slip39 = _slip39()
    hidden = slip39.EncryptedMasterSecret.from_master_secret(
        key.secret, passphrase=b"", identifier=number, extendable=True, iteration_exponent=0
    )
    [dealt] = slip39.split_ems(1, [(threshold, count)], hidden)
    return tuple(KeyShare.of(mnemonic) for mnemonic in dealt)


def combine(shares: Iterable[KeyShare]) -> OpeningKey:
    """Return the key of which these are shares; more than are needed are no matter, nor is one that is there twice.

    VaultError where they are too few, or not of one splitting. That it is the key of a certain vault is for the
    caller to check, by its ``recipient``.
    """
    different = list({share.check: share for share in shares}.values())
    if len({(key_share.number, key_share.threshold) for key_share in different}) > 1:
        raise VaultError(
            FileProblem.WRONG_KEY,
            "These shares are not of one splitting: some are of another vault, or from before the keepers got new ones.",
        )
    threshold = different[0].threshold if different else LEAST_THRESHOLD
    if len(different) < threshold:
        raise VaultError(
            FileProblem.LOCKED,
            f"Too few: {len(different)} of {threshold} shares are here. Nothing can be opened with fewer than {threshold}.",
        )
    slip39 = _slip39()
    try:
        groups = slip39.decode_mnemonics(one.words.reveal() for one in different[:threshold])
        return OpeningKey(slip39.recover_ems(groups).decrypt(b""))
    except slip39.MnemonicError:
        raise VaultError(
            FileProblem.WRONG_KEY, "These shares do not belong together: one of them is of another key."
        ) from None


def check_threshold(threshold: int, count: int) -> None:
    """Raise VaultError in words where a key cannot be split so."""
    if not LEAST_THRESHOLD <= threshold <= count:
        raise VaultError(
            FileProblem.INVALID,
            f"{threshold} of {count} is not a number of keepers who open together: the threshold is {LEAST_THRESHOLD} "
            f"to {count}, which is the number of their keys.",
        )
    if count > MOST_SHARES:
        raise VaultError(
            FileProblem.INVALID,
            f"A key is split among {MOST_SHARES} keepers at most, and here are {count}. Take fewer.",
        )


def _where_wrong(found: Sequence[str]) -> str:
    """Return where words that are all on the list do not belong together: the one word, or the two swapped ones.

    What the right word is, is not said: a wrong card that is mended until it fits is still a wrong card.
    """
    numbers = [_slip39().wordlist.WORD_INDEX_MAP[word] for word in found]
    for place in range(WORDS - 1):
        swapped = numbers.copy()
        swapped[place : place + 2] = swapped[place + 1], swapped[place]
        if not _unlike(swapped):
            return f"Words {place + 1} and {place + 2} are swapped. Type them in the order of the card."
    unlike = _unlike(numbers)
    for place in range(WORDS):
        # What each wrong word in this place would change in the words that check the others. Checks are sums
        # (exclusive or): they do not depend on the other words, and what two bits change is added up.
        nothing = _unlike([0] * WORDS)
        changes = [0]
        for bit in range(_WORD):
            alone = [0] * WORDS
            alone[place] = 1 << bit
            change = _unlike(alone) ^ nothing
            changes += [earlier ^ change for earlier in changes]
        if unlike in set(changes):
            return f"Word {place + 1}, {found[place]!r}, is a different one on the card. Look at it again."
    return "More than one of these words differs from the card. Compare them with it one by one."


def _unlike(numbers: Sequence[int]) -> int:
    """Return in which of their 30 bits the last three words are not those that check the others; 0 where they are."""
    slip39 = _slip39()
    extendable = slip39.constants.CUSTOMIZATION_STRING_EXTENDABLE
    checks = slip39.rs1024.create_checksum(numbers[:-_CHECKS], extendable)
    unlike = 0
    for number, check in zip(numbers[-_CHECKS:], checks, strict=True):
        unlike = unlike << _WORD | number ^ check
    return unlike


def _slip39() -> Any:
    """Return the library, which is loaded only where a key is split or combined."""
    import shamir_mnemonic

    return shamir_mnemonic
